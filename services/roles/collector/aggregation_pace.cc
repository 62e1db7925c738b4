#include "services/roles/collector/aggregation_pace.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/collector/decide.h"

namespace shiplog::collector {
namespace {

constexpr Millis kReportEvery{100};
/// So long the clusters that have applied it wait for the others.
constexpr Millis kAwaitOthers{1000};
/// For so long a new binding is not reported while its Works are merely under way.
constexpr Millis kAwaitFirst{10'000};

const std::set<ObjectKey>& labelled_with(const State& state, const ObjectKey& binding, std::string_view id) {
  const char* label = binding.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  return state.labelled(label, id);
}

std::string_view id_of(const ObjectKey& binding, const Value& value) {
  return label_of(value, binding.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId);
}

/// How long to wait for pending reports of its clusters; nullopt: all have reported, or have no Work.
std::optional<Millis> patience_with(const State& state, const ObjectKey& key) {
  const Value& binding = state.value_of(key);
  const std::string_view id = id_of(key, binding);
  if (id.empty()) return std::nullopt;
  size_t works = 0, reported = 0;
  for (const ObjectKey& labelled : labelled_with(state, key, id)) {
    if (labelled.type != type::kWork) continue;
    ++works;
    if (has_reported(state.value_of(labelled))) ++reported;
  }
  if (works == 0) return std::nullopt;
  // A cluster that is not ready reports nothing, possibly for a long time.
  const auto expected = std::ranges::count_if(wanted_clusters(binding["spec"]), [&](std::string_view target) {
    const Cluster* cluster = state.cluster(target);
    return cluster != nullptr && cluster->ready();
  });
  if (std::cmp_greater_equal(reported, expected)) return std::nullopt;
  return reported == 0 ? kAwaitFirst : kAwaitOthers;
}

}  // namespace

std::optional<UtcMillis> AggregationPace::wait(const State& state, const ObjectKey& binding, UtcMillis now) {
  while (!in_order_.empty()) {
    const auto& [at, key] = in_order_.front();
    const Millis since = now - at;
    if (since.value >= 0 && since < kReportEvery) break;
    if (const auto last = last_.find(key); last != last_.end() && last->second == at) last_.erase(last);
    in_order_.pop_front();
  }
  if (const auto last = last_.find(binding); last != last_.end()) {
    const Millis since = now - last->second;
    if (since.value >= 0 && since < kReportEvery) return last->second + kReportEvery;
  }
  if (const auto patience = patience_with(state, binding)) {
    Awaited& awaited = awaited_[binding];
    if (awaited.patience != *patience) awaited = {*patience, now};
    const Millis waited = now - awaited.since;
    if (waited.value >= 0 && waited < *patience) return awaited.since + *patience;
  }
  awaited_.erase(binding);
  return std::nullopt;
}

void AggregationPace::reported(const ObjectKey& binding, UtcMillis now) {
  last_.insert_or_assign(binding, now);
  in_order_.emplace_back(now, binding);
}

void AggregationPace::forget(const std::function<bool(const ObjectKey&)>& which) {
  std::erase_if(last_, [&](const auto& item) { return which(item.first); });
  std::erase_if(awaited_, [&](const auto& item) { return which(item.first); });
  std::erase_if(in_order_, [&](const auto& item) { return which(item.second); });
}

bool has_reported(const Value& work) {
  const std::string_view applied = condition_of(work, "Applied")["status"].as_string();
  if (applied == "True") return work["status"].contains("manifestStatuses");
  return applied == "False" || condition_of(work, "Dispatching")["status"].as_string() == "False";
}

bool has_works(const State& state, const ObjectKey& binding, const Value& value) {
  if (!value["status"]["aggregatedStatus"].is_empty()) return true;
  const std::string_view id = id_of(binding, value);
  return !id.empty() && std::ranges::any_of(labelled_with(state, binding, id),
                                            [](const ObjectKey& key) { return key.type == type::kWork; });
}

}  // namespace shiplog::collector
