#include <algorithm>

#include "events/base/check.h"
#include "events/base/hash.h"
#include "services/roles/dispatcher/render.h"

namespace shiplog::dispatcher {

std::vector<Target> divide(int64_t total, const std::vector<Target>& weights, std::string_view uid) {
  std::vector<Target> seats;
  for (const Target& party : weights) seats.push_back({party.cluster, 0});
  const bool all_zero = std::ranges::all_of(weights, [](const Target& target) { return target.replicas == 0; });
  const bool descending = !uid.empty() && fnv1a32(uid) % 2 == 1;
  const auto ahead = [&](size_t a, size_t b) {
    const double share_a = static_cast<double>(weights[a].replicas) / static_cast<double>(2 * seats[a].replicas + 1);
    const double share_b = static_cast<double>(weights[b].replicas) / static_cast<double>(2 * seats[b].replicas + 1);
    if (share_a != share_b) return share_a > share_b;
    if (seats[a].replicas != seats[b].replicas) return seats[a].replicas < seats[b].replicas;
    return descending ? seats[a].cluster > seats[b].cluster : seats[a].cluster < seats[b].cluster;
  };
  for (int64_t given = 0; given < total && !all_zero; ++given) {
    size_t best = 0;
    for (size_t party = 1; party < seats.size(); ++party) {
      if (ahead(party, best)) best = party;
    }
    ++seats[best].replicas;
  }
  int64_t sum = 0;
  for (const Target& seat : seats) sum += seat.replicas;
  SHIPLOG_CHECK(sum == (all_zero ? 0 : std::max<int64_t>(total, 0)), "what is divided sums up to the total");
  std::ranges::sort(seats, {}, &Target::cluster);
  return seats;
}

}  // namespace shiplog::dispatcher
