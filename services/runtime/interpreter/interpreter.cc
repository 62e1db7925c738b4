#include "services/runtime/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "events/state/policy.h"
#include "events/state/quota.h"
#include "services/runtime/interpreter/builtin.h"
#include "services/runtime/interpreter/customizations.h"
#include "services/runtime/interpreter/lua/vm.h"
#include "services/runtime/interpreter/native/native.h"

namespace shiplog::interpreter {
namespace {

Error wrong(const Script& script, const std::string& why) {
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

/// L-2, with what is Lua: the customizations' scripts, else the compiled-in one. Empty: native code decides.
std::vector<Script> scripts_for(const State& state, const Value& object, Operation operation) {
  auto scripts = customized(state, object, operation);
  if (!scripts.empty()) return scripts;
  if (auto script = built_in(object, operation)) scripts.push_back(std::move(*script));
  return scripts;
}

/// Errors end in conditions and logs, so in the journal: where nothing of a Secret may ever be.
bool may_be_told(const Value& object) {
  return object["kind"].as_string() != "Secret" || object["apiVersion"].as_string() != "v1";
}

Result<std::vector<Value>> run(const Script& script, Operation operation, std::vector<Value> arguments, UtcMillis now,
                               std::vector<Value> shapes = {}, size_t results = 1) {
  const bool tell = may_be_told(arguments.front());
  auto returned = lua::run(
      {script.text.as_string(), names_of(operation).function, std::move(arguments), results, std::move(shapes), now});
  if (returned) return returned;
  return tell ? returned.error().context(script.where)
              : wrong(script, "it failed on a Secret; its message is not shown, as it may hold parts of it");
}

/// The one result of a script that has to be an object. An empty list is an empty object (L-16).
Result<Value> run_for_object(const Script& script, Operation operation, std::vector<Value> arguments, UtcMillis now,
                             std::vector<Value> shapes = {}) {
  SHIPLOG_TRY(auto results, run(script, operation, std::move(arguments), now, std::move(shapes)));
  if (!results[0].is_object())
    return wrong(script, std::string{"it returned a "} + type_of(results[0]) + ", not an object");
  return std::move(results[0]);
}

/// The one result that has to be a list; empty, Lua does not know it from an object.
Result<Value> run_for_list(const Script& script, Operation operation, const Value& object, UtcMillis now) {
  SHIPLOG_TRY(auto results, run(script, operation, {object}, now));
  if (results[0].is_object() && results[0].size() == 0) return Value::array();
  return std::move(results[0]);
}

Result<int64_t> count_from(const Script& script, const Value& value, const char* what) {
  if (!value.is_number()) return wrong(script, std::string{what} + " is a " + type_of(value) + ", not a number");
  const double number = std::trunc(value.as_double(static_cast<double>(value.as_int())));
  if (std::abs(number) > std::numeric_limits<int32_t>::max()) {
    return wrong(script, std::string{what} + " is too large for 32 bits");
  }
  return static_cast<int64_t>(number);
}

/// Amounts as Kubernetes writes them, zero ones left out by nobody: a script may mean them.
Result<Value> requirements_from(const Script& script, Value value) {
  if (value.is_null()) return value;
  if (!value.is_object())
    return wrong(script, std::string{"the requirements are a "} + type_of(value) + ", not a table");
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

/// B-31: what cannot be looked for makes the whole list worthless.
Result<void> check(const std::vector<Dependency>& dependencies, const Value& object) {
  for (size_t at = 0; at < dependencies.size(); ++at) {
    const Dependency& one = dependencies[at];
    const char* problem = nullptr;
    if (one.api_version.empty()) {
      problem = "apiVersion is missing";
    } else if (one.kind.empty()) {
      problem = "kind is missing";
    } else if (one.name.empty() && one.label_selector.is_null()) {
      problem = "it has neither name nor labelSelector";
    } else if (!one.label_selector.is_null() && !label_selector_from(one.label_selector).valid) {
      problem = "labelSelector is not valid";
    }
    if (problem != nullptr) {
      return Error{ErrorCode::kInvalid, "dependencies of " + object["kind"].str() + " " +
                                            object["metadata"]["name"].str() + ": dependencies[" + std::to_string(at) +
                                            "]: " + problem};
    }
  }
  return ok();
}

Result<void> add_dependencies(const Script& script, const Value& list, std::vector<Dependency>& into) {
  if (!list.is_array()) return wrong(script, std::string{"it returned a "} + type_of(list) + ", not a list");
  for (const Value& item : list.items()) {
    if (!item.is_object()) return wrong(script, std::string{"the list holds a "} + type_of(item) + ", not a table");
    into.push_back({item["apiVersion"].str(), item["kind"].str(), item["namespace"].str(), item["name"].str(),
                    item["labelSelector"]});
  }
  return ok();
}

}  // namespace

Result<std::optional<Replicas>> replicas(const State& state, const Value& object, UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kReplicas);
  if (scripts.empty()) return native::replicas(object);
  const Script& script = scripts.front();
  SHIPLOG_TRY(auto results, run(script, Operation::kReplicas, {object}, now, {}, 2));
  Replicas wanted;
  SHIPLOG_TRY(wanted.count, count_from(script, results[0], "the number of replicas"));
  SHIPLOG_TRY(wanted.requirements, requirements_from(script, std::move(results[1])));
  return std::optional{std::move(wanted)};
}

Result<std::optional<std::vector<Component>>> components(const State& state, const Value& object, UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kComponents);
  if (scripts.empty()) return std::nullopt;
  const Script& script = scripts.front();
  SHIPLOG_TRY(const Value list, run_for_list(script, Operation::kComponents, object, now));
  std::vector<Component> found;
  if (list.is_null()) return std::optional{std::move(found)};
  if (!list.is_array()) return wrong(script, std::string{"it returned a "} + type_of(list) + ", not a list");
  for (const Value& item : list.items()) {
    Component component;
    component.name = item["name"].str();
    if (!item["replicas"].is_null()) {
      SHIPLOG_TRY(component.replicas, count_from(script, item["replicas"], "a component's number of replicas"));
    }
    SHIPLOG_TRY(component.requirements, requirements_from(script, item["replicaRequirements"]));
    found.push_back(std::move(component));
  }
  return std::optional{std::move(found)};
}

Result<std::optional<Value>> revise_replica(const State& state, const Value& object, int64_t count, UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kRevise);
  if (scripts.empty()) return native::revise_replica(object, count);
  SHIPLOG_TRY(auto revised, run_for_object(scripts.front(), Operation::kRevise, {object, count}, now, {object}));
  return std::optional{std::move(revised)};
}

Result<std::optional<Value>> retain(const State& state, const Value& desired, const Value& observed, UtcMillis now) {
  const auto scripts = scripts_for(state, desired, Operation::kRetain);
  if (scripts.empty()) return native::retain(desired, observed);
  SHIPLOG_TRY(auto kept,
              run_for_object(scripts.front(), Operation::kRetain, {desired, observed}, now, {desired, observed}));
  return std::optional{std::move(kept)};
}

Result<std::optional<Value>> aggregate_status(const State& state, const Value& object, const Value& items,
                                              UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kAggregate);
  if (scripts.empty()) return native::aggregate_status(object, items, now);
  // Without items upstream hands over nil, and scripts ask for that.
  const Value given = items.size() == 0 ? Value{} : items;
  SHIPLOG_TRY(auto whole, run_for_object(scripts.front(), Operation::kAggregate, {object, given}, now));
  if (whole["status"].is_null()) return std::nullopt;  // it leaves the status alone
  return std::optional{whole["status"]};
}

Result<Value> reflect_status(const State& state, const Value& object, UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kStatus);
  if (scripts.empty()) return native::reflect_status(object);
  return run_for_object(scripts.front(), Operation::kStatus, {object}, now);
}

Result<std::optional<bool>> health(const State& state, const Value& object, UtcMillis now) {
  const auto scripts = scripts_for(state, object, Operation::kHealth);
  if (scripts.empty()) return native::health(object);
  const Script& script = scripts.front();
  SHIPLOG_TRY(const auto results, run(script, Operation::kHealth, {object}, now));
  if (!results[0].is_bool())
    return wrong(script, std::string{"it returned a "} + type_of(results[0]) + ", not a boolean");
  return std::optional{results[0].as_bool()};
}

Result<std::optional<std::vector<Dependency>>> dependencies(const State& state, const Value& object, UtcMillis now) {
  std::optional<std::vector<Dependency>> found;
  const auto scripts = scripts_for(state, object, Operation::kDependencies);
  if (scripts.empty()) {
    found = native::dependencies(object);
  } else {
    found.emplace();
    for (const Script& script : scripts) {
      SHIPLOG_TRY(const Value list, run_for_list(script, Operation::kDependencies, object, now));
      SHIPLOG_TRY(add_dependencies(script, list, *found));
    }
    const auto order = [](const Dependency& one) { return std::tuple{one.api_version, one.kind, one.ns, one.name}; };
    std::ranges::stable_sort(*found, {}, order);
    found->erase(std::ranges::unique(*found).begin(), found->end());
  }
  if (found) {
    SHIPLOG_TRY(check(*found, object));
  }
  return found;
}

}  // namespace shiplog::interpreter
