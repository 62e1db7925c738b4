#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/journal/journal.h"

namespace shiplog {

/// Name and value, in the order in which the record contains them.
using KafkaHeaders = std::vector<std::pair<std::string, std::string>>;

/// Settings of librdkafka by name: "sasl.password". Values may be secret: no message and no log line contains them.
using KafkaSettings = std::map<std::string, std::string>;

struct KafkaJournalOptions {
  std::string brokers;     ///< "host:port,host:port": the bootstrap servers, not necessarily all brokers
  std::string topic;       ///< "<fleet>.journal"
  KafkaSettings settings;  ///< in addition to the journal's own; settings that its guarantees depend on are refused
  /// Headers by which consumers may filter without decoding. Called with the bytes of one entry, on the appending
  /// thread. May be empty.
  std::function<KafkaHeaders(std::string_view entry)> headers;

  /// Creates the topic if it does not exist: one partition and the settings that open_kafka_journal() requires. False,
  /// for what only reads: a topic that got more partitions later is opened, and its partition 0 read.
  bool create = true;
  /// Of a topic that is created. A journal has one; topics of requests and feeds have more.
  int partitions = 1;
  /// Replicas of a topic that is created. 0: three, or as many as there are brokers if they are fewer, but not fewer
  /// than `brokers` lists: creating waits for these.
  int replicas = 0;
  /// A table instead of a journal: of the records with the same key only the last one counts, and the broker deletes
  /// the others (compaction). The bytes of an entry are then "KEY\nVALUE", or "KEY" alone to remove the key (a
  /// tombstone).
  bool keyed = false;
  /// How soon a created `keyed` topic deletes overwritten and removed records, approximately and subject to the
  /// broker's schedule. A broker never compacts the segment that it writes to, so deletion only happens after a further
  /// append.
  Millis forget_within{60'000};
  /// The broker may delete records older than this: for data that is not history. 0: a topic with retention is refused.
  Millis retention{0};
  /// The topic is derived from a journal, so how long its records are kept, and whether it is compacted, is the user's
  /// choice.
  bool feed = false;
  /// False for a broker that does not report the settings of a topic: librdkafka's mock cluster.
  bool check_settings = true;

  Millis open_timeout{30'000};   ///< how long opening waits for a broker
  Millis close_timeout{5'000};   ///< how long closing waits for acknowledgements; then their outcome is unknown
  Millis answer_timeout{5'000};  ///< how long head(), oldest() and trim() wait
  Millis head_patience{30'000};  ///< how long find_head() waits: a broker that was killed is back by then

  /// How long a tail waits for records that it has read and the brokers do not have any more. A broker that was cut off
  /// takes itself for the leader until it has heard from the others, and ends earlier than they do.
  Millis loss_patience{30'000};

  /// Log lines of the client library: syslog level (3 error ... 7 debug) and text. Called on the library's threads. May
  /// be empty.
  std::function<void(int level, const std::string& line)> log;
};

/// A journal on Apache Kafka: a topic with one partition, whose offsets are the journal's offsets. Any number of
/// processes may open it. Appends use an idempotent producer (acks=all, zstd) with one request in flight; entries
/// appended in the meantime are sent together in the next request (group commit). Tails read by assignment, without a
/// consumer group; the caller keeps track of its position.
///
/// An append is acknowledged when all in-sync replicas store it. The producer retries for `message.timeout.ms` (30 s by
/// default); then the result is kUnavailable if the entry was never sent, and kUnknownOutcome if it was. While no
/// broker is reachable, tails return kUnavailable, naming the brokers, and may be retried.
///
/// A topic that could lose or reorder records is refused with kInvalid: several partitions, compaction, retention by
/// age or size, unclean leader election, a record limit that is too small, a minimum of one in-sync replica.
///
/// Threads: one that calls `done`, and those of the client library. A journal must not be destroyed from one of its own
/// acknowledgements.
/// Errors: kUnavailable, no broker answers; kInvalid, a setting or the topic; kNotFound, the topic does not exist and
/// !create.
Result<std::unique_ptr<Journal>> open_kafka_journal(KafkaJournalOptions options);

/// Creates or checks a topic that is no journal, and returns the number of its partitions, which may be greater than
/// that of the options. Errors as open_kafka_journal().
Result<int> prepare_kafka_topic(const KafkaJournalOptions& options);

}  // namespace shiplog
