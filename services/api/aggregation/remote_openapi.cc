#include "services/api/aggregation/remote_openapi.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/api/openapi_v2.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kReference = "#/definitions/";

std::string key_of(std::string_view group, std::string_view version) {
  return "apis/" + std::string{group} + "/" + std::string{version};
}

/// Definitions and what is below them are followed to the depth that JSON may have.
Value with_names(const Value& from, const std::map<std::string, std::string, std::less<>>& renamed) {
  if (from.is_array()) {
    Value to = Value::array();
    for (const Value& item : from.items()) to.push_back(with_names(item, renamed));
    return to;
  }
  if (!from.is_object()) return from;
  Value to = Value::object();
  for (const auto& member : from.members()) {
    const std::string_view text = member.value.as_string();
    if (member.key() == "$ref" && text.starts_with(kReference)) {
      if (const auto other = renamed.find(text.substr(kReference.size())); other != renamed.end()) {
        to.set("$ref", std::string{kReference} + other->second);
        continue;
      }
    }
    to.set(member.key(), with_names(member.value, renamed));
  }
  return to;
}

constexpr const char* kKinds = "x-kubernetes-group-version-kind";

/// A version 2 document as the server of one group and version may contribute it. Clients reject the whole document for
/// one reference or type that they do not know, and take a kind's schema from whatever definition claims to be it.
class Cleaner {
 public:
  Cleaner(const Value& swagger, std::string_view group, std::string_view version)
      : swagger_{swagger}, group_{group}, version_{version} {}

  Value clean() const {
    Value definitions = Value::object();
    for (const auto& definition : swagger_["definitions"].members()) {
      definitions.set(definition.key(), schema(definition.value));
    }
    Value paths = Value::object();
    for (const auto& path : swagger_["paths"].members()) paths.set(path.key(), path_item(path.value));
    return Value::object({{"definitions", std::move(definitions)}, {"paths", std::move(paths)}});
  }

 private:
  bool is_own(const Value& kind) const {
    return kind["group"].as_string() == group_ && kind["version"].as_string() == version_;
  }

  void keep_own_kinds(Value& of) const {
    const Value* kinds = of.find(kKinds);
    if (kinds == nullptr || (kinds->is_object() && is_own(*kinds))) return;
    Value own = Value::array();
    for (const Value& kind : kinds->items()) {
      if (is_own(kind)) own.push_back(kind);
    }
    if (own.size() > 0) {
      of.set(kKinds, std::move(own));
    } else {
      of.erase(kKinds);
    }
  }

  static void keep_texts(Value& of, std::initializer_list<const char*> fields) {
    for (const char* field : fields) {
      if (!of[field].is_string()) of.erase(field);
    }
  }

  Value schema(const Value& from) const {
    if (const Value* reference = from.find("$ref")) {
      const std::string_view text = reference->as_string();
      const bool known =
          text.starts_with(kReference) && swagger_["definitions"].contains(text.substr(kReference.size()));
      return known ? Value::object({{"$ref", *reference}}) : Value::object();
    }
    Value to = from.is_object() ? from : Value::object();
    keep_own_kinds(to);
    keep_texts(to, {"description", "format"});
    if (!to["required"].is_array()) to.erase("required");
    static constexpr std::string_view kTypes[] = {"array", "boolean", "integer", "number", "object", "string"};
    if (std::ranges::find(kTypes, from["type"].as_string()) == std::end(kTypes)) to.erase("type");
    if (from["type"].as_string() == "array" && !from["items"].is_object()) to.erase("type");
    for (const char* below : {"items", "additionalProperties"}) {
      if (!from.contains(below)) continue;
      if (from[below].is_object()) {
        to.set(below, schema(from[below]));
      } else {
        to.erase(below);
      }
    }
    Value properties = Value::object();
    for (const auto& property : from["properties"].members()) properties.set(property.key(), schema(property.value));
    to.erase("properties");
    if (properties.size() > 0) to.set("properties", std::move(properties));
    return to;
  }

  Value parameters(const Value& from) const {
    Value to = Value::array();
    for (Value parameter : from.items()) {
      keep_texts(parameter, {"name", "in", "type"});
      if (parameter.contains("schema")) parameter.set("schema", schema(parameter["schema"]));
      to.push_back(std::move(parameter));
    }
    return to;
  }

  Value path_item(const Value& from) const {
    Value to = Value::object();
    for (const auto& member : from.members()) {
      if (member.key() == "parameters") {
        to.set(member.key(), parameters(member.value));
        continue;
      }
      Value operation = member.value;
      keep_own_kinds(operation);
      operation.set("parameters", parameters(operation["parameters"]));
      Value answers = Value::object();
      for (const auto& response : operation["responses"].members()) {
        Value answer = response.value;
        keep_texts(answer, {"description"});
        answer.set("schema", schema(answer["schema"]));
        answers.set(response.key(), std::move(answer));
      }
      operation.set("responses", std::move(answers));
      to.set(member.key(), std::move(operation));
    }
    return to;
  }

  const Value& swagger_;
  const std::string_view group_, version_;
};

bool below(std::string_view path, const std::string& prefix) {
  return path == prefix || (path.starts_with(prefix) && path.substr(prefix.size()).starts_with('/'));
}

}  // namespace

std::optional<std::string> document_path(std::string_view index, std::string_view group, std::string_view version) {
  const auto parsed = parse_json(index);
  if (!parsed) return std::nullopt;
  const std::string path = parsed.value()["paths"][key_of(group, version)]["serverRelativeURL"].str();
  // "//host/..." would be another server's.
  if (!path.starts_with('/') || path.starts_with("//")) return std::nullopt;
  for (const char each : path) {
    if (each <= ' ' || each >= '\x7f') return std::nullopt;
  }
  return path;
}

Result<std::shared_ptr<const RemoteOpenApi>> read_openapi(std::string body, std::string_view group,
                                                          std::string_view version) {
  auto parsed = parse_json(body);
  if (!parsed) return Error{ErrorCode::kUnavailable, "the OpenAPI document is no JSON: " + parsed.error().message};
  Value& document = parsed.value();
  if (!document["openapi"].as_string().starts_with("3.") || !document["paths"].is_object()) {
    return Error{ErrorCode::kUnavailable, "the answer is no OpenAPI 3 document"};
  }
  const std::string own = "/" + key_of(group, version);
  Value paths = Value::object();
  for (const auto& path : document["paths"].members()) {
    if (below(path.key(), own)) paths.set(path.key(), path.value);
  }
  const bool whole = paths.size() == document["paths"].size();
  document.set("paths", std::move(paths));
  auto read = std::make_shared<RemoteOpenApi>();
  const Value swagger = to_swagger(document);
  read->swagger = Cleaner{swagger, group, version}.clean();
  read->body = whole ? std::move(body) : to_json(document);
  read->hash = to_string(siphash128(read->body));
  return std::shared_ptr<const RemoteOpenApi>{std::move(read)};
}

void merge_swagger(Value& whole, const Value& swagger, const std::string& suffix) {
  const Value& there = whole["definitions"];
  std::map<std::string, std::string, std::less<>> renamed;
  for (const auto& definition : swagger["definitions"].members()) {
    const Value* same_name = there.find(definition.key());
    if (same_name == nullptr || *same_name == definition.value) continue;
    std::string name = std::string{definition.key()} + suffix;
    while (there.contains(name) || swagger["definitions"].contains(name)) name += "_";
    renamed.emplace(definition.key(), std::move(name));
  }
  const Value added = renamed.empty() ? swagger : with_names(swagger, renamed);
  for (const auto& definition : added["definitions"].members()) {
    const auto other = renamed.find(definition.key());
    whole.edit("definitions").set(other == renamed.end() ? definition.key() : other->second, definition.value);
  }
  for (const auto& path : added["paths"].members()) {
    if (!whole["paths"].contains(path.key())) whole.edit("paths").set(path.key(), path.value);
  }
}

}  // namespace shiplog::api
