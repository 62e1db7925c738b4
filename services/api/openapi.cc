#include "services/api/openapi.h"

#include "events/kinds/builtin_kinds.h"
#include "events/kinds/builtin_schema.h"
#include "events/state/object.h"
#include "services/api/kind_registry.h"
#include "services/api/openapi_names.h"
#include "services/api/openapi_paths.h"

namespace shiplog::api {
namespace {

/// What field selectors may name, for clients; null: nothing besides name and namespace.
Value selectable_fields_of(const Kind& kind) {
  if (kind.selectable_fields.empty()) return {};
  Value fields = Value::array();
  for (const std::string& path : kind.selectable_fields) fields.push_back(Value::object({{"fieldPath", path}}));
  return fields;
}

/// Custom resources' schemas omit the fields of every object; a client that validates must know them all (OA-7).
Value whole_schema(const Kind& kind) {
  Value schema = kind.schema == nullptr ? Value::object({{"type", "object"}}) : to_openapi(*kind.schema);
  if (kind.builtin) return schema;
  static const Value kMetadata = to_openapi(*object_meta_schema());
  Value& properties = schema.edit("properties");
  for (const char* text : {"apiVersion", "kind"}) properties.set(text, Value::object({{"type", "string"}}));
  properties.set("metadata", kMetadata);
  return schema;
}

const Value& text_schema() {
  static const Value kText = Value::object({{"type", "string"}});
  return kText;
}

Value object_of(const Value& properties) { return Value::object({{"type", "object"}, {"properties", properties}}); }

/// A message that is a whole body.
Value body_schema(const char* message) {
  Value schema = to_openapi(*message_schemas().find(message)->second);
  for (const char* field : {"apiVersion", "kind"}) schema.edit("properties").set(field, text_schema());
  return schema;
}

Value list_schema(const Kind& kind) {
  const Value items = Value::object({{"type", "array"}, {"items", reference_to(definition_of(kind))}});
  Value schema = object_of(Value::object({{"apiVersion", text_schema()},
                                          {"items", items},
                                          {"kind", text_schema()},
                                          {"metadata", reference_to(kListMetaDefinition)}}));
  schema.set("required", Value::array({"items"}));
  schema.set("x-kubernetes-group-version-kind", Value::array({group_version_kind(kind, kind.list_kind)}));
  return schema;
}

Value list_meta_schema() {
  return object_of(Value::object({{"continue", text_schema()},
                                  {"remainingItemCount", Value::object({{"type", "integer"}, {"format", "int64"}})},
                                  {"resourceVersion", text_schema()},
                                  {"selfLink", text_schema()}}));
}

Value status_schema() {
  const Value number = Value::object({{"type", "integer"}, {"format", "int32"}});
  const Value cause =
      object_of(Value::object({{"field", text_schema()}, {"message", text_schema()}, {"reason", text_schema()}}));
  const Value details = object_of(Value::object({{"causes", Value::object({{"type", "array"}, {"items", cause}})},
                                                 {"group", text_schema()},
                                                 {"kind", text_schema()},
                                                 {"name", text_schema()},
                                                 {"retryAfterSeconds", number},
                                                 {"uid", text_schema()}}));
  Value schema = object_of(Value::object({{"apiVersion", text_schema()},
                                          {"code", number},
                                          {"details", details},
                                          {"kind", text_schema()},
                                          {"message", text_schema()},
                                          {"metadata", reference_to(kListMetaDefinition)},
                                          {"reason", text_schema()},
                                          {"status", text_schema()}}));
  schema.set("x-kubernetes-group-version-kind",
             Value::array({Value::object({{"group", ""}, {"version", "v1"}, {"kind", "Status"}})}));
  return schema;
}

/// Where a schema contains itself, to_openapi() ends with any object.
void refer_where_it_ends(Value& schema) {
  if (schema["type"].as_string() == "object" && schema["x-kubernetes-preserve-unknown-fields"].as_bool()) {
    schema = reference_to(kJsonSchemaDefinition);
    return;
  }
  for (const char* below : {"items", "additionalProperties"}) {
    if (schema[below].is_object()) refer_where_it_ends(schema.edit(below));
  }
}

/// The schemas in definitions of custom resources, as a definition of its own: Terraform's kubernetes_manifest takes
/// what refers to it for a value of any type, and reads everything else as having one type.
Value json_schema() {
  Value schema = to_openapi(*message_schemas().find("apiextensions.JSONSchemaProps")->second);
  Value properties = schema["properties"];
  for (const auto& property : schema["properties"].members()) refer_where_it_ends(properties.edit(property.key()));
  schema.set("properties", std::move(properties));
  return schema;
}

void refer_to_json_schema(Value& definition) {
  Value& version =
      definition.edit("properties").edit("spec").edit("properties").edit("versions").edit("items").edit("properties");
  version.edit("schema").edit("properties").set("openAPIV3Schema", reference_to(kJsonSchemaDefinition));
}

}  // namespace

const Value& shared_schemas() {
  // Terraform's kubernetes_manifest looks the metadata of every object up by the name of its definition.
  static const Value kShared = Value::object({{kListMetaDefinition, list_meta_schema()},
                                              {kObjectMetaDefinition, to_openapi(*object_meta_schema())},
                                              {kStatusDefinition, status_schema()},
                                              {kDeleteOptionsDefinition, body_schema("meta.DeleteOptions")},
                                              {kScaleDefinition, body_schema("autoscaling.Scale")}});
  return kShared;
}

Value openapi_document(const Kinds& kinds, std::string_view group, std::string_view version) {
  Value schemas = Value::object();
  Value paths = Value::object();
  for (const auto& kind : kinds.all()) {
    if (kind->group != group || kind->version != version) continue;
    Value schema = whole_schema(*kind);
    schema.set("x-kubernetes-group-version-kind", Value::array({group_version_kind(*kind, kind->kind)}));
    if (Value fields = selectable_fields_of(*kind); !fields.is_null()) {
      schema.set("x-kubernetes-selectable-fields", std::move(fields));
    }
    if (kind->builtin && kind->type() == type::kCustomResourceDefinition) {
      refer_to_json_schema(schema);
      schemas.set(kJsonSchemaDefinition, json_schema());
    }
    schemas.set(definition_of(*kind), std::move(schema));
    if (!is_review(*kind)) schemas.set(list_definition_of(*kind), list_schema(*kind));
    add_paths(paths, *kind);
  }
  if (schemas.size() == 0) return {};
  for (const auto& shared : shared_schemas().members()) schemas.set(shared.key(), shared.value);
  return Value::object({{"openapi", "3.0.0"},
                        {"info", Value::object({{"title", "shiplog"}, {"version", "v1"}})},
                        {"paths", paths},
                        {"components", Value::object({{"schemas", schemas}})}});
}

}  // namespace shiplog::api
