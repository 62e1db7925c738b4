// Three brokers, three replicas, two of which must have an entry before it is acknowledged. Callers react to a result
// like services/runtime/replica: an entry without an acknowledgement is appended again with the same bytes, and a
// reader accepts the first of equal records.
#include <condition_variable>
#include <mutex>
#include <set>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"

namespace shiplog {
// Only the functions of the contract that append and read are used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JournalContract);
}  // namespace shiplog

namespace shiplog::kafka_test {
namespace {

constexpr int kBrokers = 3;
constexpr size_t kAtOnce = 16;

/// A broker that does not respond is considered failed after four seconds instead of nine.
std::vector<std::string> short_timeouts() {
  return {"broker.session.timeout.ms=4000", "broker.heartbeat.interval.ms=500"};
}

/// Keeps kAtOnce appends in flight until stop().
class BrokerLoad {
 public:
  explicit BrokerLoad(Journal& journal) : journal_{journal} {
    for (size_t i = 0; i < kAtOnce; ++i) append_next();
  }
  /// Waits for the results of appends that are in flight after a failed test.
  ~BrokerLoad() {
    std::unique_lock lock{mutex_};
    stopping_ = given_up_ = true;
    changed_.wait(lock, [this] { return in_flight_ == 0; });
  }
  BrokerLoad(const BrokerLoad&) = delete;
  BrokerLoad& operator=(const BrokerLoad&) = delete;

  /// Waits until `more` further entries are stored.
  bool wait_for(size_t more) {
    std::unique_lock lock{mutex_};
    const size_t wanted = acknowledged_.size() + more;
    return changed_.wait_for(lock, std::chrono::milliseconds{kPatience.value},
                             [&] { return acknowledged_.size() >= wanted; });
  }
  bool stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    return changed_.wait_for(lock, std::chrono::milliseconds{kPatience.value}, [this] { return in_flight_ == 0; });
  }

  /// Acknowledged entries by offset, after stop().
  const std::map<int64_t, std::string>& acknowledged() const { return acknowledged_; }
  /// Offsets of entries that were acknowledged at the first attempt, in the order of the appends.
  const std::map<size_t, int64_t>& first_tries() const { return first_tries_; }

 private:
  void append_next() {
    const std::lock_guard lock{mutex_};  // entries are appended in the order of their numbers
    ++in_flight_;
    append(next_++, true);
  }
  void append(size_t number, bool first_try) {
    journal_.append("entry " + std::to_string(number),
                    [this, number, first_try](const Result<Offset>& answer) { on_answer(number, first_try, answer); });
  }
  void on_answer(size_t number, bool first_try, const Result<Offset>& answer) {
    const std::lock_guard lock{mutex_};
    if (!answer && !given_up_) return append(number, false);
    if (answer) {
      acknowledged_[answer.value().value] = "entry " + std::to_string(number);
      if (first_try) first_tries_[number] = answer.value().value;
    }
    if (stopping_) {
      --in_flight_;
    } else {
      append(next_++, true);
    }
    changed_.notify_all();
  }

  Journal& journal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool given_up_ = false;  // failed appends are not retried
  size_t next_ = 0;
  size_t in_flight_ = 0;
  std::map<int64_t, std::string> acknowledged_;
  std::map<size_t, int64_t> first_tries_;
};

void expect_kept(Journal& journal, const BrokerLoad& load) {
  std::map<int64_t, std::string> stored;
  std::set<std::string> different;
  for (auto& record : read_all(journal)) {
    different.insert(record.bytes);
    stored[record.offset.value] = std::move(record.bytes);
  }
  size_t lost = 0;
  std::set<std::string> acknowledged;
  for (const auto& [offset, entry] : load.acknowledged()) {
    if (stored[offset] != entry) ++lost;
    EXPECT_TRUE(acknowledged.insert(entry).second) << entry << " was acknowledged twice";
  }
  EXPECT_EQ(lost, 0U) << "of " << load.acknowledged().size() << " acknowledged entries";
  size_t unacknowledged = 0;
  for (const std::string& entry : different)
    unacknowledged += entry.starts_with("entry ") && !acknowledged.contains(entry);
  EXPECT_EQ(unacknowledged, 0U) << "every entry was appended until it was acknowledged";
  int64_t last = -1;
  for (const auto& [number, offset] : load.first_tries()) {
    ASSERT_GT(offset, last) << "entry " << number << " was stored before its predecessor";
    last = offset;
  }
}

std::vector<Result<Offset>> append_all(Journal& journal, const std::vector<std::string>& entries) {
  std::vector<std::future<Result<Offset>>> waiting;
  for (const std::string& entry : entries) waiting.push_back(append(journal, entry));
  std::vector<Result<Offset>> answers;
  for (auto& future : waiting) answers.push_back(future.get());
  return answers;
}

TEST(ThreeBrokers, ALeaderKilledUnderLoadLosesNothingAndOneReplicaAcknowledgesNothing) {
  KafkaCluster cluster{kBrokers, short_timeouts()};
  KafkaJournalOptions options;
  options.brokers = cluster.bootstrap();
  options.topic = "fleet.journal";
  const auto journal = open_kafka_journal(options).value();
  // Only a replica in sync can become leader. Asked before the load, which delays followers on a busy machine.
  KafkaCluster::Partition partition;
  ASSERT_TRUE(e2e::eventually([&] {
    return (partition = cluster.partition(options.topic)).in_sync == kBrokers && partition.leader >= 0;
  })) << "leader "
      << partition.leader << ", in sync " << partition.in_sync;
  BrokerLoad load{*journal};
  ASSERT_TRUE(load.wait_for(500));

  const int leader = cluster.partition(options.topic).leader;
  ASSERT_GE(leader, 0);
  cluster.kill(leader);
  ASSERT_TRUE(load.wait_for(500)) << "two of three are enough; broker " << leader + 1 << " was killed, and "
                                  << cluster.partition(options.topic).leader + 1 << " leads now";
  int next_leader = -1;
  ASSERT_TRUE(e2e::eventually([&] { return (next_leader = cluster.partition(options.topic).leader) >= 0; }));
  EXPECT_NE(next_leader, leader);
  cluster.start(leader);
  cluster.wait_ready(kBrokers);
  ASSERT_TRUE(load.wait_for(500));
  ASSERT_TRUE(load.stop());
  expect_kept(*journal, load);

  // A journal with a short timeout, so that the test does not wait for half a minute.
  options.settings = {{"message.timeout.ms", "3000"}, {"request.timeout.ms", "2000"}};
  const auto hasty = open_kafka_journal(options).value();
  append_now(*hasty, "before");
  cluster.kill((leader + 1) % kBrokers);
  cluster.kill((leader + 2) % kBrokers);
  const std::vector<std::string> doubtful = {"a", "b", "c", "d", "e"};
  for (const auto& answer : append_all(*hasty, doubtful)) {
    ASSERT_FALSE(answer) << "acknowledged by one broker alone";
    EXPECT_TRUE(answer.error().code == ErrorCode::kUnknownOutcome || answer.error().code == ErrorCode::kUnavailable)
        << answer.error().message;
    EXPECT_NE(answer.error().message.find(options.topic), std::string::npos) << answer.error().message;
  }
  cluster.start((leader + 1) % kBrokers);
  cluster.start((leader + 2) % kBrokers);
  cluster.wait_ready(kBrokers);

  std::map<std::string, int64_t> acknowledged;
  ASSERT_TRUE(e2e::eventually([&] {
    const auto answers = append_all(*hasty, doubtful);
    for (size_t i = 0; i < doubtful.size(); ++i) {
      if (answers[i]) acknowledged.emplace(doubtful[i], answers[i].value().value);
    }
    return acknowledged.size() == doubtful.size();
  }));
  std::map<int64_t, std::string> stored;
  for (auto& record : read_all(*hasty)) stored[record.offset.value] = std::move(record.bytes);
  for (const auto& [entry, offset] : acknowledged) EXPECT_EQ(stored[offset], entry);
  expect_kept(*journal, load);
}

}  // namespace
}  // namespace shiplog::kafka_test
