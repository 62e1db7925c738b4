#include "services/roles/dispatcher/recreations.h"

#include <variant>

#include "events/state/work.h"

namespace shiplog::dispatcher {

void Recreations::removed(const State& state, const ObjectKey& work) {
  const Cluster* cluster = state.cluster(cluster_of_space(work.ns));
  if (cluster != nullptr && cluster->sync_mode == "Pull" && !cluster->deleting) until_[work] = std::nullopt;
}

Result<Decided> Recreations::hold_back(Result<Decided> decided, UtcMillis now) {
  for (auto& [work, until] : until_) {
    if (!until) until = now + kPause;
  }
  // A clock that was set back must not hold them for longer.
  std::erase_if(until_, [&](const auto& item) { return *item.second <= now || *item.second > now + kPause; });
  const auto* decision = decided ? std::get_if<Decision>(&decided.value()) : nullptr;
  if (decision == nullptr) return decided;
  std::optional<UtcMillis> latest;
  for (const Event& event : decision->events) {
    const auto* rendered = std::get_if<WorkRendered>(&event);
    const auto held = rendered == nullptr ? until_.end() : until_.find(rendered->work);
    if (held != until_.end() && (!latest || *held->second > *latest)) latest = held->second;
  }
  if (latest) return Decided{LookAgain{*latest}};
  return decided;
}

}  // namespace shiplog::dispatcher
