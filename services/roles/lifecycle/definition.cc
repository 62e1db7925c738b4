#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

}  // namespace

std::optional<Decision> decide_definition(const State& state, const ObjectKey& key, const Object& definition) {
  if (!deleting(definition.value) || !has_finalizer(definition.value, kCleanup)) return std::nullopt;
  Decision decision;
  bool content = false;
  for (const auto& [name, object] : state.objects(key.name)) {  // a definition has the name of its type
    content = true;
    if (deleting(object.value)) continue;  // its finalizers hold it: those who set them remove them
    if (decision.events.size() == kMostAtOnce) return decision;
    decision.events.push_back(deletion_because_of(state, {key.name, name.ns, name.name}, key));
  }
  if (!decision.events.empty()) return decision;
  if (content) return std::nullopt;
  Value released = definition.value;
  std::erase_if(released.edit("metadata").edit("finalizers").edit_items(),
                [](const Value& one) { return one.as_string() == kCleanup; });
  return Decision{{ObjectUpdated{key, std::move(released)}}, {{key, definition.revision}}};
}

}  // namespace shiplog::lifecycle
