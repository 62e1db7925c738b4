#pragma once

#include <functional>
#include <memory>

#include "services/adapters/members/members.h"
#include "services/roles/dispatcher/reverts.h"
#include "services/roles/dispatcher/work_reports.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog::dispatcher {

/// Turns a manifest as in the journal into what the member is sent; where Secrets are unsealed.
using Open = std::function<Result<Value>(const Value& manifest)>;

using RevertsPtr = std::shared_ptr<Reverts>;

/// What the member's objects are marked with, and compared with: nothing older replaces something newer.
struct WorkRevision {
  Revision revision;
  bool newest = false;  ///< it is known to be: a mark of a later revision is of a history that is no more
};
/// Of a Work, whose revision in the state is given. Empty: that one.
using RevisionOf = std::function<WorkRevision(const ObjectKey& work, Revision in_state)>;

/// One step of one Work: brings its manifests to the member (E-2, E-9 to E-14), or takes them back and releases the
/// Work (E-17 to E-19). Ends the task, which `members` outlives; success is reported through `reports`.
/// Interpreter webhooks are called through `resolver`; nullptr: what needs them fails.
/// What others changed or deleted in the member is restored as often as `reverts` allows.
void apply_work(const TaskPtr& task, Members& members, const Open& open, const WorkReportsPtr& reports,
                const RevertsPtr& reverts, QuestionResolver* resolver, const RevisionOf& revision_of = {});

/// Something about the Work requires a request to the member: it is not applied, or is being deleted, or the collector
/// saw that the object vanished or was changed (see collector/watch.h).
bool wants_dispatch(const Value& work);

/// The collector has observed that the member's object is deleted or is no longer what was written.
bool doubtful(const Value& work);

}  // namespace shiplog::dispatcher
