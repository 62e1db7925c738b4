#include <algorithm>

#include "events/fold/apply.h"

namespace shiplog {

Applied apply(Staged& staged, const ObjectCreated& event) { return staged.create(event.object, event.value); }
Applied apply(Staged& staged, const ObjectUpdated& event) { return staged.update(event.object, event.value); }
Applied apply(Staged& staged, const StatusUpdated& event) { return staged.update(event.object, event.value); }

Applied apply(Staged& staged, const DeletionRequested& event) {
  return edit(staged, event.object, [&](Value& object) {
    Value& metadata = object.edit("metadata");
    if (!deleting(object)) {
      metadata.set("deletionTimestamp", rfc3339(staged.time() + Millis{event.grace_seconds * 1000}));
      metadata.set("deletionGracePeriodSeconds", event.grace_seconds);
      if (event.object.type == type::kNamespace) object.edit("status").set("phase", "Terminating");
    }
    // Garbage collection is the lifecycle service's; these finalizers hold the object until it has seen to the
    // dependents.
    const char* finalizer = event.propagation == "Foreground" ? "foregroundDeletion"
                            : event.propagation == "Orphan"   ? "orphan"
                                                              : nullptr;
    if (finalizer != nullptr && !has_finalizer(object, finalizer)) metadata.edit("finalizers").push_back(finalizer);
  });
}

Applied apply(Staged& staged, const ObjectRemoved& event) { return staged.remove(event.object); }

Applied apply(Staged&, const RequestDenied&) { return std::nullopt; }

}  // namespace shiplog
