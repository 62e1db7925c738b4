#include "events/kinds/structural_schema.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/kinds/builtin_kinds.h"
#include "events/kinds/cause_reasons.h"
#include "events/kinds/pattern.h"
#include "events/kinds/structural_rules.h"

namespace shiplog {
namespace {

using Type = Schema::Type;

// A structural schema has two parts: the structure defines the fields; below allOf, anyOf, oneOf and not, values are
// only validated, so these must not define pruning or defaults. The metadata of a resource, and of an embedded one, is
// a structure that the document may only restrict.
enum class Part { kRoot, kStructure, kItems, kMetadata, kValues };

/// Without blanks around it.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

class StructuralSchemaReader {
 public:
  StructuralSchemaReader(DefinitionBudget* budget, std::vector<FieldCause>& causes)
      : budget_{budget}, causes_{causes} {}

  // Part of the document. Errors are prefixed with its path afterwards, so that no path is built for valid documents.
  std::shared_ptr<Schema> read_at(const Value& document, const std::string& place, Part part) {
    const size_t before = causes_.size();
    auto schema = read(document, part);
    for (size_t i = before; i < causes_.size(); ++i) causes_[i].field.insert(0, place);
    return schema;
  }

 private:
  std::shared_ptr<Schema> read(const Value& document, Part part) {
    auto schema = std::make_shared<Schema>();
    if (!document.is_object()) {
      add("", kInvalid, "Invalid value: must be a schema");
      return schema;
    }
    refuse_unsupported(document);
    read_type(document, part, *schema);
    schema->description = document["description"].str();
    schema->format = document["format"].str();
    schema->nullable = document["nullable"].as_bool();
    read_structure(document, part, *schema);
    read_bounds(document, *schema);
    read_junctors(document, *schema);
    if (part == Part::kValues) return schema;
    read_rules(document, *schema);
    read_lists(document, *schema);
    if (part == Part::kRoot || schema->embedded_resource) become_object(document, part, *schema);
    read_fallback(document, part, *schema);
    return schema;
  }

  void add(std::string field, const char* reason, std::string message) {
    if (causes_.size() >= kEnoughCauses) return;
    causes_.push_back({std::move(field), reason, std::move(message)});
  }

  void refuse_unsupported(const Value& document) {
    for (const char* key : {"$ref", "id", "definitions", "dependencies", "patternProperties", "additionalItems"}) {
      if (document.contains(key))
        add(std::string{"."} + key, kForbidden, std::string{"Forbidden: "} + key + " is not supported");
    }
    if (document["uniqueItems"].as_bool()) {
      add(".uniqueItems", kForbidden,
          "Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
  }

  void read_type(const Value& document, Part part, Schema& schema) {
    const std::string_view type = document["type"].as_string();
    const bool int_or_string = document["x-kubernetes-int-or-string"].as_bool();
    schema.preserve_unknown = document["x-kubernetes-preserve-unknown-fields"].as_bool();
    if (int_or_string) {
      schema.type = Type::kIntOrString;
      if (!type.empty()) {
        add(".type", kForbidden, "Forbidden: must be empty if x-kubernetes-int-or-string is true");
      }
    } else if (type == "object") {
      schema.type = Type::kObject;
    } else if (type == "array") {
      schema.type = Type::kArray;
    } else if (type == "string") {
      schema.type = Type::kString;
    } else if (type == "integer") {
      schema.type = Type::kInteger;
    } else if (type == "number") {
      schema.type = Type::kNumber;
    } else if (type == "boolean") {
      schema.type = Type::kBoolean;
    } else if (!type.empty()) {
      add(".type", kNotSupported,
          "Unsupported value: \"" + std::string{type} +
              "\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
      if (type == "null") {
        add(".type", kForbidden, "Forbidden: type cannot be set to null, use nullable as an alternative");
      }
    } else if (part != Part::kValues && !schema.preserve_unknown &&
               !document["x-kubernetes-embedded-resource"].as_bool()) {
      const char* where = part == Part::kRoot    ? "at the root"
                          : part == Part::kItems ? "for specified array items"
                                                 : "for specified object fields";
      add(".type", kRequired, std::string{"Required value: must not be empty "} + where);
    }
    if (part == Part::kRoot && type != "object" && !type.empty()) {
      add(".type", kInvalid, "Invalid value: \"" + std::string{type} + "\": must be object at the root");
    }
  }

  void read_structure(const Value& document, Part part, Schema& schema) {
    const bool keeps = part == Part::kValues || part == Part::kMetadata;
    const Part below = keeps ? part : Part::kStructure;
    schema.embedded_resource = document["x-kubernetes-embedded-resource"].as_bool();
    const bool is_resource = !keeps && (part == Part::kRoot || schema.embedded_resource);
    for (const auto& member : document["properties"].members()) {
      const std::string name{member.key()};
      const bool is_meta = is_resource && (name == "apiVersion" || name == "kind" || name == "metadata");
      schema.properties.emplace(name,
                                read_at(member.value, ".properties[" + name + "]", is_meta ? Part::kMetadata : below));
    }
    const Value& additional = document["additionalProperties"];
    if (additional.is_object()) {
      schema.additional = read_at(additional, ".additionalProperties", below);
    } else if (additional.as_bool()) {
      schema.preserve_unknown = true;
    }
    const Value& items = document["items"];
    if (items.is_array()) {
      add(".items", kForbidden, "Forbidden: items must be a schema object and not an array");
    } else if (!items.is_null()) {
      schema.items = read_at(items, ".items", keeps ? part : Part::kItems);
    } else if (schema.type == Type::kArray && part != Part::kValues) {
      add(".items", kRequired, "Required value: must be specified");
    }
    for (const Value& name : document["required"].items()) schema.required.push_back(name.str());
  }

  void read_bounds(const Value& document, Schema& schema) {
    for (const Value& allowed : document["enum"].items()) schema.allowed.push_back(allowed);
    const auto number = [&](const char* key, std::optional<double>& into) {
      if (document[key].is_number()) into = document[key].as_double();
    };
    const auto count = [&](const char* key, std::optional<int64_t>& into) {
      if (document[key].is_number()) into = document[key].as_int();
    };
    number("minimum", schema.minimum);
    number("maximum", schema.maximum);
    number("multipleOf", schema.multiple_of);
    schema.exclusive_minimum = document["exclusiveMinimum"].as_bool();
    schema.exclusive_maximum = document["exclusiveMaximum"].as_bool();
    count("minLength", schema.min_length);
    count("maxLength", schema.max_length);
    count("minItems", schema.min_items);
    count("maxItems", schema.max_items);
    count("minProperties", schema.min_properties);
    count("maxProperties", schema.max_properties);
    schema.pattern = document["pattern"].str();
    if (budget_ != nullptr && !schema.pattern.empty()) check_pattern(schema.pattern);
  }

  void check_pattern(const std::string& pattern) {
    if (budget_->pattern_bytes == 0 || !budget_->patterns.insert(pattern).second) return;
    std::string why;
    const auto bytes = pattern_bytes(pattern, &why);
    if (!bytes)
      add(".pattern", kInvalid,
          "Invalid value: \"" + pattern + "\": must be a valid regular expression, but isn't: " + why);
    // One that is too large may have taken as much time as the largest one that is not.
    const size_t needed = bytes.value_or(kMostPatternBytes);
    if (needed > budget_->pattern_bytes) {
      add(".pattern", kForbidden, "Forbidden: the patterns of the definition up to this one are too large together");
    }
    budget_->pattern_bytes -= std::min(needed, budget_->pattern_bytes);
  }

  void read_junctors(const Value& document, Schema& schema) {
    // The only form that is allowed for an int-or-string; it is equivalent to the type.
    const bool spelled_out = schema.type == Type::kIntOrString;
    const auto all = [&](const char* key, std::vector<std::shared_ptr<const Schema>>& into) {
      size_t index = 0;
      for (const Value& each : document[key].items()) {
        into.push_back(read_at(each, std::string{"."} + key + "[" + std::to_string(index++) + "]", Part::kValues));
      }
    };
    all("allOf", schema.all_of);
    all("oneOf", schema.one_of);
    all("anyOf", schema.any_of);
    if (spelled_out && schema.any_of.size() == 2 && schema.any_of[0]->type == Type::kInteger &&
        schema.any_of[1]->type == Type::kString) {
      schema.any_of.clear();
    }
    if (document.contains("not")) schema.none_of = read_at(document["not"], ".not", Part::kValues);
  }

  /// What can be said of the rules without knowing their language.
  void read_rules(const Value& document, Schema& schema) {
    size_t index = 0;
    for (const Value& each : document["x-kubernetes-validations"].items()) {
      const size_t before = causes_.size();
      ValidationRule rule{each["rule"].str(),   each["message"].str(),   each["messageExpression"].str(),
                          each["reason"].str(), each["fieldPath"].str(), std::nullopt};
      if (each["optionalOldSelf"].is_bool()) rule.optional_old_self = each["optionalOldSelf"].as_bool();
      check_rule(rule);
      const std::string place = ".x-kubernetes-validations[" + std::to_string(index++) + "]";
      for (size_t i = before; i < causes_.size(); ++i) causes_[i].field.insert(0, place);
      schema.rules.push_back(std::move(rule));
    }
  }

  void check_rule(const ValidationRule& rule) {
    const auto is_blank = [](const std::string& text) { return trimmed(text).empty(); };
    // A carriage return was no line break to earlier builds.
    const char* breaks = budget_ == nullptr ? "\n" : "\r\n";
    const auto has_lines = [&](std::string_view text) { return text.find_first_of(breaks) != std::string_view::npos; };
    if (is_blank(rule.rule)) {
      add(".rule", kRequired, "Required value: rule is not specified");
    } else if (!rule.message.empty() && is_blank(rule.message)) {
      add(".message", kInvalid, "Invalid value: " + quoted(rule.message) + ": must be non-empty if specified");
    } else if (has_lines(trimmed(rule.message))) {
      add(".message", kInvalid, "Invalid value: " + quoted(rule.message) + ": must not contain line breaks");
    } else if (has_lines(trimmed(rule.rule)) && rule.message.empty()) {
      add(".message", kRequired, "Required value: message must be specified if rule contains line breaks");
    }
    if (!rule.message_expression.empty() && is_blank(rule.message_expression)) {
      add(".messageExpression", kRequired, "Required value: messageExpression must be non-empty if specified");
    }
    constexpr std::array<std::string_view, 4> kReasons = {"FieldValueDuplicate", kForbidden, kInvalid, kRequired};
    if (!rule.reason.empty() && std::ranges::find(kReasons, rule.reason) == kReasons.end()) {
      add(".reason", kNotSupported,
          "Unsupported value: " + quoted(rule.reason) +
              ": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
              "\"FieldValueRequired\"");
    }
    if (!rule.field_path.empty() && is_blank(rule.field_path)) {
      add(".fieldPath", kInvalid, "Invalid value: " + quoted(rule.field_path) + ": must be non-empty if specified");
    } else if (has_lines(rule.field_path)) {
      add(".fieldPath", kInvalid, "Invalid value: " + quoted(rule.field_path) + ": must not contain line breaks");
    }
  }

  static void read_lists(const Value& document, Schema& schema) {
    const std::string_view list_type = document["x-kubernetes-list-type"].as_string();
    for (const Value& key : document["x-kubernetes-list-map-keys"].items()) schema.list_keys.push_back(key.str());
    if (list_type == "map" && !schema.list_keys.empty()) schema.list_type = Schema::ListType::kMap;
    if (list_type == "set") schema.list_type = Schema::ListType::kSet;
    schema.atomic_map = document["x-kubernetes-map-type"].as_string() == "atomic";
  }

  void read_fallback(const Value& document, Part part, Schema& schema) {
    const Value& fallback = document["default"];
    if (fallback.is_null()) return;
    if (part == Part::kMetadata) {  // what it means is known where the metadata of the resource is
      schema.fallback = fallback;
    } else {
      bool unknown = false;
      schema.fallback = prune_default(schema, fallback, unknown);
      if (unknown && budget_ != nullptr) add_wrong(".default", fallback, "must not have unknown fields");
    }
    if (budget_ == nullptr) return;
    // As it is written, as upstream does, not with the defaults of its fields, which multiply.
    for (const FieldCause& cause : validate(schema, fallback)) {
      add(".default" + (cause.field.empty() ? "" : "." + cause.field), kInvalid, cause.message);
    }
    check_size(schema, *schema.fallback);
  }

  void add_wrong(std::string field, const Value& value, const std::string& detail) {
    constexpr size_t kLongest = 512;
    add(std::move(field), kInvalid, "Invalid value: " + printable(to_json(value), kLongest) + ": " + detail);
  }

  void check_size(const Schema& schema, const Value& fallback) {
    if (budget_->default_bytes == 0) return;
    const DefaultedValue filled = fill_in_defaults(schema, fallback, budget_->default_bytes);
    if (!filled.left_out) return;
    budget_->default_bytes = 0;
    add(".default", kForbidden,
        "Forbidden: the defaults of the definition up to this one, with the defaults of their fields, have more than " +
            std::to_string(kMostDefaultBytes) + " bytes");
  }

  /// apiVersion, kind and metadata are defined regardless of the document, which may restrict them. Of an embedded
  /// resource it may give them defaults too.
  void become_object(const Value& document, Part part, Schema& schema) {
    static const auto kText = [] {
      auto text = std::make_shared<Schema>();
      text->type = Type::kString;
      return std::shared_ptr<const Schema>{std::move(text)};
    }();
    for (const char* name : {"apiVersion", "kind", "metadata"}) {
      const auto& base = std::string_view{name} == "metadata" ? object_meta_schema() : kText;
      const auto own = schema.properties.find(name);
      if (own == schema.properties.end() || !restricts(document["properties"][name])) {
        schema.properties.insert_or_assign(name, base);
      } else {
        own->second = restricted(*base, *own->second, part, std::string{".properties["} + name + "]");
      }
    }
  }

  /// Whether a part of the document does more than to name fields.
  static bool restricts(const Value& document) {
    static constexpr std::array<std::string_view, 3> kStructural = {"type", "title", "description"};
    return std::ranges::any_of(document.members(), [](const Value::Member& member) {
      if (member.key() == "properties") {
        return std::ranges::any_of(member.value.members(),
                                   [](const Value::Member& each) { return restricts(each.value); });
      }
      if (member.key() == "items" || member.key() == "additionalProperties") return restricts(member.value);
      return std::ranges::find(kStructural, member.key()) == kStructural.end();
    });
  }

  /// A part of the metadata that a kind's document restricts by `own`, at `place`. Fields that only `own` has are
  /// unknown.
  std::shared_ptr<const Schema> restricted(const Schema& base, const Schema& own, Part part, const std::string& place) {
    auto both = std::make_shared<Schema>(base);
    if (both->format.empty()) both->format = own.format;
    both->required.insert(both->required.end(), own.required.begin(), own.required.end());
    both->allowed = own.allowed;
    both->minimum = own.minimum;
    both->maximum = own.maximum;
    both->multiple_of = own.multiple_of;
    both->exclusive_minimum = own.exclusive_minimum;
    both->exclusive_maximum = own.exclusive_maximum;
    both->min_length = own.min_length;
    both->max_length = own.max_length;
    both->min_items = own.min_items;
    both->max_items = own.max_items;
    both->min_properties = own.min_properties;
    both->max_properties = own.max_properties;
    both->pattern = own.pattern;
    both->all_of = own.all_of;
    both->any_of = own.any_of;
    both->one_of = own.one_of;
    both->none_of = own.none_of;
    both->rules = own.rules;
    for (auto& [name, property] : both->properties) {
      const auto below = own.properties.find(name);
      if (below == own.properties.end()) continue;
      property = restricted(*property, *below->second, part, place + ".properties[" + name + "]");
    }
    if (both->additional != nullptr && own.additional != nullptr) {
      both->additional = restricted(*both->additional, *own.additional, part, place + ".additionalProperties");
    }
    if (both->items != nullptr && own.items != nullptr) {
      both->items = restricted(*both->items, *own.items, part, place + ".items");
    }
    if (own.fallback && part != Part::kRoot) take_metadata_default(*both, *own.fallback, place);
    return both;
  }

  /// Unknown fields of metadata are pruned and no error.
  void take_metadata_default(Schema& schema, const Value& fallback, const std::string& place) {
    bool unknown = false;
    schema.fallback = prune_default(schema, fallback, unknown);
    if (budget_ == nullptr) return;
    const auto wrong = validate(schema, *schema.fallback);
    if (wrong.empty()) return;
    const std::string field = wrong.front().field.empty() ? "" : wrong.front().field + ": ";
    add_wrong(place + ".default", fallback, "must result in valid metadata: " + field + wrong.front().message);
  }

  DefinitionBudget* budget_;
  std::vector<FieldCause>& causes_;
};

}  // namespace

std::shared_ptr<const Schema> read_structural_schema(const Value& document, const std::string& path,
                                                     DefinitionBudget* budget, std::vector<FieldCause>& causes) {
  auto schema = StructuralSchemaReader{budget, causes}.read_at(document, path, Part::kRoot);
  if (budget != nullptr) check_structural_rules(document, path, causes);
  return schema;
}

}  // namespace shiplog
