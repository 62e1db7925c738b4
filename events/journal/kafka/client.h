#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "events/journal/kafka/kafka_journal.h"

// librdkafka's header is included only in .cc files.
struct rd_kafka_s;
struct rd_kafka_conf_s;
struct rd_kafka_topic_s;
struct rd_kafka_queue_s;
struct rd_kafka_message_s;

namespace shiplog::kafka {

/// The offsets that a partition holds: [oldest, next).
struct PartitionBounds {
  int64_t oldest = 0;
  int64_t next = 0;
};

/// One handle of librdkafka with the one topic that it uses. Threads: any.
class KafkaClient {
 public:
  enum class Kind { kProducer, kReader };
  using Delivered = void (*)(rd_kafka_s*, const rd_kafka_message_s*, void* opaque);

  /// `delivered` and `opaque` are for a producer; `own` are settings that users cannot change, in addition to those of
  /// the kind. Error: kInvalid, a setting is unknown, has an invalid value, or is reserved for the journal.
  static Result<std::unique_ptr<KafkaClient>> make(Kind kind, const KafkaJournalOptions& options,
                                                   Delivered delivered = nullptr, void* opaque = nullptr,
                                                   const KafkaSettings& own = {});
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  rd_kafka_s* handle() const { return handle_; }
  rd_kafka_topic_s* topic() const { return topic_; }
  const std::string& topic_name() const { return topic_name_; }

  /// Queries the partition's leader and retries until the timeout. Error: kUnavailable.
  Result<PartitionBounds> bounds(Millis timeout) const;
  Result<int64_t> end(Millis timeout) const;

  /// "kafka b1:9092,b2:9092, topic x.journal: <what>; the client's last error: <line>"
  Error unavailable(const std::string& what) const;
  /// "kafka b1:9092, topic x.journal"
  std::string name() const { return "kafka " + brokers_ + ", topic " + topic_name_; }

  /// The library's last warning or error (a refused connection, a failed login); empty: none.
  std::string last_error() const;
  /// Whether the brokers answered, and refused the login.
  bool login_refused() const;
  void record_log_line(int level, const std::string& line);

 private:
  KafkaClient() = default;
  Result<int64_t> query_offset(int64_t which, Millis timeout) const;

  rd_kafka_s* handle_ = nullptr;
  rd_kafka_topic_s* topic_ = nullptr;
  std::string brokers_;
  std::string topic_name_;
  std::function<void(int, const std::string&)> log_;
  Delivered delivered_ = nullptr;
  void* opaque_ = nullptr;
  mutable std::mutex mutex_;
  std::string last_error_;
};

/// The configuration of a handle: `own` settings, and `users` besides. The caller owns it. Error: kInvalid, as
/// KafkaClient::make().
Result<rd_kafka_conf_s*> make_conf(KafkaSettings own, const KafkaSettings& users);

/// A queue of librdkafka: a separate one, or the handle's main queue, on which rd_kafka_poll() waits.
class Queue {
 public:
  struct Main {};
  explicit Queue(const KafkaClient& client);
  Queue(const KafkaClient& client, Main);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  rd_kafka_queue_s* get() const { return queue_; }

 private:
  rd_kafka_queue_s* queue_;
};

}  // namespace shiplog::kafka
