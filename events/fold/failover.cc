#include "events/fold/apply.h"
#include "events/fold/record.h"
#include "events/state/failover_record.h"

namespace shiplog {
namespace {

/// Lets `change` edit the failover record of a binding.
template <class Change>
Applied edit_record(Staged& staged, const ObjectKey& binding, Change change) {
  const Value* object = staged.find(binding);
  if (object == nullptr) return refusal_about(binding, ErrorCode::kNotFound, "not found");
  if (deleting(*object)) return refusal_about(binding, ErrorCode::kConflict, "is being deleted");
  const ObjectKey key = failover_record_key(binding);
  Value record = owned_record(staged, key, kFailoverRecordKind, binding, *object);
  change(record);
  return put_record(staged, key, std::move(record));
}

}  // namespace

Applied apply(Staged& staged, const FailoverTimerStarted& event) {
  return edit_record(staged, event.binding,
                     [&](Value& record) { record.edit("timers").set(event.cluster, staged.time().value); });
}

Applied apply(Staged& staged, const FailoverTimerStopped& event) {
  return edit_record(staged, event.binding, [&](Value& record) { record.edit("timers").erase(event.cluster); });
}

// A later move off the same cluster begins with Stop again. What is over is forgotten with the eviction task.
Applied apply(Staged& staged, const HandoverStepTaken& event) {
  return edit_record(staged, event.binding, [&](Value& record) {
    record.edit("handovers").set(event.cluster, Value::object({{"step", event.step}, {"at", staged.time().value}}));
  });
}

}  // namespace shiplog
