#include "services/lifecycle/decide.h"

namespace shiplog::lifecycle {

std::optional<Decision> decide_namespace(const State& state, const ObjectKey& key, const Object& ns) {
  if (!deleting(ns.value) || ns.value["spec"]["finalizers"].size() == 0) return std::nullopt;
  Decision decision;
  bool content = false;
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type, key.name)) {
      content = true;
      if (deleting(object.value)) continue;  // its finalizers hold it: those who set them remove them
      if (decision.events.size() == kMostAtOnce) return decision;
      const ObjectKey item{type, name.ns, name.name};
      decision.events.push_back(DeletionRequested{.object = item});
    }
  }
  if (!decision.events.empty()) return decision;
  if (content) return std::nullopt;

  Value finalized = ns.value;
  Value& finalizers = finalized.edit("spec").edit("finalizers");
  std::erase_if(finalizers.edit_items(), [](const Value& one) { return one.as_string() == "kubernetes"; });
  if (finalizers.size() == ns.value["spec"]["finalizers"].size()) return std::nullopt;
  return Decision{{ObjectUpdated{key, std::move(finalized)}}, {{key, ns.revision}}};
}

}  // namespace shiplog::lifecycle
