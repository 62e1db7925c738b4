#include "services/roles/dispatcher/render.h"
#include "services/roles/webster.h"

namespace shiplog::dispatcher {

std::vector<Target> divide(int64_t total, const std::vector<Target>& weights, std::string_view uid) {
  std::vector<Weight> parties;
  parties.reserve(weights.size());
  for (const Target& target : weights) parties.push_back({target.cluster, target.replicas});
  std::vector<Target> shares;
  shares.reserve(weights.size());
  for (const Seats& share : webster(total, parties, names_descend(uid))) {
    shares.push_back({std::string{share.name}, share.seats});
  }
  return shares;
}

}  // namespace shiplog::dispatcher
