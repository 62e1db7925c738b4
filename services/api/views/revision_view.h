#pragma once

#include <cstddef>

#include "events/base/value.h"
#include "projections/revisions/revision_query.h"
#include "services/api/admission/view_label.h"

namespace shiplog::api {

/// The ReplicaSet that a Deployment's controller would have for one of its templates. Pure.
/// `age`: 0 is the newest revision, 1 the one before it.
/// Counts: the members report the pods of all templates of a Deployment together. What the newest ReplicaSet reports as
/// ready is certain: pods that may belong to an older template are not counted, and where every cluster has all
/// replicas it is spec.replicas less what is missing in any of them. So it equals spec.replicas only when nothing is
/// missing.
Value replica_set_view(const Value& deployment, const TemplateRevision& revision, size_t age);

/// The ControllerRevision for one of the templates of a StatefulSet or DaemonSet. Pure.
Value controller_revision_view(const Value& workload, const TemplateRevision& revision);

}  // namespace shiplog::api
