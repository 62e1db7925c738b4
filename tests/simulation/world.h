#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "projections/runner.h"
#include "services/runtime/replica.h"
#include "tests/simulation/election.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/members.h"
#include "tests/simulation/process.h"
#include "tests/simulation/reference.h"
#include "tests/simulation/script.h"
#include "tests/simulation/storage.h"
#include "tests/simulation/timeline.h"
#include "tests/simulation/trace.h"
#include "tests/support/fake_members.h"

namespace shiplog::simulation {

/// Rules broken on purpose, to show that the checks notice.
enum class Sabotage {
  kNone,
  kIgnoreFence,       ///< a process that lost a lease continues as if it had the new one
  kSkipEntry,         ///< one replica misses one entry
  kRetryWithNewId,    ///< a writer repeats an entry under another id
  kForgeEntry,        ///< the journal delivers something that no process wrote
  kLoseAcknowledged,  ///< the journal forgets an entry after it was acknowledged
  kChangeDecision,    ///< a placement is not what was decided
  kIgnoreDeletes,     ///< members accept a deletion and do nothing
  kNeverIdle,         ///< a client writes for ever
  kServeUnsynced,     ///< the journal shows records that are not on disk yet
  kSkipWatched,       ///< one watch loses one change
  kStaleReads,        ///< a read does not wait for the journal
  kChangeContent,     ///< a user's object is stored otherwise than it was sent
  kHalfQuota,         ///< the check uses half of each limit: shows that limits are reached at all
};

/// A whole fleet in one thread: processes, journal, members, users, and what goes wrong between them.
class World {
 public:
  World(uint64_t seed, bool print, Sabotage sabotage);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// A chance of its own for each purpose: so what one of them draws changes nothing for the others, and a world with
  /// fewer faults is still much like the one with more.
  Chance stream(const std::string& purpose) const;

  const uint64_t seed;
  const Sabotage sabotage;
  const FleetShape shape;
  Chance chance;
  Timeline timeline;
  Trace trace;
  SimLog log;
  SimLog ephemera;  ///< the other journal; nothing goes wrong with it
  Reference reference;
  Elections elections;
  NetworkFaults network;
  testing::FakeMembers members;
  std::unique_ptr<Storage> storage;  ///< nullptr: the journal and the projections are in memory
  std::vector<std::unique_ptr<SimulatedProcess>> processes;
  std::vector<Restored> snapshots;

  /// What a user received.
  struct Told {
    std::string write;
    Outcome outcome;
  };
  std::vector<Told> told;
  std::set<std::string> told_not_stored;
  Revision newest_told;                     ///< what every later read has to show, wherever it is made
  std::map<std::string, std::string> open;  ///< writes without an answer, with the life of the process that owes it
  uint64_t writes = 0;
  uint64_t reads = 0;
  uint64_t watched = 0;  ///< changes that watches have delivered

  /// Something went wrong; for the report.
  void count(const std::string& what) { ++happened_[what]; }
  const std::map<std::string, uint64_t>& happened() const { return happened_; }
  /// The largest number of something at any time; for the report.
  void note_most(const std::string& what, uint64_t number) { most_[what] = std::max(most_[what], number); }
  const std::map<std::string, uint64_t>& most() const { return most_; }

  /// One request of a user to one process, which is alive. `done` hears the outcome, unless that process dies.
  void write(SimulatedProcess& process, const std::string& verb, std::vector<Event> events, std::vector<Expect> expects,
             std::function<void(const Outcome&)> done = {});
  /// A read as an API server does it: it shows all that any client received before it began.
  void read(SimulatedProcess& process, std::function<void(const State&)> then);
  /// A member has made an object for the fleet. When its Work is removed then, a deletion has overtaken the creation
  /// on the network: no process can know of that object any more, so it may stay.
  void note_created(const std::string& cluster, const Value& object);
  /// Uids of member objects that no process of the fleet can be expected to delete.
  std::set<std::string> left_behind;
  /// One that is alive; nullptr when none is.
  SimulatedProcess* any_process(Chance& from);
  /// A snapshot that can still be started from, or an empty one for the beginning.
  Restored restore(Chance from) const;

  /// Runs until then, or until a rule is broken.
  void run_for(Millis time);
  bool broken() const { return trace.failure().has_value(); }

 private:
  void note_clusters();
  std::set<std::string> joined_;
  std::map<std::string, uint64_t> happened_, most_;
};

}  // namespace shiplog::simulation
