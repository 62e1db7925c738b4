#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "events/journal/kafka/kafka_journal.h"

// librdkafka's header stays in .cc files.
struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_queue_s;
struct rd_kafka_message_s;

namespace shiplog::kafka {

/// What a topic holds: [oldest, next).
struct Bounds {
  int64_t oldest = 0;
  int64_t next = 0;
};

/// One handle of librdkafka with the one topic it is about. Threads: any.
class Client {
 public:
  enum class Kind { kProducer, kReader };
  using Delivered = void (*)(rd_kafka_s*, const rd_kafka_message_s*, void* opaque);

  /// `delivered` and `opaque` are for a producer. Error: kInvalid, a setting is unknown, has a bad value, or is the
  /// journal's own.
  static Result<std::unique_ptr<Client>> make(Kind kind, const KafkaJournalOptions& options,
                                              Delivered delivered = nullptr, void* opaque = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  rd_kafka_s* handle() const { return handle_; }
  rd_kafka_topic_s* topic() const { return topic_; }
  const std::string& topic_name() const { return topic_name_; }

  /// Asks the partition's leader, again and again until the time is over. Error: kUnavailable.
  Result<Bounds> bounds(Millis timeout) const;
  Result<int64_t> end(Millis timeout) const;

  /// "kafka b1:9092,b2:9092, topic x.journal: <what>: <the library's last complaint>"
  Error unavailable(const std::string& what) const;
  /// "kafka b1:9092, topic x.journal"
  std::string name() const { return "kafka " + brokers_ + ", topic " + topic_name_; }

  /// The library's last complaint (a connection that was refused, a login that failed); empty: none.
  std::string complaint() const;
  void complain(int level, const std::string& line);

 private:
  Client() = default;
  Result<int64_t> ask_offset(int64_t which, Millis timeout) const;

  rd_kafka_s* handle_ = nullptr;
  rd_kafka_topic_s* topic_ = nullptr;
  std::string brokers_;
  std::string topic_name_;
  std::function<void(int, const std::string&)> log_;
  Delivered delivered_ = nullptr;
  void* opaque_ = nullptr;
  mutable std::mutex mutex_;
  std::string complaint_;
};

/// A queue of librdkafka: one of its own, or the handle's main one, on which rd_kafka_poll() waits.
class Queue {
 public:
  struct Main {};
  explicit Queue(const Client& client);
  Queue(const Client& client, Main);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  rd_kafka_queue_s* get() const { return queue_; }

 private:
  rd_kafka_queue_s* queue_;
};

}  // namespace shiplog::kafka
