// The journal on brokers with injected errors. Callers react to a result like services/runtime/replica: an entry of
// unknown outcome is appended again with the same bytes, and a reader drops the duplicate.
#include "tests/kafka/mock.h"

#include <atomic>
#include <deque>
#include <future>
#include <set>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <shiplog/client.h>

#include "events/journal/kafka/feed_writer.h"
#include "events/journal/kafka/head.h"
#include "tests/journal_contract/journal_contract.h"

namespace shiplog {

namespace kafka_test {
namespace {

class MockPlace final : public JournalPlace {
 public:
  Result<std::shared_ptr<Journal>> open() override {
    SHIPLOG_TRY(auto journal, open_kafka_journal(options_));
    return std::shared_ptr<Journal>{std::move(journal)};
  }

 private:
  static MockCluster& mock() {
    static MockCluster cluster;
    return cluster;
  }
  KafkaJournalOptions options_ = mock().journal();
};

}  // namespace
}  // namespace kafka_test

INSTANTIATE_TEST_SUITE_P(
    MockKafka, JournalContract,
    testing::Values(JournalBackend{
        .name = "mock", .make_place = [] { return std::make_unique<kafka_test::MockPlace>(); }, .trims = false}),
    backend_name);

namespace kafka_test {
namespace {

using Strings = std::vector<std::string>;
constexpr int16_t kProduce = 0;  // Kafka's API key of the request
constexpr int16_t kFetch = 1;
constexpr int16_t kListOffsets = 2;
constexpr int32_t kLeader = 1;

class KafkaFaults : public ::testing::Test {
 protected:
  std::unique_ptr<Journal> open() {
    auto opened = open_kafka_journal(options_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(opened).value();
  }
  void fail_next(int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(mock_.get(), request, errors.size(), errors.data());
  }
  void set_leader(int32_t broker) {
    rd_kafka_mock_partition_set_leader(mock_.get(), options_.topic.c_str(), 0, broker);
  }
  void set_brokers_up(bool up) {
    for (int32_t broker = 1; broker <= 3; ++broker) {
      if (up) {
        rd_kafka_mock_broker_set_up(mock_.get(), broker);
      } else {
        rd_kafka_mock_broker_set_down(mock_.get(), broker);
      }
    }
  }
  void delay(int ms) {
    for (int32_t broker = 1; broker <= 3; ++broker) rd_kafka_mock_broker_set_rtt(mock_.get(), broker, ms);
  }

  /// Appends all entries concurrently and retries until each is stored. Returns the number of results of each kind.
  std::map<std::string, int> append_until_stored(Journal& journal, const Strings& entries) {
    std::map<std::string, int> answers;
    std::deque<std::pair<std::string, std::future<Result<Offset>>>> waiting;
    for (const std::string& entry : entries) waiting.emplace_back(entry, append(journal, entry));
    while (!waiting.empty()) {
      auto [entry, future] = std::move(waiting.front());
      waiting.pop_front();
      const auto answer = future.get();
      ++answers[answer ? "stored" : name_of(answer.error().code)];
      if (!answer) waiting.emplace_back(entry, append(journal, entry));
    }
    return answers;
  }

  /// The records that a fold would accept: the first of equal records.
  static Strings without_duplicates(const Strings& records) {
    Strings kept;
    std::set<std::string> seen;
    for (const std::string& record : records) {
      if (seen.insert(record).second) kept.push_back(record);
    }
    return kept;
  }
  static Strings numbered(int count) {
    Strings all;
    for (int i = 0; i < count; ++i) all.push_back("entry " + std::to_string(i));
    return all;
  }

  MockCluster mock_;
  KafkaJournalOptions options_ = mock_.journal();
};

TEST_F(KafkaFaults, TemporaryRefusalsCostNeitherOrderNorEntries) {
  const auto journal = open();
  fail_next(kProduce, {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                       RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                       RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
  const Strings sent = numbered(300);
  EXPECT_EQ(append_until_stored(*journal, sent), (std::map<std::string, int>{{"stored", 300}}));
  EXPECT_EQ(bytes_of(read_all(*journal)), sent);
}

TEST_F(KafkaFaults, ALeaderThatMovesCostsNeitherOrderNorEntries) {
  const auto journal = open();
  const auto tail = journal->tail({}).value();
  Strings sent;
  for (int round = 0; round < 6; ++round) {
    set_leader(1 + round % 3);
    std::vector<std::future<Result<Offset>>> answers;
    for (int i = 0; i < 50; ++i) {
      sent.push_back(std::to_string(round) + ":" + std::to_string(i));
      answers.push_back(append(*journal, sent.back()));
    }
    for (auto& answer : answers) EXPECT_TRUE(answer.get());
  }
  EXPECT_EQ(bytes_of(read(*tail, sent.size())), sent);
}

TEST_F(KafkaFaults, ConnectionsThatBreakCostNoEntry) {
  const auto journal = open();
  const auto tail = journal->tail({}).value();
  fail_next(kProduce, {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR__TRANSPORT});
  fail_next(kFetch, {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR__TRANSPORT});
  const Strings sent = numbered(200);
  append_until_stored(*journal, sent);
  Strings seen;
  while (without_duplicates(seen).size() < sent.size()) {
    const auto more = tail->next(1000, kPatience);
    if (!more) continue;
    for (auto& record : more.value()) seen.push_back(record.bytes);
  }
  EXPECT_EQ(without_duplicates(seen), sent);
}

TEST_F(KafkaFaults, ALostAcknowledgementIsAnUnknownOutcomeAndTheRetryATwin) {
  options_.settings["message.timeout.ms"] = "700";
  const auto journal = open();
  append_now(*journal, "before");
  delay(3'000);  // stored immediately, acknowledged too late
  const auto answer = append(*journal, "the entry").get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnknownOutcome) << answer.error().message;
  EXPECT_NE(answer.error().message.find(options_.topic), std::string::npos) << answer.error().message;
  delay(0);
  append_until_stored(*journal, {"the entry", "after"});
  const Strings stored = bytes_of(read_all(*journal));
  EXPECT_GT(stored.size(), 3U) << "the first attempt was stored too";
  EXPECT_EQ(without_duplicates(stored), (Strings{"before", "the entry", "after"}));
}

TEST_F(KafkaFaults, WithoutBrokersAppendsFailAsUnavailableAndSucceedLater) {
  options_.settings["message.timeout.ms"] = "700";
  const auto journal = open();
  append_now(*journal, "before");
  set_brokers_up(false);
  const auto answer = append(*journal, "meanwhile").get();
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().code == ErrorCode::kUnavailable || answer.error().code == ErrorCode::kUnknownOutcome);
  EXPECT_NE(answer.error().message.find(options_.brokers), std::string::npos) << answer.error().message;
  set_brokers_up(true);
  append_until_stored(*journal, numbered(20));
  const Strings stored = without_duplicates(bytes_of(read_all(*journal)));
  EXPECT_EQ(stored.front(), "before");
  EXPECT_EQ(stored.size(), 21U + (answer.error().code == ErrorCode::kUnknownOutcome && stored[1] == "meanwhile"));
}

TEST_F(KafkaFaults, WithoutBrokersATailFailsAsUnavailableAndContinuesLater) {
  options_.answer_timeout = Millis{500};
  const auto journal = open();
  append_now(*journal, "before");
  const auto tail = journal->tail({}).value();
  EXPECT_EQ(bytes_of(read(*tail, 1)), Strings{"before"});
  set_brokers_up(false);
  const auto nothing = tail->next(1, Millis{1'000});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(nothing.error().message.find(options_.brokers), std::string::npos) << nothing.error().message;
  const auto head = journal->head();
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, ErrorCode::kUnavailable);
  set_brokers_up(true);
  append_until_stored(*journal, {"after"});
  Result<std::vector<JournalRecord>> more = std::vector<JournalRecord>{};
  do {
    more = tail->next(1, kPatience);
  } while (!more);
  EXPECT_EQ(bytes_of(more.value()), Strings{"after"});
}

TEST_F(KafkaFaults, WhoMustNotBlockLearnsTheHeadWhenTheBrokersAreBack) {
  options_.answer_timeout = Millis{100};
  const auto journal = open();
  append_now(*journal, "before");
  set_brokers_up(false);
  std::promise<Result<Offset>> found;
  EXPECT_FALSE(journal->find_head([&](const Result<Offset>& head) { found.set_value(head); }));
  auto head = found.get_future();
  EXPECT_FALSE(journal->head()) << "as long as the other waits before it asks again";
  set_brokers_up(true);
  const auto answer = head.get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer.value(), journal->head().value());
}

TEST_F(KafkaFaults, WhoMustNotBlockIsToldWhenNoBrokerAnswersOrTheJournalIsClosed) {
  options_.answer_timeout = Millis{50};
  options_.head_patience = Millis{200};
  options_.close_timeout = Millis{50};
  auto journal = open();
  set_brokers_up(false);
  const auto ask = [&] {
    auto found = std::make_shared<std::promise<Result<Offset>>>();
    EXPECT_FALSE(journal->find_head([found](const Result<Offset>& head) { found->set_value(head); }));
    return found->get_future();
  };
  const auto refused = ask().get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find(options_.brokers), std::string::npos) << refused.error().message;
  auto last = ask();
  journal.reset();
  ASSERT_EQ(last.wait_for(std::chrono::seconds{0}), std::future_status::ready);
  EXPECT_EQ(last.get().error().code, ErrorCode::kUnavailable);
}

TEST(KafkaHead, OneQueryAnswersAllWhoWaitedWhenItBeganAndNobodyElse) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int64_t> queries = 0;
  kafka::HeadFinder finder{[&]() -> Result<Offset> {
                             if (++queries == 1) {
                               begun.set_value();
                               go_on.get_future().wait();
                             }
                             return Offset{queries};
                           },
                           Millis{30'000}};
  std::vector<std::future<int64_t>> answers;
  const auto ask = [&] {
    auto found = std::make_shared<std::promise<int64_t>>();
    finder.find([found](const Result<Offset>& head) { found->set_value(head.value().value); });
    answers.push_back(found->get_future());
  };
  ask();
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i) ask();
  go_on.set_value();
  std::vector<int64_t> got;
  for (auto& answer : answers) got.push_back(answer.get());
  EXPECT_EQ(got, (std::vector<int64_t>{1, 2, 2, 2})) << "an entry may have been stored after the first query began";
}

TEST_F(KafkaFaults, AProducerThatIsDeclaredDeadIsReplaced) {
  const auto journal = open();
  append_now(*journal, "before");
  // The broker no longer has the producer's sequence: the library declares this producer permanently failed.
  fail_next(kProduce, std::vector<rd_kafka_resp_err_t>(2, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER));
  const Strings sent = numbered(50);
  append_until_stored(*journal, sent);
  append_now(*journal, "after");
  Strings stored = without_duplicates(bytes_of(read_all(*journal)));
  ASSERT_EQ(stored.size(), 52U);
  EXPECT_EQ(stored.back(), "after");
  EXPECT_EQ(std::set<std::string>(stored.begin() + 1, stored.end() - 1),
            std::set<std::string>(sent.begin(), sent.end()));
}

TEST_F(KafkaFaults, AnImmediateRetrySucceedsDespiteADeadProducer) {
  const auto journal = open();
  append_now(*journal, "before");
  fail_next(kProduce, std::vector<rd_kafka_resp_err_t>(2, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER));
  constexpr int kEntries = 50;
  int stored = 0;  // incremented on the journal's thread
  std::promise<void> all;
  std::function<void(const std::string&)> put = [&](const std::string& entry) {
    journal->append(entry, [&, entry](const Result<Offset>& answer) {
      if (!answer) return put(entry);
      if (++stored == kEntries) all.set_value();
    });
  };
  for (const std::string& entry : numbered(kEntries)) put(entry);
  ASSERT_EQ(all.get_future().wait_for(std::chrono::milliseconds{kPatience.value}), std::future_status::ready);
}

// As that of a topic that was created a moment ago.
TEST_F(KafkaFaults, FeedsAndClientsWaitForALeaderThatDoesNotKnowItsPartitionYet) {
  const std::vector<rd_kafka_resp_err_t> early(3, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  KafkaFeedOptions feeds;
  feeds.journal = options_;
  feeds.transactional_id = feeds.group = options_.topic + ".feeds";
  feeds.topics = {options_.topic + ".feed.api"};
  mock_.make_topic(feeds.topics[0]);
  fail_next(kListOffsets, early);
  const auto writer = KafkaFeedWriter::open(feeds);
  EXPECT_TRUE(writer) << writer.error().message;

  mock_.make_topic(options_.topic + ".results");
  fail_next(kListOffsets, early);
  std::string error;
  EXPECT_NE(client::Client::open({options_.brokers, options_.topic, {}, "", ""}, true, error), nullptr) << error;
}

TEST_F(KafkaFaults, ASlowBrokerGetsFewerAndLargerRequests) {
  const auto journal = open();
  append_now(*journal, "before");
  delay(100);
  // One after another they would take more than half a minute.
  EXPECT_EQ(append_until_stored(*journal, numbered(400)), (std::map<std::string, int>{{"stored", 400}}));
  delay(0);
  EXPECT_EQ(bytes_of(read_all(*journal)).size(), 401U);
}

TEST_F(KafkaFaults, ClosingWithoutBrokersAnswersPendingAppends) {
  options_.close_timeout = Millis{200};
  auto journal = open();
  append_now(*journal, "before");
  set_brokers_up(false);
  auto answer = append(*journal, "never sent");
  journal.reset();
  const auto outcome = answer.get();
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(outcome.error().code == ErrorCode::kUnavailable || outcome.error().code == ErrorCode::kUnknownOutcome);
}

TEST_F(KafkaFaults, AStoppedTailEndsAlsoWithoutBrokers) {
  const auto journal = open();
  const auto tail = journal->tail({}).value();
  auto waiting = std::async(std::launch::async, [&] { return tail->next(1, kPatience); });
  set_brokers_up(false);
  tail->stop();
  const auto woken = waiting.get();
  EXPECT_TRUE(woken && woken.value().empty());
}

TEST(KafkaOptions, AnUnreachableBrokerIsNamedInTheError) {
  KafkaJournalOptions options;
  options.brokers = "127.0.0.1:1";
  options.topic = "nowhere.journal";
  options.open_timeout = Millis{300};
  const auto opened = open_kafka_journal(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(opened.error().message.find("127.0.0.1:1, topic nowhere.journal: no broker answers"), std::string::npos)
      << opened.error().message;
}

TEST(KafkaOptions, UnknownInvalidAndReservedSettingsAreRefusedWithoutTheirValues) {
  for (const auto& [name, value] : KafkaSettings{{"sasl.pasword", "hunter2"},
                                                 {"security.protocol", "hunter2"},
                                                 {"acks", "hunter2"},
                                                 {"enable.idempotence", "hunter2"},
                                                 {"group.id", "hunter2"}}) {
    KafkaJournalOptions options;
    options.brokers = "127.0.0.1:1";
    options.topic = "x.journal";
    options.settings = {{name, value}};
    const auto opened = open_kafka_journal(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
    EXPECT_NE(opened.error().message.find(name), std::string::npos) << opened.error().message;
    EXPECT_EQ(opened.error().message.find("hunter2"), std::string::npos) << opened.error().message;
  }
}

TEST(KafkaOptions, ATopicOfSeveralPartitionsIsRefused) {
  MockCluster mock;
  KafkaJournalOptions options = mock.journal();
  options.topic = "several.journal";
  mock.make_topic(options.topic, 3);
  const auto opened = open_kafka_journal(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_NE(opened.error().message.find("it has 3 partitions"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().message.find("shiplogctl journal copy"), std::string::npos) << opened.error().message;
}

TEST(KafkaOptions, ATopicThatGotMorePartitionsIsStillOpenedToCopyItsEntries) {
  MockCluster mock;
  KafkaJournalOptions options = mock.journal();
  options.topic = "grown.journal";
  options.create = false;
  mock.make_topic(options.topic, 3);
  const auto opened = open_kafka_journal(options);
  ASSERT_TRUE(opened) << opened.error().message;
  append_now(*opened.value(), "of partition 0");
  EXPECT_EQ(bytes_of(read_all(*opened.value())), Strings{"of partition 0"});
}

}  // namespace
}  // namespace kafka_test
}  // namespace shiplog
