#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "events/journal/kafka/client.h"

namespace shiplog::kafka {

/// Appends to the topic's partition and delivers results in the order of the appends, on a thread of its own.
///
///   append ──▶ librdkafka's queue ──one request at a time──▶ broker
///      └─────▶ order_ ◀──────────── delivery report ───────────┘ ──front is answered──▶ done
///
/// The library may report a fatal error of a producer (the broker no longer has its sequence numbers). All entries in
/// flight are then completed, and a new producer takes over.
class Producer {
 public:
  static Result<std::unique_ptr<Producer>> make(const KafkaJournalOptions& options);
  /// Waits for acknowledgements up to the configured timeout. Entries without one are then completed with
  /// kUnknownOutcome, or kUnavailable if they were never sent.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  void append(std::string bytes, Journal::Appended done);
  bool on_own_thread() const { return std::this_thread::get_id() == thread_.get_id(); }
  /// All records before this offset are stored, according to the acknowledgements received.
  const std::shared_ptr<std::atomic<int64_t>>& stored() const { return stored_; }

 private:
  struct Pending {
    Journal::Appended done;
    std::optional<Result<Offset>> answer;
  };

  explicit Producer(KafkaJournalOptions options) : options_{std::move(options)} {}
  static void delivered(rd_kafka_s*, const rd_kafka_message_s* message, void* self);
  Result<void> connect();
  Result<void> send(const std::string& bytes, Pending* pending);
  void run();
  void answer_front();
  void replace_if_failed();

  const KafkaJournalOptions options_;
  std::shared_ptr<std::atomic<int64_t>> stored_ = std::make_shared<std::atomic<int64_t>>(0);

  std::mutex mutex_;  // guards the members below
  std::unique_ptr<KafkaClient> client_;
  std::unique_ptr<Queue> wake_;
  std::deque<std::unique_ptr<Pending>> order_;
  bool closing_ = false;
  std::condition_variable closed_;

  std::thread thread_;
};

}  // namespace shiplog::kafka
