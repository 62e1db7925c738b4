#pragma once

#include <cstdint>
#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

/// A member has joined: its execution space exists and probing begins. Sets spec.id; the Cluster object itself was
/// created through the API. Refused from fold version 8 on if another Cluster has this id.
struct ClusterJoined {
  ObjectKey cluster;
  std::string cluster_id;  ///< uid of the member's kube-system namespace
  bool operator==(const ClusterJoined&) const = default;
};

/// The first fold version at which ClusterObserved may be a patch.
inline constexpr uint32_t kClusterPatchFoldVersion = 9;

/// What a member is like: version, API enablements, nodes, resources. Replaces these parts of the Cluster's status;
/// conditions stay. A patch is refused before kClusterPatchFoldVersion.
struct ClusterObserved {
  ObjectKey cluster;
  Value status;        ///< without conditions
  bool patch = false;  ///< status is a JSON merge patch (RFC 7386) of what is reported already
  bool operator==(const ClusterObserved&) const = default;
};

/// One condition of a Cluster has changed. lastTransitionTime is the entry's time when the status differs.
struct ClusterConditionChanged {
  ObjectKey cluster;
  std::string type;    ///< "Ready", "CompleteAPIEnablements"
  std::string status;  ///< "True", "False", "Unknown"
  std::string reason;
  std::string message;
  bool operator==(const ClusterConditionChanged&) const = default;
};

/// A member has left: its Works are deleted, its finalizer is removed. Removes the Cluster object.
struct ClusterLeft {
  ObjectKey cluster;
  std::string reason;
  bool operator==(const ClusterLeft&) const = default;
};

}  // namespace shiplog
