#include "services/programs/requests/consumer.h"

#include <algorithm>
#include <future>

#include "events/base/json.h"
#include "services/requests/request_metrics.h"
#include "services/requests/resumption.h"
#include "services/requests/window.h"
#include "services/runtime/log.h"

namespace shiplog::requests {
namespace {

/// Of one partition at once. With eight partitions less than one user may have under way in a server.
constexpr size_t kMostRunning = 12;
/// Records of one partition that are read and not committed yet.
constexpr size_t kMostInWindow = 512;
constexpr size_t kMostInTransaction = 1000;
constexpr Millis kPoll{50};
constexpr Millis kPositions{10'000};
constexpr std::chrono::milliseconds kRejoin{1'000};
/// A consumer that the group has removed is told so by then; else it joins again.
constexpr std::chrono::seconds kMostFenced{15};

}  // namespace

/// A partition of this member, until it is revoked. What runs for it then holds it, and finishes in vain.
struct RequestsConsumer::Partition {
  explicit Partition(int32_t the_number) : number{the_number} {}

  struct Record {
    std::optional<ProducedRequest> request;
    std::string key, content_type, traceparent, tracestate;
  };
  const int32_t number;
  RequestWindow window{kMostRunning};
  std::map<int64_t, Record> records;  // until they are committed
  std::shared_ptr<std::atomic<int64_t>> done_before = std::make_shared<std::atomic<int64_t>>(0);
  std::shared_ptr<std::atomic<bool>> abandoned = std::make_shared<std::atomic<bool>>(false);
  bool paused = false;
};

RequestsConsumer::RequestsConsumer(Options options) : options_{std::move(options)} {
  thread_ = std::thread{[this] { run(); }};
}

RequestsConsumer::~RequestsConsumer() { stop(); }

void RequestsConsumer::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
    if (joined_) group_->wake();
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RequestsConsumer::note_failure(const std::string& failure) {
  {
    const std::lock_guard lock{mutex_};
    if (failure == failure_) return;
    failure_ = failure;
  }
  if (!failure.empty()) log::error("requests.not_consumed", {log::kv("reason", failure)});
}

bool RequestsConsumer::join() {
  KafkaJournalOptions kafka = options_.topics.kafka;
  kafka.topic = options_.topics.requests;
  const std::string id = options_.topics.requests + "." + to_string(new_entry_id(*options_.random));
  auto group = TopicGroup::join(
      kafka, options_.topics.requests, id,
      {.assigned = [this](const std::vector<int32_t>& partitions) { return assigned(partitions); },
       .revoked = [this](const std::vector<int32_t>& partitions, bool lost) { revoked(partitions, lost); },
       .failed = [](const std::string& error) { log::warn("requests.consumer", {log::kv("reason", error)}); }});
  note_failure(group ? "" : group.error().message);
  if (!group) return false;
  const std::lock_guard lock{mutex_};
  group_ = std::move(group).value();
  joined_ = true;
  return true;
}

bool RequestsConsumer::stopped() const {
  const std::lock_guard lock{mutex_};
  return stopped_;
}

void RequestsConsumer::run() {
  while (!stopped()) {
    if (!join()) {
      std::unique_lock lock{mutex_};
      stopping_.wait_for(lock, kRejoin, [this] { return stopped_; });
      continue;
    }
    consume();
    {
      const std::lock_guard lock{mutex_};
      joined_ = false;  // nothing wakes it any more
    }
    group_->leave();
    drop_all();
  }
}

void RequestsConsumer::consume() {
  while (!stopped()) {
    if (fenced_ && std::chrono::steady_clock::now() - *fenced_ > kMostFenced) return;
    if (auto record = group_->poll(kPoll)) {
      take(std::move(*record));
      // What has come along with it, before the next transaction.
      for (int more = 0; more < 200 && (record = group_->poll(Millis{0})); ++more) take(std::move(*record));
    }
    commit_finished();
    int64_t lag = 0;
    for (const auto& [number, partition] : partitions_) {
      lag += std::max<int64_t>(0, group_->end(number) - partition->done_before->load());
    }
    set_lag(lag);
  }
}

void RequestsConsumer::drop_all() {
  fenced_.reset();
  const std::lock_guard lock{mutex_};
  for (const auto& [number, partition] : partitions_) partition->abandoned->store(true);
  partitions_.clear();
}

/// What the journal knows of the partitions, including all that other members appended before.
Result<std::map<int32_t, SettledOffsets>> RequestsConsumer::settled(const std::vector<int32_t>& partitions) {
  auto promise = std::make_shared<std::promise<Result<std::map<int32_t, SettledOffsets>>>>();
  auto known = promise->get_future();
  Replica& replica = options_.record->replica();
  options_.record->when_current(
      [promise, partitions, &replica, topic = options_.topics.requests](const Result<void>& current) {
        if (!current) return promise->set_value(current.error());
        replica.executor().post([promise, partitions, &replica, topic] {
          std::map<int32_t, SettledOffsets> found;
          for (const int32_t partition : partitions) found[partition] = replica.state().settled(topic, partition);
          promise->set_value(std::move(found));
        });
      });
  if (known.wait_for(std::chrono::milliseconds{kPositions.value}) != std::future_status::ready) {
    return Error{ErrorCode::kUnavailable, "the journal does not answer"};
  }
  return known.get();
}

std::map<int32_t, int64_t> RequestsConsumer::assigned(const std::vector<int32_t>& partitions) {
  std::map<int32_t, int64_t> from;
  drop_all();
  if (partitions.empty()) {  // there are more members than partitions
    note_failure("");
    log::info("requests.assigned", {log::kv("partitions", 0), log::kv("consumed", 0)});
    return from;
  }
  while (true) {
    auto positions = group_->positions(partitions, kPositions);
    auto known = positions ? settled(partitions) : positions.error();
    if (!known) {
      note_failure(known.error().message);
      std::unique_lock lock{mutex_};
      if (stopping_.wait_for(lock, kRejoin, [this] { return stopped_; })) return from;
      continue;
    }
    std::string refused;
    for (const auto& [number, position] : positions.value()) {
      const Resumption resumption = resume(options_.topics.requests, number, position.committed, position.oldest,
                                           position.end, known.value().at(number));
      if (resumption.expired > 0) {
        log::error("requests.expired_unread", {log::kv("partition", number), log::kv("records", resumption.expired)});
      }
      if (resumption.refused) {
        refused = *resumption.refused;
        continue;
      }
      auto partition = std::make_shared<Partition>(number);
      partition->done_before->store(std::max<int64_t>(position.committed, 0));
      partitions_[number] = std::move(partition);
      from[number] = resumption.from;
    }
    note_failure(refused);
    log::info("requests.assigned", {log::kv("partitions", partitions.size()), log::kv("consumed", from.size())});
    return from;
  }
}

void RequestsConsumer::revoked(const std::vector<int32_t>& partitions, bool lost) {
  if (!lost) commit_finished();
  log::info("requests.revoked", {log::kv("partitions", partitions.size()), log::kv("lost", lost)});
  const std::lock_guard lock{mutex_};
  for (const int32_t number : partitions) {
    const auto partition = partitions_.find(number);
    if (partition == partitions_.end()) continue;
    partition->second->abandoned->store(true);
    partitions_.erase(partition);
  }
  fenced_.reset();
}

void RequestsConsumer::take(DeliveredRecord record) {
  const auto found = partitions_.find(record.partition);
  if (found == partitions_.end()) return;  // revoked meanwhile
  Partition& partition = *found->second;
  count_received(RequestWay::kTopic);
  auto parsed = parse_request(record.content_type, record.value);
  const std::lock_guard lock{mutex_};
  Partition::Record& kept = partition.records[record.offset];
  kept.key = std::move(record.key);
  kept.content_type = std::move(record.content_type);
  kept.traceparent = std::move(record.traceparent);
  kept.tracestate = std::move(record.tracestate);
  if (!parsed) {
    RecordOutcome outcome{result_of(parsed.error()), parsed.error().reason};
    outcome.result.record = {options_.topics.requests, record.partition, record.offset};
    partition.window.add_finished(record.offset, std::move(outcome));
  } else {
    partition.window.add(record.offset, order_key(parsed.value()));
    kept.request = std::move(parsed).value();
    start_waiting(found->second);
  }
  if (!partition.paused && partition.window.size() >= kMostInWindow) {
    partition.paused = true;
    group_->pause(partition.number, true);
  }
}

// The caller holds the lock.
void RequestsConsumer::start_waiting(const std::shared_ptr<Partition>& partition) {
  while (const auto offset = partition->window.start_next()) {
    Partition::Record& record = partition->records.at(*offset);
    RequestOrigin origin;
    origin.record = {options_.topics.requests, partition->number, *offset};
    origin.done_before = partition->done_before;
    origin.traceparent = record.traceparent;
    origin.tracestate = record.tracestate;
    origin.abandoned = partition->abandoned;
    options_.executor->execute(*std::exchange(record.request, std::nullopt), std::move(origin),
                               [this, partition, offset = *offset](std::optional<RecordOutcome> outcome) {
                                 if (outcome) finish(partition, offset, std::move(*outcome));
                               });
  }
}

// On a worker: the next requests begin while a transaction is committed.
void RequestsConsumer::finish(const std::shared_ptr<Partition>& partition, int64_t offset, RecordOutcome outcome) {
  const std::lock_guard lock{mutex_};
  if (partition->abandoned->load()) return;
  partition->window.finish(offset, std::move(outcome));
  start_waiting(partition);
  if (joined_) group_->wake();
}

namespace {

OutgoingRecord result_record(const std::string& topic, const std::string& key, const std::string& content_type,
                             const std::string& traceparent, const ProducedResult& result) {
  const bool protobuf = is_protobuf(content_type);
  OutgoingRecord record{topic, key.empty() ? result.id : key, write_result(content_type, result), {}};
  record.headers = {{"content-type", protobuf ? kRequestsProtobuf : "application/json"}, {"request-id", result.id}};
  if (!traceparent.empty()) record.headers.emplace_back("traceparent", traceparent);
  return record;
}

/// Never the request itself, which holds a token: it is at its offset, as long as its topic keeps it.
OutgoingRecord dead_letter(const std::string& topic, const std::string& key, const RecordOutcome& outcome) {
  Value letter = to_value(outcome.result);
  letter.set("reason", *outcome.dead);
  letter.erase("message");
  letter.set("key", key);
  return {topic, key, to_json(letter), {{"content-type", "application/json"}}};
}

}  // namespace

/// True: nothing is left that could be committed now.
bool RequestsConsumer::commit_finished() {
  std::map<int32_t, RequestWindow::Finished> batch;
  std::map<int32_t, int64_t> next;
  std::vector<OutgoingRecord> records;
  std::unique_lock lock{mutex_};
  for (auto& [number, partition] : partitions_) {
    auto finished = partition->window.take_finished(kMostInTransaction);
    if (!finished) continue;
    for (const auto& [offset, outcome] : finished->outcomes) {
      const Partition::Record& record = partition->records.at(offset);
      if (outcome.dead) records.push_back(dead_letter(options_.topics.dead, record.key, outcome));
      // Without an id, nobody could recognise it.
      if (outcome.result.id.empty()) continue;
      records.push_back(
          result_record(options_.topics.results, record.key, record.content_type, record.traceparent, outcome.result));
    }
    next[number] = finished->next;
    batch.emplace(number, std::move(*finished));
  }
  lock.unlock();
  if (next.empty()) return true;
  auto published = group_->publish(records, next);
  while (published == TopicGroup::Published::kAgain) {
    lock.lock();
    if (stopping_.wait_for(lock, std::chrono::milliseconds{100}, [this] { return stopped_; })) return false;
    lock.unlock();
    published = group_->publish(records, next);
  }
  lock.lock();
  for (const auto& [number, finished] : batch) {
    Partition& partition = *partitions_.at(number);
    if (published == TopicGroup::Published::kFenced) {
      // Another member answers these; this one is about to learn that the partition is not its own.
      partition.abandoned->store(true);
      if (!fenced_) fenced_ = std::chrono::steady_clock::now();
      continue;
    }
    partition.done_before->store(finished.next);
    partition.records.erase(partition.records.begin(), partition.records.lower_bound(finished.next));
    for (const auto& [offset, outcome] : finished.outcomes) count_result(outcome);
    if (partition.paused && partition.window.size() < kMostInWindow / 2) {
      partition.paused = false;
      group_->pause(number, false);
    }
  }
  return published == TopicGroup::Published::kCommitted;
}

}  // namespace shiplog::requests
