#include "services/roles/collector/retained_fields.h"

#include <cstddef>
#include <utility>

namespace shiplog::collector {
namespace {

Value of_members(const Value& observed, const Value& manifest, const Value& kept) {
  Value result = observed;
  for (const auto& [key, value] : kept.members()) {
    const auto name = key.as_string();
    if (manifest.contains(name) && manifest[name] == value) continue;
    Value own = without_retained(observed[name], manifest[name], value);
    const bool nothing = own.is_null() || (own.is_object() && own.size() == 0);
    if (nothing && !manifest.contains(name)) {
      result.erase(name);
    } else {
      result.set(name, std::move(own));
    }
  }
  for (const auto& [key, value] : manifest.members()) {  // what the member does without
    const auto name = key.as_string();
    if (!kept.contains(name) && !observed.contains(name)) result.set(name, value);
  }
  return result;
}

Value of_items(const Value& observed, const Value& manifest, const Value& kept) {
  Value result = observed;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] != manifest[i]) result.edit_items()[i] = without_retained(observed[i], manifest[i], kept[i]);
  }
  return result;
}

}  // namespace

Value without_retained(const Value& observed, const Value& manifest, const Value& kept) {
  if (kept == manifest) return observed;
  if (kept.is_object() && observed.is_object() && (manifest.is_object() || manifest.is_null())) {
    return of_members(observed, manifest, kept);
  }
  if (kept.is_array() && kept.size() == manifest.size() && kept.size() == observed.size()) {
    return of_items(observed, manifest, kept);
  }
  return kept == observed ? manifest : observed;
}

Value without_filled_in(Value observed, const Value& manifest) {
  const auto kind = manifest["apiVersion"].as_string() == "v1" ? manifest["kind"].as_string() : "";
  const char* field = nullptr;
  if (kind == "Service") field = "clusterIPs";
  if (kind == "PersistentVolumeClaim") field = "storageClassName";  // the default class, also of later
  if (field != nullptr && observed["spec"].contains(field) && !manifest["spec"].contains(field)) {
    observed.edit("spec").erase(field);
  }
  return observed;
}

}  // namespace shiplog::collector
