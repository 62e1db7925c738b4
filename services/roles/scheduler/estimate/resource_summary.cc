#include "services/roles/scheduler/estimate/resource_summary.h"

#include <algorithm>
#include <limits>

#include "services/roles/scheduler/estimate/virtual_nodes.h"

namespace shiplog::scheduler {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

const std::string kPods = "pods";

int64_t pods_in(const std::map<std::string, Cluster::Room>& room) {
  const auto pods = room.find(kPods);
  return pods == room.end() ? 0 : pods->second.units;
}

}  // namespace

Estimate::Estimate(const Demand& demand)
    : binding_{demand.binding},
      around_{demand.context},
      asked_{demand.binding.replicas != 0 || !demand.binding.components.empty()},
      sets_{demand.goes_as_a_set()} {
  for (const auto& [name, request] : binding_.request) {
    if (request.is_zero() || request.negative()) continue;
    const bool in_milli = divided_in_milli(name);
    requests_.push_back({name, in_milli ? request.milli() : request.units(), in_milli});
  }
  if (!sets_) return;
  for (const Component& component : binding_.components) {
    pods_of_a_set_ += component.replicas;
    for (const auto& [name, amount] : component.counted) needs_of_a_set_[name] += amount * component.replicas;
  }
}

int64_t Estimate::operator()(const Cluster& cluster) const {
  if (!asked_) return kUnlimited;
  if (around_.unsettled == nullptr) {
    return sets_ ? sets_in(cluster, cluster.room, {}) : replicas_in(cluster, cluster.room, {});
  }
  const UnsettledPlacements promised = unsettled_placements(*around_.unsettled, cluster.name, around_.now);
  if (promised.empty()) return sets_ ? sets_in(cluster, cluster.room, {}) : replicas_in(cluster, cluster.room, {});
  const Rooms room = capacity_without(cluster.room, promised);
  return sets_ ? sets_in(cluster, room, promised) : replicas_in(cluster, room, promised);
}

Estimate::Estimate(const Demand& demand, FleetTable& fleet) : Estimate{demand} {
  fleet_ = &fleet;
  pods_ = &fleet.room(kPods);
  for (Request& request : requests_) request.column = &fleet.room(request.resource);
}

int64_t Estimate::operator()(size_t row) const {
  if (!asked_) return kUnlimited;
  const bool summed = !sets_ && around_.unsettled == nullptr && !fleet_->graded(row);
  return summed ? by_columns(row) : (*this)(fleet_->cluster(row));
}

/// What replicas_in() finds of a cluster without grades.
int64_t Estimate::by_columns(size_t row) const {
  int64_t fits = pods_->units[row];
  if (fits <= 0) return 0;
  if (binding_.requires_room) {
    for (const Request& request : requests_) {
      const int64_t units = request.column->units[row];
      if (units <= 0) return 0;
      fits = std::min(fits, (request.in_milli ? request.column->milli[row] : units) / request.amount);
    }
  }
  return fits >= kUnlimited ? binding_.replicas : fits;  // S-63: no bound found
}

int64_t Estimate::replicas_in(const Cluster& cluster, const Rooms& room, const UnsettledPlacements& promised) const {
  const int64_t pods = pods_in(room);
  if (pods <= 0) return 0;
  int64_t fits = pods;
  if (binding_.requires_room) {
    if (cluster.grades.empty()) {
      fits = std::min(fits, by_sums(room));
    } else if (promised.empty()) {
      fits = std::min(fits, by_grades(cluster));
    } else {
      VirtualNodes nodes{cluster.grades};
      for (const auto& footprint : promised) nodes.place_set(*footprint);
      fits = std::min(fits, nodes.pods(binding_.request));
    }
  }
  return fits >= kUnlimited ? binding_.replicas : fits;  // S-63: no bound found
}

int64_t Estimate::sets_in(const Cluster& cluster, const Rooms& room, const UnsettledPlacements& promised) const {
  const int64_t pods = pods_in(room);
  if (pods <= 0) return 0;
  if (pods_of_a_set_ <= 0) return std::min(pods, kUnlimited);
  int64_t fits = std::min(pods / pods_of_a_set_, kUnlimited);
  for (const auto& [name, needed] : needs_of_a_set_) {
    if (needed <= 0) continue;
    const auto found = room.find(name);
    if (found == room.end() || found->second.counted <= 0) return 0;
    fits = std::min(fits, found->second.counted / needed);
  }
  if (cluster.grades.empty()) return fits;
  VirtualNodes nodes{cluster.grades};
  for (const auto& footprint : promised) nodes.place_set(*footprint);
  return nodes.sets(binding_.components, fits);
}

int64_t Estimate::by_sums(const Rooms& room) const {
  int64_t fits = kUnlimited;
  for (const Request& request : requests_) {
    const auto found = room.find(request.resource);
    if (found == room.end() || found->second.units <= 0) return 0;
    fits = std::min(fits, (request.in_milli ? found->second.milli : found->second.units) / request.amount);
  }
  return fits;
}

/// Each node is assumed to have the least of its grade and no pods yet. Replicas are alike, so placing them one by one,
/// first fit, fills each node up.
int64_t Estimate::by_grades(const Cluster& cluster) const {
  int64_t fits = 0;
  for (const Cluster::Grade& grade : cluster.grades) {
    int64_t on_one = kPodsOfANode;
    for (const Request& request : requests_) {
      const auto found = grade.least.find(request.resource);
      if (found == grade.least.end()) return 0;  // not modelled: nothing is known to be there
      on_one = std::min(on_one, (request.in_milli ? found->second.milli : found->second.units) / request.amount);
    }
    fits = std::min(kUnlimited, fits + std::min(grade.nodes, kUnlimited) * on_one);
  }
  return fits;
}

}  // namespace shiplog::scheduler
