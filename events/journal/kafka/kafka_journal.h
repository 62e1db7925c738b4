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

/// Name and value, in the order in which a record carries them.
using KafkaHeaders = std::vector<std::pair<std::string, std::string>>;

/// Settings of librdkafka by name: "sasl.password". Values may be secret: no message and no log line repeats them.
using KafkaSettings = std::map<std::string, std::string>;

struct KafkaJournalOptions {
  std::string brokers;     ///< "host:port,host:port": where to begin, not all there are
  std::string topic;       ///< "<fleet>.journal"
  KafkaSettings settings;  ///< on top of the journal's own; those that its promises rest on are refused
  /// What consumers may filter by without decoding. Sees the bytes of one entry, on the appender's thread. May be
  /// empty.
  std::function<KafkaHeaders(std::string_view entry)> headers;

  /// Makes the topic when there is none: one partition and the settings that open_kafka_journal() asks for.
  bool create = true;
  /// Replicas of a topic that is made; 0: three, or as many as there are brokers when they are fewer.
  int replicas = 0;
  /// Not a journal but a table: of the records with one key the last one counts, and the broker forgets the others
  /// (compaction). The bytes of an entry are then "KEY\nVALUE", or "KEY" alone to remove it (a tombstone).
  bool keyed = false;
  /// How soon a topic that is made (`keyed`) lets go of what was overwritten or removed, give or take the broker's own
  /// pace; but only once something is appended after that time, as a broker never compacts what it is writing to.
  Millis forget_within{60'000};
  /// Records older than this may go: for what is not a record of anything. 0: a topic that forgets is refused.
  Millis retention{0};
  /// False for a broker that cannot be asked for a topic's settings: librdkafka's mock cluster.
  bool check_settings = true;

  Millis open_timeout{30'000};   ///< how long opening waits for a broker
  Millis close_timeout{5'000};   ///< how long closing waits for acknowledgements; then their outcome is unknown
  Millis answer_timeout{5'000};  ///< how long head(), oldest() and trim() wait

  /// What the client library has to say: syslog level (3 error ... 7 debug) and a line. On threads of its own. May be
  /// empty.
  std::function<void(int level, const std::string& line)> log;
};

/// A journal on Apache Kafka: a topic with one partition, whose offsets are the journal's. Any number of processes may
/// hold it. Appends go through an idempotent producer (acks=all, zstd), one request at a time: what is appended while
/// one is under way travels in the next, together (group commit). Tails read by assignment, without a consumer group;
/// where to read on is the caller's to know.
///
/// An append is acknowledged when all in-sync replicas have it. The producer tries for `message.timeout.ms` (30 s
/// unless set otherwise); then the answer is kUnavailable when the entry was never sent, kUnknownOutcome when it was.
/// While no broker answers, tails give kUnavailable, naming the brokers, and can be asked again.
///
/// A topic that could lose or reorder records is refused with kInvalid: several partitions, compaction, retention by
/// age or size, unclean leader election, too small a record limit, a replica set that acknowledges alone.
///
/// Threads: one that calls `done`, and the client library's. Not to be destroyed from one of its own acknowledgements.
/// Errors: kUnavailable, no broker answers; kInvalid, a setting or the topic; kNotFound, no topic and !create.
Result<std::unique_ptr<Journal>> open_kafka_journal(KafkaJournalOptions options);

}  // namespace shiplog
