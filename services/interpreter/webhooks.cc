#include "services/interpreter/webhooks.h"

#include <algorithm>

#include "events/base/api_version.h"
#include "events/base/base64.h"
#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/json_patch.h"
#include "events/state/identity.h"

namespace shiplog::interpreter {
namespace {

constexpr const char* kContextVersion = "config.karmada.io/v1alpha1";
constexpr const char* kContextKind = "ResourceInterpreterContext";

bool names(const Value& list, std::string_view wanted, bool or_star = true) {
  return std::ranges::any_of(list.items(), [&](const Value& item) {
    return item.as_string() == wanted || (or_star && item.as_string() == "*");
  });
}

bool rule_matches(const Value& rule, std::string_view api_version, std::string_view kind) {
  const auto [group, version] = split_api_version(api_version);
  return names(rule["apiGroups"], group) && names(rule["apiVersions"], version) && names(rule["kinds"], kind);
}

bool is_secret(std::string_view api_version, std::string_view kind) { return api_version == "v1" && kind == "Secret"; }

/// The object without fields that every write changes or that the fleet itself sets because of the answer.
std::string essence(Value object) {
  object.erase("status");
  Value& metadata = object.edit("metadata");
  for (const char* field : {"resourceVersion", "managedFields", "generation"}) metadata.erase(field);
  return to_json(object);
}

Question question_about(const Webhook& webhook, InterpreterOperation operation, const Value& object,
                        const Extra& extra) {
  Question question;
  question.operation = names_of(operation).name;
  question.source = webhook.id;
  question.qualifier = extra.qualifier;
  const auto [group, version] = split_api_version(object["apiVersion"].as_string());
  const Value& metadata = object["metadata"];
  question.request = extra.fields;
  question.request.set("kind",
                       Value::object({{"group", group}, {"version", version}, {"kind", object["kind"].as_string()}}));
  question.request.set("name", metadata["name"].as_string());
  if (!metadata["namespace"].is_empty()) question.request.set("namespace", metadata["namespace"]);
  question.request.set("operation", question.operation);
  question.request.set("object", object);
  question.address = webhook.entry["clientConfig"];
  question.timeout = Millis{webhook.entry["timeoutSeconds"].as_int(10) * 1000};
  return question;
}

Error unavailable(std::string message) { return {ErrorCode::kUnavailable, std::move(message)}; }

/// L-20: patch and patchType, both or neither. Null: neither.
Result<Value> patch_in(const Value& response) {
  const Value& patch = response["patch"];
  const Value& type = response["patchType"];
  if (patch.is_empty() && type.is_empty()) return Value{};
  if (patch.is_empty() || type.is_empty()) {
    return unavailable("response.patch and response.patchType are needed together");
  }
  if (type.as_string() != "JSONPatch") {
    return unavailable("response.patchType is \"" + type.str() + "\", only JSONPatch is known");
  }
  const auto bytes = base64_decode(patch.as_string());
  if (!bytes) return unavailable("response.patch is not base64");
  auto parsed = parse_json(*bytes);
  if (!parsed) return unavailable("response.patch is no JSON: " + parsed.error().message);
  if (!parsed.value().is_array()) return unavailable("response.patch is no list of operations");
  return parsed;
}

Result<Value> patched(const Value& object, const Value& patch) {
  if (patch.is_null()) return object;
  auto result = apply_json_patch(object, patch);
  if (!result) return unavailable("response.patch does not apply: " + result.error().message);
  if (!result.value().is_object()) return unavailable("response.patch leaves no object");
  return result;
}

Result<Value> list_in(const Value& response, const char* field) {
  const Value& list = response[field];
  if (list.is_null()) return Value::array();
  if (!list.is_array()) return unavailable(std::string{"response."} + field + " is no list");
  return list;
}

Result<Value> content_of(const Question& question, const Value& response) {
  const auto is = [&](InterpreterOperation operation) { return question.operation == names_of(operation).name; };
  const auto needed = [](const char* field) {
    return unavailable(std::string{"response."} + field + " is missing or of the wrong type");
  };
  if (is(InterpreterOperation::kReplicas)) {
    if (!response["replicas"].is_int()) return needed("replicas");
    Value answer = Value::object({{"replicas", response["replicas"]}});
    const Value& requirements = response["replicaRequirements"];
    if (!requirements.is_null() && !requirements.is_object()) return needed("replicaRequirements");
    if (!requirements.is_null()) answer.set("replicaRequirements", requirements);
    return answer;
  }
  if (is(InterpreterOperation::kComponents)) return list_in(response, "components");
  if (is(InterpreterOperation::kDependencies)) return list_in(response, "dependencies");
  if (is(InterpreterOperation::kStatus)) {
    if (response["rawStatus"].is_null()) return needed("rawStatus");
    return response["rawStatus"];
  }
  if (is(InterpreterOperation::kHealth)) {
    if (!response["healthy"].is_bool()) return needed("healthy");
    return response["healthy"];
  }
  SHIPLOG_TRY(Value patch, patch_in(response));
  SHIPLOG_TRY(const Value whole, patched(question.request["object"], patch));
  if (is(InterpreterOperation::kAggregate)) return whole["status"];
  if (const auto same = same_identity(question.request["object"], whole); !same) {
    return unavailable("response.patch: " + same.error().message);
  }
  return patch;
}

}  // namespace

std::optional<Webhook> webhook_for(const State& state, const Value& object, InterpreterOperation operation) {
  const auto& all = state.objects(kWebhookType);
  if (all.empty()) return std::nullopt;
  const auto api_version = object["apiVersion"].as_string();
  const auto kind = object["kind"].as_string();
  if (is_secret(api_version, kind)) return std::nullopt;
  std::optional<Webhook> chosen;
  for (const auto& [name, configuration] : all) {
    for (const Value& entry : configuration.value["webhooks"].items()) {
      const bool matches = std::ranges::any_of(entry["rules"].items(), [&](const Value& rule) {
        return names(rule["operations"], names_of(operation).name) && rule_matches(rule, api_version, kind);
      });
      if (!matches) continue;
      std::string id = name.name + "/" + entry["name"].str();
      if (!chosen || id < chosen->id) chosen = Webhook{std::move(id), entry};
    }
  }
  return chosen;
}

bool has_rule_for(const Value& configuration, const Value& object) {
  return std::ranges::any_of(configuration["webhooks"].items(), [&](const Value& entry) {
    return std::ranges::any_of(entry["rules"].items(), [&](const Value& rule) {
      return rule_matches(rule, object["apiVersion"].as_string(), object["kind"].as_string());
    });
  });
}

bool names_secrets(const Value& configuration) {
  for (const Value& entry : configuration["webhooks"].items()) {
    for (const Value& rule : entry["rules"].items()) {
      if (rule_matches(rule, "v1", "Secret") && names(rule["kinds"], "Secret", false)) return true;
    }
  }
  return false;
}

Interpreted<Value> answer_of(const State& state, const Webhook& webhook, InterpreterOperation operation,
                             const ObjectKey& key, const Value& object, const Extra& extra) {
  if (!names(webhook.entry["interpreterContextVersions"], "v1alpha1", false)) {
    return Error{ErrorCode::kInvalid, webhook.where() + ": its interpreterContextVersions do not name v1alpha1"};
  }
  const std::string basis = to_string(siphash128(webhook.id + "\n" + to_json(webhook.entry) + "\n" + essence(object) +
                                                 (extra.in_basis ? "\n" + to_json(extra.fields) : std::string{})));
  const char* name = names_of(operation).name;
  auto recorded = recorded_answer(state, key, name, basis, extra.qualifier);
  if (recorded && recorded->failure.empty()) return std::move(recorded->answer);
  Question question = question_about(webhook, operation, object, extra);
  question.object = key;
  question.basis = basis;
  if (recorded) question.failure = std::move(recorded->failure);
  Error waiting = unavailable(question.failure.empty()
                                  ? webhook.where() + ": waiting for its answer to " + name + " of " + to_string(key)
                                  : question.failure);
  return Uninterpreted{std::move(waiting), {std::make_shared<const Question>(std::move(question))}};
}

Uninterpreted ask_about_member(const Webhook& webhook, InterpreterOperation operation, const Value& object,
                               const Extra& extra) {
  return {unavailable(webhook.where() + ": is to be asked " + names_of(operation).name),
          {std::make_shared<const Question>(question_about(webhook, operation, object, extra))}};
}

Value context_of(const Question& question, const std::string& uid) {
  Value request = question.request;
  request.set("uid", uid);
  return Value::object({{"apiVersion", kContextVersion}, {"kind", kContextKind}, {"request", std::move(request)}});
}

Result<Value> read_answer(const Question& question, const Value& context, const std::string& uid) {
  const auto read = [&]() -> Result<Value> {
    for (const auto& [field, wanted] : {std::pair{"apiVersion", kContextVersion}, std::pair{"kind", kContextKind}}) {
      if (!context[field].is_empty() && context[field].as_string() != wanted) {
        return unavailable(std::string{"its answer's "} + field + " is \"" + context[field].str() + "\", not " +
                           wanted);
      }
    }
    const Value& response = context["response"];
    if (!response.is_object()) return unavailable("its answer has no response");
    if (response["uid"].as_string() != uid) return unavailable("response.uid is not that of the request");
    if (!response["successful"].as_bool()) {
      if (!response["status"].is_object()) return unavailable("it failed, and response.status does not say why");
      const Value& status = response["status"];
      return unavailable("it failed: " + status["message"].str() +
                         (status["code"].is_int() ? " (code " + std::to_string(status["code"].as_int()) + ")" : ""));
    }
    return content_of(question, response);
  };
  auto content = read();
  if (content) return content;
  return content.error().context("interpreter webhook " + question.source);
}

}  // namespace shiplog::interpreter
