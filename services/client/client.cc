#include <array>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <shiplog/client.h>

namespace shiplog::client {
namespace {

using Steady = std::chrono::steady_clock;

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

constexpr int kOpenMs = 30'000;
constexpr std::chrono::milliseconds kPause{50};

using Settings = std::map<std::string, std::string>;

Owned<rd_kafka_t> make(rd_kafka_type_t type, Settings own, const Settings& users, void* opaque,
                       void (*delivered)(rd_kafka_t*, const rd_kafka_message_t*, void*), std::string& error) {
  Owned<rd_kafka_t> handle{nullptr, rd_kafka_destroy};
  Owned<rd_kafka_conf_t> conf{rd_kafka_conf_new(), rd_kafka_conf_destroy};
  for (const auto& [name, value] : users) own.emplace(name, value);
  for (const auto& [name, value] : own) {
    // The library's message would contain the value, which may be a password.
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), nullptr, 0) == RD_KAFKA_CONF_OK) continue;
    error = "librdkafka does not accept the setting " + name;
    return handle;
  }
  rd_kafka_conf_set_opaque(conf.get(), opaque);
  if (delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(conf.get(), delivered);
  std::array<char, 512> why{};
  handle.reset(rd_kafka_new(type, conf.get(), why.data(), why.size()));
  if (handle) {
    [[maybe_unused]] const auto* now_the_handles = conf.release();
  } else {
    error = why.data();
  }
  return handle;
}

}  // namespace

struct Client::Impl {
  std::string requests, results;
  Owned<rd_kafka_t> producer{nullptr, rd_kafka_destroy};
  Owned<rd_kafka_t> consumer{nullptr, rd_kafka_destroy};
  std::mutex mutex;
  std::string failure;  // of the first request that was not stored since the last flush
  size_t failed = 0;

  static void delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    auto* self = static_cast<Impl*>(opaque);
    const std::lock_guard lock{self->mutex};
    if (self->failed++ == 0) self->failure = rd_kafka_err2str(message->err);
  }

  /// All partitions of the results, from their present ends on.
  bool read_results(std::string& error) {
    const auto deadline = Steady::now() + std::chrono::milliseconds{kOpenMs};
    Owned<rd_kafka_topic_t> topic{rd_kafka_topic_new(consumer.get(), results.c_str(), nullptr), rd_kafka_topic_destroy};
    const rd_kafka_metadata_t* raw = nullptr;
    if (const auto failed_with = rd_kafka_metadata(consumer.get(), 0, topic.get(), &raw, kOpenMs);
        failed_with != RD_KAFKA_RESP_ERR_NO_ERROR) {
      error = "the brokers do not answer: " + std::string{rd_kafka_err2str(failed_with)};
      return false;
    }
    const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> metadata{
        raw, rd_kafka_metadata_destroy};
    const int partitions = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
    if (partitions == 0) {
      error = "there is no topic " + results + ": is the fleet's name right, and has an API server of it been started?";
      return false;
    }
    Owned<rd_kafka_topic_partition_list_t> list{rd_kafka_topic_partition_list_new(partitions),
                                                rd_kafka_topic_partition_list_destroy};
    for (int partition = 0; partition < partitions; ++partition) {
      int64_t oldest = 0;
      int64_t end = 0;
      const auto query = [&] {
        return rd_kafka_query_watermark_offsets(consumer.get(), results.c_str(), partition, &oldest, &end, kOpenMs);
      };
      auto failed_with = query();
      // The leader of a topic that was just created does not know of it yet; an election is usually over soon.
      while (failed_with != RD_KAFKA_RESP_ERR_NO_ERROR && Steady::now() < deadline) {
        std::this_thread::sleep_for(kPause);
        failed_with = query();
      }
      if (failed_with != RD_KAFKA_RESP_ERR_NO_ERROR) {
        error = "the end of " + results + " cannot be read: " + rd_kafka_err2str(failed_with);
        return false;
      }
      rd_kafka_topic_partition_list_add(list.get(), results.c_str(), partition)->offset = end;
    }
    const auto failed_with = rd_kafka_assign(consumer.get(), list.get());
    if (failed_with != RD_KAFKA_RESP_ERR_NO_ERROR) error = rd_kafka_err2str(failed_with);
    return failed_with == RD_KAFKA_RESP_ERR_NO_ERROR;
  }
};

Client::Client(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Client::~Client() = default;

std::unique_ptr<Client> Client::open(const Config& config, bool results, std::string& error) {
  auto impl = std::make_unique<Impl>();
  impl->requests = config.requests_topic.empty() ? config.fleet + ".requests" : config.requests_topic;
  impl->results = config.results_topic.empty() ? config.fleet + ".results" : config.results_topic;
  const Settings both = {{"bootstrap.servers", config.brokers}, {"allow.auto.create.topics", "false"}};
  Settings producing = both;
  producing.insert({{"enable.idempotence", "true"},
                    {"compression.type", "zstd"},
                    {"linger.ms", "5"},
                    {"message.max.bytes", "4325376"},
                    {"partitioner", "murmur2_random"}});
  impl->producer = make(RD_KAFKA_PRODUCER, producing, config.settings, impl.get(), &Impl::delivered, error);
  if (!impl->producer) return nullptr;
  if (results) {
    Settings consuming = both;
    consuming.insert({{"group.id", "shiplog-client"},
                      {"enable.auto.commit", "false"},
                      {"isolation.level", "read_committed"},
                      {"auto.offset.reset", "earliest"}});
    impl->consumer = make(RD_KAFKA_CONSUMER, consuming, config.settings, nullptr, nullptr, error);
    if (!impl->consumer) return nullptr;
    rd_kafka_poll_set_consumer(impl->consumer.get());
    if (!impl->read_results(error)) return nullptr;
  }
  return std::unique_ptr<Client>{new Client{std::move(impl)}};
}

bool Client::send(const Request& request, std::string& error) {
  const std::string value = to_json(request);
  // Without a key, any partition: a producer that does not name the object does not care for an order.
  std::string key = request.key;
  if (key.empty() && !request.name.empty()) key = request.name_space + "/" + request.name;
  std::vector<rd_kafka_vu_t> parts(request.traceparent.empty() ? 5 : 6);
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = impl_->requests.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[1].u.i = RD_KAFKA_MSG_F_COPY;
  parts[2].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[2].u.mem.ptr = const_cast<char*>(value.data());  // copied, not written to
  parts[2].u.mem.size = value.size();
  parts[3].vtype = RD_KAFKA_VTYPE_KEY;
  parts[3].u.mem.ptr = key.empty() ? nullptr : key.data();
  parts[3].u.mem.size = key.size();
  constexpr std::string_view kJson = "application/json";
  parts[4].vtype = RD_KAFKA_VTYPE_HEADER;
  parts[4].u.header = {"content-type", kJson.data(), static_cast<ssize_t>(kJson.size())};
  if (parts.size() == 6) {
    parts[5].vtype = RD_KAFKA_VTYPE_HEADER;
    parts[5].u.header = {"traceparent", request.traceparent.data(), static_cast<ssize_t>(request.traceparent.size())};
  }
  while (true) {
    const Owned<rd_kafka_error_t> failed{rd_kafka_produceva(impl_->producer.get(), parts.data(), parts.size()),
                                         rd_kafka_error_destroy};
    rd_kafka_poll(impl_->producer.get(), 0);
    if (!failed) return true;
    if (rd_kafka_error_code(failed.get()) != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      error = rd_kafka_error_string(failed.get());
      return false;
    }
    rd_kafka_poll(impl_->producer.get(), 100);
  }
}

bool Client::flush(std::chrono::milliseconds timeout, std::string& error) {
  const auto failed = rd_kafka_flush(impl_->producer.get(), static_cast<int>(timeout.count()));
  const std::lock_guard lock{impl_->mutex};
  const size_t lost = std::exchange(impl_->failed, 0);
  if (lost > 0) {
    error = std::to_string(lost) + " requests may not be stored: " + impl_->failure;
    return false;
  }
  if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  error = std::to_string(rd_kafka_outq_len(impl_->producer.get())) + " requests are not acknowledged yet";
  return false;
}

std::optional<Result> Client::result(std::chrono::milliseconds timeout) {
  const auto deadline = Steady::now() + timeout;
  while (impl_->consumer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
    if (left < 0) return std::nullopt;
    const Owned<rd_kafka_message_t> message{rd_kafka_consumer_poll(impl_->consumer.get(), static_cast<int>(left)),
                                            rd_kafka_message_destroy};
    if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    auto result = parse_result({static_cast<const char*>(message->payload), message->len});
    if (result) return result;  // results of requests in Protobuf are Protobuf
  }
  return std::nullopt;
}

}  // namespace shiplog::client
