#include "events/state/eviction_record.h"

#include <algorithm>

#include "events/state/state.h"

namespace shiplog {
namespace {

/// One eviction, in the unit of the level.
constexpr int64_t kOne = 1'000'000;
/// So many parts a window is counted in. A part leaves the window as a whole, once its last moment has: never more than
/// the budget is evicted within a window, and what is free is known one part later at most.
constexpr int64_t kParts = 60;

/// A time further ahead than this was recorded by a process with a wrong clock. Counted as such it would hold up all
/// evictions until then; so those few do not count.
constexpr int64_t kFarAhead = 60'000;

bool far_ahead(int64_t recorded, UtcMillis now) { return recorded - now.value > kFarAhead; }

int64_t part_ms(const EvictionBudget& budget) { return std::max<int64_t>(1, budget.window.value / kParts); }

/// When what is counted in the part that began at `from` has left the window.
int64_t leaves_at(const EvictionBudget& budget, int64_t from) { return from + part_ms(budget) + budget.window.value; }

bool counts(const EvictionBudget& budget, const Value& part, UtcMillis now) {
  const int64_t from = part["from"].as_int();
  return leaves_at(budget, from) > now.value && !far_ahead(from, now);
}

/// The level has sunk by the rate since it was recorded.
int64_t level_at(const Value& record, int64_t rate, UtcMillis now) {
  if (far_ahead(record["at"].as_int(), now)) return 0;
  const int64_t elapsed = std::max<int64_t>(0, now.value - record["at"].as_int());
  const int64_t level = record["level"].as_int();
  // Long ago: the product might not fit.
  if (elapsed >= (level * 1000 + rate - 1) / rate) return 0;
  return level - elapsed * rate / 1000;
}

bool evacuated(const EvictionBudget& budget, int64_t last, UtcMillis now) {
  return last + budget.window.value > now.value && !far_ahead(last, now);
}

}  // namespace

ObjectKey eviction_record_key() { return {kEvictionRecordType, "", "fleet"}; }

bool counts_for_budget(const FleetOptions& options, const std::string& producer) {
  return producer == kTaintManager || !options.eviction_budget.empty();
}

Value with_eviction(Value record, const FleetOptions& options, const std::string& cluster, UtcMillis now) {
  const EvictionBudget budget = eviction_budget_of(options);
  const int64_t level = level_at(record, eviction_rate_of(options), now);
  record.set("level", level + kOne);
  const int64_t at = record["at"].as_int();
  record.set("at", far_ahead(at, now) ? now.value : std::max(now.value, at));

  Value::Array& parts = record.edit("window").edit_items();
  std::erase_if(parts, [&](const Value& part) { return !counts(budget, part, now); });
  const int64_t from = now.value - now.value % part_ms(budget);
  if (parts.empty() || parts.back()["from"].as_int() < from) {
    parts.push_back(Value::object({{"from", from}, {"evictions", 1}}));
  } else {
    parts.back().set("evictions", parts.back()["evictions"].as_int() + 1);
  }

  Value left = Value::object();
  for (const auto& member : record["clusters"].members()) {
    if (evacuated(budget, member.value.as_int(), now)) left.set(member.key(), member.value);
  }
  left.set(cluster, now.value);
  record.set("clusters", std::move(left));
  return record;
}

EvictionAllowance::EvictionAllowance(const State& state, UtcMillis now)
    : options_{state.options()},
      now_{now},
      rate_{eviction_rate_of(options_)},
      budget_{eviction_budget_of(options_)},
      clusters_{state.clusters().size()},
      record_{state.value_of(eviction_record_key())} {}

std::optional<UtcMillis> EvictionAllowance::paced_until() const {
  // What a second makes up for may come at once; the first one always may. When that is used up all of it is waited
  // for, so that thousands that wait are looked through once a second at most.
  const int64_t level = level_at(record_, rate_, now_);
  if (level + kOne <= std::max(kOne, rate_)) return std::nullopt;
  return now_ + Millis{(level * 1000 + rate_ - 1) / rate_};
}

std::optional<EvictionLimit> EvictionAllowance::exhausted(const std::string& cluster, int64_t priority) const {
  const auto window = [&] { return std::to_string(budget_.window.value / 1000) + " s"; };
  if (const auto limit = budget_.evictions_for(priority)) {
    int64_t counted = 0;
    for (const Value& part : record_["window"].items()) {
      if (counts(budget_, part, now_)) counted += part["evictions"].as_int();
    }
    if (counted >= *limit) {
      UtcMillis until = now_ + budget_.window;
      for (const Value& part : record_["window"].items()) {
        if (!counts(budget_, part, now_)) continue;
        counted -= part["evictions"].as_int();
        until = UtcMillis{leaves_at(budget_, part["from"].as_int())};
        if (counted < *limit) break;
      }
      return EvictionLimit{"EvictionBudgetExhausted",
                           std::to_string(*limit) + " evictions within " + window() +
                               " are the limit for workloads of their priority (--eviction-budget)",
                           until};
    }
  }
  const auto most = budget_.most_clusters(clusters_);
  if (!most) return std::nullopt;
  size_t under_way = 0;
  std::optional<UtcMillis> until;
  for (const auto& member : record_["clusters"].members()) {
    if (!evacuated(budget_, member.value.as_int(), now_)) continue;
    if (member.key() == cluster) return std::nullopt;
    ++under_way;
    const UtcMillis over = UtcMillis{member.value.as_int()} + budget_.window;
    if (!until || over < *until) until = over;
  }
  if (under_way < *most) return std::nullopt;
  return EvictionLimit{"FleetFractionReached",
                       std::to_string(*most) + " of " + std::to_string(clusters_) +
                           " clusters are the limit that workloads may leave within " + window() +
                           " (--eviction-budget)",
                       *until};
}

void EvictionAllowance::take(const std::string& cluster) {
  record_ = with_eviction(std::move(record_), options_, cluster, now_);
}

}  // namespace shiplog
