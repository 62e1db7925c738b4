#include "events/journal/kafka/producer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "events/base/check.h"
#include "events/base/thread_name.h"
#include "events/journal/limits.h"

namespace shiplog::kafka {
namespace {

bool one_of(rd_kafka_resp_err_t error, std::initializer_list<rd_kafka_resp_err_t> some) {
  return std::ranges::find(some, error) != some.end();
}

using Steady = std::chrono::steady_clock;

// append() and closing notify the thread; this interval is for events that originate in the library.
constexpr int kPollMs = 500;

Result<Offset> outcome_of(const rd_kafka_message_t& message, const KafkaClient& client) {
  const auto status = rd_kafka_message_status(&message);
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR && message.offset >= 0) return Offset{message.offset};
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || status != RD_KAFKA_MSG_STATUS_NOT_PERSISTED) {
    // Also: stored as a duplicate of a batch whose offset the broker no longer has.
    Error error = client.unavailable(std::string{"the entry may or may not be stored ("} +
                                     rd_kafka_err2name(message.err) + "): append it again");
    error.code = ErrorCode::kUnknownOutcome;
    return error;
  }
  const std::string why = rd_kafka_err2str(message.err);
  if (one_of(message.err, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE})) {
    return Error{ErrorCode::kTooLarge, client.name() + ": the broker refuses an entry of " +
                                           std::to_string(message.len) +
                                           " bytes; nothing was stored: raise the topic's max.message.bytes"};
  }
  if (one_of(message.err, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
                           RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
                           RD_KAFKA_RESP_ERR_INVALID_RECORD})) {
    return Error{ErrorCode::kIo, client.name() + ": the broker refuses the entry; nothing was stored: " + why};
  }
  return client.unavailable("the entry was not stored (" + why + ")");
}

}  // namespace

Result<std::unique_ptr<Producer>> Producer::make(const KafkaJournalOptions& options) {
  std::unique_ptr<Producer> producer{new Producer{options}};
  SHIPLOG_TRY(producer->connect());
  producer->thread_ = std::thread{[self = producer.get()] { self->run(); }};
  return producer;
}

Producer::~Producer() {
  if (!thread_.joinable()) return;
  SHIPLOG_CHECK(!on_own_thread(), "a journal must not be destroyed from pending of its acknowledgements");
  {
    std::unique_lock lock{mutex_};
    closing_ = true;
    rd_kafka_queue_yield(wake_->get());
    const auto patience = std::chrono::milliseconds{options_.close_timeout.value};
    if (!closed_.wait_for(lock, patience, [this] { return order_.empty(); })) {
      rd_kafka_purge(client_->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    }
  }
  thread_.join();
}

Result<void> Producer::connect() {
  SHIPLOG_TRY(client_, KafkaClient::make(KafkaClient::Kind::kProducer, options_, &Producer::delivered, this));
  wake_ = std::make_unique<Queue>(*client_, Queue::Main{});
  return ok();
}

void Producer::append(std::string bytes, Journal::Appended done) {
  auto refused = refuse_size(bytes.size());
  const std::lock_guard lock{mutex_};  // the library's queue and order_ have the same order
  order_.push_back(std::make_unique<Pending>(Pending{std::move(done), std::nullopt}));
  Pending* pending = order_.back().get();
  if (refused) {
    pending->answer = *refused;
  } else if (auto sent = send(bytes, pending); !sent) {
    pending->answer = sent.error();
  } else {
    return;
  }
  // Refused entries are queued too: results are delivered in order and on the journal's thread.
  rd_kafka_queue_yield(wake_->get());
}

// The caller holds the lock.
Result<void> Producer::send(const std::string& bytes, Pending* pending) {
  const KafkaHeaders headers = options_.headers ? options_.headers(bytes) : KafkaHeaders{};
  const std::string_view all{bytes};
  const size_t key_ends = options_.keyed ? std::min(all.find('\n'), all.size()) : 0;
  std::string_view value = all;
  if (options_.keyed) value = key_ends < all.size() ? all.substr(key_ends + 1) : std::string_view{};
  std::vector<rd_kafka_vu_t> parts(6 + headers.size());
  parts[0].vtype = RD_KAFKA_VTYPE_RKT;
  parts[0].u.rkt = client_->topic();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = 0;
  parts[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[2].u.i = RD_KAFKA_MSG_F_COPY;
  parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[3].u.mem.ptr = const_cast<char*>(value.data());  // copied, not written to; null: a tombstone
  parts[3].u.mem.size = value.size();
  parts[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  parts[4].u.ptr = pending;
  parts[5].vtype = RD_KAFKA_VTYPE_KEY;
  parts[5].u.mem.ptr = options_.keyed ? const_cast<char*>(bytes.data()) : nullptr;
  parts[5].u.mem.size = key_ends;
  for (size_t index = 0; index < headers.size(); ++index) {
    parts[6 + index].vtype = RD_KAFKA_VTYPE_HEADER;
    parts[6 + index].u.header.name = headers[index].first.c_str();
    parts[6 + index].u.header.val = headers[index].second.data();
    parts[6 + index].u.header.size = static_cast<ssize_t>(headers[index].second.size());
  }
  const std::unique_ptr<rd_kafka_error_t, void (*)(rd_kafka_error_t*)> failed{
      rd_kafka_produceva(client_->handle(), parts.data(), parts.size()), rd_kafka_error_destroy};
  if (!failed) return ok();
  if (rd_kafka_error_code(failed.get()) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
    return client_->unavailable("too many entries are already waiting to be sent; append less at a time");
  }
  return client_->unavailable(std::string{"the entry was not sent: "} + rd_kafka_error_string(failed.get()));
}

// On the producer's thread, inside rd_kafka_poll(). Only that thread reads results, and order_ itself is not modified
// here.
void Producer::delivered(rd_kafka_s*, const rd_kafka_message_s* message, void* self) {
  const auto* producer = static_cast<Producer*>(self);
  auto* pending = static_cast<Pending*>(message->_private);
  Result<Offset> outcome = outcome_of(*message, *producer->client_);
  if (outcome && producer->stored_->load() <= outcome.value().value)
    producer->stored_->store(outcome.value().value + 1);
  pending->answer = std::move(outcome);
}

void Producer::answer_front() {
  // At most the present number: a caller that appends again on every refusal must not keep this thread from polling.
  size_t most = 0;
  {
    const std::lock_guard lock{mutex_};
    most = order_.size();
  }
  for (; most > 0; --most) {
    std::unique_ptr<Pending> next;
    {
      const std::lock_guard lock{mutex_};
      if (order_.empty() || !order_.front()->answer) break;
      next = std::move(order_.front());
      order_.pop_front();
    }
    next->done(std::move(*next->answer));
  }
  const std::lock_guard lock{mutex_};
  if (closing_ && order_.empty()) closed_.notify_all();
}

void Producer::run() {
  name_thread("kafka-producer");
  while (true) {
    rd_kafka_poll(client_->handle(), kPollMs);
    answer_front();
    replace_if_failed();
    const std::lock_guard lock{mutex_};
    if (closing_ && order_.empty()) return;
  }
}

void Producer::replace_if_failed() {
  if (rd_kafka_fatal_error(client_->handle(), nullptr, 0) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  // A failed producer accepts no further entries; its pending ones complete with pending more poll each.
  rd_kafka_purge(client_->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  while (true) {
    {
      const std::lock_guard lock{mutex_};
      if (std::ranges::all_of(order_, [](const auto& pending) { return pending->answer.has_value(); })) {
        // Under the lock, so that no append uses the old client. On failure the old pending stays and refuses appends.
        auto fresh = KafkaClient::make(KafkaClient::Kind::kProducer, options_, &Producer::delivered, this);
        if (!fresh) return;
        wake_.reset();
        client_ = std::move(fresh).value();
        wake_ = std::make_unique<Queue>(*client_, Queue::Main{});
        return;
      }
    }
    rd_kafka_poll(client_->handle(), 50);
  }
}

}  // namespace shiplog::kafka
