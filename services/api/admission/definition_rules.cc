#include <algorithm>

#include "events/state/object.h"
#include "services/api/admission/rules.h"

// CustomResourceDefinitions: CRD-1 to CRD-5, CRD-11.

namespace shiplog::api {
namespace {

Value condition(const char* type, const char* reason, const char* message, UtcMillis now) {
  return Value::object({{"type", type},
                        {"status", "True"},
                        {"lastTransitionTime", rfc3339(now)},
                        {"reason", reason},
                        {"message", message}});
}

void fill_definition(Value& object, const Write& write) {
  if (!object["spec"]["names"].is_object()) return;
  Value& names = object.edit("spec").edit("names");
  const std::string kind = names["kind"].str();
  if (names["singular"].is_empty()) {
    std::string lower = kind;
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    names.set("singular", lower);
  }
  if (names["listKind"].is_empty()) names.set("listKind", kind + "List");

  // The kind is served as soon as this is folded, so it is established here and now.
  Value status = write.old == nullptr ? Value::object() : (*write.old)["status"];
  if (!status.is_object()) status = Value::object();
  status.set("acceptedNames", object["spec"]["names"]);
  Value stored = status["storedVersions"].is_array() ? status["storedVersions"] : Value::array();
  for (const Value& version : object["spec"]["versions"].items()) {
    const auto known = stored.items();
    if (version["storage"].as_bool() && std::find(known.begin(), known.end(), version["name"]) == known.end()) {
      stored.push_back(version["name"]);
    }
  }
  status.set("storedVersions", std::move(stored));
  if (status["conditions"].size() == 0) {
    status.set("conditions", Value::array({condition("NamesAccepted", "NoConflicts", "no conflicts found", write.now),
                                           condition("Established", "InitialNamesAccepted",
                                                     "the initial names have been accepted", write.now)}));
  }
  object.set("status", std::move(status));
}

/// CRD-3. Upstream takes the object and does not serve it; a refusal says so where the user looks.
void check_conflicts(const Value& object, const Write& write, Causes& causes) {
  const std::string group = object["spec"]["group"].str();
  const Value& names = object["spec"]["names"];
  const std::string own = names["plural"].str();
  for (const auto& other : write.kinds.all()) {
    if (other->group != group || other->plural == own) continue;
    const std::string taken = "is already in use by " + other->type();
    if (other->kind == names["kind"].as_string()) causes.invalid("spec.names.kind", names["kind"], taken);
    if (other->list_kind == names["listKind"].as_string())
      causes.invalid("spec.names.listKind", names["listKind"], taken);
    if (other->singular == names["singular"].as_string())
      causes.invalid("spec.names.singular", names["singular"], taken);
    for (const Value& name : names["shortNames"].items()) {
      const auto& shorts = other->short_names;
      if (std::find(shorts.begin(), shorts.end(), name.as_string()) != shorts.end()) {
        causes.invalid("spec.names.shortNames", name, taken);
      }
    }
  }
}

void check_definition(const Value& object, const Write& write, Causes& causes) {
  if (const auto kinds = kinds_of(object); !kinds) {
    for (const FieldCause& cause : kinds.error().causes) causes.add(cause);
  }
  const Value& spec = object["spec"];
  const std::string_view group = spec["group"].as_string();
  const bool is_protected = (group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io")) ||
                            group.ends_with(".kubernetes.io") || group == "k8s.io" || group == "kubernetes.io";
  if (is_protected && annotation_of(object, "api-approved.kubernetes.io").empty()) {  // CRD-4
    causes.required("metadata.annotations[api-approved.kubernetes.io]",
                    "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
                    "https://github.com/kubernetes/enhancements/pull/1111");
  }
  check_conflicts(object, write, causes);
  if (write.old == nullptr) return;
  const Value& before = (*write.old)["spec"];
  if (before["group"] != spec["group"]) causes.invalid("spec.group", spec["group"], "field is immutable");
  if (before["scope"] != spec["scope"]) causes.invalid("spec.scope", spec["scope"], "field is immutable");
  for (const char* name : {"plural", "kind"}) {
    if (before["names"][name] != spec["names"][name]) {
      causes.invalid(std::string{"spec.names."} + name, spec["names"][name], "field is immutable");
    }
  }
  const Value& stored = (*write.old)["status"]["storedVersions"];
  for (size_t i = 0; i < stored.size(); ++i) {
    const auto versions = spec["versions"].items();
    const bool there = std::any_of(versions.begin(), versions.end(),
                                   [&](const Value& version) { return version["name"] == stored[i]; });
    if (!there) {  // CRD-11
      causes.invalid(at("status.storedVersions", i), stored[i],
                     "missing from spec.versions; " + stored[i].str() +
                         " was previously a storage version, and must remain "
                         "in spec.versions");
    }
  }
}

}  // namespace

const std::vector<Rules>& definition_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kCustomResourceDefinition,
       .owns_status = true,
       .fill = fill_definition,
       .check = check_definition},
  };
  return kRules;
}

}  // namespace shiplog::api
