#include "events/kinds/structural_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/kinds/cause_reasons.h"

namespace shiplog {
namespace {

constexpr size_t kLongestShown = 512;

/// A part of the document, on the stack of the walk; converted to text only when there is something to report.
class SchemaPlace {
 public:
  explicit SchemaPlace(const std::string& path) : root_{&path} {}
  SchemaPlace(const SchemaPlace& parent, std::string_view keyword) : parent_{&parent}, keyword_{keyword} {}
  SchemaPlace(const SchemaPlace& parent, std::string_view keyword, std::string_view key)
      : parent_{&parent}, keyword_{keyword}, key_{key}, has_key_{true} {}
  SchemaPlace(const SchemaPlace& parent, std::string_view keyword, size_t index)
      : parent_{&parent}, keyword_{keyword}, key_{std::to_string(index)}, has_key_{true} {}

  std::string text() const {
    if (parent_ == nullptr) return *root_;
    const std::string above = parent_->text() + "." + std::string{keyword_};
    return has_key_ ? above + "[" + key_ + "]" : above;
  }

 private:
  const SchemaPlace* parent_ = nullptr;
  const std::string* root_ = nullptr;
  std::string_view keyword_;
  std::string key_;
  bool has_key_ = false;
};

enum class StructuralLevel { kRoot, kElement };

/// What the parts above mean for a part of the structure.
struct SchemaSurroundings {
  StructuralLevel level = StructuralLevel::kElement;
  bool in_metadata = false;             ///< apiVersion, kind or metadata of a resource, or a part of it
  std::string_view defaults_refused{};  ///< why there may be no default; empty: there may be one
};

bool is_of_resource(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

/// Whether Go's type of schemas has a value for it.
bool is_set(const Value& value) {
  return !value.is_null() && !(value.is_bool() && !value.as_bool()) &&
         !(value.is_string() && value.as_string().empty()) &&
         !((value.is_array() || value.is_object()) && value.size() == 0);
}

class StructuralRules {
 public:
  explicit StructuralRules(std::vector<FieldCause>& causes) : causes_{causes} {}

  void check(const Value& schema, const SchemaPlace& place, const SchemaSurroundings& around) {
    if (!schema.is_object() || causes_.size() >= kEnoughCauses) return;
    if (around.level == StructuralLevel::kRoot) check_root(schema, place);
    check_extensions(schema, place);
    check_embedded(schema, place, around);
    check_default(schema, place, around);
    check_list(schema, place);
    check_map(schema, place);
    check_junctors(schema, place);
    check_below(schema, place, around);
  }

  /// Every field that is named below a junctor of `value` is named by `structure`, at `place`, too.
  void check_complete(const Value& value, const Value& structure, const SchemaPlace& place, const SchemaPlace& at) {
    each_junctor(value, at, [&](const Value& each, const SchemaPlace& there, std::string_view, size_t) {
      check_counterpart(each, structure, place, there);
    });
  }

 private:
  void required(const SchemaPlace& place, const std::string& detail) {
    causes_.push_back({place.text(), kRequired, "Required value: " + detail});
  }
  void forbidden(const SchemaPlace& place, std::string_view detail) {
    causes_.push_back({place.text(), kForbidden, "Forbidden: " + std::string{detail}});
  }
  void invalid(const SchemaPlace& place, const Value& value, std::string_view detail) {
    causes_.push_back({place.text(), kInvalid,
                       "Invalid value: " + printable(to_json(value), kLongestShown) + ": " + std::string{detail}});
  }
  void not_supported(const SchemaPlace& place, const Value& value, std::string_view supported) {
    causes_.push_back({place.text(), kNotSupported,
                       "Unsupported value: " + printable(to_json(value), kLongestShown) +
                           ": supported values: " + std::string{supported}});
  }

  /// The type is missing or another one.
  void check_type(const Value& schema, const SchemaPlace& place, std::string_view type, const std::string& detail) {
    const Value& given = schema["type"];
    if (given.as_string() == type) return;
    const SchemaPlace there{place, "type"};
    if (given.is_empty()) return required(there, detail);
    invalid(there, given, detail);
  }

  void check_root(const Value& schema, const SchemaPlace& place) {
    if (schema["nullable"].as_bool()) forbidden({place, "nullable"}, "nullable cannot be true at the root");
    if (!schema["additionalProperties"].is_null()) {
      forbidden({place, "additionalProperties"}, "must not be used at the root");
    }
    const Value& metadata = schema["properties"]["metadata"];
    const bool other = std::ranges::any_of(metadata.members(), [](const Value::Member& member) {
      if (member.key() == "type" || member.key() == "default") return false;
      if (member.key() != "properties") return is_set(member.value);
      return !std::ranges::all_of(member.value.members(), [](const Value::Member& property) {
        return property.key() == "name" || property.key() == "generateName";
      });
    });
    if (other) {
      forbidden({place, "properties", "metadata"},
                "must not specify anything other than name and generateName, but metadata is implicitly specified");
    }
  }

  void check_extensions(const Value& schema, const SchemaPlace& place) {
    if (const Value& preserve = schema["x-kubernetes-preserve-unknown-fields"];
        preserve.is_bool() && !preserve.as_bool()) {
      invalid({place, "x-kubernetes-preserve-unknown-fields"}, preserve, "must be true or undefined");
    }
    if (!schema["x-kubernetes-int-or-string"].as_bool()) return;
    for (const char* other : {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (schema[other].as_bool()) {
        invalid({place, other}, schema[other], "must be false if x-kubernetes-int-or-string is true");
      }
    }
  }

  void check_embedded(const Value& schema, const SchemaPlace& place, const SchemaSurroundings& around) {
    const bool embedded = schema["x-kubernetes-embedded-resource"].as_bool();
    const Value& properties = schema["properties"];
    if (embedded || around.level == StructuralLevel::kRoot) {
      for (const char* name : {"kind", "apiVersion", "metadata"}) {
        const bool object = std::string_view{name} == "metadata";
        const Value& type = properties[name]["type"];
        if (!properties.contains(name) || type.as_string() == (object ? "object" : "string")) continue;
        const SchemaPlace property{place, "properties", std::string_view{name}};
        invalid({property, "type"}, type.is_null() ? Value{""} : type, object ? "must be object" : "must be string");
      }
    }
    if (!embedded) return;
    check_type(schema, place, "object", "must be object if x-kubernetes-embedded-resource is true");
    if (!schema["additionalProperties"].is_null()) {
      forbidden({place, "additionalProperties"}, "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (properties.size() == 0 && !schema["x-kubernetes-preserve-unknown-fields"].as_bool()) {
      required({place, "properties"},
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    }
    if (around.in_metadata) {
      forbidden({place, "x-kubernetes-embedded-resource"}, "must not be used inside of resource meta");
    }
  }

  void check_default(const Value& schema, const SchemaPlace& place, const SchemaSurroundings& around) {
    if (around.defaults_refused.empty() || schema["default"].is_null()) return;
    forbidden({place, "default"}, "must not be set " + std::string{around.defaults_refused});
  }

  void check_list(const Value& schema, const SchemaPlace& place) {
    const Value& type = schema["x-kubernetes-list-type"];
    const std::string_view word = type.as_string();
    const SchemaPlace type_place{place, "x-kubernetes-list-type"};
    if (schema["x-kubernetes-list-map-keys"].size() > 0 && word != "map") {
      constexpr const char* kWithKeys = "must be map if x-kubernetes-list-map-keys is non-empty";
      if (type.is_null()) {
        required(type_place, kWithKeys);
      } else {
        invalid(type_place, type, kWithKeys);
      }
    }
    if (type.is_null()) return;
    check_type(schema, place, "array", "must be array if x-kubernetes-list-type is specified");
    if (word != "atomic" && word != "set" && word != "map") {
      return not_supported(type_place, type, R"("atomic", "set", "map")");
    }
    if (word == "set") check_set_items(schema["items"], {place, "items"});
    if (word == "map") check_map_list(schema, place);
    if (word != "atomic" && schema["items"]["nullable"].as_bool()) {
      const SchemaPlace items{place, "items"};
      forbidden({items, "nullable"}, "cannot be nullable when x-kubernetes-list-type is " + std::string{word});
    }
  }

  /// Items of a set are compared as a whole.
  void check_set_items(const Value& items, const SchemaPlace& place) {
    constexpr const char* kAtomic = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const Value& list_type = items["x-kubernetes-list-type"];
    const std::string_view type = items["type"].as_string();
    if (type == "array" && !list_type.is_null() && list_type.as_string() != "atomic") {
      invalid({place, "x-kubernetes-list-type"}, list_type, kAtomic);
    }
    if (type == "object" && items["x-kubernetes-map-type"].as_string() != "atomic") {
      invalid({place, "x-kubernetes-map-type"}, list_type, kAtomic);
    }
  }

  void check_map_list(const Value& schema, const SchemaPlace& place) {
    const Value& keys = schema["x-kubernetes-list-map-keys"];
    const SchemaPlace keys_place{place, "x-kubernetes-list-map-keys"};
    const SchemaPlace items_place{place, "items"};
    const Value& items = schema["items"];
    if (keys.size() == 0) required(keys_place, "must not be empty if x-kubernetes-list-type is map");
    if (items.is_null()) required(items_place, "must have a schema if x-kubernetes-list-type is map");
    if (!items.is_object()) return;
    if (items["type"].as_string() != "object") {
      return invalid({items_place, "type"}, items["type"].is_null() ? Value{""} : items["type"],
                     "must be object if parent array's x-kubernetes-list-type is map");
    }
    std::set<std::string_view> seen;
    for (const Value& key : keys.items()) {
      if (!seen.insert(key.as_string()).second) invalid(keys_place, keys, "must not contain duplicate entries");
      if (const Value* property = items["properties"].find(key.as_string())) {
        check_list_key(key, *property, items["required"], {items_place, "properties", key.as_string()});
      } else {
        invalid(keys_place, keys, "entries must all be names of item properties");
      }
    }
  }

  void check_list_key(const Value& key, const Value& property, const Value& required_names, const SchemaPlace& place) {
    const std::string_view type = property["type"].as_string();
    if (type == "array" || type == "object") {
      invalid({place, "type"}, property["type"],
              "must be a scalar type if parent array's x-kubernetes-list-type is map");
    }
    const bool is_required = std::ranges::find(required_names.items(), key) != required_names.items().end();
    if (!is_required && property["default"].is_null()) {
      required({place, "default"},
               "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property");
    }
    if (property["nullable"].as_bool()) {
      forbidden({place, "nullable"}, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }

  void check_map(const Value& schema, const SchemaPlace& place) {
    const Value& type = schema["x-kubernetes-map-type"];
    if (type.is_null()) return;
    check_type(schema, place, "object", "must be object if x-kubernetes-map-type is specified");
    if (type.as_string() != "atomic" && type.as_string() != "granular") {
      not_supported({place, "x-kubernetes-map-type"}, type, R"("atomic", "granular")");
    }
  }

  template <class Visit>
  static void each_junctor(const Value& schema, const SchemaPlace& place, const Visit& visit) {
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      const Value& list = schema[keyword];
      for (size_t i = 0; i < list.items().size(); ++i) visit(list[i], SchemaPlace{place, keyword, i}, keyword, i);
    }
    if (const Value& none = schema["not"]; none.is_object()) visit(none, SchemaPlace{place, "not"}, "not", 0);
  }

  /// How an int-or-string may be written besides.
  static bool is_integer_or_string(const Value& any_of) {
    static const Value kForm =
        Value::array({Value::object({{"type", "integer"}}), Value::object({{"type", "string"}})});
    return any_of == kForm;
  }

  void check_junctors(const Value& schema, const SchemaPlace& place) {
    check_values_below(schema, place, is_integer_or_string(schema["anyOf"]),
                       is_integer_or_string(schema["allOf"][0]["anyOf"]));
  }

  /// `skips_any_of`: its anyOf is is_integer_or_string(); `skips_first`: that of the first part of its allOf is.
  void check_values_below(const Value& schema, const SchemaPlace& place, bool skips_any_of, bool skips_first) {
    each_junctor(schema, place,
                 [&](const Value& each, const SchemaPlace& there, std::string_view keyword, size_t index) {
                   if (skips_any_of && keyword == "anyOf") return;
                   check_values(each, there, skips_first && keyword == "allOf" && index == 0);
                 });
  }

  /// A part that only validates: what defines fields, prunes or fills in does not belong there.
  void check_values(const Value& schema, const SchemaPlace& place, bool skips_any_of) {
    if (!schema.is_object() || causes_.size() >= kEnoughCauses) return;
    constexpr std::array<std::pair<const char*, const char*>, 9> kRefused = {{
        {"type", "must be empty to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"},
    }};
    for (const auto& [keyword, detail] : kRefused) {
      if (is_set(schema[keyword])) forbidden({place, keyword}, detail);
    }
    for (const char* keyword : {"additionalProperties", "default", "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
      const Value& value = schema[keyword];
      const bool denies = std::string_view{keyword} == "additionalProperties" && value.is_bool() && !value.as_bool();
      if (!value.is_null() && !denies) forbidden({place, keyword}, "must be undefined to be structural");
    }
    const Value& properties = schema["properties"];
    if (properties.contains("metadata")) {
      forbidden({place, "properties", std::string_view{"metadata"}}, "must not be specified in a nested context");
    }
    for (const auto& member : properties.members()) {
      check_values(member.value, {place, "properties", member.key()}, false);
    }
    check_values(schema["items"], {place, "items"}, false);
    check_values_below(schema, place, skips_any_of, false);
  }

  void check_below(const Value& schema, const SchemaPlace& place, const SchemaSurroundings& around) {
    const bool root = around.level == StructuralLevel::kRoot;
    const bool resource = root || schema["x-kubernetes-embedded-resource"].as_bool();
    SchemaSurroundings inner = around;
    inner.level = StructuralLevel::kElement;
    const Value& properties = schema["properties"];
    for (const auto& member : properties.members()) {
      SchemaSurroundings there = inner;
      if (resource && is_of_resource(member.key())) {
        there.in_metadata = true;
        if (root) there.defaults_refused = of_top_level(member.key());
      }
      check(member.value, {place, "properties", member.key()}, there);
    }
    check(schema["items"], {place, "items"}, inner);
    const Value& additional = schema["additionalProperties"];
    if (properties.size() > 0 && (additional.is_object() || (additional.is_bool() && !additional.as_bool()))) {
      forbidden({place, "additionalProperties"}, "additionalProperties and properties are mutual exclusive");
    }
    if (around.in_metadata) inner.defaults_refused = "inside additionalProperties applying to object metadata";
    check(additional, {place, "additionalProperties"}, inner);
  }

  static std::string_view of_top_level(std::string_view name) {
    if (name == "metadata") return "in top-level metadata";
    return name == "kind" ? "in top-level kind" : "in top-level apiVersion";
  }

  void check_counterpart(const Value& value, const Value& structure, const SchemaPlace& place, const SchemaPlace& at) {
    if (causes_.size() >= kEnoughCauses) return;
    if (!structure.is_object()) return required(place, "because it is defined in " + at.text());
    check_complete(value, structure, place, at);
    if (const Value& items = value["items"]; items.is_object()) {
      check_counterpart(items, structure["items"], {place, "items"}, {at, "items"});
    }
    for (const auto& member : value["properties"].members()) {
      check_counterpart(member.value, structure["properties"][member.key()], {place, "properties", member.key()},
                        {at, "properties", member.key()});
    }
  }

  std::vector<FieldCause>& causes_;
};

}  // namespace

void check_structural_rules(const Value& document, const std::string& path, std::vector<FieldCause>& causes) {
  StructuralRules rules{causes};
  const SchemaPlace root{path};
  rules.check(document, root, {.level = StructuralLevel::kRoot});
  rules.check_complete(document, document, root, root);
}

void check_root_beside_status(const Value& document, const std::string& path, std::vector<FieldCause>& causes) {
  // The schema of the status is taken out of the properties, so what concerns the whole object would not apply to it.
  constexpr std::array<std::string_view, 22> kAllowed = {"description",
                                                         "type",
                                                         "format",
                                                         "title",
                                                         "maximum",
                                                         "exclusiveMaximum",
                                                         "minimum",
                                                         "exclusiveMinimum",
                                                         "maxLength",
                                                         "minLength",
                                                         "pattern",
                                                         "maxItems",
                                                         "minItems",
                                                         "uniqueItems",
                                                         "multipleOf",
                                                         "required",
                                                         "items",
                                                         "properties",
                                                         "externalDocs",
                                                         "example",
                                                         "x-kubernetes-preserve-unknown-fields",
                                                         "x-kubernetes-validations"};
  for (const auto& member : document.members()) {
    if (!is_set(member.value) || std::ranges::find(kAllowed, member.key()) != kAllowed.end()) continue;
    causes.push_back(
        {path, kInvalid,
         "Invalid value: " + printable(to_json(Value::object({{member.key(), member.value}})), kLongestShown) +
             ": only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
             "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs "
             "Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status "
             "subresource is enabled"});
    return;
  }
}

}  // namespace shiplog
