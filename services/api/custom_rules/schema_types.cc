#include "services/api/custom_rules/schema_types.h"

#include <utility>

#include "services/cel/field_names.h"

namespace shiplog::api {
namespace {

using cel::CelEncoding;
using cel::CelField;
using cel::CelObjectType;
using cel::CelType;

CelType text_type(const std::string& format) {
  if (format == "byte") return CelType::Kind::kBytes;
  if (format == "duration") return CelType::Kind::kDuration;
  if (format == "date" || format == "date-time") return CelType::Kind::kTimestamp;
  return CelType::Kind::kString;
}

CelField field_with(CelType type) { return CelField{std::move(type)}; }

/// Nothing else of the metadata is known to expressions.
CelField metadata_field() {
  auto object = std::make_shared<CelObjectType>();
  object->name = "object";
  object->escapes_names = true;
  object->fields.emplace("name", field_with(CelType::Kind::kString));
  object->fields.emplace("generateName", field_with(CelType::Kind::kString));
  return field_with(CelType::object(std::move(object)));
}

}  // namespace

const std::optional<CelField>& SchemaTypes::field_of(const Schema& schema, bool is_resource) {
  const std::pair key{&schema, is_resource};
  const auto known = converted_.find(key);
  if (known != converted_.end()) return known->second;
  auto made = convert(schema, is_resource);
  return converted_.emplace(key, std::move(made)).first->second;
}

std::optional<CelField> SchemaTypes::convert(const Schema& schema, bool is_resource) {
  switch (schema.type) {
    case Schema::Type::kAny:
      return std::nullopt;
    case Schema::Type::kIntOrString: {
      CelField field = field_with(CelType::Kind::kDyn);
      field.encoding = CelEncoding::kIntOrString;
      return field;
    }
    case Schema::Type::kArray:
      return list(schema);
    case Schema::Type::kObject:
      if (schema.additional != nullptr) return map(schema);
      return object(schema, is_resource || schema.embedded_resource);
    case Schema::Type::kString:
      return field_with(text_type(schema.format));
    case Schema::Type::kInteger:
      return field_with(CelType::Kind::kInt);
    case Schema::Type::kNumber:
      return field_with(CelType::Kind::kDouble);
    case Schema::Type::kBoolean:
      return field_with(CelType::Kind::kBool);
  }
  return std::nullopt;
}

std::optional<CelField> SchemaTypes::list(const Schema& schema) {
  if (schema.items == nullptr) return std::nullopt;
  const auto& item = field_of(*schema.items, schema.items->embedded_resource);
  if (!item) return std::nullopt;
  CelField field = field_with(CelType::list(item->type));
  if (schema.list_type == Schema::ListType::kSet) field.encoding = CelEncoding::kListSet;
  if (schema.list_type == Schema::ListType::kMap) field.encoding = CelEncoding::kListMap;
  field.list_keys = schema.list_keys;
  field.item = std::make_shared<const CelField>(*item);
  return field;
}

std::optional<CelField> SchemaTypes::map(const Schema& schema) {
  const auto& value = field_of(*schema.additional, schema.additional->embedded_resource);
  if (!value) return std::nullopt;
  CelField field = field_with(CelType::map(CelType::Kind::kString, value->type));
  field.item = std::make_shared<const CelField>(*value);
  return field;
}

CelField SchemaTypes::object(const Schema& schema, bool is_resource) {
  auto object = std::make_shared<CelObjectType>();
  object->name = "object";
  object->escapes_names = true;
  for (const auto& [name, property] : schema.properties) {
    if (is_resource && name == "metadata") continue;
    const auto& field = field_of(*property, property->embedded_resource);
    if (field && cel::escape_field_name(name)) object->fields.emplace(name, *field);
  }
  if (is_resource) {
    object->fields.insert_or_assign("apiVersion", field_with(CelType::Kind::kString));
    object->fields.insert_or_assign("kind", field_with(CelType::Kind::kString));
    object->fields.insert_or_assign("metadata", metadata_field());
  }
  return field_with(CelType::object(std::move(object)));
}

}  // namespace shiplog::api
