#include "services/roles/recreations.h"

#include <algorithm>
#include <variant>

#include "events/state/binding.h"
#include "events/state/work.h"
#include "services/roles/binding_aim.h"

namespace shiplog {
namespace {

constexpr Millis kLookThroughEvery{1'000};

/// Something still wants the Work that is gone: its binding, or its namespace, which is the owner; other Works have no
/// life of their own.
bool still_wanted(const State& state, const Value& work, const std::string& cluster) {
  for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
    const auto id = label_of(work, label);
    if (id.empty()) continue;
    return std::ranges::any_of(state.labelled(label, id), [&](const ObjectKey& key) {
      const Value& binding = state.value_of(key);
      return is_binding(key.type) && !deleting(binding) && aims_at(binding["spec"], cluster);
    });
  }
  for (const Value& owner : work["metadata"]["ownerReferences"].items()) {
    if (owner["kind"].as_string() != "Namespace") continue;
    const Object* ns = state.find({type::kNamespace, "", owner["name"].str()});
    return ns != nullptr && !deleting(ns->value);
  }
  return true;
}

}  // namespace

void Recreations::removed(const State& state, const Change& work) {
  const std::string name = cluster_of_space(work.object.ns);
  const Cluster* cluster = state.cluster(name);
  if (cluster == nullptr || cluster->sync_mode != "Pull" || cluster->deleting) return;
  if (!still_wanted(state, work.before, name)) return;
  Gone& gone = clusters_[name];
  gone.last = std::nullopt;
  gone.works.try_emplace(work.object, std::nullopt);
  aged_ = std::nullopt;
}

void Recreations::age(UtcMillis now) {
  // Each decision asks, and there may be thousands.
  if (aged_ && *aged_ <= now && now < *aged_ + kLookThroughEvery) return;
  aged_ = now;
  for (auto& [name, gone] : clusters_) {
    if (!gone.last) gone.last = now;
    for (auto& [work, since] : gone.works) {
      if (!since) since = now;
    }
    std::erase_if(gone.works, [&](const auto& item) { return *item.second + kRest <= now || *item.second > now; });
  }
  // A clock that was set back must not hold them for longer.
  std::erase_if(clusters_, [&](const auto& item) { return item.second.works.empty() || *item.second.last > now; });
}

Result<Decided> Recreations::hold_back(Result<Decided> decided, UtcMillis now) {
  age(now);
  const auto* decision = decided ? std::get_if<Decision>(&decided.value()) : nullptr;
  if (decision == nullptr) return decided;
  std::optional<UtcMillis> latest;
  for (const Event& event : decision->events) {
    const auto* rendered = std::get_if<WorkRendered>(&event);
    if (rendered == nullptr) continue;
    const auto cluster = clusters_.find(cluster_of_space(rendered->work.ns));
    if (cluster == clusters_.end()) continue;
    const auto held = cluster->second.works.find(rendered->work);
    if (held == cluster->second.works.end()) continue;
    const UtcMillis until = std::min(*cluster->second.last + kPause, *held->second + kLongest);
    if (until > now && (!latest || until > *latest)) latest = until;
  }
  if (latest) return LookAgain{*latest};
  return decided;
}

}  // namespace shiplog
