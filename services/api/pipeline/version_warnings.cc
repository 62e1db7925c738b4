#include "services/api/pipeline/version_warnings.h"

#include "events/base/utf8.h"
#include "events/state/object.h"
#include "events/state/policy_identity.h"
#include "services/interpreter/customizations.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostWarnings = 10;

/// Warns if `named`, which has apiVersion and kind, names a version that is not stored. `who`: what compares it with
/// stored objects; `effect`: what that means.
void warn_of_version(const Kinds& kinds, const Value& named, const std::string& field, const std::string& who,
                     const std::string& effect, std::vector<std::string>& warnings) {
  const Kind* kind = kinds.find_kind(named["apiVersion"].as_string(), named["kind"].as_string());
  if (kind == nullptr || kind->builtin || kind->storage || warnings.size() >= kMostWarnings) return;
  const Kind* stored = kinds.find_type(kind->type());
  if (stored == nullptr) return;
  warnings.push_back(field + ".apiVersion: " + kind->plural + " are stored in " + stored->api_version() + ", and " +
                     who + " what is stored: " + effect + " in " + kind->api_version());
}

void warn_of_selectors(const Kinds& kinds, const Value& selectors, bool overrides, std::vector<std::string>& warnings) {
  const char* effect = overrides ? "this selector overrides nothing" : "this selector selects none";
  for (size_t i = 0; i < selectors.size(); ++i) {
    warn_of_version(kinds, selectors[i], "spec.resourceSelectors[" + std::to_string(i) + "]", "policies select", effect,
                    warnings);
  }
}

std::string storage_version(const Value& definition) {
  for (const Value& version : definition["spec"]["versions"].items()) {
    if (version["storage"].as_bool()) return version["name"].str();
  }
  return "";
}

}  // namespace

void warn_of_versions(const Kinds& kinds, const Kind& kind, const Value& old, const Value& object,
                      std::vector<std::string>& warnings) {
  const std::string type = kind.type();
  const bool overrides = type == type::kOverridePolicy || type == type::kClusterOverridePolicy;
  if (overrides || is_propagation_policy(type)) {
    return warn_of_selectors(kinds, object["spec"]["resourceSelectors"], overrides, warnings);
  }
  if (type == interpreter::kCustomizationType) {
    return warn_of_version(kinds, object["spec"]["target"], "spec.target", "customizations are about",
                           "this one is about none", warnings);
  }
  if (type != type::kCustomResourceDefinition || old.is_null()) return;
  const std::string before = storage_version(old);
  const std::string after = storage_version(object);
  if (before == after) return;
  const std::string group = object["spec"]["group"].str();
  warnings.push_back("objects are stored in " + group + "/" + after +
                     " when they are next written: let policies and overrides that select " + group + "/" + before +
                     " select both versions until all are");
}

}  // namespace shiplog::api
