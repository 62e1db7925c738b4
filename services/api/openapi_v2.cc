#include "services/api/openapi_v2.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

/// With its number in the protobuf form.
using Method = std::pair<std::string_view, uint32_t>;
constexpr Method kMethods[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};

/// What a schema requires of a value, with its number in the protobuf form.
struct ValidationKeyword {
  enum class Form { kText, kFlag, kCount, kNumber, kValues };
  std::string_view name;
  Form form;
  uint32_t number;

  bool fits(const Value& value) const {
    switch (form) {
      case Form::kText:
        return value.is_string();
      case Form::kFlag:
        return value.is_bool();
      case Form::kCount:
        return value.is_int();
      case Form::kNumber:
        return value.is_number();
      case Form::kValues:
        return value.is_array();
    }
    return false;
  }
};
constexpr ValidationKeyword kKeywords[] = {
    {"multipleOf", ValidationKeyword::Form::kNumber, 6},      {"maximum", ValidationKeyword::Form::kNumber, 7},
    {"exclusiveMaximum", ValidationKeyword::Form::kFlag, 8},  {"minimum", ValidationKeyword::Form::kNumber, 9},
    {"exclusiveMinimum", ValidationKeyword::Form::kFlag, 10}, {"maxLength", ValidationKeyword::Form::kCount, 11},
    {"minLength", ValidationKeyword::Form::kCount, 12},       {"pattern", ValidationKeyword::Form::kText, 13},
    {"maxItems", ValidationKeyword::Form::kCount, 14},        {"minItems", ValidationKeyword::Form::kCount, 15},
    {"uniqueItems", ValidationKeyword::Form::kFlag, 16},      {"maxProperties", ValidationKeyword::Form::kCount, 17},
    {"minProperties", ValidationKeyword::Form::kCount, 18},   {"enum", ValidationKeyword::Form::kValues, 20}};

std::string reference_v2(std::string_view reference) {
  constexpr std::string_view kThree = "#/components/schemas/";
  return "#/definitions/" + std::string{reference.starts_with(kThree) ? reference.substr(kThree.size()) : reference};
}

Value schema_v2(const Value& from) {
  Value to = Value::object();
  if (const Value* reference = from.find("$ref")) {
    to.set("$ref", reference_v2(reference->as_string()));
    return to;
  }
  // How kube-apiserver writes a reference that has a description or a default beside it.
  if (const Value& all = from["allOf"]; all.size() == 1 && all[0].contains("$ref")) return schema_v2(all[0]);
  if (const Value* description = from.find("description")) to.set("description", *description);
  for (const auto& member : from.members()) {
    if (member.key().starts_with("x-kubernetes-")) to.set(member.key(), member.value);
  }
  if (from["x-kubernetes-int-or-string"].as_bool()) {
    to.erase("x-kubernetes-int-or-string");
    to.set("type", "string");
    to.set("format", "int-or-string");
    return to;
  }
  // Version 2 knows neither null nor fields beside the named ones: any value is valid then.
  if (from["nullable"].as_bool() || from["x-kubernetes-preserve-unknown-fields"].as_bool()) return to;
  for (const char* key : {"type", "format"}) {
    if (const Value* value = from.find(key)) to.set(key, *value);
  }
  for (const ValidationKeyword& keyword : kKeywords) {
    if (const Value* value = from.find(keyword.name); value != nullptr && keyword.fits(*value)) {
      to.set(keyword.name, *value);
    }
  }
  for (const Value& name : from["required"].items()) {
    if (!from["properties"][name.as_string()]["nullable"].as_bool()) to.edit("required").push_back(name);
  }
  for (const auto& property : from["properties"].members()) {
    to.edit("properties").set(property.key(), schema_v2(property.value));
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (const Value* below = from.find(key); below != nullptr && below->is_object()) to.set(key, schema_v2(*below));
  }
  return to;
}

Value parameters_v2(const Value& from) {
  Value to = Value::array();
  for (const Value& parameter : from.items()) {
    if (parameter["name"].as_string().empty()) continue;  // a reference
    Value converted = Value::object({{"name", parameter["name"]}, {"in", parameter["in"]}});
    converted.set("type", parameter["schema"]["type"]);
    converted.set("uniqueItems", true);
    if (parameter["required"].as_bool()) converted.set("required", true);
    to.push_back(std::move(converted));
  }
  return to;
}

Value operation_v2(const Value& from) {
  Value to = Value::object();
  for (const auto& member : from.members()) {
    if (member.key().starts_with("x-kubernetes-")) to.set(member.key(), member.value);
  }
  if (from["operationId"].is_string()) to.set("operationId", from["operationId"]);
  for (const Value& tag : from["tags"].items()) {
    if (tag.is_string()) to.edit("tags").push_back(tag);
  }
  Value parameters = parameters_v2(from["parameters"]);
  if (const Value* body = from.find("requestBody")) {
    Value consumes = Value::array();
    for (const auto& type : (*body)["content"].members()) consumes.push_back(type.key());
    to.set("consumes", std::move(consumes));
    const auto forms = (*body)["content"].members();
    const Value schema = forms.empty() ? Value{} : schema_v2(forms.front().value["schema"]);
    Value parameter = Value::object({{"name", "body"}, {"in", "body"}, {"schema", schema}});
    if ((*body)["required"].as_bool()) parameter.set("required", true);
    parameters.push_back(std::move(parameter));
  }
  to.set("parameters", std::move(parameters));
  to.set("produces", Value::array({"application/json", "application/yaml"}));
  for (const std::string_view code : {"200", "201", "202"}) {
    const Value* answer = from["responses"].find(code);
    if (answer == nullptr && code != "200") continue;  // an operation has at least one answer
    const Value& described = from["responses"][code];
    to.edit("responses")
        .set(code, Value::object({{"description", described["description"]},
                                  {"schema", schema_v2(described["content"]["application/json"]["schema"])}}));
  }
  return to;
}

// --- protobuf ----------------------------------------------------------------------------------------------------

void put_varint(std::string& out, uint64_t value) {
  for (; value > 127; value >>= 7U) out += static_cast<char>((value & 127U) | 128U);
  out += static_cast<char>(value);
}

void put(std::string& out, uint32_t number, std::string_view bytes) {
  put_varint(out, uint64_t{number} << 3U | 2U);
  put_varint(out, bytes.size());
  out += bytes;
}

void put_count(std::string& out, uint32_t number, uint64_t count) {
  if (count == 0) return;
  put_varint(out, uint64_t{number} << 3U);
  put_varint(out, count);
}

void put_number(std::string& out, uint32_t number, double value) {
  put_varint(out, uint64_t{number} << 3U | 1U);
  auto bits = std::bit_cast<uint64_t>(value);
  for (size_t byte = 0; byte < sizeof bits; ++byte, bits >>= 8U) out += static_cast<char>(bits & 255U);
}

void put_text(std::string& out, uint32_t number, const Value& text) {
  if (!text.as_string().empty()) put(out, number, text.as_string());
}

void put_texts(std::string& out, uint32_t number, const Value& texts) {
  for (const Value& text : texts.items()) put(out, number, text.as_string());
}

std::string wrapped(uint32_t number, std::string_view bytes) {
  std::string out;
  put(out, number, bytes);
  return out;
}

std::string named(std::string_view name, std::string_view value) {
  std::string out;
  put(out, 1, name);
  put(out, 2, value);
  return out;
}

/// Extensions are text: JSON is YAML too.
void put_extensions(std::string& out, uint32_t number, const Value& object) {
  for (const auto& member : object.members()) {
    if (!member.key().starts_with("x-")) continue;
    put(out, number, named(member.key(), wrapped(2, to_json(member.value))));
  }
}

void put_validation(std::string& out, const Value& schema) {
  for (const auto& [name, form, number] : kKeywords) {
    const Value* value = schema.find(name);
    if (value == nullptr) continue;
    switch (form) {
      case ValidationKeyword::Form::kText:
        put_text(out, number, *value);
        break;
      case ValidationKeyword::Form::kFlag:
        put_count(out, number, value->as_bool() ? 1 : 0);
        break;
      case ValidationKeyword::Form::kCount:
        put_count(out, number, static_cast<uint64_t>(value->as_int()));
        break;
      case ValidationKeyword::Form::kNumber:
        put_number(out, number, value->as_double());
        break;
      case ValidationKeyword::Form::kValues:
        for (const Value& each : value->items()) put(out, number, wrapped(2, to_json(each)));
        break;
    }
  }
}

std::string schema_bytes(const Value& schema) {
  std::string out;
  put_text(out, 1, schema["$ref"]);
  put_text(out, 2, schema["format"]);
  put_text(out, 4, schema["description"]);
  put_validation(out, schema);
  put_texts(out, 19, schema["required"]);
  if (const Value* below = schema.find("additionalProperties")) put(out, 21, wrapped(1, schema_bytes(*below)));
  if (const Value* type = schema.find("type")) put(out, 22, wrapped(1, type->as_string()));
  if (const Value* items = schema.find("items")) put(out, 23, wrapped(1, schema_bytes(*items)));
  std::string properties;
  for (const auto& property : schema["properties"].members()) {
    put(properties, 1, named(property.key(), schema_bytes(property.value)));
  }
  if (!properties.empty()) put(out, 25, properties);
  put_extensions(out, 31, schema);
  return out;
}

/// ParametersItem: a body, or something else by where it stands.
std::string parameter_bytes(const Value& parameter) {
  std::string out;
  const std::string_view in = parameter["in"].as_string();
  if (in == "body") {
    put_text(out, 2, parameter["name"]);
    put_text(out, 3, parameter["in"]);
    put_count(out, 4, parameter["required"].as_bool() ? 1 : 0);
    put(out, 5, schema_bytes(parameter["schema"]));
    return wrapped(1, wrapped(1, out));
  }
  const bool path = in == "path";
  put_count(out, 1, parameter["required"].as_bool() ? 1 : 0);
  put_text(out, 2, parameter["in"]);
  put_text(out, 4, parameter["name"]);
  put_text(out, path ? 5 : 6, parameter["type"]);
  if (!path) put_count(out, 20, parameter["uniqueItems"].as_bool() ? 1 : 0);
  return wrapped(1, wrapped(2, wrapped(path ? 4 : 3, out)));
}

std::string operation_bytes(const Value& operation) {
  std::string out;
  put_texts(out, 1, operation["tags"]);
  put_text(out, 5, operation["operationId"]);
  put_texts(out, 6, operation["produces"]);
  put_texts(out, 7, operation["consumes"]);
  for (const Value& parameter : operation["parameters"].items()) put(out, 8, parameter_bytes(parameter));
  std::string responses;
  for (const auto& answer : operation["responses"].members()) {
    std::string response;
    put_text(response, 1, answer.value["description"]);
    put(response, 2, wrapped(1, schema_bytes(answer.value["schema"])));
    put(responses, 1, named(answer.key(), wrapped(1, response)));
  }
  put(out, 9, responses);
  put_extensions(out, 13, operation);
  return out;
}

std::string path_bytes(const Value& item) {
  std::string out;
  for (const auto& [method, number] : kMethods) {
    if (const Value* operation = item.find(method)) put(out, number, operation_bytes(*operation));
  }
  for (const Value& parameter : item["parameters"].items()) put(out, 9, parameter_bytes(parameter));
  return out;
}

}  // namespace

Value to_swagger(const Value& document) {
  Value definitions = Value::object();
  for (const auto& schema : document["components"]["schemas"].members()) {
    definitions.set(schema.key(), schema_v2(schema.value));
  }
  Value paths = Value::object();
  for (const auto& path : document["paths"].members()) {
    Value item = Value::object();
    for (const auto& member : path.value.members()) {
      if (member.key() == "parameters") {
        item.set(member.key(), parameters_v2(member.value));
      } else if (std::ranges::find(kMethods, member.key(), &Method::first) != std::end(kMethods)) {
        item.set(member.key(), operation_v2(member.value));
      }
    }
    paths.set(path.key(), std::move(item));
  }
  return Value::object({{"definitions", std::move(definitions)}, {"paths", std::move(paths)}});
}

SwaggerParts encode_swagger(const Value& swagger) {
  SwaggerParts parts;
  for (const auto& definition : swagger["definitions"].members()) {
    put(parts.definitions, 1, named(definition.key(), schema_bytes(definition.value)));
  }
  for (const auto& path : swagger["paths"].members()) {
    put(parts.paths, 2, named(path.key(), path_bytes(path.value)));
  }
  return parts;
}

std::string encode_swagger_document(const std::string& definitions, const std::string& paths) {
  std::string out;
  put(out, 1, std::string_view{"2.0"});
  put(out, 2, named("shiplog", "v1"));
  put(out, 8, paths);
  put(out, 9, definitions);
  return out;
}

}  // namespace shiplog::api
