#include "events/journal/kafka/feed_writer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include <librdkafka/rdkafka.h>

#include "events/journal/kafka/client.h"
#include "events/journal/kafka/topic.h"

namespace shiplog {
namespace {

using kafka::KafkaClient;
using Steady = std::chrono::steady_clock;
using ErrorPtr = std::unique_ptr<rd_kafka_error_t, void (*)(rd_kafka_error_t*)>;
using ListPtr = std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)>;
using MessagePtr = std::unique_ptr<rd_kafka_message_t, void (*)(rd_kafka_message_t*)>;
using GroupPtr = std::unique_ptr<rd_kafka_consumer_group_metadata_t, void (*)(rd_kafka_consumer_group_metadata_t*)>;

constexpr std::chrono::milliseconds kPause{50};
/// A writer that was killed is replaced by one that ends its transaction; this is for when there is none.
constexpr const char* kTransactionTimeoutMs = "30000";

ListPtr one_partition(const std::string& topic, int32_t partition) {
  ListPtr list{rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy};
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  return list;
}

bool is_fenced(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

Error error_of(const KafkaClient& client, const std::string& what, rd_kafka_resp_err_t code, const char* text) {
  Error error = client.unavailable(what + " (" + (text != nullptr ? text : rd_kafka_err2str(code)) + ")");
  if (is_fenced(code)) error.code = ErrorCode::kConflict;
  if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) error.code = ErrorCode::kTooLarge;
  return error;
}

}  // namespace

struct KafkaFeedWriter::Impl {
  KafkaFeedOptions options;
  std::unique_ptr<KafkaClient> reader;
  std::map<std::string, std::vector<int64_t>> ends;  // of each partition, by topic
  std::string created_again;                         // a topic that ends before what it had; empty: none does
  std::unique_ptr<KafkaClient> producer;             // the last member: it calls delivered() until it is destroyed

  /// Within rd_kafka_flush(), on the thread that writes.
  static void delivered(rd_kafka_s*, const rd_kafka_message_s* message, void* self) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR || message->offset < 0) return;  // the transaction fails
    auto& impl = *static_cast<Impl*>(self);
    const std::string topic = rd_kafka_topic_name(message->rkt);
    std::vector<int64_t>& known = impl.ends[topic];
    const auto partition = static_cast<size_t>(message->partition);
    if (known.size() <= partition) known.resize(partition + 1, 0);
    if (message->offset < known[partition]) impl.created_again = topic;
    known[partition] = message->offset + 1;
  }

  /// A topic that an administrator deletes and creates while this writer has it open takes its records without a word.
  Result<void> flush() const {
    const auto failed = rd_kafka_flush(producer->handle(), timeout_ms());
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return error_of(*producer, "events are not acknowledged", failed, nullptr);
    }
    if (created_again.empty()) return ok();
    return Error{ErrorCode::kUnavailable, "topic " + created_again + " was created again: its feed is made again"};
  }

  Result<std::vector<int64_t>> find_bounds(const std::string& topic, int64_t which) const;

  int timeout_ms() const { return static_cast<int>(options.timeout.value); }

  /// Repeats a step of a transaction while the library reports that it may be repeated.
  Result<void> step(const std::string& what, const std::function<rd_kafka_error_t*()>& run) const {
    const auto deadline = Steady::now() + std::chrono::milliseconds{options.timeout.value};
    while (true) {
      const ErrorPtr failed{run(), rd_kafka_error_destroy};
      if (!failed) return ok();
      if (rd_kafka_error_is_retriable(failed.get()) == 0 || Steady::now() >= deadline) {
        return error_of(*producer, what, rd_kafka_error_code(failed.get()), rd_kafka_error_string(failed.get()));
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  Result<void> produce(const KafkaFeedRecord& record) const {
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
    const auto deadline = Steady::now() + std::chrono::milliseconds{options.timeout.value};
    while (true) {
      const ErrorPtr failed{rd_kafka_produceva(producer->handle(), parts.data(), parts.size()), rd_kafka_error_destroy};
      if (!failed) return ok();
      const auto code = rd_kafka_error_code(failed.get());
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || Steady::now() >= deadline) {
        return error_of(
            *producer,
            "a record of " + std::to_string(record.value.size()) + " bytes for " + record.topic + " cannot be sent",
            code, rd_kafka_error_string(failed.get()));
      }
      rd_kafka_poll(producer->handle(), static_cast<int>(kPause.count()));
    }
  }

  Result<void> send_offset(const KafkaFeedProgress& next) const {
    const ListPtr list = one_partition(options.journal.topic, 0);
    rd_kafka_topic_partition_t& place = list->elems[0];
    place.offset = next.offset;
    if (!next.metadata.empty()) {
      place.metadata = ::strdup(next.metadata.c_str());  // the list frees it
      place.metadata_size = next.metadata.size();
    }
    const GroupPtr group{rd_kafka_consumer_group_metadata_new(options.group.c_str()),
                         rd_kafka_consumer_group_metadata_destroy};
    return step("the feeds' place in the journal cannot be committed", [&] {
      return rd_kafka_send_offsets_to_transaction(producer->handle(), list.get(), group.get(), timeout_ms());
    });
  }

  Result<void> write_all(const std::vector<KafkaFeedRecord>& records,
                         const std::function<KafkaFeedProgress()>& progress) const {
    for (const KafkaFeedRecord& record : records) {
      SHIPLOG_TRY(produce(record));
    }
    SHIPLOG_TRY(flush());
    SHIPLOG_TRY(send_offset(progress()));
    return step("a transaction of feeds cannot be committed",
                [&] { return rd_kafka_commit_transaction(producer->handle(), timeout_ms()); });
  }
};

KafkaFeedWriter::KafkaFeedWriter(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
KafkaFeedWriter::~KafkaFeedWriter() = default;

Result<std::unique_ptr<KafkaFeedWriter>> KafkaFeedWriter::open(KafkaFeedOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  const KafkaFeedOptions& own = impl->options;
  for (const std::string& topic : own.topics) {
    KafkaJournalOptions feed = own.journal;
    feed.topic = topic;
    feed.feed = true;
    feed.partitions = own.partitions;
    feed.open_timeout = own.timeout;
    SHIPLOG_TRY([[maybe_unused]] const int partitions, prepare_kafka_topic(feed));
  }
  SHIPLOG_TRY(impl->reader, KafkaClient::make(KafkaClient::Kind::kReader, own.journal, nullptr, nullptr,
                                              {{"group.id", own.group}, {"enable.auto.commit", "false"}}));
  const KafkaSettings transactional = {{"transactional.id", own.transactional_id},
                                       {"transaction.timeout.ms", kTransactionTimeoutMs},
                                       {"message.timeout.ms", kTransactionTimeoutMs},
                                       {"max.in.flight", "5"},
                                       {"partitioner", "murmur2_random"},
                                       {"message.max.bytes", std::to_string(kafka::kMaxFeedRecordBytes)}};
  SHIPLOG_TRY(impl->producer, KafkaClient::make(KafkaClient::Kind::kProducer, own.journal, &Impl::delivered, impl.get(),
                                                transactional));
  SHIPLOG_TRY(impl->step("transactions cannot be begun",
                         [&] { return rd_kafka_init_transactions(impl->producer->handle(), impl->timeout_ms()); }));
  // Only now does nobody else write to them.
  for (const std::string& topic : own.topics) {
    SHIPLOG_TRY(impl->ends[topic], impl->find_bounds(topic, RD_KAFKA_OFFSET_END));
  }
  return std::unique_ptr<KafkaFeedWriter>{new KafkaFeedWriter{std::move(impl)}};
}

Result<std::optional<KafkaFeedProgress>> KafkaFeedWriter::committed() {
  const auto deadline = Steady::now() + std::chrono::milliseconds{impl_->options.timeout.value};
  while (true) {
    const ListPtr list = one_partition(impl_->options.journal.topic, 0);
    auto failed = rd_kafka_committed(impl_->reader->handle(), list.get(), impl_->timeout_ms());
    const rd_kafka_topic_partition_t& place = list->elems[0];
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) failed = place.err;
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (place.offset < 0) return std::optional<KafkaFeedProgress>{};
      KafkaFeedProgress found{place.offset, {}};
      if (place.metadata != nullptr)
        found.metadata.assign(static_cast<const char*>(place.metadata), place.metadata_size);
      return std::optional{std::move(found)};
    }
    // Also while the end of a transaction, ours or of a writer before us, is on its way to the group's partition.
    if (Steady::now() >= deadline) {
      return error_of(*impl_->reader, "the feeds' place in the journal cannot be read", failed, nullptr);
    }
    std::this_thread::sleep_for(kPause);
  }
}

/// `which` is RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END, of each partition.
Result<std::vector<int64_t>> KafkaFeedWriter::Impl::find_bounds(const std::string& topic, int64_t which) const {
  KafkaJournalOptions feed = options.journal;
  feed.topic = topic;
  // Also of what no transaction has committed: acknowledged records are counted before that.
  SHIPLOG_TRY(const auto client, KafkaClient::make(KafkaClient::Kind::kReader, feed, nullptr, nullptr,
                                                   {{"isolation.level", "read_uncommitted"}}));
  const rd_kafka_metadata_t* raw = nullptr;
  const auto failed = rd_kafka_metadata(client->handle(), 0, client->topic(), &raw, timeout_ms());
  if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(*client, "its partitions are unknown", failed, nullptr);
  const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> metadata{
      raw, rd_kafka_metadata_destroy};
  const int partitions = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
  if (partitions == 0) return client->unavailable("its partitions are unknown");
  std::vector<int64_t> found(static_cast<size_t>(partitions));
  const auto ask = [&] {
    const ListPtr list{rd_kafka_topic_partition_list_new(partitions), rd_kafka_topic_partition_list_destroy};
    for (int32_t partition = 0; partition < partitions; ++partition) {
      rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = which;
    }
    auto error = rd_kafka_offsets_for_times(client->handle(), list.get(), timeout_ms());
    for (int index = 0; index < list->cnt; ++index) {
      const rd_kafka_topic_partition_t& partition = list->elems[index];
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = partition.err;
      found[static_cast<size_t>(partition.partition)] = std::max<int64_t>(partition.offset, 0);
    }
    return error;
  };
  const auto deadline = Steady::now() + std::chrono::milliseconds{options.timeout.value};
  auto asked = ask();
  // The leader of a topic that was just created does not know of it yet; an election is usually over soon.
  while (asked != RD_KAFKA_RESP_ERR_NO_ERROR && Steady::now() < deadline) {
    std::this_thread::sleep_for(kPause);
    asked = ask();
  }
  if (asked != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(*client, "its offsets are unknown", asked, nullptr);
  return found;
}

int64_t KafkaFeedWriter::written(const std::string& topic) const {
  const auto found = impl_->ends.find(topic);
  return found == impl_->ends.end() ? 0 : std::accumulate(found->second.begin(), found->second.end(), int64_t{0});
}

Result<bool> KafkaFeedWriter::has_events(const std::string& topic) const {
  const auto found = impl_->ends.find(topic);
  if (found == impl_->ends.end() || written(topic) == 0) return false;
  const std::vector<int64_t>& ends = found->second;
  SHIPLOG_TRY(const auto begins, impl_->find_bounds(topic, RD_KAFKA_OFFSET_BEGINNING));
  if (std::ranges::any_of(begins, [](int64_t begin) { return begin > 0; })) return true;  // retention has removed some
  KafkaJournalOptions feed = impl_->options.journal;
  feed.topic = topic;
  SHIPLOG_TRY(const auto client,
              KafkaClient::make(KafkaClient::Kind::kReader, feed, nullptr, nullptr,
                                {{"isolation.level", "read_committed"}, {"enable.partition.eof", "true"}}));
  const kafka::Queue queue{*client};
  std::vector<int32_t> reading;
  for (size_t partition = 0; partition < ends.size(); ++partition) {
    if (ends[partition] == 0) continue;
    const auto number = static_cast<int32_t>(partition);
    if (rd_kafka_consume_start_queue(client->topic(), number, RD_KAFKA_OFFSET_BEGINNING, queue.get()) == 0) {
      reading.push_back(number);
    }
  }
  // A partition without a committed record ends at once.
  const auto deadline = Steady::now() + std::chrono::milliseconds{impl_->options.timeout.value};
  std::set<int32_t> ended;
  bool seen = false;
  while (!seen && ended.size() < reading.size() && Steady::now() < deadline) {
    const MessagePtr message{rd_kafka_consume_queue(queue.get(), static_cast<int>(kPause.count())),
                             rd_kafka_message_destroy};
    if (!message) continue;
    seen = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) ended.insert(message->partition);
  }
  for (const int32_t partition : reading) rd_kafka_consume_stop(client->topic(), partition);
  if (!seen && ended.size() < reading.size()) return client->unavailable("whether it has events cannot be read");
  return seen;
}

Result<void> KafkaFeedWriter::write(const std::vector<KafkaFeedRecord>& records,
                                    const std::function<KafkaFeedProgress()>& progress) {
  SHIPLOG_TRY(impl_->step("a transaction of feeds cannot be begun",
                          [this] { return rd_kafka_begin_transaction(impl_->producer->handle()); }));
  auto written = impl_->write_all(records, progress);
  if (!written) {
    // So that readers need not wait for its timeout. If this fails too, the next writer ends it.
    const ErrorPtr aborted{rd_kafka_abort_transaction(impl_->producer->handle(), impl_->timeout_ms()),
                           rd_kafka_error_destroy};
  }
  return written;
}

}  // namespace shiplog
