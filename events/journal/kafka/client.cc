#include "events/journal/kafka/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include <librdkafka/rdkafka.h>

#include "events/journal/kafka/login.h"

namespace shiplog::kafka {
namespace {

using Steady = std::chrono::steady_clock;

// Above one entry and its headers, below the limit of the topic (topic.cc).
constexpr size_t kRecordOverhead = 64 * 1024;

/// The settings that the journal's guarantees depend on.
constexpr std::array kOwnSettings = {
    std::string_view{"bootstrap.servers"},
    std::string_view{"metadata.broker.list"},
    std::string_view{"acks"},
    std::string_view{"request.required.acks"},
    std::string_view{"enable.idempotence"},
    std::string_view{"transactional.id"},
    std::string_view{"group.id"},
    std::string_view{"auto.offset.reset"},
    std::string_view{"enable.partition.eof"},
    std::string_view{"check.crcs"},
    std::string_view{"isolation.level"},
    std::string_view{"message.max.bytes"},
    std::string_view{"partitioner"},
    std::string_view{"dr_msg_cb"},
    std::string_view{"dr_cb"},
    std::string_view{"opaque"},
};

KafkaSettings settings_of(KafkaClient::Kind kind, const std::string& brokers) {
  KafkaSettings settings = {
      {"bootstrap.servers", brokers},
      {"client.id", "shiplog"},
      {"socket.nagle.disable", "true"},
      {"socket.keepalive.enable", "true"},
      // A broker that is reachable again is found at once, not after the library's default of ten seconds.
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "500"},
      // A broker that is frozen or cut off keeps connections open. The library asks for the partition's new leader only
      // when a request has failed; its default is a minute.
      {"socket.timeout.ms", "5000"},
      {"message.max.bytes", std::to_string(kMaxEntryBytes + kRecordOverhead)},
  };
  if (kind == KafkaClient::Kind::kProducer) {
    settings.insert({
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {"compression.type", "zstd"},
        {"linger.ms", "0"},
        // One request at a time: entries that arrive in the meantime form the next request, so the latency is one to
        // two round trips and the batch size grows with the load.
        {"max.in.flight", "1"},
        {"batch.num.messages", "100000"},
        {"message.timeout.ms", "30000"},
        {"request.timeout.ms", "4000"},
        {"retry.backoff.ms", "50"},
        {"queue.buffering.max.messages", "1000000"},
        {"queue.buffering.max.kbytes", "262144"},
    });
  } else {
    settings.insert({
        {"auto.offset.reset", "error"},  // no record is skipped without a report
        {"enable.partition.eof", "true"},
        {"check.crcs", "true"},
        {"isolation.level", "read_committed"},
        {"allow.auto.create.topics", "false"},
        {"fetch.error.backoff.ms", "50"},
        // The library pauses for a second when the queue is full.
        {"queued.min.messages", "1000000"},
        {"queued.max.messages.kbytes", "65536"},
    });
  }
  return settings;
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  // The library's error message would contain the value, which may be a password.
  const auto result = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), nullptr, 0);
  if (result == RD_KAFKA_CONF_OK) return ok();
  if (result == RD_KAFKA_CONF_INVALID) {
    return Error{ErrorCode::kInvalid, "kafka: librdkafka does not accept the value of its setting " + name};
  }
  return Error{ErrorCode::kInvalid, "kafka: librdkafka has no setting named \"" + name + "\""};
}

void on_log(const rd_kafka_t* handle, int level, const char* facility, const char* line) {
  // Producers and readers share one list of settings; warnings about settings of the other kind are expected.
  if (std::string_view{facility} == "CONFWARN") return;
  if (auto* client = static_cast<KafkaClient*>(rd_kafka_opaque(handle))) client->record_log_line(level, line);
}

}  // namespace

Result<rd_kafka_conf_t*> make_conf(KafkaSettings own, const KafkaSettings& users) {
  std::unique_ptr<rd_kafka_conf_t, void (*)(rd_kafka_conf_t*)> conf{rd_kafka_conf_new(), rd_kafka_conf_destroy};
  for (const auto& [name, value] : users) {
    if (std::ranges::find(kOwnSettings, name) != kOwnSettings.end()) {
      return Error{ErrorCode::kInvalid, "kafka: the setting " + name + " is set by the journal and cannot be changed"};
    }
    own[name] = value;
  }
  for (const auto& [name, value] : own) {
    SHIPLOG_TRY(set(conf.get(), name, value));
  }
  SHIPLOG_TRY(prepare_logins(conf.get(), users));
  return conf.release();
}

Result<std::unique_ptr<KafkaClient>> KafkaClient::make(Kind kind, const KafkaJournalOptions& options,
                                                       Delivered delivered, void* opaque, const KafkaSettings& own) {
  std::unique_ptr<KafkaClient> client{new KafkaClient};
  client->brokers_ = options.brokers;
  client->topic_name_ = options.topic;
  client->log_ = options.log;
  client->delivered_ = delivered;
  client->opaque_ = opaque;
  KafkaSettings settings = settings_of(kind, options.brokers);
  for (const auto& [name, value] : own) settings[name] = value;
  SHIPLOG_TRY(rd_kafka_conf_t * made, make_conf(std::move(settings), options.settings));
  std::unique_ptr<rd_kafka_conf_t, void (*)(rd_kafka_conf_t*)> conf{made, rd_kafka_conf_destroy};
  rd_kafka_conf_set_opaque(conf.get(), client.get());
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  if (delivered != nullptr) {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t* handle, const rd_kafka_message_t* message, void* self) {
      const auto* owner = static_cast<KafkaClient*>(self);
      owner->delivered_(handle, message, owner->opaque_);
    });
  }
  std::array<char, 512> why{};
  client->handle_ =
      rd_kafka_new(kind == Kind::kProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf.get(), why.data(), why.size());
  if (client->handle_ == nullptr) {
    return Error{ErrorCode::kInvalid, "kafka: librdkafka refuses its settings: " + std::string{why.data()}};
  }
  [[maybe_unused]] const auto* now_the_handles = conf.release();
  SHIPLOG_TRY(start_logins(client->handle_, options.settings));
  client->topic_ = rd_kafka_topic_new(client->handle_, options.topic.c_str(), nullptr);
  if (client->topic_ == nullptr) {
    return Error{ErrorCode::kInvalid, "kafka: librdkafka refuses the topic name \"" + options.topic + "\""};
  }
  return client;
}

KafkaClient::~KafkaClient() {
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

Result<PartitionBounds> KafkaClient::bounds(Millis timeout) const {
  PartitionBounds bounds;
  SHIPLOG_TRY(bounds.oldest, query_offset(RD_KAFKA_OFFSET_BEGINNING, timeout));
  SHIPLOG_TRY(bounds.next, query_offset(RD_KAFKA_OFFSET_END, timeout));
  return bounds;
}

Result<int64_t> KafkaClient::end(Millis timeout) const { return query_offset(RD_KAFKA_OFFSET_END, timeout); }

// Uses the query for an offset by time, whose two special values are the beginning and the end: the library's dedicated
// query (rd_kafka_query_watermark_offsets) does not return while the partition has no leader.
Result<int64_t> KafkaClient::query_offset(int64_t which, Millis timeout) const {
  const auto deadline = Steady::now() + std::chrono::milliseconds{timeout.value};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
    const std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)> list{
        rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy};
    rd_kafka_topic_partition_t* partition = rd_kafka_topic_partition_list_add(list.get(), topic_name_.c_str(), 0);
    partition->offset = which;
    auto failed = rd_kafka_offsets_for_times(handle_, list.get(), static_cast<int>(std::max<int64_t>(left, 1)));
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) failed = partition->err;
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR && partition->offset >= 0) return partition->offset;
    if (left <= 0) {
      return unavailable("its offsets cannot be queried (" + std::string{rd_kafka_err2str(failed)} + ")");
    }
    // A leader election or a lost connection is usually resolved soon.
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

Error KafkaClient::unavailable(const std::string& what) const {
  const std::string line = last_error();
  return {ErrorCode::kUnavailable, name() + ": " + what + (line.empty() ? "" : "; the client's last error: " + line)};
}

std::string KafkaClient::last_error() const {
  const std::lock_guard lock{mutex_};
  return last_error_;
}

bool KafkaClient::login_refused() const {
  // The library goes on trying, and has no other way to report it.
  const std::string line = last_error();
  return line.find("SASL authentication error") != std::string::npos ||
         line.find("Unsupported SASL mechanism") != std::string::npos ||
         line.find("SASL authentication failure") != std::string::npos;
}

void KafkaClient::record_log_line(int level, const std::string& line) {
  constexpr int kWarning = 4;
  if (level <= kWarning) {
    const std::lock_guard lock{mutex_};
    // "[thrd:x]: x/bootstrap: Connect to ...": the thread name is of no use to the reader.
    const size_t thread_ends = line.starts_with("[thrd:") ? line.find("]: ") : std::string::npos;
    last_error_ = thread_ends == std::string::npos ? line : line.substr(thread_ends + 3);
  }
  if (log_) log_(level, line);
}

Queue::Queue(const KafkaClient& client) : queue_{rd_kafka_queue_new(client.handle())} {}
Queue::Queue(const KafkaClient& client, Main) : queue_{rd_kafka_queue_get_main(client.handle())} {}
Queue::~Queue() { rd_kafka_queue_destroy(queue_); }

}  // namespace shiplog::kafka
