#include "services/api/openapi.h"

#include <set>

#include "events/kinds/builtin_kinds.h"
#include "services/api/kind_registry.h"

namespace shiplog::api {
namespace {

std::string prefix_of(const Kind& kind) {
  return kind.group.empty() ? "api/" + kind.version : "apis/" + kind.group + "/" + kind.version;
}

/// "work.karmada.io" as "io.karmada.work".
std::string reversed(std::string_view group) {
  std::string text;
  for (size_t end = group.size(); end != std::string_view::npos;) {
    const size_t dot = end == 0 ? std::string_view::npos : group.rfind('.', end - 1);
    const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    text += (text.empty() ? "" : ".") + std::string{group.substr(begin, end - begin)};
    end = dot;
  }
  return text;
}

/// Upstream's names, which generated clients bear: after the Go package of a built-in kind, and the group of any other.
std::string definition_of(const Kind& kind) {
  const std::string name = "." + kind.version + "." + kind.kind;
  if (!kind.builtin) return reversed(kind.group) + name;
  if (kind.group == "apiextensions.k8s.io") return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" + name;
  if (kind.group == "apiregistration.k8s.io") return "io.k8s.kube-aggregator.pkg.apis.apiregistration" + name;
  return "io.k8s.api." + (kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.'))) + name;
}

Value gvk_of(const Kind& kind) {
  return Value::object({{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
}

Value query(const char* name, const char* type) {
  return Value::object(
      {{"name", name}, {"in", "query"}, {"schema", Value::object({{"type", type}, {"uniqueItems", true}})}});
}

Value path_parameter(const char* name) {
  return Value::object({{"name", name},
                        {"in", "path"},
                        {"required", true},
                        {"schema", Value::object({{"type", "string"}, {"uniqueItems", true}})}});
}

Value body_of(const std::vector<std::string>& media_types, const Value& schema) {
  Value content = Value::object();
  for (const std::string& type : media_types) content.set(type, Value::object({{"schema", schema}}));
  return Value::object({{"content", content}, {"required", true}});
}

Value operation(const Kind& kind, const char* action, const Value& parameters, Value body) {
  const Value reference = Value::object({{"$ref", "#/components/schemas/" + definition_of(kind)}});
  Value made = Value::object(
      {{"x-kubernetes-group-version-kind", gvk_of(kind)},
       {"x-kubernetes-action", action},
       {"parameters", parameters},
       {"responses",
        Value::object(
            {{"200", Value::object({{"description", "OK"},
                                    {"content", Value::object({{"application/json",
                                                                Value::object({{"schema", reference}})}})}})}})}});
  if (!body.is_null()) made.set("requestBody", std::move(body));
  return made;
}

void add_paths(Value& paths, const Kind& kind) {
  const Value reference = Value::object({{"$ref", "#/components/schemas/" + definition_of(kind)}});
  const std::string collection =
      "/" + prefix_of(kind) + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural;
  const Value write = Value::array({query("dryRun", "string"), query("fieldManager", "string"),
                                    query("fieldValidation", "string"), query("pretty", "string")});
  const Value patch =
      Value::array({query("dryRun", "string"), query("fieldManager", "string"), query("fieldValidation", "string"),
                    query("force", "boolean"), query("pretty", "string")});
  Value in_path = Value::array();
  if (kind.namespaced) in_path.push_back(path_parameter("namespace"));

  Value many = Value::object({{"parameters", in_path}});
  many.set("post", operation(kind, "post", write, body_of({"application/json", "application/yaml"}, reference)));
  if (is_review(kind)) return paths.set(collection, many);
  many.set("get", operation(kind, "list", Value::array(), {}));
  if (can_delete_collection(kind)) many.set("delete", operation(kind, "deletecollection", Value::array(), {}));
  paths.set(collection, many);
  if (kind.namespaced) {  // of all namespaces: where kubectl 1.27 looks for what it is to explain
    const Value all = Value::object({{"get", operation(kind, "list", Value::array(), {})}});
    paths.set("/" + prefix_of(kind) + "/" + kind.plural, all);
  }

  Value one_path = in_path;
  one_path.push_back(path_parameter("name"));
  Value path_item = Value::object({{"parameters", one_path}});
  path_item.set("get", operation(kind, "get", Value::array(), {}));
  path_item.set("put", operation(kind, "put", write, body_of({"application/json", "application/yaml"}, reference)));
  // A client sends a strategic merge patch wherever it is named here: never for custom resources (OA-11).
  std::vector<std::string> patches = {"application/apply-patch+yaml", "application/json-patch+json",
                                      "application/merge-patch+json"};
  if (kind.builtin) patches.emplace_back("application/strategic-merge-patch+json");
  path_item.set("patch", operation(kind, "patch", patch, body_of(patches, Value::object({{"type", "object"}}))));
  path_item.set("delete", operation(kind, "delete", Value::array({query("dryRun", "string")}), {}));
  paths.set(collection + "/{name}", path_item);
}

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

}  // namespace

Value openapi_document(const Kinds& kinds, std::string_view group, std::string_view version) {
  Value schemas = Value::object();
  Value paths = Value::object();
  for (const auto& kind : kinds.all()) {
    if (kind->group != group || kind->version != version) continue;
    Value schema = whole_schema(*kind);
    schema.set("x-kubernetes-group-version-kind", Value::array({gvk_of(*kind)}));
    if (Value fields = selectable_fields_of(*kind); !fields.is_null()) {
      schema.set("x-kubernetes-selectable-fields", std::move(fields));
    }
    schemas.set(definition_of(*kind), std::move(schema));
    add_paths(paths, *kind);
  }
  if (schemas.size() == 0) return {};
  return Value::object({{"openapi", "3.0.0"},
                        {"info", Value::object({{"title", "shiplog"}, {"version", "v1"}})},
                        {"paths", paths},
                        {"components", Value::object({{"schemas", schemas}})}});
}

}  // namespace shiplog::api
