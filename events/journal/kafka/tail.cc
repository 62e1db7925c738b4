#include "events/journal/kafka/tail.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "events/journal/limits.h"

namespace shiplog::kafka {
namespace {

bool error_is_one_of(rd_kafka_resp_err_t error, std::initializer_list<rd_kafka_resp_err_t> some) {
  return std::ranges::find(some, error) != some.end();
}

using Steady = std::chrono::steady_clock;
using Message = std::unique_ptr<rd_kafka_message_t, void (*)(rd_kafka_message_t*)>;

// The time within which a record that is known to be stored must arrive; otherwise something is wrong.
constexpr std::chrono::seconds kFetchPatience{10};
// A read may return nothing for this long before it checks whether the broker is still reachable.
constexpr std::chrono::milliseconds kIdle{900};
// A broker answers the requests of a connection in turn, and keeps a fetch of an idle topic for 500 ms.
constexpr Millis kAskTimeout{2'000};

int ms_until(Steady::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 24 * 3600 * 1000));
}

}  // namespace

KafkaTail::KafkaTail(std::unique_ptr<KafkaClient> client, KafkaJournalOptions options, int64_t from,
                     std::shared_ptr<std::atomic<int64_t>> stored)
    : client_{std::move(client)},
      options_{std::move(options)},
      queue_{*client_},
      stored_{std::move(stored)},
      from_{from} {}

KafkaTail::~KafkaTail() {
  if (reading_) rd_kafka_consume_stop(client_->topic(), 0);
}

void KafkaTail::stop() {
  stopped_ = true;
  rd_kafka_queue_yield(queue_.get());
}

Result<void> KafkaTail::find_position() {
  if (resolved_) return ok();
  SHIPLOG_TRY(const PartitionBounds bounds, client_->bounds(options_.answer_timeout));
  position_ = from_ <= 0 ? bounds.oldest : from_;
  end_found_ = bounds.next;
  resolved_ = true;
  return ok();
}

void KafkaTail::fetch_from(int64_t offset) {
  if (reading_) rd_kafka_consume_stop(client_->topic(), 0);
  reading_ = rd_kafka_consume_start_queue(client_->topic(), 0, offset, queue_.get()) == 0;
}

Result<std::vector<JournalRecord>> KafkaTail::next(size_t max_records, Millis timeout) {
  auto records = read(max_records, timeout);
  if (records && !records.value().empty()) {
    last_ = LastRead{records.value().back().offset.value, siphash128(records.value().back().bytes)};
  }
  return records;
}

Result<std::vector<JournalRecord>> KafkaTail::read(size_t max_records, Millis timeout) {
  std::vector<JournalRecord> records;
  const auto start = Steady::now();
  const auto deadline = start + longest_wait(timeout);
  if (max_records == 0 || stopped_) return records;
  if (failed_) return *failed_;
  SHIPLOG_TRY(find_position());
  // From a future offset: earlier records are read and skipped.
  if (!reading_) fetch_from(std::min(position_, end_found_));
  while (!stopped_) {
    const bool expected = std::max(position_, end_seen_) < stored_->load();
    const auto until = expected ? std::max(deadline, start + kFetchPatience) : deadline;
    // Waits for the first message only; further messages are added if they have already arrived.
    const Message message{rd_kafka_consume_queue(queue_.get(), records.empty() ? ms_until(until) : 0),
                          rd_kafka_message_destroy};
    if (!message) {
      if (!records.empty()) return records;
      if (stopped_) return records;
      if (Steady::now() < until) continue;
      if (expected)
        return client_->unavailable("the record at offset " + std::to_string(position_) + " does not arrive");
      // No message for this long: either the journal is idle or no broker is reachable.
      if (Steady::now() - start >= kIdle) {
        SHIPLOG_TRY([[maybe_unused]] const int64_t end, client_->end(kAskTimeout));
      }
      return records;
    }
    if (auto taken = take(*message, records); !taken) {
      if (records.empty()) return taken.error();
      return records;  // a permanent error is returned by the next call
    }
    if (records.size() == max_records) return records;
  }
  return records;
}

Result<void> KafkaTail::take(const rd_kafka_message_s& message, std::vector<JournalRecord>& records) {
  const auto error = message.err;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (message.offset < position_ && !checking_) return ok();
    std::string bytes;
    if (options_.keyed) {
      bytes.assign(static_cast<const char*>(message.key), message.key_len);
      if (message.payload != nullptr) bytes += '\n';
    }
    if (message.payload != nullptr) bytes.append(static_cast<const char*>(message.payload), message.len);
    if (checking_) {
      // Compaction may have removed the last record of a table.
      const bool same = options_.keyed || (message.offset == last_->offset && siphash128(bytes) == last_->hash);
      if (!same) {
        return lost("the record at offset " + std::to_string(last_->offset) + " is not the one that was read there: ");
      }
      checking_ = false;
      shorter_since_.reset();
      if (message.offset < position_) return ok();
    }
    records.push_back({Offset{message.offset}, std::move(bytes)});
    position_ = message.offset + 1;
    return ok();
  }
  if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (checking_ && message.offset < position_) return explain_missing_offset();
    end_seen_ = std::max(end_seen_, message.offset);
    return ok();
  }
  if (error_is_one_of(error, {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE})) {
    return explain_missing_offset();
  }
  if (error_is_one_of(
          error, {RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION, RD_KAFKA_RESP_ERR_INVALID_MSG})) {
    failed_ = Error{ErrorCode::kCorrupt, client_->name() + ": the record at offset " +
                                             std::to_string(std::max(position_, message.offset)) +
                                             " is damaged: " + rd_kafka_message_errstr(&message) +
                                             "; restore the topic from another replica or a backup"};
    return *failed_;
  }
  // The library retries by itself; the caller receives the error and calls again.
  return client_->unavailable(std::string{"reading fails: "} + rd_kafka_message_errstr(&message));
}

// The broker has no record at this position: it was trimmed, or the end of the partition was cut off.
Result<void> KafkaTail::explain_missing_offset() {
  SHIPLOG_TRY(const PartitionBounds bounds, client_->bounds(options_.answer_timeout));
  if (position_ < bounds.oldest) {
    failed_ = gone(client_->name(), Offset{position_}, Offset{bounds.oldest});
    return *failed_;
  }
  if (position_ > bounds.next) {
    const std::string found = "it ends at offset " + std::to_string(bounds.next) + ", but records up to offset " +
                              std::to_string(position_ - 1) + " were read from it: ";
    const auto now = Steady::now();
    if (now - shorter_since_.value_or(now) < std::chrono::milliseconds{options_.loss_patience.value}) {
      if (!shorter_since_) shorter_since_ = now;
      check_from(bounds);
      return client_->unavailable(found + "a broker was cut off and does not know it yet, or entries are lost");
    }
    return lost(found);
  }
  check_from(bounds);
  return ok();
}

Error KafkaTail::lost(const std::string& found) {
  // What was stored is not any more: the next tail of this journal must not wait for it.
  stored_->store(0);
  failed_ = Error{ErrorCode::kCorrupt, client_->name() + ": " + found + "the brokers have lost acknowledged entries"};
  return *failed_;
}

void KafkaTail::check_from(const PartitionBounds& bounds) {
  checking_ = last_ && last_->offset == position_ - 1 && last_->offset >= bounds.oldest;
  fetch_from(checking_ ? last_->offset : position_);
}

}  // namespace shiplog::kafka
