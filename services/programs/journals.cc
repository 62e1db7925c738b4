#include "services/programs/journals.h"

#include <algorithm>
#include <filesystem>

#include "events/codec/outline.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kKafka = "kafka:";
/// Beats tell who lives now: what is older than this tells nothing.
constexpr Millis kKeepBeats{10 * 60 * 1000};

/// Kafka's own rule for topic names, with room for ours behind the fleet's.
bool is_fleet_name(const std::string& name) {
  constexpr size_t kLongest = 200;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && std::ranges::all_of(name, fits);
}

/// What consumers of the topic may filter by.
KafkaHeaders headers_of(std::string_view entry) {
  const Outline found = outline(entry);
  std::string families;
  for (const Family family : found.families) families += (families.empty() ? "" : ",") + std::string{name_of(family)};
  return {{"family", families}, {"entry-id", to_string(found.id)}};
}

void log_kafka(int level, const std::string& line) {
  constexpr int kError = 3;
  constexpr int kDebug = 7;
  // The library repeats itself while a broker is away; what matters of it comes back as an error that is logged.
  const auto as = level < kError ? log::Level::kError : level < kDebug ? log::Level::kInfo : log::Level::kDebug;
  log::write(as, "kafka.client", {log::kv("reason", line)});
}

Result<KafkaJournalOptions> kafka_options(const JournalAddress& address, const JournalOptions& options,
                                          const std::string& topic) {
  KafkaJournalOptions kafka;
  kafka.brokers = address.brokers;
  kafka.topic = address.fleet + "." + topic;
  kafka.replicas = options.kafka_replicas;
  kafka.headers = headers_of;
  kafka.log = log_kafka;
  for (const std::string& setting : options.kafka) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      // Without the text itself: it may be a password that somebody put in the wrong place.
      return Error{
          ErrorCode::kInvalid,
          "--kafka-option: KEY=VALUE is expected, a setting of librdkafka (for example security.protocol=ssl)"};
    }
    kafka.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return kafka;
}

Result<std::shared_ptr<Journal>> open_kafka(KafkaJournalOptions options) {
  SHIPLOG_TRY(auto journal, open_kafka_journal(std::move(options)));
  return std::shared_ptr<Journal>{std::move(journal)};
}

}  // namespace

Result<JournalAddress> parse_journal(const std::string& journal) {
  JournalAddress address;
  if (journal.starts_with(kSqlite) && journal.size() > kSqlite.size()) {
    address.sqlite_file = journal.substr(kSqlite.size());
    return address;
  }
  const size_t slash = journal.rfind('/');
  if (journal.starts_with(kKafka) && slash != std::string::npos && slash > kKafka.size()) {
    address.brokers = journal.substr(kKafka.size(), slash - kKafka.size());
    address.fleet = journal.substr(slash + 1);
    if (address.brokers.find('/') == std::string::npos && is_fleet_name(address.fleet)) return address;
  }
  return Error{ErrorCode::kInvalid,
               "--journal=" + journal +
                   ": say sqlite:FILE, or kafka:BROKER[,BROKER...]/FLEET, where a broker is HOST:PORT and the fleet's "
                   "name, of letters, digits, \".\", \"-\" and \"_\", begins its topics' names"};
}

Result<FleetJournals> open_fleet_journals(const JournalAddress& address, const JournalOptions& options,
                                          bool with_keys) {
  FleetJournals journals;
  if (!address.on_kafka()) {
    if (!options.kafka.empty()) {
      return Error{ErrorCode::kInvalid, "--kafka-option is of no use with a journal that is a file"};
    }
    std::string folder = std::filesystem::path{address.sqlite_file}.parent_path().string();
    if (folder.empty()) folder = ".";
    SqliteJournalOptions sqlite;
    sqlite.killed_frozen_writer = [](pid_t process) {
      log::error("journal.killed_frozen_writer",
                 {log::kv("process", process), log::kv("reason",
                                                       "it was stopped in the middle of a commit, so that no other "
                                                       "process could write")});
    };
    SHIPLOG_TRY(auto record, open_sqlite_journal(address.sqlite_file, sqlite));
    SHIPLOG_TRY(auto ephemera, open_sqlite_journal(folder + "/ephemera.db", sqlite));
    journals.record = std::move(record);
    journals.ephemera = std::move(ephemera);
    return journals;
  }
  SHIPLOG_TRY(auto record, kafka_options(address, options, "journal"));
  SHIPLOG_TRY(journals.record, open_kafka(std::move(record)));
  SHIPLOG_TRY(auto ephemera, kafka_options(address, options, "ephemera"));
  SHIPLOG_TRY(journals.ephemera, open_kafka(std::move(ephemera)));
  SHIPLOG_TRY(auto beats, kafka_options(address, options, "leases"));
  beats.headers = nullptr;
  beats.retention = kKeepBeats;
  beats.settings["message.timeout.ms"] = "2000";  // a late beat says nothing
  beats.close_timeout = Millis{500};
  SHIPLOG_TRY(journals.beats, open_kafka(std::move(beats)));
  if (!with_keys) return journals;
  SHIPLOG_TRY(auto keys, kafka_options(address, options, "keys"));
  keys.headers = nullptr;
  keys.keyed = true;
  keys.settings["message.timeout.ms"] = "5000";  // whoever stores a Secret waits for it
  SHIPLOG_TRY(journals.keys, open_kafka(std::move(keys)));
  return journals;
}

Result<std::shared_ptr<Journal>> open_record(const JournalOptions& options) {
  SHIPLOG_TRY(const JournalAddress address, parse_journal(options.journal));
  if (address.on_kafka()) {
    SHIPLOG_TRY(auto kafka, kafka_options(address, options, "journal"));
    kafka.create = false;
    kafka.log = nullptr;
    return open_kafka(std::move(kafka));
  }
  SqliteJournalOptions sqlite;
  sqlite.create = false;
  SHIPLOG_TRY(auto journal, open_sqlite_journal(address.sqlite_file, sqlite));
  return std::shared_ptr<Journal>{std::move(journal)};
}

}  // namespace shiplog
