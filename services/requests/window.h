#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/requests/contract.h"

namespace shiplog::requests {

/// What is published for a record: its result, and, if it was no request, why.
struct RecordOutcome {
  ProducedResult result;
  std::optional<std::string> dead;
};

/// The records of one partition from their delivery until their results may be committed. Several are carried out at
/// once, but those about one object in their order; results are committed in the order of the records, since what a
/// consumer group remembers is one position. Pure.
///
///   add ──▶ waiting ──start_next──▶ running ──finish──▶ finished ──take_finished (a prefix)──▶
class RequestWindow {
 public:
  explicit RequestWindow(size_t most_running) : most_running_{most_running} {}

  /// The next record, in the order of the offsets. An empty key has no order with any other.
  void add(int64_t offset, std::string order_key);
  /// The same for one that is finished as soon as it is delivered: it is no request.
  void add_finished(int64_t offset, RecordOutcome outcome);
  /// The first waiting record whose object no other one concerns that is running or waits before it; nullopt: none.
  std::optional<int64_t> start_next();
  void finish(int64_t offset, RecordOutcome outcome);

  struct Finished {
    std::vector<std::pair<int64_t, RecordOutcome>> outcomes;  ///< by offset
    int64_t next = 0;                                         ///< the position to commit
  };
  /// Takes the outcomes of the first records, as far as all before are finished; at most so many. nullopt: none.
  std::optional<Finished> take_finished(size_t most);

  /// Records that are not taken yet.
  size_t size() const { return records_.size(); }
  size_t running() const { return running_; }
  size_t waiting() const { return waiting_; }

 private:
  enum class Phase { kWaiting, kRunning, kFinished };
  struct Record {
    Phase phase = Phase::kWaiting;
    std::string order_key;
    std::optional<RecordOutcome> outcome;
  };

  const size_t most_running_;
  size_t running_ = 0;
  size_t waiting_ = 0;
  std::map<int64_t, Record> records_;
};

}  // namespace shiplog::requests
