#include "services/roles/scheduler/estimate/unsettled_placements.h"

#include "services/roles/scheduler/estimate/virtual_nodes.h"

namespace shiplog::scheduler {
namespace {

void take(std::map<std::string, Cluster::Room>& room, const std::string& resource, int64_t units, int64_t milli,
          int64_t counted) {
  const auto found = room.find(resource);
  if (found == room.end()) return;
  Cluster::Room& has = found->second;
  has.counted -= counted;
  if (divided_in_milli(resource)) {
    has.milli -= milli;
    has.units = has.milli > 0 ? (has.milli + 999) / 1000 : has.milli / 1000;  // rounded up
  } else {
    has.units -= units;
    has.milli -= 1000 * units;
  }
}

}  // namespace

UnsettledPlacements unsettled_placements(const UnsettledIndex& unsettled, std::string_view cluster, UtcMillis now) {
  UnsettledPlacements promised;
  const UnsettledIndex::Placed& placed = unsettled.on(cluster);
  for (auto entry = placed.lower_bound(now + Millis{-kPromiseGoodFor.value}); entry != placed.end(); ++entry) {
    for (const auto& [binding, footprint] : entry->second) promised.push_back(footprint);
  }
  return promised;
}

std::map<std::string, Cluster::Room> capacity_without(std::map<std::string, Cluster::Room> room,
                                                      const UnsettledPlacements& promised) {
  for (const auto& footprint : promised) {
    for (const Component& component : *footprint) {
      const int64_t replicas = component.replicas;
      if (replicas <= 0) continue;
      take(room, "pods", replicas, 1000 * replicas, 1000 * replicas);
      for (const auto& [name, amount] : component.request) {
        take(room, name, amount.units() * replicas, amount.milli() * replicas, component.counted.at(name) * replicas);
      }
    }
  }
  return room;
}

}  // namespace shiplog::scheduler
