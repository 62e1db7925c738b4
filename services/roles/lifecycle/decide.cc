#include "services/roles/lifecycle/decide.h"

#include "events/state/answers.h"
#include "services/interpreter/customizations.h"

namespace shiplog::lifecycle {
namespace {

bool decides(const Decided& decided) { return !std::holds_alternative<Nothing>(decided); }

Decided decide_object(const State& state, const ObjectKey& key, const Object& object, UtcMillis now,
                      DeletionProtection protection) {
  if (key.type == type::kCluster) {
    if (auto decided = decide_cluster(state, key, object); decides(decided)) return decided;
  }
  if (key.type == type::kNamespace) {
    if (auto decided = decide_namespace(state, key, object, now, protection); decides(decided)) return decided;
  }
  if (key.type == type::kCustomResourceDefinition) {
    if (auto decided = decide_definition(state, key, object); decides(decided)) return decided;
  }
  if (key.type == interpreter::kCustomizationType) {
    if (auto decided = decide_customization(key, object, now); decides(decided)) return decided;
  }
  if (key.type == kAnswersType && answers_obsolete(state, object.value)) {
    return decide_one(ObjectRemoved{key}, {key, object.revision});
  }
  if (auto decided = decide_pod(state, key, object); decides(decided)) return decided;
  if (auto decided = decide_garbage(state, key, object, protection); decides(decided)) return decided;
  if (key.type == type::kCustomResourceDefinition) return decide_names(state, key, object, now);
  // Where nothing is protected is a trial member, whose controller of Jobs deletes them itself.
  return protection == DeletionProtection::kOn ? decide_job(key, object, now) : Nothing{};
}

Decided decide_step(const State& state, const ObjectKey& key, UtcMillis now, DeletionProtection protection) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  Decided decided = decide_object(state, key, *object, now, protection);
  // What is decided may be the first of several steps.
  if (auto* decision = std::get_if<Decision>(&decided)) decision->look_again = now;
  return decided;
}

}  // namespace

DeletionRequested deletion_because_of(const State& state, ObjectKey object, ObjectKey because,
                                      std::string propagation) {
  DeletionRequested event{.object = std::move(object), .propagation = std::move(propagation)};
  if (state.fold_version() >= 4) event.because = std::move(because);
  return event;
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  return decide_step(state, key, now, DeletionProtection::kOn);
}

Result<Decided> decide_unprotected(const State& state, const ObjectKey& key, UtcMillis now) {
  return decide_step(state, key, now, DeletionProtection::kOff);
}

}  // namespace shiplog::lifecycle
