#include "services/api/auditing/redact.h"

#include <string>

namespace shiplog::api {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void replace(Value& object, const char* member, const char* field) {
  if (object[member][field].is_null()) return;
  object.edit(member).set(field, kRedacted);
}

void redact_secret(Value& secret) {
  for (const char* member : {"data", "stringData"}) {
    replace(secret, member, "token");
    replace(secret, member, "token-secret");
  }
  // kubectl repeats the manifest there.
  const Value& annotations = secret["metadata"]["annotations"];
  if (annotations.contains(kLastApplied)) secret.edit("metadata").edit("annotations").set(kLastApplied, kRedacted);
}

void redact_kind(Value& object, std::string_view kind) {
  if (kind == "Secret") return redact_secret(object);
  if (kind == "TokenReview") return replace(object, "spec", "token");
  if (kind == "TokenRequest") return replace(object, "status", "token");
}

/// The operations of a JSON patch.
void redact_operations(Value& operations) {
  for (Value& operation : operations.edit_items()) {
    const std::string_view path = operation["path"].as_string();
    const bool about_data = path.empty() || path == "/" || path.starts_with("/data") ||
                            path.starts_with("/stringData") || path.starts_with("/metadata/annotations");
    if (!about_data) continue;
    if (operation["value"].is_object()) {
      for (const char* field : {"token", "token-secret"}) {
        if (operation["value"].contains(field)) operation.edit("value").set(field, kRedacted);
      }
      if (operation["value"].contains(kLastApplied)) operation.edit("value").set(kLastApplied, kRedacted);
      Value whole = operation["value"];
      redact_secret(whole);
      operation.set("value", std::move(whole));
    } else if (path.ends_with("/token") || path.ends_with("/token-secret") ||
               path.find("last-applied-configuration") != std::string_view::npos) {
      operation.set("value", kRedacted);
    }
  }
}

void redact_nested(Value& value, std::string_view kind_of_items) {
  if (value.is_array()) {
    for (Value& item : value.edit_items()) redact_nested(item, kind_of_items);
    return;
  }
  if (!value.is_object()) return;
  std::string kind = value["kind"].str();
  if (kind.empty()) kind = kind_of_items;
  redact_kind(value, kind);
  const bool is_list = kind.ends_with("List") && value["items"].is_array();
  const std::string items = is_list ? kind.substr(0, kind.size() - 4) : "";
  const Value before = value;
  for (const Value::Member& member : before.members()) {
    if (!member.value.is_object() && !member.value.is_array()) continue;
    Value& nested = value.edit(member.key());
    redact_nested(nested, member.key() == "items" ? items : "");
  }
}

}  // namespace

void redact_tokens(Value& object, std::string_view resource) {
  if (resource == "secrets" && object.is_array()) return redact_operations(object);
  if (resource == "secrets" && object["kind"].is_null()) redact_secret(object);
  redact_nested(object, "");
}

}  // namespace shiplog::api
