#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

struct FleetOptions;

/// --resource-eviction-rate: evictions a second of the whole fleet, in millionths. 0 in the text: one in 1800 seconds.
/// Error: kInvalid, not a decimal number that is 0 or more.
Result<int64_t> parse_eviction_rate(std::string_view text);

/// --eviction-budget: how much may leave its clusters at a time. Its words, in any order:
///   evictions=N               at most so many evictions within a window
///   window=DURATION           the window, 10m by default
///   fraction=F                at most this part of the clusters is evacuated within a window; one always may be
///   priority>=P:evictions=N   at most N for workloads of at least this scheduling priority, instead of `evictions`
struct EvictionBudget {
  struct OfPriority {
    int64_t priority = 0;
    int64_t evictions = 0;
    bool operator==(const OfPriority&) const = default;
  };
  std::optional<int64_t> evictions;
  Millis window{10 * 60 * 1000};
  std::optional<int64_t> fraction_millionths;
  std::vector<OfPriority> by_priority;  ///< highest first
  bool operator==(const EvictionBudget&) const = default;

  /// How many evictions there may be in a window, of workloads with this priority; nullopt: any number.
  std::optional<int64_t> evictions_for(int64_t priority) const;
  /// How many of so many clusters may be evacuated within a window; nullopt: any number.
  std::optional<size_t> most_clusters(size_t clusters) const;
};

/// Error: kInvalid, with the word and what is expected.
Result<EvictionBudget> parse_eviction_budget(const std::vector<std::string>& words);

/// Those in force. What was recorded has been parsed before; what cannot be is as by default.
int64_t eviction_rate_of(const FleetOptions& options);
EvictionBudget eviction_budget_of(const FleetOptions& options);

}  // namespace shiplog
