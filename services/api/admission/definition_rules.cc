#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "events/base/ascii.h"
#include "events/base/utf8.h"
#include "events/kinds/stored_definition.h"
#include "events/kinds/structural_schema.h"
#include "events/state/condition.h"
#include "events/state/definition_status.h"
#include "events/state/object.h"
#include "services/api/admission/embedded_resources.h"
#include "services/api/admission/rules.h"
#include "services/api/custom_rules/rule_set.h"

// CustomResourceDefinitions: CRD-1 to CRD-5, CRD-11.

namespace shiplog::api {
namespace {

NamesInUse names_of_others(const Value& definition, const Kinds& kinds) {
  const std::string_view group = definition["spec"]["group"].as_string();
  const std::string_view plural = definition["spec"]["names"]["plural"].as_string();
  NamesInUse others;
  for (const auto& kind : kinds.all()) {
    if (kind->group == group && kind->plural != plural) others.add(*kind);
  }
  return others;
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
  Value stored = status["storedVersions"].is_array() ? status["storedVersions"] : Value::array();
  std::set<std::string> known;
  for (const Value& version : stored.items()) known.insert(version.str());
  for (const Value& version : object["spec"]["versions"].items()) {
    if (version["storage"].as_bool() && known.insert(version["name"].str()).second) stored.push_back(version["name"]);
  }
  status.set("storedVersions", std::move(stored));
  object.set("status", std::move(status));
  settle_definition(object, old_of(write), names_of_others(object, write.kinds), write.now);
}

/// What controllers own of the status, as upstream, clients do not change.
void fill_definition_status(Value& object, const Write& write) {
  settle_definition(object, old_of(write), names_of_others(object, write.kinds), write.now);
}

/// An injector of authorities may put a valid bundle in the place of an invalid one later. Once the kind is served, a
/// valid one must stay valid.
void check_bundle(const Value& object, const Write& write, Causes& causes) {
  const Value& before = conversion_bundle(old_of(write));
  if (!condition_holds(old_of(write), "Established") || !is_authority_bundle(before)) return;
  if (is_authority_bundle(conversion_bundle(object))) return;
  causes.invalid("spec.conversion.webhook.clientConfig.caBundle", Value{"<caBundle>"},
                 "unable to load root certificates: it is no base64 of PEM certificates");
}

void check_approval(const Value& object, const Write& write, Causes& causes) {  // CRD-4
  if (!needs_api_approval(object["spec"]["group"].as_string())) return;
  const ApiApprovalState state = api_approval_of(object);
  if (write.old != nullptr && api_approval_of(*write.old).approval == state.approval) return;
  const std::string field = std::string{"metadata.annotations["} + kApiApproved + "]";
  if (state.approval == ApiApproval::kMissing) causes.required(field, state.reason);
  if (state.approval == ApiApproval::kInvalid) {
    causes.invalid(field, Value{annotation_of(object, kApiApproved)}, state.reason);
  }
}

/// The expressions of the validation rules of each version, and the defaults that break rules.
void check_schemas(const Value& object, Causes& causes) {
  const Value& versions = object["spec"]["versions"];
  for (size_t index = 0; index < versions.size(); ++index) {
    const std::string path = at("spec.versions", index) + ".schema.openAPIV3Schema";
    std::vector<FieldCause> found;
    const auto schema = read_structural_schema(versions[index]["schema"]["openAPIV3Schema"], path, nullptr, found);
    if (!found.empty()) continue;
    const auto rules = compile_rules(schema, path, &found);
    check_defaults(*schema, found.empty() ? rules.get() : nullptr, path, causes);
    for (FieldCause& cause : found) causes.add(std::move(cause));
  }
}

/// What is found now, but not in what was there before an update.
void add_new(std::vector<FieldCause> found, const std::vector<FieldCause>& before, Causes& causes) {
  for (FieldCause& cause : found) {
    if (std::ranges::find(before, cause) == before.end()) causes.add(std::move(cause));
  }
}

void check_new_schemas(const Value& object, const Value* old, Causes& causes) {
  if (old != nullptr && (*old)["spec"]["versions"] == object["spec"]["versions"]) return;
  Causes found;
  check_schemas(object, found);
  if (found.empty()) return;
  Causes before;
  if (old != nullptr) check_schemas(*old, before);
  add_new(found.take(), before.take(), causes);
}

/// The names, the versions and their schemas. What a definition has always had may be what this build does not admit
/// any more: it stays, as far as it can be read.
void check_kinds(const Value& object, const Value* old, Causes& causes) {
  const bool readable = kinds_of_stored(object).has_value();
  if (readable) check_new_schemas(object, old, causes);
  if (readable && old != nullptr && (*old)["spec"] == object["spec"]) return;
  auto kinds = kinds_of(object);
  if (kinds) return;
  std::vector<FieldCause> before;
  if (readable && old != nullptr) {
    if (auto former = kinds_of(*old); !former) before = std::move(former.error().causes);
  }
  add_new(std::move(kinds.error().causes), before, causes);
}

/// What is wrong with a stored version that the definition does not have (CRD-11).
std::string missing_version(const std::string& version) {
  return "missing from spec.versions; " + version +
         " was previously a storage version, and must remain in spec.versions until a storage migration ensures no "
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
  check_bundle(object, write, causes);
  check_approval(object, write, causes);
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

/// CRD-11: a storage migration takes versions out of the list, but not those in which objects are stored from now on.
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

/// Formats of strings that servers check, without hyphens, as they are compared.
constexpr size_t kMostFormatWarnings = 100;
constexpr std::string_view kFormats[] = {
    "bsonobjectid", "uri",   "email",    "hostname", "ipv4",     "ipv6",     "cidr",         "mac",        "uuid",
    "uuid3",        "uuid4", "uuid5",    "isbn",     "isbn10",   "isbn13",   "creditcard",   "ssn",        "hexcolor",
    "rgbcolor",     "byte",  "password", "date",     "duration", "datetime", "k8sshortname", "k8slongname"};

bool is_checked_format(std::string_view type, std::string_view format) {
  if (type == "integer") return format == "int32" || format == "int64";
  if (type == "number") return format == "float" || format == "double";
  if (!type.empty() && type != "string") return false;
  std::string plain{format};
  std::erase(plain, '-');
  return std::ranges::find(kFormats, plain) != std::end(kFormats);
}

/// Formats in a schema that no server checks.
void gather_unchecked_formats(const Value& schema, std::set<std::string_view>& found) {
  if (!schema.is_object()) return;
  const std::string_view format = schema["format"].as_string();
  if (!format.empty() && !is_checked_format(schema["type"].as_string(), format)) found.insert(format);
  for (const char* keyword : {"properties", "patternProperties", "definitions", "dependencies"}) {
    for (const auto& member : schema[keyword].members()) gather_unchecked_formats(member.value, found);
  }
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    for (const Value& each : schema[keyword].items()) gather_unchecked_formats(each, found);
  }
  for (const char* keyword : {"items", "additionalProperties", "additionalItems", "not"}) {
    gather_unchecked_formats(schema[keyword], found);
  }
}

std::set<std::string_view> unchecked_formats(const Value& definition) {
  std::set<std::string_view> found;
  for (const Value& version : definition["spec"]["versions"].items()) {
    gather_unchecked_formats(version["schema"]["openAPIV3Schema"], found);
  }
  return found;
}

void warn_of_definition(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  const std::set<std::string_view> found = unchecked_formats(object);
  if (found.empty()) return;
  const std::set<std::string_view> before = unchecked_formats(old_of(write));
  for (const std::string_view format : found) {
    if (!before.contains(format) && warnings.size() < kMostFormatWarnings)
      warnings.push_back("unrecognized format " + quoted(format));
  }
}

}  // namespace

const std::vector<Rules>& definition_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kCustomResourceDefinition,
       .owns_status = true,
       .fill = fill_definition,
       .check = check_definition,
       .warn = warn_of_definition,
       .fill_status = fill_definition_status,
       .check_status = check_stored_versions},
  };
  return kRules;
}

}  // namespace shiplog::api
