#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/base/hash.h"
#include "services/roles/recorder/correlation.h"
#include "services/roles/recorder/event_drafts.h"
#include "services/runtime/replica.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Writes Kubernetes Events about accepted entries of the record (recorder::event_drafts_of), for `kubectl
/// describe` and `kubectl get events`. A repeated Event of an object is counted up, similar ones are combined, and what
/// a component reports about one object is limited (recorder::EventCorrelation). Nothing waits for it: reports gather
/// and go into the ephemera some dozens at a time, one append after the other, most of them when the fleet is quiet
/// again, since while much happens others need the machine more. What waits is bounded: the oldest are dropped and
/// counted. Of its Events the newest `most_kept` stay. It observes the record; what it writes goes to the other
/// journal, so it never hears of itself.
/// - Owns: Events with the reporting instance shiplogd, in the ephemera.
/// - Trigger: accepted entries, and failures that record_events() is called with.
/// - Failures: an append that fails is repeated a few times; then the Events are dropped and counted.
/// Threads: the executor; the counters from any.
class Recorder final : public Observer {
 public:
  struct Options {
    Replica* record = nullptr;
    Replica* ephemera = nullptr;
    Executor* executor = nullptr;
    std::string user_agent;
    Millis gather{200};     ///< nothing is written before no Event was added for so long,
    Millis patience{1000};  ///< but an append of so long ago is followed by another
    Millis between{50};     ///< two appends while it is quiet
    size_t at_once = 64;    ///< Events in one append
    size_t most_waiting = 4096;
    size_t most_kept = 5000;
  };
  explicit Recorder(Options options);
  ~Recorder() override { *alive_ = false; }

  /// From here on Events are recorded for folded entries, not for earlier ones.
  void begin();
  void end();
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// Called whether or not this process leads: only the failing process knows.
  void record_events(std::vector<recorder::EventDraft> reports, UtcMillis time);

  uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  /// By the limit of a component and an object.
  uint64_t filtered() const { return filtered_.load(std::memory_order_relaxed); }

 private:
  /// One Event to be: reports of the same words about the same object are one, and those that are combined.
  struct Waiting {
    recorder::EventDraft report;
    UtcMillis first, last;
    int64_t count = 1;
    int tries = 0;
  };
  void take(Waiting waiting, const Hash128& identity);
  void arm(Millis after);
  void flush();
  void put(const Waiting& waiting, const Hash128& identity, std::vector<Event>& events);
  void forget_oldest(std::vector<Event>& events);
  void drop(size_t count);
  void after_append(const Result<Outcome>& outcome, std::vector<std::pair<Hash128, Waiting>> batch);
  void find_kept();

  Options options_;
  bool recording_ = false;
  bool armed_ = false;
  bool appending_ = false;
  bool found_kept_ = false;
  recorder::EventCorrelation correlation_;
  std::unordered_map<Hash128, Waiting, recorder::HashOfHash> waiting_;
  std::deque<Hash128> order_;   // of waiting_, the oldest first; what is no longer waiting is skipped
  std::deque<ObjectKey> kept_;  // Events of ours, the oldest first; removed ones are skipped
  UtcMillis told_, appended_;
  UtcMillis said_dropped_;
  uint64_t dropped_said_ = 0;
  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> filtered_{0};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Role "recorder": `recorder` records while this process has the lease.
std::unique_ptr<Role> make_recorder_role(Recorder& recorder);

}  // namespace shiplog
