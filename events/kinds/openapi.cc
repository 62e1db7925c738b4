#include <algorithm>

#include "events/kinds/schema.h"

namespace shiplog {
namespace {

using Type = Schema::Type;

class OpenApiWriter {
 public:
  Value write(const Schema& schema) {
    Value out = Value::object();
    if (!schema.description.empty()) out.set("description", schema.description);
    write_type(schema, out);
    write_bounds(schema, out);
    write_semantics(schema, out);
    // A recursive schema (JSONSchemaProps) ends here: clients accept any object.
    const Schema* first = schema.properties.empty() ? nullptr : schema.properties.begin()->second.get();
    if (first != nullptr && std::find(open_.begin(), open_.end(), first) != open_.end()) {
      out.set("x-kubernetes-preserve-unknown-fields", true);
      return out;
    }
    open_.push_back(first);
    write_structure(schema, out);
    open_.pop_back();
    return out;
  }

 private:
  static void write_type(const Schema& schema, Value& out) {
    switch (schema.type) {
      case Type::kAny:
        break;
      case Type::kObject:
        out.set("type", "object");
        break;
      case Type::kArray:
        out.set("type", "array");
        break;
      case Type::kString:
        out.set("type", "string");
        break;
      case Type::kInteger:
        out.set("type", "integer");
        break;
      case Type::kNumber:
        out.set("type", "number");
        break;
      case Type::kBoolean:
        out.set("type", "boolean");
        break;
      case Type::kIntOrString:
        if (schema.format == "quantity") {
          out.set("type", "string");  // as Kubernetes publishes it; its clients accept numbers there too
        } else {
          out.set("x-kubernetes-int-or-string", true);
          out.set("anyOf", Value::array({Value::object({{"type", "integer"}}), Value::object({{"type", "string"}})}));
        }
        break;
    }
    // Formats that only our codec uses are not published.
    static constexpr const char* kPublished[] = {"int32", "int64", "double", "float", "byte", "date-time"};
    const bool internal = schema.proto_number != 0 && std::find(std::begin(kPublished), std::end(kPublished),
                                                                schema.format) == std::end(kPublished);
    if (schema.format == "micro-time") {
      out.set("format", "date-time");
    } else if (!schema.format.empty() && !internal && schema.type != Type::kIntOrString &&
               schema.type != Type::kArray) {
      out.set("format", schema.format);
    }
  }

  void write_bounds(const Schema& schema, Value& out) {
    if (!schema.allowed.empty()) out.set("enum", Value::array(Value::Array(schema.allowed)));
    if (schema.fallback) out.set("default", *schema.fallback);
    const auto number = [&](const char* key, const auto& bound) {
      if (bound) out.set(key, number_of(*bound));
    };
    number("minimum", schema.minimum);
    number("maximum", schema.maximum);
    number("multipleOf", schema.multiple_of);
    number("minLength", schema.min_length);
    number("maxLength", schema.max_length);
    number("minItems", schema.min_items);
    number("maxItems", schema.max_items);
    number("minProperties", schema.min_properties);
    number("maxProperties", schema.max_properties);
    if (schema.exclusive_minimum) out.set("exclusiveMinimum", true);
    if (schema.exclusive_maximum) out.set("exclusiveMaximum", true);
    if (!schema.pattern.empty()) out.set("pattern", schema.pattern);
    if (schema.nullable) out.set("nullable", true);
    const auto all = [&](const char* key, const std::vector<std::shared_ptr<const Schema>>& schemas) {
      for (const auto& each : schemas) out.edit(key).push_back(write(*each));
    };
    all("allOf", schema.all_of);
    all("anyOf", schema.any_of);
    all("oneOf", schema.one_of);
    if (schema.none_of != nullptr) out.set("not", write(*schema.none_of));
  }

  static void write_semantics(const Schema& schema, Value& out) {
    const auto strings = [&](const char* key, const std::vector<std::string>& texts) {
      for (const std::string& text : texts) out.edit(key).push_back(text);
    };
    if (schema.preserve_unknown) out.set("x-kubernetes-preserve-unknown-fields", true);
    if (schema.embedded_resource) out.set("x-kubernetes-embedded-resource", true);
    if (schema.list_type == Schema::ListType::kSet) out.set("x-kubernetes-list-type", "set");
    if (schema.list_type == Schema::ListType::kMap) out.set("x-kubernetes-list-type", "map");
    strings("x-kubernetes-list-map-keys", schema.list_keys);
    if (schema.atomic_map) out.set("x-kubernetes-map-type", "atomic");
    if (!schema.rules.empty()) out.set("x-kubernetes-validations", rules(schema.rules));
    std::string strategy = schema.patch_merge ? "merge" : "";
    if (schema.patch_retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
    if (!strategy.empty()) out.set("x-kubernetes-patch-strategy", strategy);
    if (!schema.patch_key.empty()) out.set("x-kubernetes-patch-merge-key", schema.patch_key);
    strings("required", schema.required);
  }

  static Value rules(const std::vector<ValidationRule>& rules) {
    Value list = Value::array();
    for (const ValidationRule& each : rules) {
      Value rule = Value::object({{"rule", each.rule}});
      const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) rule.set(key, text);
      };
      add("message", each.message);
      add("messageExpression", each.message_expression);
      add("reason", each.reason);
      add("fieldPath", each.field_path);
      if (each.optional_old_self) rule.set("optionalOldSelf", *each.optional_old_self);
      list.push_back(std::move(rule));
    }
    return list;
  }

  void write_structure(const Schema& schema, Value& out) {
    if (schema.format == "schema-or-array" || schema.format == "schema-or-bool") return;
    for (const auto& [name, property] : schema.properties) out.edit("properties").set(name, write(*property));
    if (schema.additional != nullptr) out.set("additionalProperties", write(*schema.additional));
    if (schema.items != nullptr) out.set("items", write(*schema.items));
  }

  static Value number_of(int64_t number) { return number; }
  static Value number_of(double number) {
    const auto whole = static_cast<int64_t>(number);
    return static_cast<double>(whole) == number ? Value{whole} : Value{number};
  }

  std::vector<const Schema*> open_;
};

}  // namespace

Value to_openapi(const Schema& schema) { return OpenApiWriter{}.write(schema); }

}  // namespace shiplog
