// Three brokers, three replicas, two of which must have an entry before it counts. What a caller does about an answer
// is what services/runtime/replica does: an entry without an acknowledgement is appended again with the same bytes, and
// a reader takes the first of equal records (the twin rule).
#include <condition_variable>
#include <mutex>
#include <set>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"

namespace shiplog {
// Of the contract only its ways to append and to read are used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JournalContract);
}  // namespace shiplog

namespace shiplog::kafka_test {
namespace {

constexpr int kBrokers = 3;
constexpr size_t kAtOnce = 16;

/// A silent broker is given up after four seconds instead of nine.
std::vector<std::string> quick_to_notice() {
  return {"broker.session.timeout.ms=4000", "broker.heartbeat.interval.ms=500"};
}

/// Always has kAtOnce entries under way until it is told to stop.
class Load {
 public:
  explicit Load(Journal& journal) : journal_{journal} {
    for (size_t i = 0; i < kAtOnce; ++i) append_next();
  }
  /// A test that fails leaves entries under way, whose answers come here.
  ~Load() {
    std::unique_lock lock{mutex_};
    stopping_ = given_up_ = true;
    changed_.wait(lock, [this] { return under_way_ == 0; });
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Until so many more are stored.
  bool go_on(size_t more) {
    std::unique_lock lock{mutex_};
    const size_t wanted = promised_.size() + more;
    return changed_.wait_for(lock, std::chrono::milliseconds{kPatience.value},
                             [&] { return promised_.size() >= wanted; });
  }
  bool stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    return changed_.wait_for(lock, std::chrono::milliseconds{kPatience.value}, [this] { return under_way_ == 0; });
  }

  /// By offset, after stop().
  const std::map<int64_t, std::string>& promised() const { return promised_; }
  /// Offsets of those that were acknowledged at the first try, in the order of the appends.
  const std::map<size_t, int64_t>& first_tries() const { return first_tries_; }

 private:
  void append_next() {
    const std::lock_guard lock{mutex_};  // numbers are appended in their order
    ++under_way_;
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
      promised_[answer.value().value] = "entry " + std::to_string(number);
      if (first_try) first_tries_[number] = answer.value().value;
    }
    if (stopping_) {
      --under_way_;
    } else {
      append(next_++, true);
    }
    changed_.notify_all();
  }

  Journal& journal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool given_up_ = false;  // what fails now is not tried again
  size_t next_ = 0;
  size_t under_way_ = 0;
  std::map<int64_t, std::string> promised_;
  std::map<size_t, int64_t> first_tries_;
};

void expect_kept(Journal& journal, const Load& load) {
  std::map<int64_t, std::string> stored;
  std::set<std::string> different;
  for (auto& record : read_all(journal)) {
    different.insert(record.bytes);
    stored[record.offset.value] = std::move(record.bytes);
  }
  size_t lost = 0;
  std::set<std::string> promised;
  for (const auto& [offset, entry] : load.promised()) {
    if (stored[offset] != entry) ++lost;
    EXPECT_TRUE(promised.insert(entry).second) << entry << " was acknowledged twice";
  }
  EXPECT_EQ(lost, 0U) << "of " << load.promised().size() << " acknowledged entries";
  size_t unasked = 0;
  for (const std::string& entry : different) unasked += entry.starts_with("entry ") && !promised.contains(entry);
  EXPECT_EQ(unasked, 0U) << "every entry was appended until it was acknowledged";
  int64_t last = -1;
  for (const auto& [number, offset] : load.first_tries()) {
    ASSERT_GT(offset, last) << "entry " << number << " overtook the one before it";
    last = offset;
  }
}

std::vector<Result<Offset>> append_all(Journal& journal, const std::vector<std::string>& entries) {
  std::vector<std::future<Result<Offset>>> waiting;
  for (const std::string& entry : entries) waiting.push_back(append(journal, entry));
  std::vector<Result<Offset>> answers;
  for (auto& one : waiting) answers.push_back(one.get());
  return answers;
}

TEST(ThreeBrokers, ALeaderKilledUnderLoadCostsNothingAndWithoutTwoNothingIsAcknowledged) {
  Cluster cluster{kBrokers, quick_to_notice()};
  KafkaJournalOptions options;
  options.brokers = cluster.bootstrap();
  options.topic = "fleet.journal";
  const auto journal = open_kafka_journal(options).value();
  Load load{*journal};
  ASSERT_TRUE(load.go_on(500));

  // Only a replica in sync may lead next, and a busy machine can hold two of them up.
  ASSERT_TRUE(e2e::eventually([&] { return cluster.partition(options.topic).in_sync == kBrokers; }));
  const int leader = cluster.partition(options.topic).leader;
  ASSERT_GE(leader, 0);
  cluster.kill(leader);
  ASSERT_TRUE(load.go_on(500)) << "two of three are enough; broker " << leader + 1 << " was killed, and "
                               << cluster.partition(options.topic).leader + 1 << " leads now";
  int next_leader = -1;
  ASSERT_TRUE(e2e::eventually([&] { return (next_leader = cluster.partition(options.topic).leader) >= 0; }));
  EXPECT_NE(next_leader, leader);
  cluster.start(leader);
  cluster.wait_ready(kBrokers);
  ASSERT_TRUE(load.go_on(500));
  ASSERT_TRUE(load.stop());
  expect_kept(*journal, load);

  // One that is tired of waiting sooner, so that the test need not wait for half a minute.
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
