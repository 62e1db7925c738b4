#include "services/roles/lifecycle/decide.h"

#include "events/state/answers.h"

namespace shiplog::lifecycle {

DeletionRequested deletion_because_of(const State& state, ObjectKey object, ObjectKey because,
                                      std::string propagation) {
  DeletionRequested event{.object = std::move(object), .propagation = std::move(propagation)};
  if (state.fold_version() >= 4) event.because = std::move(because);
  return event;
}

Result<std::optional<Decision>> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return std::optional<Decision>{};
  if (key.type == type::kCluster) {
    if (auto decision = decide_cluster(state, key, *object)) return decision;
  }
  if (key.type == type::kNamespace) {
    if (auto decision = decide_namespace(state, key, *object, now)) return decision;
  }
  if (key.type == type::kCustomResourceDefinition) {
    if (auto decision = decide_definition(state, key, *object)) return decision;
  }
  if (key.type == kAnswersType && of_no_webhook(state, object->value)) {
    return std::optional{Decision{{ObjectRemoved{key}}, {{key, object->revision}}}};
  }
  if (auto decision = decide_pod(state, key, *object)) return decision;
  return decide_garbage(state, key, *object);
}

}  // namespace shiplog::lifecycle
