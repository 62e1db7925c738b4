#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// Ten letters and digits that identify a pod template: the suffix of the names of a Deployment's ReplicaSets and of
/// the ControllerRevisions of a StatefulSet or DaemonSet. Equal templates have equal hashes on every machine. It has 47
/// bits, so two templates of one workload practically never share a hash.
std::string template_hash(const Value& pod_template);
/// Of one as canonical JSON.
std::string template_hash_of_json(std::string_view json);

/// The uid of the read-only view (ReplicaSet, ControllerRevision) of a workload's template: the same for the same
/// workload and template, and like any other UUID.
std::string template_view_uid(std::string_view workload_uid, std::string_view template_hash);

}  // namespace shiplog
