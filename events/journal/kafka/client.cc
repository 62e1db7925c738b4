#include "events/journal/kafka/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include <librdkafka/rdkafka.h>

namespace shiplog::kafka {
namespace {

using Steady = std::chrono::steady_clock;

// Above one entry and its headers, below what the topic takes (topic.cc).
constexpr size_t kRecordOverhead = 64 * 1024;

/// What the journal's promises rest on.
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

KafkaSettings settings_of(Client::Kind kind, const std::string& brokers) {
  KafkaSettings settings = {
      {"bootstrap.servers", brokers},
      {"client.id", "shiplog"},
      {"socket.nagle.disable", "true"},
      {"socket.keepalive.enable", "true"},
      // A broker that comes back is found at once, not after the library's ten seconds.
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "500"},
      {"message.max.bytes", std::to_string(kMaxEntryBytes + kRecordOverhead)},
  };
  if (kind == Client::Kind::kProducer) {
    settings.insert({
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {"compression.type", "zstd"},
        {"linger.ms", "0"},
        // One request at a time: what comes meanwhile makes up the next one, so latency stays that of one or two
        // round trips and the batch grows by itself with the load.
        {"max.in.flight", "1"},
        {"batch.num.messages", "100000"},
        {"message.timeout.ms", "30000"},
        {"request.timeout.ms", "10000"},
        {"retry.backoff.ms", "50"},
        {"queue.buffering.max.messages", "1000000"},
        {"queue.buffering.max.kbytes", "262144"},
    });
  } else {
    settings.insert({
        {"auto.offset.reset", "error"},  // nothing is ever skipped unsaid
        {"enable.partition.eof", "true"},
        {"check.crcs", "true"},
        {"isolation.level", "read_committed"},
        {"allow.auto.create.topics", "false"},
        {"fetch.error.backoff.ms", "50"},
        // A full queue makes the library pause for a second: it should not be full.
        {"queued.min.messages", "1000000"},
        {"queued.max.messages.kbytes", "65536"},
    });
  }
  return settings;
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  // The library's own words would repeat the value, which may be a password.
  const auto result = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), nullptr, 0);
  if (result == RD_KAFKA_CONF_OK) return ok();
  if (result == RD_KAFKA_CONF_INVALID) {
    return Error{ErrorCode::kInvalid, "kafka: librdkafka does not take the value given for its setting " + name};
  }
  return Error{ErrorCode::kInvalid, "kafka: librdkafka has no setting named \"" + name + "\""};
}

void on_log(const rd_kafka_t* handle, int level, const char* facility, const char* line) {
  // One list of settings serves producers and readers; that each ignores some of the other's is no news.
  if (std::string_view{facility} == "CONFWARN") return;
  if (auto* client = static_cast<Client*>(rd_kafka_opaque(handle))) client->complain(level, line);
}

}  // namespace

Result<std::unique_ptr<Client>> Client::make(Kind kind, const KafkaJournalOptions& options, Delivered delivered,
                                             void* opaque) {
  std::unique_ptr<Client> client{new Client};
  client->brokers_ = options.brokers;
  client->topic_name_ = options.topic;
  client->log_ = options.log;
  client->delivered_ = delivered;
  client->opaque_ = opaque;
  std::unique_ptr<rd_kafka_conf_t, void (*)(rd_kafka_conf_t*)> conf{rd_kafka_conf_new(), rd_kafka_conf_destroy};
  KafkaSettings settings = settings_of(kind, options.brokers);
  for (const auto& [name, value] : options.settings) {
    if (std::ranges::find(kOwnSettings, name) != kOwnSettings.end()) {
      return Error{ErrorCode::kInvalid, "kafka: the setting " + name + " is the journal's own and cannot be changed"};
    }
    settings[name] = value;
  }
  for (const auto& [name, value] : settings) {
    SHIPLOG_TRY(set(conf.get(), name, value));
  }
  rd_kafka_conf_set_opaque(conf.get(), client.get());
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  if (delivered != nullptr) {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t* handle, const rd_kafka_message_t* message, void* self) {
      const auto* owner = static_cast<Client*>(self);
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
  client->topic_ = rd_kafka_topic_new(client->handle_, options.topic.c_str(), nullptr);
  if (client->topic_ == nullptr) {
    return Error{ErrorCode::kInvalid, "kafka: librdkafka refuses the topic name \"" + options.topic + "\""};
  }
  return client;
}

Client::~Client() {
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

Result<Bounds> Client::bounds(Millis timeout) const {
  Bounds bounds;
  SHIPLOG_TRY(bounds.oldest, ask_offset(RD_KAFKA_OFFSET_BEGINNING, timeout));
  SHIPLOG_TRY(bounds.next, ask_offset(RD_KAFKA_OFFSET_END, timeout));
  return bounds;
}

Result<int64_t> Client::end(Millis timeout) const { return ask_offset(RD_KAFKA_OFFSET_END, timeout); }

// By way of the question for an offset at a time, whose two special times are the beginning and the end: the library's
// own query for both (rd_kafka_query_watermark_offsets) does not come back while the leader is away.
Result<int64_t> Client::ask_offset(int64_t which, Millis timeout) const {
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
      return unavailable("its offsets cannot be asked for (" + std::string{rd_kafka_err2str(failed)} + ")");
    }
    // A leader that moves, a connection that is gone: soon known again.
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

Error Client::unavailable(const std::string& what) const {
  const std::string said = complaint();
  return {ErrorCode::kUnavailable, name() + ": " + what + (said.empty() ? "" : "; the client's last words: " + said)};
}

std::string Client::complaint() const {
  const std::lock_guard lock{mutex_};
  return complaint_;
}

void Client::complain(int level, const std::string& line) {
  constexpr int kWarning = 4;
  if (level <= kWarning) {
    const std::lock_guard lock{mutex_};
    // "[thrd:x]: x/bootstrap: Connect to ...": the thread means nothing to a reader.
    const size_t thread_ends = line.starts_with("[thrd:") ? line.find("]: ") : std::string::npos;
    complaint_ = thread_ends == std::string::npos ? line : line.substr(thread_ends + 3);
  }
  if (log_) log_(level, line);
}

Queue::Queue(const Client& client) : queue_{rd_kafka_queue_new(client.handle())} {}
Queue::Queue(const Client& client, Main) : queue_{rd_kafka_queue_get_main(client.handle())} {}
Queue::~Queue() { rd_kafka_queue_destroy(queue_); }

}  // namespace shiplog::kafka
