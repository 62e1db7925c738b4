#include "services/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/json_patch.h"
#include "events/state/identity.h"
#include "events/state/policy.h"
#include "events/state/quota.h"
#include "events/state/sealed.h"
#include "events/state/served_kind.h"
#include "services/interpreter/builtin.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/lua/vm.h"
#include "services/interpreter/native/native.h"
#include "services/interpreter/scripts.h"
#include "services/interpreter/webhooks.h"

namespace shiplog::interpreter {
namespace {

Error wrong(const InterpreterScript& script, const std::string& why) {
  return Error{ErrorCode::kInvalid, script.where + ": " + why};
}

const char* type_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "nil";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
    case Value::Kind::kObject:
      break;
  }
  return "table";
}

/// L-2: the customizations' scripts, else a webhook, else the compiled-in script. If there is none, native code
/// applies.
struct InterpreterLevel {
  std::vector<InterpreterScript> scripts;
  std::optional<Webhook> webhook;
};

InterpreterLevel level_for(const State& state, const Value& object, InterpreterOperation operation) {
  InterpreterLevel level;
  if (is_sealed(object)) return level;  // the result of a script or webhook would not be sealed
  level.scripts = customized(state, object, operation);
  if (!level.scripts.empty()) return level;
  level.webhook = webhook_for(state, object, operation);
  if (level.webhook) return level;
  if (auto script = built_in(object, operation)) level.scripts.push_back(std::move(*script));
  return level;
}

/// The webhook's answer about a template; the question until the answer is recorded.
Interpreted<Value> answer_to(const State& state, const Webhook& webhook, InterpreterOperation operation,
                             const Value& object, const Extra& extra = {}) {
  const auto served = served_kind(state, object["apiVersion"].as_string(), object["kind"].as_string());
  if (!served) {
    return Error{ErrorCode::kInvalid, webhook.where() + ": it is to be asked about " + object["kind"].str() +
                                          ", a kind that is not served in version " + object["apiVersion"].str()};
  }
  const Value& metadata = object["metadata"];
  return answer_of(state, webhook, operation,
                   served->key(metadata["namespace"].as_string(), metadata["name"].as_string()), object, extra);
}

/// A webhook's answer takes the place of a script's result and is read in the same way.
InterpreterScript as_script(const Webhook& webhook) { return {webhook.where(), Value{}, Value{}}; }

ScriptResults*& elsewhere() {
  thread_local ScriptResults* results = nullptr;
  return results;
}

Value list_of(std::vector<Value> values) { return Value::array(Value::Array(values.begin(), values.end())); }

/// Results about a template are kept for later decisions; those about a member's object are not, as each version is
/// new.
bool is_kept(InterpreterOperation operation) {
  return operation != InterpreterOperation::kRetain && operation != InterpreterOperation::kStatus &&
         operation != InterpreterOperation::kHealth;
}

Uninterpreted to_be_run(const InterpreterScript& script, InterpreterOperation operation, const Value& object,
                        Value request, std::string basis) {
  auto question = std::make_shared<Question>();
  question->script = true;
  question->operation = names_of(operation).name;
  question->source = script.where;
  question->basis = std::move(basis);
  question->qualifier = kNoQualifier;
  question->request = std::move(request);
  const Value& owner = script.customization["metadata"];
  if (!owner.is_null()) {
    question->address = Value::object({{"name", owner["name"]},
                                       {"uid", owner["uid"]},
                                       {"generation", owner["generation"].as_int()},
                                       {"namespace", object["metadata"]["namespace"].as_string()}});
  }
  return {Error{ErrorCode::kUnavailable, script.where + ": waiting for its result"}, {std::move(question)}};
}

/// How a script is called.
struct ScriptOptions {
  std::vector<Value> shapes = {};
  size_t results = 1;
  bool priority_class = false;  ///< as lua::Call's
};

/// The script's results, null for missing ones.
Interpreted<Value> run(const InterpreterScript& script, InterpreterOperation operation, std::vector<Value> arguments,
                       UtcMillis now, ScriptOptions options = {}) {
  const Value object = arguments.front();
  Value request = Value::object({{"script", script.text},
                                 {"function", names_of(operation).function},
                                 {"arguments", list_of(std::move(arguments))},
                                 {"shapes", list_of(std::move(options.shapes))},
                                 {"results", static_cast<int64_t>(options.results)}});
  if (options.priority_class) request.set("priorityClass", true);
  if (elsewhere() == nullptr) {
    auto outcome = run_script(request, now);
    if (!outcome.results) return outcome.results.error().context(script.where);
    return std::move(outcome.results).value();
  }
  if (!is_kept(operation)) return to_be_run(script, operation, object, std::move(request), "");
  std::string basis = to_string(siphash128(to_json(request)));
  if (auto known = elsewhere()->find(basis, now)) {
    if (!*known) return known->error().context(script.where);
    return std::move(*known).value();
  }
  return to_be_run(script, operation, object, std::move(request), std::move(basis));
}

/// A result that must be an object. An empty list counts as an empty object (L-16).
Result<Value> object_from(const InterpreterScript& script, const Value& results) {
  if (!results[0].is_object()) {
    return wrong(script, std::string{"it returned a "} + type_of(results[0]) + ", not an object");
  }
  return results[0];
}

Result<Value> bool_from(const InterpreterScript& script, const Value& results) {
  if (!results[0].is_bool()) {
    return wrong(script, std::string{"it returned a "} + type_of(results[0]) + ", not a boolean");
  }
  return results[0];
}

/// The only result of a script, which must be an object.
Interpreted<Value> run_for_object(const InterpreterScript& script, InterpreterOperation operation,
                                  std::vector<Value> arguments, UtcMillis now, std::vector<Value> shapes = {}) {
  SHIPLOG_TRY(const Value results, run(script, operation, std::move(arguments), now, {std::move(shapes)}));
  return interpreted(object_from(script, results));
}

/// The only result, which must be a list. Lua does not distinguish an empty list from an empty object.
Interpreted<Value> run_for_list(const InterpreterScript& script, InterpreterOperation operation, const Value& object,
                                UtcMillis now, bool priority_class = false) {
  SHIPLOG_TRY(const Value results, run(script, operation, {object}, now, {.priority_class = priority_class}));
  if (results[0].is_object() && results[0].size() == 0) return Value::array();
  return results[0];
}

/// A result that replaces the object must have the same identity (rule 11 of the design).
Result<std::optional<Value>> still(const std::string& where, const Value& object, Value result) {
  if (const auto same = same_identity(object, result); !same) return same.error().context(where);
  return std::optional{std::move(result)};
}

Result<int64_t> count_from(const InterpreterScript& script, const Value& value, const char* what) {
  if (!value.is_number()) return wrong(script, std::string{what} + " is a " + type_of(value) + ", not a number");
  const double number = std::trunc(value.as_double(static_cast<double>(value.as_int())));
  if (std::abs(number) > std::numeric_limits<int32_t>::max()) {
    return wrong(script, std::string{what} + " is too large for 32 bits");
  }
  if (number < 0) return wrong(script, std::string{what} + " is negative");
  return static_cast<int64_t>(number);
}

/// The fields that ReplicaRequirements has, as upstream: others do not belong into a binding. Amounts as
/// Kubernetes writes them. Zero amounts are kept: a script may specify them deliberately.
Result<Value> requirements_from(const InterpreterScript& script, const Value& given) {
  if (given.is_null()) return given;
  if (!given.is_object())
    return wrong(script, std::string{"the requirements are a "} + type_of(given) + ", not a table");
  Value value = Value::object();
  for (const char* field : {"namespace", "nodeClaim", "priorityClassName", "resourceRequest"}) {
    if (given.contains(field)) value.set(field, given[field]);
  }
  const Value& request = value["resourceRequest"];
  if (!request.is_object()) return value;
  for (const auto& amount : request.members()) {
    if (amount.value.is_number()) continue;
    if (const auto parsed = parse_quantity(amount.value.as_string()); !parsed) {
      return parsed.error().context(script.where + ": resourceRequest." + std::string{amount.key()});
    }
  }
  Value canonical = shiplog::to_value(resource_list_from(request));
  value.set("resourceRequest", std::move(canonical));
  return value;
}

/// B-31: one invalid dependency makes the whole list invalid.
Result<void> check(const std::vector<Dependency>& dependencies, const Value& object) {
  for (size_t index = 0; index < dependencies.size(); ++index) {
    const Dependency& dependency = dependencies[index];
    const char* problem = nullptr;
    if (dependency.api_version.empty()) {
      problem = "apiVersion is missing";
    } else if (dependency.kind.empty()) {
      problem = "kind is missing";
    } else if (dependency.name.empty() && dependency.label_selector.is_null()) {
      problem = "it has neither name nor labelSelector";
    } else if (!dependency.label_selector.is_null() && !label_selector_from(dependency.label_selector).valid) {
      problem = "labelSelector is not valid";
    }
    if (problem != nullptr) {
      return Error{ErrorCode::kInvalid, "dependencies of " + object["kind"].str() + " " +
                                            object["metadata"]["name"].str() + ": dependencies[" +
                                            std::to_string(index) + "]: " + problem};
    }
  }
  return ok();
}

Result<void> add_dependencies(const InterpreterScript& script, const Value& list, std::vector<Dependency>& into) {
  if (!list.is_array()) return wrong(script, std::string{"it returned a "} + type_of(list) + ", not a list");
  for (const Value& item : list.items()) {
    if (!item.is_object()) return wrong(script, std::string{"the list holds a "} + type_of(item) + ", not a table");
    into.push_back({item["apiVersion"].str(), item["kind"].str(), item["namespace"].str(), item["name"].str(),
                    item["labelSelector"]});
  }
  return ok();
}

Result<std::optional<Replicas>> replicas_from(const InterpreterScript& script, const Value& count,
                                              const Value& requirements) {
  Replicas wanted;
  SHIPLOG_TRY(wanted.count, count_from(script, count, "the number of replicas"));
  SHIPLOG_TRY(wanted.requirements, requirements_from(script, requirements));
  return std::optional{std::move(wanted)};
}

Result<std::optional<std::vector<WorkloadComponent>>> components_from(const InterpreterScript& script,
                                                                      const Value& list) {
  std::vector<WorkloadComponent> found;
  if (list.is_null()) return std::optional{std::move(found)};
  if (!list.is_array()) return wrong(script, std::string{"it returned a "} + type_of(list) + ", not a list");
  for (const Value& item : list.items()) {
    WorkloadComponent component;
    component.name = item["name"].str();
    if (!item["replicas"].is_null()) {
      SHIPLOG_TRY(component.replicas, count_from(script, item["replicas"], "a component's number of replicas"));
    }
    SHIPLOG_TRY(component.requirements, requirements_from(script, item["replicaRequirements"]));
    found.push_back(std::move(component));
  }
  return std::optional{std::move(found)};
}

/// The object with a webhook's patch (L-20).
Result<Value> patched(const Webhook& webhook, const Value& object, const Value& patch) {
  if (patch.is_null()) return object;
  auto result = apply_json_patch(object, patch);
  if (!result) return result.error().context(webhook.where() + ": response.patch does not apply");
  return result;
}

}  // namespace

void run_scripts_elsewhere(ScriptResults* results) { elsewhere() = results; }

ScriptOutcome run_script(const Value& request, UtcMillis now) {
  lua::Call call;
  const std::string function = request["function"].str();
  call.script = request["script"].as_string();
  call.function = function.c_str();
  const auto values = [](const Value& list) { return std::vector<Value>{list.items().begin(), list.items().end()}; };
  call.arguments = values(request["arguments"]);
  call.shapes = values(request["shapes"]);
  call.results = static_cast<size_t>(request["results"].as_int());
  call.priority_class = request["priorityClass"].as_bool();
  call.now = now;
  bool asked_time = false;
  call.asked_time = &asked_time;
  lua::Limit exceeded = lua::Limit::kNone;
  call.exceeded = &exceeded;
  auto returned = lua::run(call);
  if (!returned) {
    const char* reason = exceeded == lua::Limit::kSteps ? "StepLimitExceeded" : "MemoryLimitExceeded";
    return {returned.error(), asked_time, exceeded == lua::Limit::kNone ? "" : reason};
  }
  return {list_of(std::move(returned).value()), asked_time};
}

Result<Value> read_results(const Question& question, const Value& results) {
  const InterpreterScript script{question.source, {}, {}};
  if (question.operation == names_of(InterpreterOperation::kHealth).name) return bool_from(script, results);
  return object_from(script, results);
}

Interpreted<std::optional<Replicas>> replicas(const State& state, const Value& object, UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kReplicas);
  if (level.webhook) {
    SHIPLOG_TRY(const Value answer, answer_to(state, *level.webhook, InterpreterOperation::kReplicas, object));
    return interpreted(replicas_from(as_script(*level.webhook), answer["replicas"], answer["replicaRequirements"]));
  }
  const bool priority_class = state.gates().resource_quota_estimate;
  if (level.scripts.empty()) {
    return interpreted(
        native::replicas(object, priority_class ? native::PriorityClass::kNamed : native::PriorityClass::kLeftOut));
  }
  SHIPLOG_TRY(const Value results, run(level.scripts.front(), InterpreterOperation::kReplicas, {object}, now,
                                       {.results = 2, .priority_class = priority_class}));
  return interpreted(replicas_from(level.scripts.front(), results[0], results[1]));
}

Interpreted<std::optional<std::vector<WorkloadComponent>>> components(const State& state, const Value& object,
                                                                      UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kComponents);
  if (level.webhook) {
    SHIPLOG_TRY(const Value list, answer_to(state, *level.webhook, InterpreterOperation::kComponents, object));
    return interpreted(components_from(as_script(*level.webhook), list));
  }
  if (level.scripts.empty()) return std::nullopt;
  SHIPLOG_TRY(const Value list, run_for_list(level.scripts.front(), InterpreterOperation::kComponents, object, now,
                                             state.gates().resource_quota_estimate));
  return interpreted(components_from(level.scripts.front(), list));
}

Interpreted<std::optional<Value>> revise_replica(const State& state, const Value& object, int64_t count,
                                                 UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kRevise);
  if (level.webhook) {
    const Extra extra{std::to_string(count), Value::object({{"replicas", count}})};
    SHIPLOG_TRY(const Value patch, answer_to(state, *level.webhook, InterpreterOperation::kRevise, object, extra));
    SHIPLOG_TRY(auto revised, patched(*level.webhook, object, patch));
    return interpreted(still(level.webhook->where(), object, std::move(revised)));
  }
  if (level.scripts.empty()) return native::revise_replica(object, count);
  SHIPLOG_TRY(auto revised,
              run_for_object(level.scripts.front(), InterpreterOperation::kRevise, {object, count}, now, {object}));
  return interpreted(still(level.scripts.front().where, object, std::move(revised)));
}

Interpreted<std::optional<Value>> retain(const State& state, const Value& desired, const Value& observed, UtcMillis now,
                                         const Value* answer) {
  const InterpreterLevel level = level_for(state, desired, InterpreterOperation::kRetain);
  if (level.webhook) {
    const Extra extra{kNoQualifier, Value::object({{"observedObject", observed}})};
    if (answer == nullptr) return ask_about_member(*level.webhook, InterpreterOperation::kRetain, desired, extra);
    SHIPLOG_TRY(auto kept, patched(*level.webhook, desired, *answer));
    return interpreted(still(level.webhook->where(), desired, std::move(kept)));
  }
  if (level.scripts.empty()) return interpreted(native::retain(desired, observed));
  if (answer != nullptr) return interpreted(still(level.scripts.front().where, desired, *answer));
  SHIPLOG_TRY(auto kept, run_for_object(level.scripts.front(), InterpreterOperation::kRetain, {desired, observed}, now,
                                        {desired, observed}));
  return interpreted(still(level.scripts.front().where, desired, std::move(kept)));
}

Interpreted<std::optional<Value>> aggregate_status(const State& state, const Value& object, const Value& items,
                                                   UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kAggregate);
  if (level.webhook) {
    const Extra extra{kNoQualifier, Value::object({{"aggregatedStatus", items}}), true};
    SHIPLOG_TRY(auto status, answer_to(state, *level.webhook, InterpreterOperation::kAggregate, object, extra));
    if (status.is_null()) return std::nullopt;  // it does not change the status
    return std::optional{std::move(status)};
  }
  if (level.scripts.empty()) {
    // Decisions in older journals are verified with the statuses that their fleet aggregated.
    const bool conditions = state.fold_version() >= 4;
    return interpreted(native::aggregate_status(
        object, items, now, conditions ? native::Conditions::kOfMembers : native::Conditions::kNone));
  }
  // Without items upstream passes nil, and scripts test for nil.
  const Value given = items.size() == 0 ? Value{} : items;
  SHIPLOG_TRY(auto whole,
              run_for_object(level.scripts.front(), InterpreterOperation::kAggregate, {object, given}, now));
  if (whole["status"].is_null()) return std::nullopt;  // it does not change the status
  return std::optional{whole["status"]};
}

Interpreted<Value> reflect_status(const State& state, const Value& object, UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kStatus);
  if (level.webhook) return ask_about_member(*level.webhook, InterpreterOperation::kStatus, object, {});
  if (is_sealed(object)) return Value{};  // a member could have written anything into it
  if (level.scripts.empty()) return interpreted(native::reflect_status(object));
  return run_for_object(level.scripts.front(), InterpreterOperation::kStatus, {object}, now);
}

Interpreted<std::optional<bool>> health(const State& state, const Value& object, UtcMillis now) {
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kHealth);
  if (level.webhook) return ask_about_member(*level.webhook, InterpreterOperation::kHealth, object, {});
  if (level.scripts.empty()) return native::health(object);
  const InterpreterScript& script = level.scripts.front();
  SHIPLOG_TRY(const Value results, run(script, InterpreterOperation::kHealth, {object}, now));
  SHIPLOG_TRY(const Value healthy, bool_from(script, results));
  return std::optional{healthy.as_bool()};
}

Interpreted<std::optional<std::vector<Dependency>>> dependencies(const State& state, const Value& object,
                                                                 UtcMillis now) {
  std::optional<std::vector<Dependency>> found;
  const InterpreterLevel level = level_for(state, object, InterpreterOperation::kDependencies);
  if (level.webhook) {
    SHIPLOG_TRY(const Value list, answer_to(state, *level.webhook, InterpreterOperation::kDependencies, object));
    SHIPLOG_TRY(add_dependencies(as_script(*level.webhook), list, found.emplace()));
  } else if (level.scripts.empty()) {
    found = native::dependencies(object);
  } else {
    found.emplace();
    for (const InterpreterScript& script : level.scripts) {
      SHIPLOG_TRY(const Value list, run_for_list(script, InterpreterOperation::kDependencies, object, now));
      SHIPLOG_TRY(add_dependencies(script, list, *found));
    }
    const auto order = [](const Dependency& dependency) {
      return std::tuple{dependency.api_version, dependency.kind, dependency.ns, dependency.name};
    };
    std::ranges::stable_sort(*found, {}, order);
    found->erase(std::ranges::unique(*found).begin(), found->end());
  }
  if (found) {
    SHIPLOG_TRY(check(*found, object));
  }
  return found;
}

}  // namespace shiplog::interpreter
