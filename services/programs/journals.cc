#include "services/programs/journals.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>

#include "events/codec/outline.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "services/programs/repeated_lines.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kKafka = "kafka:";
/// Heartbeats show which processes are alive: older ones are worthless.
constexpr Millis kKeepHeartbeats{10 * 60 * 1000};
/// A new partition leader is usually known after this time.
constexpr std::chrono::seconds kLeaderElection{2};
constexpr Millis kKeepRequests{int64_t{7} * 24 * 3600 * 1000};

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
  const auto as = level < kError ? log::Level::kError : level < kDebug ? log::Level::kInfo : log::Level::kDebug;
  // Each of a process's clients repeats itself while a broker is unreachable; what matters is returned as an error that
  // is logged.
  static RepeatedLines lines;
  if (as == log::Level::kInfo && !lines.is_new(line, std::chrono::steady_clock::now())) return;
  log::write(as, "kafka.client", {log::kv("reason", line)});
}

Result<KafkaJournalOptions> kafka_options(const JournalAddress& address, const JournalOptions& options,
                                          const std::string& topic) {
  KafkaJournalOptions kafka;
  kafka.brokers = address.brokers;
  kafka.topic = address.fleet + "." + topic;
  kafka.replicas = options.kafka_replicas;
  kafka.create = options.create;
  kafka.headers = headers_of;
  kafka.log = log_kafka;
  for (const std::string& setting : options.kafka) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      // Without the text itself: it may be a password in the wrong place.
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

void report_shrinking(const std::string& name, SqliteJournalOptions& options) {
  static const metrics::GaugeFamily free_bytes{
      "shiplog_journal_free_bytes",
      "Bytes of the journal's file that were free for what is written next when it last became smaller.",
      {"journal"}};
  static const metrics::GaugeFamily released_bytes{
      "shiplog_journal_released_bytes",
      "Bytes of the journal's file that were given back to the file system after the last trim that freed many.",
      {"journal"}};
  // There from the start, so that a query finds them before the first trim.
  free_bytes.with({name}).set(0);
  released_bytes.with({name}).set(0);
  options.shrinking = [name](const JournalShrinking& progress) {
    free_bytes.with({name}).set(static_cast<double>(progress.space.free_bytes()));
    released_bytes.with({name}).set(static_cast<double>(progress.released_bytes));
    log::info(progress.done ? "journal.shrunk" : "journal.shrinking",
              {log::kv("journal", name), log::kv("bytes", progress.space.bytes()),
               log::kv("free_bytes", progress.space.free_bytes()), log::kv("released_bytes", progress.released_bytes)});
  };
  options.shrinking_failed = [name](const Error& error) {
    log::warn("journal.shrinking_failed", {log::kv("journal", name), log::kv("reason", error.message)});
  };
}

Result<FleetJournals> open_files(const JournalAddress& address, const JournalOptions& options, bool upgrade) {
  if (!options.kafka.empty()) {
    return Error{ErrorCode::kInvalid, "--kafka-option is of no use with a journal that is a file"};
  }
  std::string folder = std::filesystem::path{address.sqlite_file}.parent_path().string();
  if (folder.empty()) folder = ".";
  SqliteJournalOptions sqlite;
  sqlite.create = options.create;
  sqlite.upgrade = upgrade;
  sqlite.killed_frozen_writer = [](pid_t process) {
    log::error("journal.killed_frozen_writer",
               {log::kv("process", process), log::kv("reason",
                                                     "it was stopped in the middle of a commit, so that no other "
                                                     "process could write")});
  };
  sqlite.head_mark_failed = [](const Error& error) {
    log::warn("journal.head_mark_failed", {log::kv("reason", error.message)});
  };
  FleetJournals journals;
  report_shrinking("journal", sqlite);
  SHIPLOG_TRY(auto record, open_sqlite_journal(address.sqlite_file, sqlite));
  report_shrinking("ephemera", sqlite);
  SHIPLOG_TRY(auto ephemera, open_sqlite_journal(folder + "/ephemera.db", sqlite));
  journals.record = std::move(record);
  journals.ephemera = std::move(ephemera);
  return journals;
}

/// The record and the ephemera.
Result<FleetJournals> open_topics(const JournalAddress& address, const JournalOptions& options) {
  FleetJournals journals;
  SHIPLOG_TRY(auto record, kafka_options(address, options, "journal"));
  SHIPLOG_TRY(journals.record, open_kafka(std::move(record)));
  SHIPLOG_TRY(auto ephemera, kafka_options(address, options, "ephemera"));
  SHIPLOG_TRY(journals.ephemera, open_kafka(std::move(ephemera)));
  return journals;
}

Result<std::shared_ptr<Journal>> open_keys(const JournalAddress& address, const JournalOptions& options) {
  SHIPLOG_TRY(auto keys, kafka_options(address, options, "keys"));
  keys.headers = nullptr;
  keys.keyed = true;
  keys.settings["message.timeout.ms"] = "5000";  // a request that stores a Secret waits for it
  return open_kafka(std::move(keys));
}

/// Compares the topics that were opened with what processes of the fleet have recorded about them.
Result<std::unique_ptr<TopicIdentities>> check_topics(const JournalAddress& address, const JournalOptions& options,
                                                      const FleetJournals& journals) {
  SHIPLOG_TRY(auto log, kafka_options(address, options, "identity"));
  log.headers = nullptr;
  log.keyed = true;
  TopicIdentities::Options identities;
  SHIPLOG_TRY(identities.log, open_kafka(std::move(log)));
  identities.topics = {{address.fleet + ".journal", journals.record}, {address.fleet + ".ephemera", journals.ephemera}};
  if (journals.keys) identities.topics[address.fleet + ".keys"] = journals.keys;
  identities.pause = [] { std::this_thread::sleep_for(kLeaderElection); };
  auto made = std::make_unique<TopicIdentities>(std::move(identities));
  SHIPLOG_TRY(made->check());
  return made;
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
                   ": use sqlite:FILE, or kafka:BROKER[,BROKER...]/FLEET, where a broker is HOST:PORT and the fleet's "
                   "name, of letters, digits, \".\", \"-\" and \"_\", begins its topics' names"};
}

Result<FleetJournals> open_fleet_journals(const JournalAddress& address, const JournalOptions& options,
                                          bool with_keys) {
  if (!address.on_kafka()) return open_files(address, options, true);
  SHIPLOG_TRY(FleetJournals journals, open_topics(address, options));
  SHIPLOG_TRY(auto heartbeats, kafka_options(address, options, "leases"));
  heartbeats.headers = nullptr;
  heartbeats.retention = kKeepHeartbeats;
  heartbeats.settings["message.timeout.ms"] = "2000";  // a late heartbeat is worthless
  heartbeats.close_timeout = Millis{500};
  SHIPLOG_TRY(journals.heartbeats, open_kafka(std::move(heartbeats)));
  if (with_keys) {
    SHIPLOG_TRY(journals.keys, open_keys(address, options));
  }
  SHIPLOG_TRY(journals.identities, check_topics(address, options, journals));
  return journals;
}

Result<FleetJournals> open_kept_journals(const JournalAddress& address, const JournalOptions& options) {
  if (!address.on_kafka()) return open_files(address, options, false);
  SHIPLOG_TRY(FleetJournals journals, open_topics(address, options));
  auto keys = open_keys(address, options);
  // A fleet without a process that seals has none.
  if (!keys && (options.create || keys.error().code != ErrorCode::kNotFound)) return std::move(keys).error();
  if (keys) journals.keys = std::move(keys).value();
  return journals;
}

Result<RequestTopics> open_request_topics(const JournalAddress& address, const JournalOptions& options) {
  RequestTopics topics;
  topics.requests = options.requests_topic.empty() ? address.fleet + ".requests" : options.requests_topic;
  if (!is_fleet_name(topics.requests)) {
    return Error{ErrorCode::kInvalid, "--requests-topic=" + topics.requests +
                                          ": a topic's name is of letters, digits, \".\", \"-\" and \"_\""};
  }
  topics.results = address.fleet + ".results";
  topics.dead = topics.requests + ".dead";
  SHIPLOG_TRY(topics.kafka, kafka_options(address, options, "requests"));
  topics.kafka.headers = nullptr;
  topics.kafka.retention = kKeepRequests;
  topics.kafka.partitions = options.requests_partitions;
  for (const std::string* topic : {&topics.requests, &topics.results, &topics.dead}) {
    topics.kafka.topic = *topic;
    SHIPLOG_TRY(prepare_kafka_topic(topics.kafka));
  }
  return topics;
}

std::string feed_topic(const std::string& fleet, std::string_view family) {
  return fleet + ".feed." + std::string{family};
}

Result<KafkaFeedOptions> kafka_feed_options(const JournalAddress& address, const JournalOptions& options,
                                            const std::vector<std::string>& families) {
  KafkaFeedOptions feeds;
  SHIPLOG_TRY(feeds.journal, kafka_options(address, options, "journal"));
  feeds.journal.headers = nullptr;
  feeds.transactional_id = address.fleet + ".feeds";
  feeds.group = address.fleet + ".feeds";
  for (const std::string& family : families) feeds.topics.push_back(feed_topic(address.fleet, family));
  return feeds;
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
