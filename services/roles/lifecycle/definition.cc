#include "events/kinds/kinds.h"
#include "events/state/definition_status.h"
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

Decided decide_names(const State& state, const ObjectKey& key, const Object& definition, UtcMillis now) {
  if (deleting(definition.value) || !waits_for_names(definition.value)) return Nothing{};
  const Value& group = definition.value["spec"]["group"];
  NamesInUse others;
  for (const auto& kind : Kinds::compiled().all()) {
    if (kind->group == group.as_string() && kind->type() != key.name) others.add(*kind);
  }
  DecisionBuilder decision;
  for (const auto& [name, other] : state.objects(type::kCustomResourceDefinition)) {
    if (name.name == key.name || other.value["spec"]["group"] != group) continue;
    if (serves_kinds(other.value)) {
      others.add(accepted_names(other.value), name.name.str());
    } else {
      // Of two that wait for the same names the second is decided after the first.
      decision.expect({{type::kCustomResourceDefinition, "", name.name}, other.revision});
    }
  }
  Value settled = definition.value;
  settle_definition(settled, definition.value, others, now);
  if (settled == definition.value) return Nothing{};
  decision.add(StatusUpdated{key, std::move(settled)}, {key, definition.revision});
  return std::move(decision).build();
}

}  // namespace shiplog::lifecycle
