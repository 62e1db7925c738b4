#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/quantity.h"
#include "events/base/shared_list.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/taint.h"

namespace shiplog {

/// What the services decide on of a Cluster (cluster.karmada.io/v1alpha1).
struct Cluster {
  struct Condition {
    std::string type, status, reason, message;
    UtcMillis last_transition;
    bool operator==(const Condition&) const = default;
  };
  struct Toleration;

  std::string name;
  std::string uid;
  std::string id;         ///< spec.id
  std::string sync_mode;  ///< "Push" or "Pull"
  std::string api_endpoint;
  std::string secret_namespace, secret_name;  ///< spec.secretRef
  std::string provider, region;
  std::vector<std::string> zones;  ///< spec.zones, or spec.zone alone
  std::map<std::string, std::string> labels;
  std::vector<Taint> taints;
  std::vector<Condition> conditions;
  /// status.apiEnablements as "group/version, Kind=kind"; core as "v1, Kind=Pod". Sorted. The clusters of a fleet that
  /// have the same list share it: every placement reads it of every cluster.
  SharedList<std::string> api_enablements;
  /// What is left of each resource, by status.resourceSummary, in the units that estimates count in: they read it of
  /// every cluster for every placement.
  struct Room {
    int64_t units = 0;  ///< rounded up
    int64_t milli = 0;
    int64_t counted =
        0;  ///< as sets of components are counted (M-4): `units` of what is written in binary, else `milli`
    bool operator==(const Room&) const = default;
  };
  std::map<std::string, Room> room;
  /// Nodes of about the same free room, by spec.resourceModels and status.resourceSummary.allocatableModelings: how
  /// many there are, and what each has at the least. Empty: no grades are reported.
  struct Grade {
    int64_t nodes = 0;
    std::map<std::string, Room> least;
    bool operator==(const Grade&) const = default;
  };
  std::vector<Grade> grades;
  bool deleting = false;

  const Condition* condition(std::string_view type) const;
  bool ready() const;
  bool operator==(const Cluster&) const = default;
};

Cluster cluster_from(const Value& object);

/// For each resource that is allocatable: allocatable minus allocated minus allocating.
std::map<std::string, Cluster::Room> room_of(const std::map<std::string, Quantity>& allocatable,
                                             const std::map<std::string, Quantity>& allocated,
                                             const std::map<std::string, Quantity>& allocating);

}  // namespace shiplog
