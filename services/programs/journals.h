#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/journal/journal.h"
#include "events/journal/kafka/feed_writer.h"
#include "events/journal/kafka/kafka_journal.h"
#include "services/programs/topic_identity.h"

namespace shiplog {

/// The values of --journal and related options.
struct JournalOptions {
  std::string journal;                  ///< "sqlite:FILE" or "kafka:BROKER[,BROKER...]/FLEET"
  std::vector<std::string> kafka = {};  ///< "key=value": settings of librdkafka; values may be secret
  int kafka_replicas = 0;               ///< of topics that are made; 0: three, or as many as there are brokers
  bool create = true;                   ///< false: all must exist
  std::string requests_topic = {};      ///< empty: <fleet>.requests
  int requests_partitions = 8;          ///< of the topics of produced requests, when they are made
};

/// The address of a fleet's journals, read from --journal.
struct JournalAddress {
  std::string sqlite_file;     ///< empty: on Kafka
  std::string brokers, fleet;  ///< empty: a file
  bool on_kafka() const { return sqlite_file.empty(); }
};

/// Error: kInvalid, naming the option and what it takes.
Result<JournalAddress> parse_journal(const std::string& journal);

/// The journals of one fleet.
struct FleetJournals {
  std::shared_ptr<Journal> record;
  std::shared_ptr<Journal> ephemera;
  std::shared_ptr<Journal> heartbeats;          ///< of processes (JournalElection); null when processes share a machine
  std::shared_ptr<Journal> keys;                ///< of Secrets, wrapped (Vault::open_log); null as well
  std::unique_ptr<TopicIdentities> identities;  ///< of the topics, checked; null as well
};

/// Opens or creates them, `keys` only on request. The folder of a file must exist. Errors: those of the backends;
/// kInvalid; kCorrupt, a topic is not the one that the fleet has used.
Result<FleetJournals> open_fleet_journals(const JournalAddress& address, const JournalOptions& options, bool with_keys);

/// The same without the heartbeats: to read or write what is kept, without taking part in the fleet.
Result<FleetJournals> open_kept_journals(const JournalAddress& address, const JournalOptions& options);

/// The topics of produced requests of a fleet on Kafka.
struct RequestTopics {
  KafkaJournalOptions kafka;  ///< brokers, settings and log
  std::string requests, results, dead;
};
/// Creates or checks them. Errors: those of the backend; kInvalid.
Result<RequestTopics> open_request_topics(const JournalAddress& address, const JournalOptions& options);
/// How these feeds ("api") are written to the topics of a fleet on Kafka. Error: kInvalid, naming an option.
Result<KafkaFeedOptions> kafka_feed_options(const JournalAddress& address, const JournalOptions& options,
                                            const std::vector<std::string>& families);
/// "FLEET.feed.api"
std::string feed_topic(const std::string& fleet, std::string_view family);

/// Opens the record, which must exist: to read it.
Result<std::shared_ptr<Journal>> open_record(const JournalOptions& options);

}  // namespace shiplog
