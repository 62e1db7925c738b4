#include <algorithm>
#include <set>

#include "events/base/ascii.h"
#include "events/kinds/stored_definition.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/api/admission/embedded_resources.h"
#include "services/api/admission/rules.h"
#include "services/api/custom_rules/rule_set.h"

// CustomResourceDefinitions: CRD-1 to CRD-5, CRD-11.

namespace shiplog::api {
namespace {

Value condition(const char* type, bool state, const std::string& reason, const std::string& message, UtcMillis now) {
  return Value::object({{"type", type},
                        {"status", state ? "True" : "False"},
                        {"lastTransitionTime", rfc3339(now)},
                        {"reason", reason},
                        {"message", message}});
}

/// Puts the condition in the place of the one of its type; what has not changed
/// keeps its time.
void put_condition(Value& status, Value condition) {
  Value& present = edit_condition(status, condition["type"].as_string());
  if (present["status"] == condition["status"]) condition.set("lastTransitionTime", present["lastTransitionTime"]);
  present = std::move(condition);
}

bool is_protected(std::string_view group) {
  return (group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io")) || group.ends_with(".kubernetes.io") ||
         group == "k8s.io" || group == "kubernetes.io";
}

/// A name that another kind of the group has already.
struct Conflict {
  const char* reason;  ///< of NamesAccepted
  const char* field;   ///< in spec.names
  Value name;
  std::string holder;
};

/// Resources are found by each of these names, so a name is one kind's only,
/// whichever it is (CRD-3).
bool is_resource_of(const Kind& kind, std::string_view name) {
  const auto& shorts = kind.short_names;
  return kind.plural == name || kind.singular == name || std::find(shorts.begin(), shorts.end(), name) != shorts.end();
}

std::vector<Conflict> conflicts_of(const Value& object, const Kinds& kinds) {
  const std::string group = object["spec"]["group"].str();
  const Value& names = object["spec"]["names"];
  std::vector<Conflict> found;
  for (const auto& other : kinds.all()) {
    if (other->group != group || other->plural == names["plural"].as_string()) continue;
    const auto add_resource = [&](const char* reason, const char* field, const Value& name) {
      if (name.is_empty() || !is_resource_of(*other, name.as_string())) return;
      found.push_back({reason, field, name, other->type()});
    };
    const auto add_kind = [&](const char* reason, const char* field) {
      const Value& name = names[field];
      if (other->kind != name.as_string() && other->list_kind != name.as_string()) return;
      found.push_back({reason, field, name, other->type()});
    };
    add_resource("PluralConflict", "plural", names["plural"]);
    add_resource("SingularConflict", "singular", names["singular"]);
    for (const Value& name : names["shortNames"].items()) add_resource("ShortNamesConflict", "shortNames", name);
    add_kind("KindConflict", "kind");
    add_kind("ListKindConflict", "listKind");
  }
  return found;
}

void fill_definition(Value& object, const Write& write) {
  if (!object["spec"]["names"].is_object()) return;
  Value& names = object.edit("spec").edit("names");
  const std::string kind = names["kind"].str();
  if (names["singular"].is_empty()) {
    names.set("singular", lower_case(kind));
  }
  if (names["listKind"].is_empty()) names.set("listKind", kind + "List");
  if (const Value& service = object["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
      service.is_object() && service["port"].is_null()) {
    object.edit("spec").edit("conversion").edit("webhook").edit("clientConfig").edit("service").set("port", 443);
  }

  Value status = write.old == nullptr ? Value::object() : (*write.old)["status"];
  if (!status.is_object()) status = Value::object();
  const auto conflicts = conflicts_of(object, write.kinds);
  const bool established = write.old != nullptr && condition_holds(*write.old, "Established");
  Value accepted = names;
  if (!established) {
    for (const Conflict& conflict : conflicts) accepted.erase(conflict.field);
  }
  status.set("acceptedNames", std::move(accepted));
  Value stored = status["storedVersions"].is_array() ? status["storedVersions"] : Value::array();
  std::set<std::string> known;
  for (const Value& version : stored.items()) known.insert(version.str());
  for (const Value& version : object["spec"]["versions"].items()) {
    if (version["storage"].as_bool() && known.insert(version["name"].str()).second) stored.push_back(version["name"]);
  }
  status.set("storedVersions", std::move(stored));
  // The kind is served as soon as this is folded, so it is established here and
  // now; unless others have its names (CRD-3): then an update with names of its
  // own will do. What is established stays so, see check_conflicts().
  if (established || conflicts.empty()) {
    put_condition(status, condition("NamesAccepted", true, "NoConflicts", "no conflicts found", write.now));
    put_condition(status, condition("Established", true, "InitialNamesAccepted", "the initial names have been accepted",
                                    write.now));
  } else {
    const Conflict& first = conflicts.front();
    put_condition(status, condition("NamesAccepted", false, first.reason,
                                    "\"" + first.name.str() + "\" is already in use by " + first.holder, write.now));
    put_condition(status, condition("Established", false, "NotAccepted", "not all names are accepted", write.now));
  }
  if (is_protected(object["spec"]["group"].as_string())) {  // CRD-4
    put_condition(status, condition("KubernetesAPIApprovalPolicyConformant", true, "ApprovedAnnotation",
                                    "approved in " + std::string{annotation_of(object, "api-approved.kubernetes.io")},
                                    write.now));
  }
  object.set("status", std::move(status));
}

/// An established kind keeps its names: others that are in use are refused, so
/// that it is never half accepted. Those that it has already may conflict, as
/// older builds compared less.
void check_conflicts(const Value& object, const Write& write, Causes& causes) {
  if (write.old == nullptr || !condition_holds(*write.old, "Established")) return;
  const auto check = [&](const Value& definition, Causes& found) {
    for (const Conflict& conflict : conflicts_of(definition, write.kinds)) {
      found.invalid(std::string{"spec.names."} + conflict.field, conflict.name,
                    "is already in use by " + conflict.holder);
    }
  };
  check_new(object, *write.old, check, causes);
}

/// The expressions of the validation rules of each version that is served, and
/// the defaults that break rules.
void check_schemas(const Value& object, const std::vector<Kind>& kinds, Causes& causes) {
  const Value& versions = object["spec"]["versions"];
  for (const Kind& kind : kinds) {
    const auto version = std::ranges::find_if(
        versions.items(), [&](const Value& each) { return each["name"].as_string() == kind.version; });
    const auto index = static_cast<size_t>(version - versions.items().begin());
    const std::string path = at("spec.versions", index) + ".schema.openAPIV3Schema";
    std::vector<FieldCause> found;
    const auto rules = compile_rules(kind.schema, path, &found);
    check_defaults(*kind.schema, found.empty() ? rules.get() : nullptr, path, causes);
    for (FieldCause& cause : found) causes.add(std::move(cause));
  }
}

/// What is found now, but not in what was there before an update.
void add_new(std::vector<FieldCause> found, const std::vector<FieldCause>& before, Causes& causes) {
  for (FieldCause& cause : found) {
    if (std::ranges::find(before, cause) == before.end()) causes.add(std::move(cause));
  }
}

void check_new_schemas(const Value& object, const std::vector<Kind>& kinds, const Value* old, Causes& causes) {
  if (old != nullptr && (*old)["spec"]["versions"] == object["spec"]["versions"]) return;
  Causes found;
  check_schemas(object, kinds, found);
  if (found.empty()) return;
  Causes before;
  if (old != nullptr) {
    if (const auto former = kinds_of_stored(*old)) check_schemas(*old, former.value(), before);
  }
  add_new(found.take(), before.take(), causes);
}

/// The names, the versions and their schemas. What a definition has always had
/// may be what this build does not admit any more: it stays, as far as it can
/// be read.
void check_kinds(const Value& object, const Value* old, Causes& causes) {
  const auto readable = kinds_of_stored(object);
  if (readable) check_new_schemas(object, readable.value(), old, causes);
  if (readable && old != nullptr && (*old)["spec"] == object["spec"]) return;
  auto kinds = kinds_of(object);
  if (kinds) return;
  std::vector<FieldCause> before;
  if (readable && old != nullptr) {
    if (auto former = kinds_of(*old); !former) before = std::move(former.error().causes);
  }
  add_new(std::move(kinds.error().causes), before, causes);
}

/// What is wrong with a stored version that the definition does not have
/// (CRD-11).
std::string missing_version(const std::string& version) {
  return "missing from spec.versions; " + version +
         " was previously a storage version, and must remain in spec.versions "
         "until a storage migration ensures no "
         "data "
         "remains persisted in " +
         version + " and removes " + version + " from status.storedVersions";
}

void check_definition(const Value& object, const Write& write, Causes& causes) {
  check_kinds(object, write.old, causes);
  const Value& spec = object["spec"];
  check_new(
      spec["conversion"], write.old == nullptr ? Value{} : (*write.old)["spec"]["conversion"],
      [](const Value& conversion, Causes& found) { check_conversion(conversion, found); }, causes);
  const std::string_view group = spec["group"].as_string();
  if (is_protected(group) && annotation_of(object, "api-approved.kubernetes.io").empty()) {  // CRD-4
    causes.required("metadata.annotations[api-approved.kubernetes.io]",
                    "protected groups must have approval annotation "
                    "\"api-approved.kubernetes.io\", see "
                    "https://github.com/kubernetes/enhancements/pull/1111");
  }
  check_conflicts(object, write, causes);
  if (write.old == nullptr) return;
  const Value& before = (*write.old)["spec"];
  if (before["group"] != spec["group"]) causes.invalid("spec.group", spec["group"], "field is immutable");
  if (before["scope"] != spec["scope"]) causes.invalid("spec.scope", spec["scope"], "field is immutable");
  for (const char* name : {"plural", "kind"}) {
    if (condition_holds(*write.old, "Established") && before["names"][name] != spec["names"][name]) {
      causes.invalid(std::string{"spec.names."} + name, spec["names"][name], "field is immutable");
    }
  }
  const Value& stored = (*write.old)["status"]["storedVersions"];
  std::set<std::string_view> versions;
  for (const Value& version : spec["versions"].items()) versions.insert(version["name"].as_string());
  for (size_t i = 0; i < stored.size(); ++i) {
    if (!versions.contains(stored[i].as_string())) {  // CRD-11
      causes.invalid(at("status.storedVersions", i), stored[i], missing_version(stored[i].str()));
    }
  }
}

/// CRD-11: a storage migration takes versions out of the list, but not those in
/// which objects are stored from now on.
void check_stored_versions(const Value& object, const Write&, Causes& causes) {
  const Value& stored = object["status"]["storedVersions"];
  if (stored.size() == 0) {
    return causes.invalid("status.storedVersions", stored, "must have at least one stored version");
  }
  const auto holds = [](const Value& list, const Value& name) {
    return std::ranges::find(list.items(), name) != list.items().end();
  };
  Value names = Value::array();
  for (const Value& version : object["spec"]["versions"].items()) {
    names.push_back(version["name"]);
    if (version["storage"].as_bool() && !holds(stored, version["name"])) {
      causes.invalid("status.storedVersions", stored, "must have the storage version " + version["name"].str());
    }
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    if (!holds(names, stored[i])) {
      causes.invalid(at("status.storedVersions", i), stored[i], missing_version(stored[i].str()));
    }
  }
}

}  // namespace

const std::vector<Rules>& definition_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kCustomResourceDefinition,
       .owns_status = true,
       .fill = fill_definition,
       .check = check_definition,
       .check_status = check_stored_versions},
  };
  return kRules;
}

}  // namespace shiplog::api
