#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/runtime/replica.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/trace.h"

namespace shiplog::simulation {

/// The result of each record of the journal, folded once in the order of storing, with the rules that must hold after
/// each entry. Every replica is compared with it.
class Reference {
 public:
  /// What the records up to here have made.
  struct Point {
    EntryId id;
    Revision revision;
    Hash128 hash;
    bool refused = false;
    bool duplicate = false;
  };

  explicit Reference(Trace& trace) : trace_{trace} {}

  void on_stored(const SimLog::Stored& stored, UtcMillis now);
  /// A process is going to append these bytes.
  void on_sent(const std::string& bytes);
  /// A user's write has this content.
  void on_requested(const std::string& write, std::vector<Event> events) { requested_[write] = std::move(events); }
  /// A replica has folded a record.
  void on_folded(const std::string& who, const State& state, const DecodedRecord& record, const Folded& folded);

  /// Believes in half of each limit from now on.
  void halve_limits() { limit_share_ = 2; }

  const State& state() const { return state_; }
  /// All that was ever changed, in order: what every watch has to deliver.
  const std::vector<Change>& changes() const { return changes_; }
  const std::map<Offset, Point>& points() const { return points_; }
  /// Accepted entries by the trace id that a writer gave them.
  const std::map<std::string, int>& accepted_writes() const { return accepted_writes_; }
  /// A process starts with this state, which covers what is before `next`.
  void check_start(const std::string& who, Offset next, const State& state);
  uint64_t events() const { return events_; }
  uint64_t accepted() const { return accepted_; }
  uint64_t refused() const { return refused_; }
  /// Entries that were accepted under the lease of a slot.
  uint64_t under_slots() const { return under_slots_; }
  /// By "service: the reason's first words".
  const std::map<std::string, uint64_t>& refusals() const { return refusals_; }

 private:
  void check_origin(const SimLog::Stored& stored, const Entry& entry);
  void check_fence(const SimLog::Stored& stored, const Entry& entry, const Lease& lease);
  void check_slot(const Entry& entry);
  void check_quota(const Folded& folded);
  void check_content(const Entry& entry, const Folded& folded);
  void check_gates(const Entry& entry);
  void check_budget(const Entry& entry, UtcMillis now);
  void check_reports(const Entry& entry, const Folded& folded);

  Trace& trace_;
  State state_;
  std::map<Offset, Point> points_;
  std::vector<Change> changes_;
  std::set<Hash128> sent_;
  std::set<EntryId> applied_;
  std::map<std::string, int> accepted_writes_;
  std::map<std::string, std::vector<Event>> requested_;
  bool evictions_were_on_ = false;            // evictions have been switched on at some time
  std::map<std::string, uint64_t> epochs_;    // newest accepted, by service
  std::vector<UtcMillis> evictions_;          // for taints, since the budget is as it is
  Revision without_budget_;                   // the newest one at which the fleet had no budget for evictions
  std::vector<std::string> budget_;           // as the words of the option
  std::map<std::string, ResourceList> used_;  // by namespace, as summed up here
  std::map<std::string, uint64_t> refusals_;
  int64_t limit_share_ = 1;
  uint64_t events_ = 0;
  uint64_t accepted_ = 0;
  uint64_t refused_ = 0;
  uint64_t under_slots_ = 0;
};

/// One line for people: actor, event, result.
std::string described(const Entry& entry, const Folded& folded);

}  // namespace shiplog::simulation
