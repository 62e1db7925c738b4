#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "events/base/random.h"
#include "services/programs/journals.h"
#include "services/programs/requests/topics.h"
#include "services/requests/executor.h"
#include "services/runtime/replica.h"

namespace shiplog::requests {

/// Consumes the topic of requests as a member of the consumer group of its name, has the executor carry them out, and
/// commits results, dead letters and positions in transactions. A thread of its own does all of this:
///
///   poll ─▶ window of the partition ─▶ executor ─▶ window ─▶ the finished prefix ─▶ one transaction
///
/// Back-pressure: a partition whose window is full is paused. Exactly once: see docs/decisions/0047.
class RequestsConsumer {
 public:
  struct Options {
    RequestTopics topics;
    std::shared_ptr<RequestExecutor> executor;
    api::Store* record = nullptr;
    Random* random = nullptr;
  };

  explicit RequestsConsumer(Options options);
  ~RequestsConsumer();

  void stop();

 private:
  struct Partition;
  void run();
  void consume();
  bool join();
  std::map<int32_t, int64_t> assigned(const std::vector<int32_t>& partitions);
  void revoked(const std::vector<int32_t>& partitions, bool lost);
  Result<std::map<int32_t, SettledOffsets>> settled(const std::vector<int32_t>& partitions);
  void take(DeliveredRecord record);
  void start_waiting(const std::shared_ptr<Partition>& partition);
  void finish(const std::shared_ptr<Partition>& partition, int64_t offset, RecordOutcome outcome);
  bool commit_finished();
  void note_failure(const std::string& failure);
  void drop_all();
  bool stopped() const;

  const Options options_;
  std::unique_ptr<TopicGroup> group_;
  std::map<int32_t, std::shared_ptr<Partition>> partitions_;
  std::optional<std::chrono::steady_clock::time_point> fenced_;  // by the group, which has not revoked anything yet

  mutable std::mutex mutex_;  // guards those below, and what partitions hold
  std::string failure_;       // why a partition is not consumed, or the group cannot be joined; empty: all is well
  std::condition_variable stopping_;
  bool stopped_ = false;
  bool joined_ = false;

  std::thread thread_;
};

}  // namespace shiplog::requests
