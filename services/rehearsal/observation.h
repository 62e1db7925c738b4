#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/rehearsal/rehearsal_members.h"
#include "services/rehearsal/rehearsal_report.h"

namespace shiplog {

/// Follows what a rehearsal folds, and keeps what its report consists of. Threads: one.
class RehearsalObservation {
 public:
  /// `lost`: clusters that are down; `hit`: these, and the tainted ones.
  RehearsalObservation(const State& state, UtcMillis began, std::set<std::string> lost, std::set<std::string> hit);

  /// A binding is on a cluster that fails, or moves: from now on it has a row.
  void follow(const ObjectKey& binding, const Value& before, UtcMillis now);
  bool follows(const ObjectKey& binding) const { return rows_.contains(binding); }
  void on_folded(const Entry& entry, const Folded& folded);
  /// For the timeline: `what` has happened, in words; `detail` is what like events have in common.
  void note(UtcMillis now, const char* kind, const std::string& cluster, const std::string& what,
            const std::string& detail = "");

  /// All workloads are healthy, and none is left on a cluster that was hit.
  bool calm() const { return unhealthy_ == 0 && leaving_ == 0; }
  UtcMillis last_change() const { return last_change_; }

  void write(RehearsalReport& report, const std::vector<RehearsalMembers::Shortage>& shortages, UtcMillis now) const;

 private:
  struct Row {
    RehearsedWorkload workload;
    std::vector<Target> placed;   // its targets by the last placement, sorted
    bool expects_health = false;  // members report whether its kind is healthy
    bool attached = false;
    bool is_healthy = true;
    bool is_leaving = false;  // on a cluster that was hit, or being evicted
  };
  struct Group {
    TimelineRow row;
    std::set<std::string> clusters;
    std::string first, detail;

    std::string text() const;
  };
  void judge(const ObjectKey& binding, Row& row, UtcMillis now);
  bool healthy(const ObjectKey& binding, const Row& row) const;
  bool leaving(const Value& spec) const;
  void judge_of_work(const Value& work, UtcMillis now);
  void on_event(const Event& event, UtcMillis now);
  void on_cluster_event(const Event& event, UtcMillis now);
  void sample(UtcMillis now);
  void conclude(RehearsedWorkload& workload, const std::vector<RehearsalMembers::Shortage>& shortages,
                UtcMillis now) const;
  std::string why_it_stays(const Value& binding, const std::string& cluster, UtcMillis now) const;
  Millis since(UtcMillis now) const { return now - began_; }

  const State& state_;
  const UtcMillis began_;
  const std::set<std::string> lost_, hit_;
  std::map<ObjectKey, Row> rows_;
  size_t unhealthy_ = 0, leaving_ = 0, evictions_ = 0;
  UtcMillis last_change_;
  std::optional<UtcMillis> all_healthy_;
  std::vector<Group> groups_;
  std::map<std::string, size_t> open_;  // the group that the next like event may join
  std::vector<HealthSample> health_;
  std::map<ObjectKey, size_t> quota_refusals_;
  std::map<ObjectKey, Value> quota_used_before_;
};

}  // namespace shiplog
