#include "events/journal/kafka/topic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <librdkafka/rdkafka.h>

namespace shiplog::kafka {
namespace {

using Steady = std::chrono::steady_clock;

// The size of a batch with one entry and its headers as the broker counts it; above what the producer sends
// (client.cc).
constexpr size_t kMaxBatchBytes = kMaxEntryBytes + 128 * 1024;
constexpr int kUsualReplicas = 3;
// Removed records of a keyed topic are deleted from the disks within this time.
constexpr Millis kLongestLag{3'600'000};

using Options = KafkaJournalOptions;
using EventPtr = std::unique_ptr<rd_kafka_event_t, void (*)(rd_kafka_event_t*)>;
using AdminPtr = std::unique_ptr<rd_kafka_AdminOptions_t, void (*)(rd_kafka_AdminOptions_t*)>;

int64_t largest_batch(const Options& options) {
  return static_cast<int64_t>(options.feed ? kMaxFeedRecordBytes + 128 * 1024 : kMaxBatchBytes);
}

struct TopicState {
  bool exists = false;
  int partitions = 0;
  int replicas = 0;
  int brokers = 0;
  bool has_leader = false;
};

class AdminDeadline {
 public:
  explicit AdminDeadline(Millis timeout) : deadline_{Steady::now() + std::chrono::milliseconds{timeout.value}} {}
  int left_ms() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Steady::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, 24 * 3600 * 1000));
  }
  bool over() const { return left_ms() == 0; }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds{50}); }

 private:
  Steady::time_point deadline_;
};

// The library does not return early when a login is refused.
constexpr int kLookAgainMs = 1000;
// How long refusals must last to count: a broker that has just started knows no logins before it has read the metadata.
constexpr std::chrono::seconds kLoginPatience{10};

bool is_transient(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT ||
         error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
         error == RD_KAFKA_RESP_ERR_NOT_CONTROLLER || error == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT ||
         error == RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE || error == RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE;
}

Error invalid(const KafkaClient& reader, const std::string& why) {
  return {ErrorCode::kInvalid, reader.name() + ": " + why};
}

Result<TopicState> describe_topic(const KafkaClient& reader, const AdminDeadline& deadline) {
  std::optional<Steady::time_point> refused_since;
  while (true) {
    const rd_kafka_metadata_t* raw = nullptr;
    const auto failed =
        rd_kafka_metadata(reader.handle(), 0, reader.topic(), &raw, std::clamp(deadline.left_ms(), 1, kLookAgainMs));
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> metadata{
          raw, rd_kafka_metadata_destroy};
      TopicState found;
      found.brokers = metadata->broker_cnt;
      if (metadata->topic_cnt != 1) return reader.unavailable("the brokers do not report whether it exists");
      const rd_kafka_metadata_topic_t& topic = metadata->topics[0];
      if (topic.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || topic.err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) {
        return found;
      }
      if (topic.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        found.exists = true;
        found.partitions = topic.partition_cnt;
        found.has_leader = topic.partition_cnt > 0 && topic.partitions[0].leader >= 0;
        found.replicas = topic.partition_cnt > 0 ? topic.partitions[0].replica_cnt : 0;
        return found;
      }
      if (!is_transient(topic.err)) {
        return Error{ErrorCode::kInvalid,
                     reader.name() + ": the brokers deny access to it: " + rd_kafka_err2str(topic.err)};
      }
    } else if (!is_transient(failed)) {
      return Error{ErrorCode::kInvalid,
                   reader.name() + ": querying the brokers about it failed: " + rd_kafka_err2str(failed)};
    }
    const auto now = Steady::now();
    refused_since = reader.login_refused() ? refused_since.value_or(now) : std::optional<Steady::time_point>{};
    if (refused_since && (now - *refused_since >= kLoginPatience || deadline.over())) {
      return Error{ErrorCode::kInvalid,
                   reader.name() +
                       ": the brokers refuse the login: check the values of --kafka-option sasl.mechanism, "
                       "sasl.username and sasl.password (or sasl.oauthbearer.config). They report: " +
                       reader.last_error()};
    }
    if (deadline.over()) return reader.unavailable("no broker answers");
    AdminDeadline::pause();
  }
}

AdminPtr admin_options(const KafkaClient& reader, rd_kafka_admin_op_t operation, int timeout_ms) {
  AdminPtr options{rd_kafka_AdminOptions_new(reader.handle(), operation), rd_kafka_AdminOptions_destroy};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), std::max(1, timeout_ms), nullptr, 0);
  return options;
}

/// The result of an admin request. The library answers each request, possibly with a timeout.
EventPtr answer(const Queue& queue) { return {rd_kafka_queue_poll(queue.get(), -1), rd_kafka_event_destroy}; }

/// Replicas of a topic that is created. A broker that just started may not know all others yet, and a broker may be
/// down: what --journal lists is expected as well, or the topic would have too few replicas from then on.
int replicas_of(const Options& options, int brokers) {
  if (options.replicas > 0) return options.replicas;
  const auto listed = static_cast<int>(1 + std::ranges::count(options.brokers, ','));
  return std::min(kUsualReplicas, std::max(listed, brokers));
}

Result<void> create(const KafkaClient& reader, const Options& options, int replicas, const AdminDeadline& deadline) {
  std::array<char, 256> why{};
  const std::unique_ptr<rd_kafka_NewTopic_t, void (*)(rd_kafka_NewTopic_t*)> topic{
      rd_kafka_NewTopic_new(reader.topic_name().c_str(), options.partitions, replicas, why.data(), why.size()),
      rd_kafka_NewTopic_destroy};
  if (!topic) return invalid(reader, "it cannot be created: " + std::string{why.data()});
  std::vector<std::pair<std::string, std::string>> settings = {
      {"cleanup.policy", options.keyed ? "compact" : "delete"},
      {"retention.ms", options.retention.value > 0 ? std::to_string(options.retention.value) : "-1"},
      {"retention.bytes", "-1"},
      {"max.message.bytes", std::to_string(largest_batch(options))},
      // Two replicas must have an entry before it counts if there are enough of them for one to fail.
      {"min.insync.replicas", std::to_string(std::max(1, replicas - 1))},
      {"unclean.leader.election.enable", "false"},
  };
  if (options.keyed) {
    const std::string soon = std::to_string(options.forget_within.value);
    settings.insert(settings.end(), {{"segment.ms", soon},
                                     {"max.compaction.lag.ms", soon},
                                     {"min.cleanable.dirty.ratio", "0.001"},
                                     {"delete.retention.ms", "86400000"},
                                     {"file.delete.delay.ms", "1000"}});
  }
  if (options.retention.value > 0) {
    settings.emplace_back("segment.ms", std::to_string(std::max<int64_t>(options.retention.value, 60'000)));
  } else if (replicas == 1 && !options.feed) {
    // With a single replica only its disk survives a crash of the machine.
    settings.emplace_back("flush.messages", "1");
  }
  for (const auto& [name, value] : settings) rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());

  const Queue queue{reader};
  const auto admin = admin_options(reader, RD_KAFKA_ADMIN_OP_CREATETOPICS, deadline.left_ms());
  rd_kafka_NewTopic_t* topics[] = {topic.get()};
  rd_kafka_CreateTopics(reader.handle(), topics, 1, admin.get(), queue.get());
  const EventPtr event = answer(queue);
  if (const auto failed = rd_kafka_event_error(event.get()); failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* others =
        options.replicas == 0 && replicas > 1 ? ": start the other brokers, or set --kafka-replicas" : "";
    return reader.unavailable("it cannot be created with " + std::to_string(replicas) + " replicas (" +
                              rd_kafka_event_error_string(event.get()) + ")" + others);
  }
  size_t count = 0;
  const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (size_t index = 0; index < count; ++index) {
    const auto failed = rd_kafka_topic_result_error(results[index]);
    // Another process that started at the same time may have created it first.
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR || failed == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
    const char* text = rd_kafka_topic_result_error_string(results[index]);
    const std::string reason = text != nullptr ? text : rd_kafka_err2str(failed);
    if (is_transient(failed)) return reader.unavailable("it cannot be created: " + reason);
    if (failed == RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR && options.replicas == 0) {
      return reader.unavailable("it cannot be created with " + std::to_string(replicas) + " replicas (" + reason +
                                "): start the other brokers, or set --kafka-replicas");
    }
    return invalid(reader, "it cannot be created with " + std::to_string(replicas) + " replicas: " + reason);
  }
  return ok();
}

/// Creates it once there are enough brokers.
Result<void> create_missing(const KafkaClient& reader, const Options& options, TopicState found,
                            const AdminDeadline& deadline) {
  while (true) {
    const auto created = create(reader, options, replicas_of(options, found.brokers), deadline);
    if (created || created.error().code != ErrorCode::kUnavailable || deadline.over()) return created;
    AdminDeadline::pause();
    auto described = describe_topic(reader, deadline);
    if (!described) return created;  // which tells more than that no broker answers in the time that is left
    found = described.value();
    if (found.exists) return ok();
  }
}

Result<std::map<std::string, std::string>> read_settings(const KafkaClient& reader, const AdminDeadline& deadline) {
  const std::unique_ptr<rd_kafka_ConfigResource_t, void (*)(rd_kafka_ConfigResource_t*)> resource{
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, reader.topic_name().c_str()),
      rd_kafka_ConfigResource_destroy};
  while (true) {
    const Queue queue{reader};
    const auto admin = admin_options(reader, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, deadline.left_ms());
    rd_kafka_ConfigResource_t* resources[] = {resource.get()};
    rd_kafka_DescribeConfigs(reader.handle(), resources, 1, admin.get(), queue.get());
    const EventPtr event = answer(queue);
    auto failed = rd_kafka_event_error(event.get());
    std::string reason = failed != RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_event_error_string(event.get()) : "";
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
      size_t count = 0;
      const auto* described =
          rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
      if (count != 1) return reader.unavailable("the brokers do not report its settings");
      failed = rd_kafka_ConfigResource_error(described[0]);
      if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
        std::map<std::string, std::string> settings;
        const auto* entries = rd_kafka_ConfigResource_configs(described[0], &count);
        for (size_t index = 0; index < count; ++index) {
          const char* value = rd_kafka_ConfigEntry_value(entries[index]);
          settings[rd_kafka_ConfigEntry_name(entries[index])] = value != nullptr ? value : "";
        }
        return settings;
      }
      const char* text = rd_kafka_ConfigResource_error_string(described[0]);
      reason = text != nullptr ? text : rd_kafka_err2str(failed);
    }
    // Not every broker may know a topic that was just created.
    if (!is_transient(failed) && failed != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
      return invalid(reader, "its settings cannot be read, so it is unknown whether it retains all entries (" + reason +
                                 "): allow this user to describe the configuration of the topic");
    }
    if (deadline.over()) return reader.unavailable("its settings cannot be read (" + reason + ")");
    AdminDeadline::pause();
  }
}

std::optional<int64_t> number(const std::map<std::string, std::string>& settings, const std::string& name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return std::nullopt;
  int64_t value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto parsed = std::from_chars(found->second.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

/// Refuses settings that would lose records. A setting that the broker does not report does not exist there.
Result<void> check(const KafkaClient& reader, const Options& options, const TopicState& found,
                   const std::map<std::string, std::string>& settings) {
  const auto text = [&](const std::string& name) {
    const auto setting = settings.find(name);
    return setting == settings.end() ? std::string{} : setting->second;
  };
  const bool feed = options.feed;
  if (options.keyed) {
    if (const std::string policy = text("cleanup.policy"); policy != "compact") {
      return invalid(reader, "its cleanup.policy is \"" + policy +
                                 "\": removed records would be kept, or needed ones deleted; set it to \"compact\"");
    }
    if (const auto lag = number(settings, "max.compaction.lag.ms"); lag && *lag > kLongestLag.value) {
      return invalid(reader, "its max.compaction.lag.ms is " + std::to_string(*lag) +
                                 ": removed records would be kept on the brokers' disks for too long; set it to " +
                                 std::to_string(options.forget_within.value) + " (at most " +
                                 std::to_string(kLongestLag.value) + ")");
    }
  } else if (const std::string policy = text("cleanup.policy"); policy != "delete" && !feed) {
    return invalid(reader, "its cleanup.policy is \"" + policy +
                               "\": a compacted topic forgets entries; set it to \"delete\", or name another fleet");
  }
  if (options.retention.value == 0 && !options.keyed && !feed) {
    for (const char* name : {"retention.ms", "retention.bytes"}) {
      if (const auto value = number(settings, name); value && *value != -1) {
        return invalid(reader, std::string{"its "} + name + " is " + std::to_string(*value) +
                                   ", so the broker would delete entries that no snapshot may cover: set it to -1; "
                                   "entries are deleted by trimming the journal");
      }
    }
  }
  if (const auto limit = number(settings, "max.message.bytes"); limit && *limit < largest_batch(options)) {
    return invalid(reader, "its max.message.bytes is " + std::to_string(*limit) + ", but a record may need " +
                               std::to_string(largest_batch(options)) + ": set it to that");
  }
  if (text("unclean.leader.election.enable") == "true") {
    return invalid(reader,
                   "its unclean.leader.election.enable is true: a replica that lags would become the leader and "
                   "acknowledged entries would be lost; set it to false");
  }
  const int64_t in_sync = number(settings, "min.insync.replicas").value_or(1);
  if (options.retention.value == 0 && found.replicas >= kUsualReplicas && in_sync < 2) {
    return invalid(reader, "it has " + std::to_string(found.replicas) +
                               " replicas but min.insync.replicas is 1: an entry that only one broker has would count "
                               "as stored, and be lost with it; set it to 2");
  }
  if (in_sync > found.replicas) {
    return invalid(reader, "its min.insync.replicas is " + std::to_string(in_sync) + ", but it has only " +
                               std::to_string(found.replicas) + " replicas: nothing could ever be stored");
  }
  return ok();
}

}  // namespace

Result<int> prepare_topic(const KafkaClient& reader, const KafkaJournalOptions& options) {
  const AdminDeadline deadline{options.open_timeout};
  SHIPLOG_TRY(TopicState found, describe_topic(reader, deadline));
  if (!found.exists) {
    if (!options.create) {
      return Error{ErrorCode::kNotFound, reader.name() + ": there is no such topic; is the fleet's name right?"};
    }
    SHIPLOG_TRY(create_missing(reader, options, found, deadline));
  }
  while (!found.exists || !found.has_leader) {
    if (deadline.over()) return reader.unavailable("its partition has no leader");
    AdminDeadline::pause();
    SHIPLOG_TRY(found, describe_topic(reader, deadline));
  }
  if (!options.check_settings) return found.partitions;
  SHIPLOG_TRY(const auto settings, read_settings(reader, deadline));
  SHIPLOG_TRY(check(reader, options, found, settings));
  return found.partitions;
}

Result<void> delete_records(const KafkaClient& reader, int64_t before, Millis timeout) {
  const AdminDeadline deadline{timeout};
  while (true) {
    const std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)> list{
        rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy};
    rd_kafka_topic_partition_list_add(list.get(), reader.topic_name().c_str(), 0)->offset = before;
    rd_kafka_DeleteRecords_t* wanted[] = {rd_kafka_DeleteRecords_new(list.get())};
    const Queue queue{reader};
    const auto admin = admin_options(reader, RD_KAFKA_ADMIN_OP_DELETERECORDS, deadline.left_ms());
    rd_kafka_DeleteRecords(reader.handle(), wanted, 1, admin.get(), queue.get());
    rd_kafka_DeleteRecords_destroy(wanted[0]);
    const EventPtr event = answer(queue);
    auto failed = rd_kafka_event_error(event.get());
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const auto* offsets = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
      failed = offsets->elems[0].err;
      if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) return ok();
    }
    const bool again = is_transient(failed) || failed == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION;
    if (!again) {
      return Error{ErrorCode::kIo,
                   reader.name() + ": its oldest records cannot be deleted: " + rd_kafka_err2str(failed)};
    }
    if (deadline.over()) return reader.unavailable("its oldest records cannot be deleted");
    AdminDeadline::pause();
  }
}

}  // namespace shiplog::kafka
