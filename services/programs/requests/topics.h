#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/journal/kafka/kafka_journal.h"

namespace shiplog::requests {

/// One record as a consumer gets it.
struct DeliveredRecord {
  int32_t partition = 0;
  int64_t offset = 0;
  std::string key, value;
  std::string content_type, traceparent, tracestate;
};

/// One record that is published.
struct OutgoingRecord {
  std::string topic, key, value;
  KafkaHeaders headers;
};

/// What is to be known of a partition before it is consumed.
struct PartitionPosition {
  int64_t committed = -1;  ///< of the group; -1: none
  int64_t oldest = 0;
  int64_t end = 0;
};

/// The consumer group of a topic and a transactional producer: what is published and how far was consumed are committed
/// together, or not at all. A consumer that the group has removed cannot commit. Threads: one; wake() from any.
class TopicGroup {
 public:
  /// Called from poll(), on its thread.
  struct Handlers {
    /// From which offset to consume each partition; one that is left out is not consumed.
    std::function<std::map<int32_t, int64_t>(const std::vector<int32_t>& partitions)> assigned;
    /// `lost`: others may own them already; nothing can be committed.
    std::function<void(const std::vector<int32_t>& partitions, bool lost)> revoked;
    std::function<void(const std::string& error)> failed;
  };
  enum class Published {
    kCommitted,
    kAgain,   ///< not committed: publish the same again
    kFenced,  ///< not committed: this consumer is no member any more, its partitions are going to be revoked
  };

  /// `options`: brokers, topic, settings and log. `transactional_id` is unique among running processes.
  static Result<std::unique_ptr<TopicGroup>> join(const KafkaJournalOptions& options, const std::string& group,
                                                  const std::string& transactional_id, Handlers handlers);
  ~TopicGroup();
  TopicGroup(const TopicGroup&) = delete;
  TopicGroup& operator=(const TopicGroup&) = delete;

  /// Also calls the handlers. nullopt: nothing came, or wake() was called.
  std::optional<DeliveredRecord> poll(Millis timeout);
  void wake();
  /// No more, or again, records of the partition.
  void pause(int32_t partition, bool paused);

  /// Where the partition ended when it was last fetched from.
  int64_t end(int32_t partition) const;

  /// From the brokers; waits for transactions of other members. Error: kUnavailable.
  Result<std::map<int32_t, PartitionPosition>> positions(const std::vector<int32_t>& partitions, Millis timeout);
  /// Publishes the records and commits the positions, by partition.
  Published publish(const std::vector<OutgoingRecord>& records, const std::map<int32_t, int64_t>& next);
  /// Leaves the group: its partitions are revoked.
  void leave();

 private:
  struct Impl;
  explicit TopicGroup(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::requests
