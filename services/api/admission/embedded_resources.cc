#include "services/api/admission/embedded_resources.h"

#include <algorithm>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/names.h"
#include "events/kinds/field_path.h"
#include "services/api/admission/metadata.h"
#include "services/api/custom_rules/rule_validation.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

/// A missing one is found by the schema.
void check_type_meta(const Value& resource, const std::string& prefix, Causes& causes) {
  const std::string_view version = resource["apiVersion"].as_string();
  if (std::ranges::count(version, '/') > 1) {
    causes.invalid(prefix + "apiVersion", resource["apiVersion"],
                   "unexpected GroupVersion string: " + std::string{version});
  }
  const std::string_view kind = resource["kind"].as_string();
  if (kind.empty()) return;
  if (const auto problem = service_name_problem(lower_case(kind))) {
    causes.invalid(prefix + "kind", resource["kind"], "may have mixed case, but should otherwise match: " + *problem);
  }
}

void check_embedded_metadata(const Value& metadata, const std::string& field, Causes& causes) {
  if (!metadata.is_object()) return;
  for (const char* name : {"name", "generateName"}) {
    const Value& given = metadata[name];
    const auto problem = path_segment_problem(given.as_string());
    if (!given.is_empty() && problem) causes.invalid(field + "." + name, given, *problem);
  }
  const Value& ns = metadata["namespace"];
  if (!ns.is_empty()) {
    if (const auto problem = label_problem(ns.as_string())) causes.invalid(field + ".namespace", ns, *problem);
  }
  if (metadata["generation"].as_int() < 0) {
    causes.invalid(field + ".generation", metadata["generation"], "must be greater than or equal to 0");
  }
  check_labels(metadata["labels"], field + ".labels", causes);
  check_annotations(metadata["annotations"], causes, field + ".annotations");
  check_owners(metadata["ownerReferences"], field + ".ownerReferences", causes);
  for (const Value& finalizer : metadata["finalizers"].items()) {
    const auto problem = qualified_name_problem(finalizer.as_string());
    if (problem) causes.invalid(field + ".finalizers", finalizer, *problem);
  }
}

void check_embedded_resource(const Value& resource, const std::string& place, Causes& causes) {
  const std::string prefix = place.empty() ? "" : place + ".";
  check_type_meta(resource, prefix, causes);
  check_embedded_metadata(resource["metadata"], prefix + "metadata", causes);
}

void visit_embedded(const Schema& schema, const Value& value, const FieldPath& place, Causes& causes) {
  if (value.is_array() && schema.items != nullptr) {
    for (size_t i = 0; i < value.size(); ++i) visit_embedded(*schema.items, value[i], FieldPath{place, i}, causes);
    return;
  }
  if (!value.is_object()) return;
  if (schema.embedded_resource) check_embedded_resource(value, place.text(), causes);
  for (const auto& member : value.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below != nullptr) visit_embedded(*below, member.value, FieldPath{place, member.key()}, causes);
  }
}

/// Defaults of the embedded resources of a schema, and of its fields.
class DefaultChecks {
 public:
  explicit DefaultChecks(Causes& causes) : causes_{causes} {}

  void check(const Schema& schema, const std::string& path) {
    if (schema.fallback) check_own(schema, path + ".default");
    for (const auto& [name, property] : schema.properties) {
      const std::string there = path + ".properties[" + name + "]";
      if (schema.embedded_resource && (name == "apiVersion" || name == "kind")) {
        check_part(Value::object({{name, fallback_of(*property)}}), *property, there);
      } else if (schema.embedded_resource && name == "metadata") {
        check_part(Value::object({{name, fallback_of(*property)}}), *property, there);
        for (const auto& [field, part] : property->properties) {
          check_part(Value::object({{name, Value::object({{field, fallback_of(*part)}})}}), *part,
                     there + ".properties[" + field + "]");
        }
      } else {
        check(*property, there);
      }
    }
    if (schema.items != nullptr) check(*schema.items, path + ".items");
  }

 private:
  static Value fallback_of(const Schema& schema) { return schema.fallback.value_or(Value{}); }

  void check_own(const Schema& schema, const std::string& place) {
    Causes found;
    visit_embedded(schema, *schema.fallback, FieldPath{}, found);
    for (FieldCause cause : found.take()) {
      cause.field = place + (cause.field.empty() ? "" : "." + cause.field);
      causes_.add(std::move(cause));
    }
  }

  /// The default of a part of a resource's metadata, within a resource that has nothing else.
  void check_part(const Value& resource, const Schema& part, const std::string& path) {
    if (!part.fallback) return;
    Causes found;
    check_embedded_resource(resource, "", found);
    if (!found.empty()) {
      causes_.invalid(path + ".default", *part.fallback, "must result in valid metadata: " + text_of(found.take()));
    }
  }

  Causes& causes_;
};

}  // namespace

void check_embedded_resources(const Schema& schema, const Value& object, Causes& causes) {
  visit_embedded(schema, object, FieldPath{}, causes);
}

void check_defaults(const Schema& schema, const RuleSet* rules, const std::string& path, Causes& causes) {
  DefaultChecks{causes}.check(schema, path);
  if (rules == nullptr) return;
  for (FieldCause& cause : validate_defaults(*rules, path)) causes.add(std::move(cause));
}

}  // namespace shiplog::api
