#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/journal/kafka/kafka_journal.h"

namespace shiplog {

struct KafkaFeedOptions {
  KafkaJournalOptions journal;      ///< the topic that feeds are derived from, and how to reach the brokers
  std::string transactional_id;     ///< of the one writer at a time
  std::string group;                ///< under which the writer's place in the journal is committed
  std::vector<std::string> topics;  ///< created if they do not exist
  int partitions = 4;               ///< of topics that are created
  Millis timeout{10'000};           ///< for each step that waits for brokers
};

/// One record of a feed. Records with the same key are in one partition, which murmur2 of the key chooses, as the
/// partitioner of Kafka's own clients does.
struct KafkaFeedRecord {
  std::string topic;
  std::string key;
  std::string value;
  KafkaHeaders headers;
};

/// How far the feeds have come: committed in the same transactions as their records.
struct KafkaFeedProgress {
  int64_t offset = 0;    ///< in the journal: the next one
  std::string metadata;  ///< free text, up to 4096 bytes
};

/// Writes records and progress in transactions: a reader with isolation.level=read_committed sees both or neither.
/// Opening one fences every other writer with the same transactional id, and ends what it had begun. Threads: one at a
/// time.
class KafkaFeedWriter {
 public:
  /// Errors: kUnavailable; kInvalid, a setting or a topic.
  static Result<std::unique_ptr<KafkaFeedWriter>> open(KafkaFeedOptions options);
  ~KafkaFeedWriter();
  KafkaFeedWriter(const KafkaFeedWriter&) = delete;
  KafkaFeedWriter& operator=(const KafkaFeedWriter&) = delete;

  /// nullopt: nothing was ever committed, or the brokers have forgotten it. Error: kUnavailable.
  Result<std::optional<KafkaFeedProgress>> committed();
  /// The sum of the ends of a topic's partitions. It only grows, unless the topic is deleted: less than it was means
  /// that the topic was created again.
  int64_t written(const std::string& topic) const;
  /// Whether readers see a record of the topic, or did before retention removed it. What was written in transactions
  /// that were never committed counts for written(), but not here. Error: kUnavailable.
  Result<bool> has_events(const std::string& topic) const;

  /// All or nothing. `progress` is called when the records are with the brokers and counted by written(), before they
  /// are committed. After an error nothing more can be written: open another writer, and continue from what is
  /// committed, as this may or may not have been. Errors: kConflict, another writer has fenced this one; kTooLarge;
  /// kUnavailable, also when a topic was created again meanwhile.
  Result<void> write(const std::vector<KafkaFeedRecord>& records, const std::function<KafkaFeedProgress()>& progress);

 private:
  struct Impl;
  explicit KafkaFeedWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
