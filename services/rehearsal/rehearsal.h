#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/control.h"
#include "events/state/state.h"
#include "services/rehearsal/rehearsal_report.h"

namespace shiplog {

/// What happens to a fleet in a rehearsal, and what is different in it.
struct RehearsalOptions {
  std::vector<std::string> fail_clusters = {};
  std::vector<std::string> fail_regions = {};
  struct AddedTaint {
    std::string cluster;
    Taint taint;
  };
  std::vector<AddedTaint> taints = {};
  Millis length{30 * 60 * 1000};
  /// From a write to a member until the replicas of a workload are ready there.
  Millis ready_after{30'000};
  /// Options that replace those of the fleet, as they are recorded (OptionsSet).
  std::vector<OptionSetting> settings = {};
  std::vector<std::pair<std::string, bool>> gates = {};
  /// Replaces each tolerationSeconds of all placements.
  std::optional<int64_t> toleration_seconds = {};
};

/// Runs the roles on `state`, which is used up, in virtual time from the time of its last entry on: the clusters fail
/// and the taints are added at once. All roles of the registry that decide take part, as they are, with members in
/// memory (RehearsalMembers). What concerns neither the clusters that fail nor a workload that moves is left out:
///   - bindings and Works that are settled and on none of these clusters are not reconciled when the roles start, nor
///     when a cluster changes, as a cluster that gets worse changes nothing for them;
///   - clusters that do not fail are not probed: their conditions stay, and the room that moved workloads take or leave
///     is observed instead, as often as the collector probes.
/// Estimators and webhooks are not called: room is judged by the clusters' summaries, and what needs an answer that the
/// state does not contain is reported (RehearsalReport::unanswered). Scripts run in place.
/// The rehearsal ends early once all is healthy and nothing is left to be evicted.
/// Errors: kBadRequest, nothing fails, or a setting is unknown; kNotFound, no such cluster or region.
Result<RehearsalReport> rehearse(State& state, const RehearsalOptions& options);

}  // namespace shiplog
