#include "services/api/pipeline/version_warnings.h"

#include "events/base/utf8.h"
#include "events/state/object.h"
#include "events/state/policy_identity.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostWarnings = 10;

void warn_of_selectors(const Kinds& kinds, const Value& selectors, std::vector<std::string>& warnings) {
  for (size_t i = 0; i < selectors.size() && warnings.size() < kMostWarnings; ++i) {
    const Kind* named = kinds.find_kind(selectors[i]["apiVersion"].as_string(), selectors[i]["kind"].as_string());
    if (named == nullptr || named->builtin || named->storage) continue;
    const Kind* stored = kinds.find_type(named->type());
    if (stored == nullptr) continue;
    warnings.push_back("spec.resourceSelectors[" + std::to_string(i) + "].apiVersion: " + named->plural +
                       " are stored in " + stored->api_version() +
                       ", and policies select what is stored: this selector selects none in " + named->api_version());
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
  if (is_propagation_policy(type)) return warn_of_selectors(kinds, object["spec"]["resourceSelectors"], warnings);
  if (type != type::kCustomResourceDefinition || old.is_null()) return;
  const std::string before = storage_version(old);
  const std::string after = storage_version(object);
  if (before == after) return;
  const std::string group = object["spec"]["group"].str();
  warnings.push_back("objects are stored in " + group + "/" + after +
                     " when they are next written: let policies that select " + group + "/" + before +
                     " select both versions until all are");
}

}  // namespace shiplog::api
