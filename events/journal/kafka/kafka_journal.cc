#include "events/journal/kafka/kafka_journal.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "events/journal/kafka/client.h"
#include "events/journal/kafka/head.h"
#include "events/journal/kafka/producer.h"
#include "events/journal/kafka/tail.h"
#include "events/journal/kafka/topic.h"

namespace shiplog {
namespace {

using kafka::KafkaClient;
using kafka::PartitionBounds;
using kafka::Producer;

class KafkaJournal final : public Journal {
 public:
  KafkaJournal(KafkaJournalOptions options, std::unique_ptr<KafkaClient> reader, std::unique_ptr<Producer> producer)
      : options_{std::move(options)}, reader_{std::move(reader)}, producer_{std::move(producer)} {}

  void append(std::string bytes, Appended done) override { producer_->append(std::move(bytes), std::move(done)); }

  Result<std::unique_ptr<Tail>> tail(Offset from) override {
    SHIPLOG_TRY(auto client, KafkaClient::make(KafkaClient::Kind::kReader, options_));
    auto made = std::make_unique<kafka::KafkaTail>(std::move(client), options_, from.value, producer_->stored());
    made->resolve();
    return std::unique_ptr<Tail>{std::move(made)};
  }

  Result<Offset> head() override {
    SHIPLOG_TRY(const int64_t end, reader_->end(options_.answer_timeout));
    // Tails of this journal then wait for all records before it.
    auto& stored = *producer_->stored();
    int64_t known = stored.load();
    while (known < end && !stored.compare_exchange_weak(known, end)) {
    }
    return Offset{end};
  }

  std::optional<Result<Offset>> find_head(const std::function<void(Result<Offset>)>& then) override {
    std::call_once(finder_made_, [this] {
      finder_ = std::make_unique<kafka::HeadFinder>([this] { return head(); }, options_.head_patience);
    });
    finder_->find(then);
    return std::nullopt;
  }

  Result<Offset> oldest() override {
    SHIPLOG_TRY(const PartitionBounds bounds, reader_->bounds(options_.answer_timeout));
    return Offset{bounds.oldest};
  }

  Result<void> trim(Offset before) override {
    SHIPLOG_TRY(const PartitionBounds bounds, reader_->bounds(options_.answer_timeout));
    const int64_t wanted = std::min(before.value, bounds.next);
    if (wanted <= bounds.oldest) return ok();
    return kafka::delete_records(*reader_, wanted, options_.answer_timeout);
  }

  std::string describe() const override { return "kafka:" + options_.brokers + "/" + options_.topic; }

 private:
  const KafkaJournalOptions options_;
  std::unique_ptr<KafkaClient> reader_;
  std::unique_ptr<Producer> producer_;
  std::once_flag finder_made_;  // most journals of a process are never asked
  std::unique_ptr<kafka::HeadFinder> finder_;
};

}  // namespace

Result<std::unique_ptr<Journal>> open_kafka_journal(KafkaJournalOptions options) {
  SHIPLOG_TRY(auto reader, KafkaClient::make(KafkaClient::Kind::kReader, options));
  SHIPLOG_TRY(const int partitions, kafka::prepare_topic(*reader, options));
  // What only reads is let in: partition 0 has all entries, and this is how they are saved.
  if (partitions != 1 && options.create) {
    return Error{ErrorCode::kInvalid,
                 reader->name() + ": it has " + std::to_string(partitions) +
                     " partitions, but a journal is one total order and so one partition: name another fleet. Kafka "
                     "removes no partition again: if a fleet has used this topic before it got more, all its entries "
                     "are in partition 0; move them to another fleet's name with `shiplogctl journal copy`, or with "
                     "`shiplogctl backup` and `restore`"};
  }
  SHIPLOG_TRY(auto producer, Producer::make(options));
  return std::unique_ptr<Journal>{
      std::make_unique<KafkaJournal>(std::move(options), std::move(reader), std::move(producer))};
}

Result<int> prepare_kafka_topic(const KafkaJournalOptions& options) {
  SHIPLOG_TRY(const auto reader, KafkaClient::make(KafkaClient::Kind::kReader, options));
  return kafka::prepare_topic(*reader, options);
}

}  // namespace shiplog
