#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// A rule of x-kubernetes-validations: an expression of the Common Expression Language about the values of its schema.
struct ValidationRule {
  std::string rule;
  std::string message;
  std::string message_expression;
  std::string reason;      ///< Kubernetes' word, e.g. FieldValueForbidden; empty: FieldValueInvalid
  std::string field_path;  ///< ".a.b" below the schema; empty: the error is about the value itself
  std::optional<bool> optional_old_self;
};

/// The schema of one field: the structural part of OpenAPI v3 as Kubernetes uses it, with the list and patch semantics
/// of the built-in kinds. Both sources, CustomResourceDefinition documents and the table of built-in kinds, are
/// converted to this. Shared and immutable once built; recursive types (JSONSchemaProps) share nodes, so a walk must
/// follow a value. `format` of the built-in kinds determines the wire form of a value: int32, int64, double, byte
/// (base64 of bytes), date-time, micro-time, duration, quantity, int-or-string, fields-v1, raw-extension, json,
/// schema-or-array, schema-or-bool, schema-or-strings, strings; for a CustomResourceDefinition it is the author's text.
struct Schema {
  enum class Type : uint8_t { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean, kIntOrString };
  enum class ListType : uint8_t { kAtomic, kSet, kMap };

  Type type = Type::kAny;
  std::string description;
  std::string format;                                                            ///< see above
  std::map<std::string, std::shared_ptr<const Schema>, std::less<>> properties;  ///< of an object
  std::shared_ptr<const Schema> additional;  ///< values of a map; nullptr: no such keys
  std::shared_ptr<const Schema> items;       ///< of an array
  std::vector<std::string> required;
  std::vector<Value> allowed;     ///< enum; empty: anything
  std::optional<Value> fallback;  ///< default
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<int64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::string pattern;  ///< RE2/ECMAScript subset; empty: any
  std::vector<std::shared_ptr<const Schema>> all_of, any_of,
      one_of;                             ///< value validation only, as in structural schemas
  std::shared_ptr<const Schema> none_of;  ///< "not"
  bool nullable = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;  ///< an object with apiVersion, kind and metadata of its own
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys;  ///< of a kMap list
  bool atomic_map = false;
  std::vector<ValidationRule> rules;  ///< of the structural part only; services/api/custom_rules evaluates them
  bool patch_merge = false;           ///< strategic merge: lists merge by patch_key, objects merge
  bool patch_retain_keys = false;     ///< strategic merge: retainKeys
  std::string patch_key;              ///< merge key of a patch_merge list of objects; empty: list of scalars
  int32_t proto_number = 0;           ///< field number of the built-in kinds' protobuf form; 0: none
  int32_t proto_wrapper = 0;   ///< number of the message that contains this field in protobuf but not in JSON; 0: none
  bool proto_pointer = false;  ///< a zero on the wire means zero; without it, it means that the field is missing
  bool always = false;         ///< built-in kinds: Kubernetes writes the field even when it is empty
};

/// Removes the fields that the schema does not define (unless preserve_unknown), and appends the path of each to
/// `dropped` if given ("spec.replicaz"). metadata of the root and of embedded resources is not changed.
Value prune(const Schema& schema, Value value, std::vector<std::string>* dropped = nullptr);

/// Fills in missing fields that have a default, top down, as structural schemas do: a default inside an object applies
/// only where that object is present.
Value with_defaults(const Schema& schema, Value value);

/// The object of a built-in kind as Kubernetes' own types would write it. Fields with the zero value of their type are
/// removed if the type does not distinguish zero from a missing field: no items, no members of a map, "", 0, false.
/// Fields that are pointers or always written are kept, and so are the values of maps and lists. Times are in UTC, in
/// whole seconds or (micro-time) with six fractional digits; values that are not times are kept.
Value canonical(const Schema& schema, Value value);

/// Every violation with its path ("spec.placement.clusterTolerations[0].operator"); empty when valid.
std::vector<FieldCause> validate(const Schema& schema, const Value& value);

/// The OpenAPI v3 form.
Value to_openapi(const Schema& schema);

}  // namespace shiplog
