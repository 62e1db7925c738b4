#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/journal/journal.h"
#include "events/journal/kafka/kafka_journal.h"

namespace shiplog {

/// What --journal and its companions say.
struct JournalOptions {
  std::string journal;             ///< "sqlite:FILE" or "kafka:BROKER[,BROKER...]/FLEET"
  std::vector<std::string> kafka;  ///< "key=value": settings of librdkafka; values may be secret
  int kafka_replicas = 0;          ///< of topics that are made; 0: three, or as many as there are brokers
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
  std::shared_ptr<Journal> beats;  ///< who lives and leads (JournalElection); null when processes share a machine
  std::shared_ptr<Journal> keys;   ///< of Secrets, wrapped (Vault::open_log); null as well
};

/// Opens or makes them, `keys` only when asked for. The folder of a file must exist. Errors: those of the backends;
/// kInvalid.
Result<FleetJournals> open_fleet_journals(const JournalAddress& address, const JournalOptions& options, bool with_keys);

/// Opens the record, which must exist: to read it.
Result<std::shared_ptr<Journal>> open_record(const JournalOptions& options);

}  // namespace shiplog
