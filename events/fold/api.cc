#include <algorithm>

#include "events/fold/apply.h"

namespace shiplog {

Applied apply(Staged& staged, const ObjectCreated& event) { return staged.create(event.object, event.value); }
Applied apply(Staged& staged, const ObjectUpdated& event) { return staged.update(event.object, event.value); }
Applied apply(Staged& staged, const StatusUpdated& event) { return staged.update_status(event.object, event.value); }

namespace {

/// Only a pod that runs somewhere is given time (DEL-9).
int64_t grace_seconds(const Staged& staged, const Value& object, const DeletionRequested& event) {
  if (staged.state().fold_version() < 2) return event.grace_seconds;
  if (event.object.type != "pods" || object["spec"]["nodeName"].is_empty()) return 0;
  const std::string_view phase = object["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" ? 0 : std::max<int64_t>(event.grace_seconds, 0);
}

/// DEL-5: the time that is left may become shorter, never longer.
void shorten(const Staged& staged, Value& metadata, int64_t grace) {
  const int64_t before = metadata["deletionGracePeriodSeconds"].as_int();
  if (staged.state().fold_version() < 2 || grace >= before) return;
  const auto until = parse_rfc3339(metadata["deletionTimestamp"].as_string());
  if (until) metadata.set("deletionTimestamp", rfc3339(until.value() + Millis{(grace - before) * 1000}));
  metadata.set("deletionGracePeriodSeconds", grace);
}

}  // namespace

Applied apply(Staged& staged, const DeletionRequested& event) {
  const Value* going = staged.find(event.object);
  if (going == nullptr) return refusal_about(event.object, ErrorCode::kNotFound, "not found");
  Value object = *going;
  {
    const int64_t grace = grace_seconds(staged, object, event);
    const bool first = !deleting(object);
    // First: adding a status moves the metadata in memory, which is referred to below.
    if (first && event.object.type == type::kNamespace) object.edit("status").set("phase", "Terminating");
    Value& metadata = object.edit("metadata");
    if (first) {
      metadata.set("deletionTimestamp", rfc3339(staged.time() + Millis{grace * 1000}));
      metadata.set("deletionGracePeriodSeconds", grace);
    } else {
      shorten(staged, metadata, grace);
    }
    // Garbage collection is the lifecycle role's; these finalizers hold the object until it has processed the
    // dependents.
    const char* finalizer = event.propagation == "Foreground" ? "foregroundDeletion"
                            : event.propagation == "Orphan"   ? "orphan"
                                                              : nullptr;
    if (finalizer != nullptr && !has_finalizer(object, finalizer)) metadata.edit("finalizers").push_back(finalizer);
  }
  return staged.update_deletion(event.object, std::move(object));
}

Applied apply(Staged& staged, const ObjectRemoved& event) { return staged.remove(event.object); }

Applied apply(Staged&, const RequestDenied&) { return std::nullopt; }

Applied apply(Staged&, const RequestsDenied&) { return std::nullopt; }

Applied apply(Staged& staged, const MemberRequested&) {
  if (staged.state().fold_version() >= kMemberRequestsFoldVersion) return std::nullopt;
  return Refusal{ErrorCode::kConflict, "requests to members are recorded from fold version " +
                                           std::to_string(kMemberRequestsFoldVersion) + " on"};
}

}  // namespace shiplog
