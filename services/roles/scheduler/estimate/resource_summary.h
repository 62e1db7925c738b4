#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/roles/scheduler/demand.h"
#include "services/roles/scheduler/estimate/unsettled_placements.h"
#include "services/roles/scheduler/fleet_table.h"

namespace shiplog::scheduler {

/// How many further replicas of a binding, or whole sets of its components (M-1, M-3), fit on a cluster, judged by its
/// status.resourceSummary (S-62 to S-64): by the grades of its nodes where these are reported (S-66, S-70), and by what
/// is free in all. What depends on the binding alone is worked out once.
class Estimate {
 public:
  explicit Estimate(const Demand& demand);
  int64_t operator()(const Cluster& cluster) const;
  /// For the clusters of a table, by their rows.
  Estimate(const Demand& demand, FleetTable& fleet);
  int64_t operator()(size_t row) const;

 private:
  struct Request {
    std::string resource;
    int64_t amount = 0;
    bool in_milli = false;
    const RoomColumn* column = nullptr;
  };
  using Rooms = std::map<std::string, Cluster::Room>;
  int64_t replicas_in(const Cluster& cluster, const Rooms& room, const UnsettledPlacements& promised) const;
  int64_t sets_in(const Cluster& cluster, const Rooms& room, const UnsettledPlacements& promised) const;
  int64_t by_grades(const Cluster& cluster) const;
  int64_t by_sums(const Rooms& room) const;
  int64_t by_columns(size_t row) const;

  const Binding& binding_;
  const PlacementContext& around_;
  bool asked_;  ///< there are replicas or components to estimate for (S-62)
  bool sets_;   ///< of components, whole
  std::vector<Request> requests_;
  const FleetTable* fleet_ = nullptr;
  const RoomColumn* pods_ = nullptr;
  int64_t pods_of_a_set_ = 0;
  std::map<std::string, int64_t> needs_of_a_set_;
};

}  // namespace shiplog::scheduler
