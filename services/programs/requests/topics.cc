#include "services/programs/requests/topics.h"

#include <algorithm>
#include <array>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "events/journal/kafka/client.h"
#include "events/journal/kafka/login.h"
#include "services/runtime/log.h"

namespace shiplog::requests {
namespace {

constexpr int kTransactionMs = 10'000;

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;
using ErrorPtr = Owned<rd_kafka_error_t>;
using PartitionsPtr = Owned<rd_kafka_topic_partition_list_t>;

ErrorPtr owned(rd_kafka_error_t* error) { return {error, rd_kafka_error_destroy}; }

PartitionsPtr partitions_of(const std::string& topic, const std::vector<int32_t>& partitions) {
  PartitionsPtr list{rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())),
                     rd_kafka_topic_partition_list_destroy};
  for (const int32_t partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  }
  return list;
}

std::vector<int32_t> numbers_of(const rd_kafka_topic_partition_list_t& list) {
  std::vector<int32_t> numbers;
  for (int index = 0; index < list.cnt; ++index) numbers.push_back(list.elems[index].partition);
  return numbers;
}

KafkaSettings consumer_settings(const std::string& brokers, const std::string& group) {
  return {{"bootstrap.servers", brokers},
          {"client.id", "shiplog-requests"},
          {"group.id", group},
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},  // no record is skipped without a report
          {"isolation.level", "read_committed"},
          {"allow.auto.create.topics", "false"},
          {"reconnect.backoff.ms", "50"},
          {"reconnect.backoff.max.ms", "500"},
          // A killed process is replaced as soon as brokers permit by default.
          {"session.timeout.ms", "6000"},
          {"heartbeat.interval.ms", "1000"},
          // What is read ahead of the windows only holds memory.
          {"queued.min.messages", "1000"},
          {"queued.max.messages.kbytes", "16384"},
          {"fetch.message.max.bytes", "1048576"}};
}

KafkaSettings producer_settings(const std::string& brokers, const std::string& transactional_id) {
  return {{"bootstrap.servers", brokers},
          {"client.id", "shiplog-requests"},
          {"transactional.id", transactional_id},
          // How long a killed process holds up those who read results, and the next consumer of its partitions.
          {"transaction.timeout.ms", std::to_string(kTransactionMs)},
          {"message.timeout.ms", std::to_string(kTransactionMs)},
          {"reconnect.backoff.ms", "50"},
          {"reconnect.backoff.max.ms", "500"},
          {"retry.backoff.ms", "50"},
          {"compression.type", "zstd"},
          {"linger.ms", "0"},
          {"message.max.bytes", "4325376"}};
}

Error unavailable(const std::string& what, const std::string& why) {
  return {ErrorCode::kUnavailable, "kafka: " + what + ": " + why};
}

std::string text(const void* bytes, size_t size) {
  return bytes == nullptr ? "" : std::string{static_cast<const char*>(bytes), size};
}

std::string header(const rd_kafka_headers_t& headers, const char* name) {
  const void* value = nullptr;
  size_t size = 0;
  const auto found = rd_kafka_header_get_last(&headers, name, &value, &size);
  return found == RD_KAFKA_RESP_ERR_NO_ERROR ? text(value, size) : "";
}

DeliveredRecord delivered(const rd_kafka_message_t& message) {
  DeliveredRecord record;
  record.partition = message.partition;
  record.offset = message.offset;
  record.key = text(message.key, message.key_len);
  record.value = text(message.payload, message.len);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    record.content_type = header(*headers, "content-type");
    record.traceparent = header(*headers, "traceparent");
    record.tracestate = header(*headers, "tracestate");
  }
  return record;
}

}  // namespace

struct TopicGroup::Impl {
  std::string brokers, topic, transactional_id;
  KafkaSettings users;
  std::function<void(int, const std::string&)> log;
  Handlers handlers;
  Owned<rd_kafka_t> consumer{nullptr, rd_kafka_destroy};
  Owned<rd_kafka_queue_t> queue{nullptr, rd_kafka_queue_destroy};
  Owned<rd_kafka_t> producer{nullptr, rd_kafka_destroy};

  static void on_log(const rd_kafka_t* handle, int level, const char*, const char* line) {
    const auto* self = static_cast<Impl*>(rd_kafka_opaque(handle));
    if (self != nullptr && self->log) self->log(level, line);
  }
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* list, void* self) {
    static_cast<Impl*>(self)->rebalance(what, *list);
  }

  Result<Owned<rd_kafka_t>> make(rd_kafka_type_t type, KafkaSettings own) {
    SHIPLOG_TRY(rd_kafka_conf_t * made, kafka::make_conf(std::move(own), users));
    Owned<rd_kafka_conf_t> conf{made, rd_kafka_conf_destroy};
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    if (type == RD_KAFKA_CONSUMER) rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
    std::array<char, 512> why{};
    Owned<rd_kafka_t> handle{rd_kafka_new(type, conf.get(), why.data(), why.size()), rd_kafka_destroy};
    if (!handle)
      return Error{ErrorCode::kInvalid, "kafka: librdkafka refuses its settings: " + std::string{why.data()}};
    [[maybe_unused]] const auto* now_the_handles = conf.release();
    SHIPLOG_TRY(kafka::start_logins(handle.get(), users));
    return handle;
  }

  /// A producer that was declared failed is of no use any more.
  Result<void> make_producer() {
    producer.reset();
    SHIPLOG_TRY(producer, make(RD_KAFKA_PRODUCER, producer_settings(brokers, transactional_id)));
    const auto failed = owned(rd_kafka_init_transactions(producer.get(), kTransactionMs));
    if (!failed) return ok();
    Error error = unavailable("transactions cannot be begun", rd_kafka_error_string(failed.get()));
    producer.reset();
    return error;
  }

  void rebalance(rd_kafka_resp_err_t what, const rd_kafka_topic_partition_list_t& list) {
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      const auto from = handlers.assigned(numbers_of(list));
      PartitionsPtr assigned{rd_kafka_topic_partition_list_new(list.cnt), rd_kafka_topic_partition_list_destroy};
      for (const auto& [partition, offset] : from) {
        rd_kafka_topic_partition_list_add(assigned.get(), topic.c_str(), partition)->offset = offset;
      }
      rd_kafka_assign(consumer.get(), assigned.get());
      // In case that it was paused when it was revoked: this consumer begins with none paused.
      rd_kafka_resume_partitions(consumer.get(), assigned.get());
      return;
    }
    handlers.revoked(numbers_of(list), rd_kafka_assignment_lost(consumer.get()) != 0);
    rd_kafka_assign(consumer.get(), nullptr);
  }

  /// By the query for an offset at a time, whose special values are the ends: the library's own query for these does
  /// not return while a partition has no leader.
  Result<void> query(const std::vector<int32_t>& partitions, int64_t which, int wait_ms,
                     std::map<int32_t, PartitionPosition>& positions, int64_t PartitionPosition::*into) {
    const PartitionsPtr list = partitions_of(topic, partitions);
    for (int index = 0; index < list->cnt; ++index) list->elems[index].offset = which;
    auto failed = rd_kafka_offsets_for_times(consumer.get(), list.get(), wait_ms);
    for (int index = 0; index < list->cnt && failed == RD_KAFKA_RESP_ERR_NO_ERROR; ++index) {
      failed = list->elems[index].err;
      positions[list->elems[index].partition].*into = list->elems[index].offset;
    }
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) return ok();
    return unavailable("the ends of the partitions cannot be read", rd_kafka_err2str(failed));
  }

  bool produce(const OutgoingRecord& record) {
    std::vector<rd_kafka_vu_t> parts(4 + record.headers.size());
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = record.topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[1].u.i = RD_KAFKA_MSG_F_COPY;
    parts[2].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[2].u.mem.ptr = const_cast<char*>(record.value.data());  // copied, not written to
    parts[2].u.mem.size = record.value.size();
    parts[3].vtype = RD_KAFKA_VTYPE_KEY;
    parts[3].u.mem.ptr = const_cast<char*>(record.key.data());
    parts[3].u.mem.size = record.key.size();
    for (size_t index = 0; index < record.headers.size(); ++index) {
      parts[4 + index].vtype = RD_KAFKA_VTYPE_HEADER;
      parts[4 + index].u.header.name = record.headers[index].first.c_str();
      parts[4 + index].u.header.val = record.headers[index].second.data();
      parts[4 + index].u.header.size = static_cast<ssize_t>(record.headers[index].second.size());
    }
    const auto failed = owned(rd_kafka_produceva(producer.get(), parts.data(), parts.size()));
    if (failed) log_failure("produce", *failed);
    return !failed;
  }

  static void log_failure(const char* call, const rd_kafka_error_t& error) {
    log::warn("requests.transaction_failed", {log::kv("call", call), log::kv("reason", rd_kafka_error_string(&error))});
  }

  /// Nullptr, or why the transaction cannot be committed. Errors that the library can try again are.
  ErrorPtr commit(const std::map<int32_t, int64_t>& next) {
    std::vector<int32_t> partitions;
    for (const auto& [partition, offset] : next) partitions.push_back(partition);
    const PartitionsPtr list = partitions_of(topic, partitions);
    for (int index = 0; index < list->cnt; ++index) list->elems[index].offset = next.at(list->elems[index].partition);
    const Owned<rd_kafka_consumer_group_metadata_t> member{rd_kafka_consumer_group_metadata(consumer.get()),
                                                           rd_kafka_consumer_group_metadata_destroy};
    auto failed = owned(rd_kafka_send_offsets_to_transaction(producer.get(), list.get(), member.get(), kTransactionMs));
    for (int tries = 0; failed && rd_kafka_error_is_retriable(failed.get()) && tries < 3; ++tries) {
      failed = owned(rd_kafka_send_offsets_to_transaction(producer.get(), list.get(), member.get(), kTransactionMs));
    }
    if (failed) return failed;
    do {
      failed = owned(rd_kafka_commit_transaction(producer.get(), kTransactionMs));
    } while (failed && rd_kafka_error_is_retriable(failed.get()));
    return failed;
  }

  Published abort(const rd_kafka_error_t* why) {
    const auto code = why == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(why);
    if (why != nullptr) log_failure("commit", *why);
    const bool fatal = why != nullptr && rd_kafka_error_is_fatal(why);
    if (!fatal) {
      const auto failed = owned(rd_kafka_abort_transaction(producer.get(), kTransactionMs));
      if (failed && !rd_kafka_error_is_retriable(failed.get())) producer.reset();
    } else {
      producer.reset();
    }
    const bool removed = code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION || code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
                         code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID ||
                         code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
    return removed ? Published::kFenced : Published::kAgain;
  }
};

TopicGroup::TopicGroup(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

TopicGroup::~TopicGroup() { leave(); }

Result<std::unique_ptr<TopicGroup>> TopicGroup::join(const KafkaJournalOptions& options, const std::string& group,
                                                     const std::string& transactional_id, Handlers handlers) {
  auto impl = std::make_unique<Impl>();
  impl->brokers = options.brokers;
  impl->topic = options.topic;
  impl->transactional_id = transactional_id;
  impl->users = options.settings;
  impl->log = options.log;
  impl->handlers = std::move(handlers);
  SHIPLOG_TRY(impl->make_producer());
  SHIPLOG_TRY(impl->consumer, impl->make(RD_KAFKA_CONSUMER, consumer_settings(options.brokers, group)));
  rd_kafka_poll_set_consumer(impl->consumer.get());
  impl->queue.reset(rd_kafka_queue_get_consumer(impl->consumer.get()));
  const PartitionsPtr subscription = partitions_of(options.topic, {RD_KAFKA_PARTITION_UA});
  if (const auto failed = rd_kafka_subscribe(impl->consumer.get(), subscription.get());
      failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unavailable("the topic cannot be subscribed to", rd_kafka_err2str(failed));
  }
  return std::unique_ptr<TopicGroup>{new TopicGroup{std::move(impl)}};
}

std::optional<DeliveredRecord> TopicGroup::poll(Millis timeout) {
  const Owned<rd_kafka_message_t> message{
      rd_kafka_consumer_poll(impl_->consumer.get(), static_cast<int>(timeout.value)), rd_kafka_message_destroy};
  if (!message) return std::nullopt;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return delivered(*message);
  impl_->handlers.failed(rd_kafka_message_errstr(message.get()));
  return std::nullopt;
}

void TopicGroup::wake() { rd_kafka_queue_yield(impl_->queue.get()); }

void TopicGroup::pause(int32_t partition, bool paused) {
  const PartitionsPtr list = partitions_of(impl_->topic, {partition});
  paused ? rd_kafka_pause_partitions(impl_->consumer.get(), list.get())
         : rd_kafka_resume_partitions(impl_->consumer.get(), list.get());
}

int64_t TopicGroup::end(int32_t partition) const {
  int64_t oldest = 0;
  int64_t end = 0;
  const auto failed =
      rd_kafka_get_watermark_offsets(impl_->consumer.get(), impl_->topic.c_str(), partition, &oldest, &end);
  return failed == RD_KAFKA_RESP_ERR_NO_ERROR ? end : 0;
}

Result<std::map<int32_t, PartitionPosition>> TopicGroup::positions(const std::vector<int32_t>& partitions,
                                                                   Millis timeout) {
  const int wait = static_cast<int>(timeout.value);
  const PartitionsPtr list = partitions_of(impl_->topic, partitions);
  if (const auto failed = rd_kafka_committed(impl_->consumer.get(), list.get(), wait);
      failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unavailable("the group's positions cannot be read", rd_kafka_err2str(failed));
  }
  std::map<int32_t, PartitionPosition> positions;
  for (int index = 0; index < list->cnt; ++index) {
    const rd_kafka_topic_partition_t& found = list->elems[index];
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return unavailable("the group's positions cannot be read", rd_kafka_err2str(found.err));
    }
    positions[found.partition].committed = found.offset >= 0 ? found.offset : -1;
  }
  SHIPLOG_TRY(impl_->query(partitions, RD_KAFKA_OFFSET_BEGINNING, wait, positions, &PartitionPosition::oldest));
  SHIPLOG_TRY(impl_->query(partitions, RD_KAFKA_OFFSET_END, wait, positions, &PartitionPosition::end));
  return positions;
}

TopicGroup::Published TopicGroup::publish(const std::vector<OutgoingRecord>& records,
                                          const std::map<int32_t, int64_t>& next) {
  if (!impl_->producer) {
    if (auto made = impl_->make_producer(); !made) {
      log::warn("requests.transaction_failed", {log::kv("call", "init"), log::kv("reason", made.error().message)});
      return Published::kAgain;
    }
  }
  if (const auto failed = owned(rd_kafka_begin_transaction(impl_->producer.get()))) return impl_->abort(failed.get());
  for (const OutgoingRecord& record : records) {
    if (!impl_->produce(record)) return impl_->abort(nullptr);
  }
  const auto failed = impl_->commit(next);
  if (!failed) return Published::kCommitted;
  return impl_->abort(failed.get());
}

void TopicGroup::leave() {
  if (!impl_->consumer) return;
  rd_kafka_consumer_close(impl_->consumer.get());
  impl_->queue.reset();
  impl_->consumer.reset();
}

}  // namespace shiplog::requests
