#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

}  // namespace

Decided decide_definition(const State& state, const ObjectKey& key, const Object& definition) {
  if (!deleting(definition.value) || !has_finalizer(definition.value, kCleanup)) return Nothing{};
  DecisionBuilder decision{kMostAtOnce};
  bool content = false;
  for (const auto& [name, object] : state.objects(key.name)) {  // a definition has the name of its type
    content = true;
    if (deleting(object.value)) continue;  // its finalizers hold it: their owners remove them
    if (!decision.try_add(deletion_because_of(state, {key.name, name.ns, name.name}, key))) break;
  }
  if (content) return std::move(decision).build();
  Value released = definition.value;
  std::erase_if(released.edit("metadata").edit("finalizers").edit_items(),
                [](const Value& finalizer) { return finalizer.as_string() == kCleanup; });
  return decide_one(ObjectUpdated{key, std::move(released)}, {key, definition.revision});
}

}  // namespace shiplog::lifecycle
