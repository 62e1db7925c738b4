// Tests that need a real broker: which topics are refused, the content of a record, and that a broker that is killed
// under load loses nothing.
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"
#include "tests/support/must.h"

namespace shiplog::kafka_test {
namespace {

KafkaJournalOptions new_journal() {
  KafkaJournalOptions options;
  options.brokers = shared_cluster().bootstrap();
  options.topic = new_fleet() + ".journal";
  return options;
}

Error refusal_of(const KafkaSettings& topic_settings, int partitions = 1) {
  const KafkaJournalOptions options = new_journal();
  shared_cluster().make_topic(options.topic, partitions, topic_settings);
  const auto opened = open_kafka_journal(options);
  if (opened) {
    ADD_FAILURE() << "this topic should be refused";
    return {};
  }
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_NE(opened.error().message.find(options.topic), std::string::npos) << opened.error().message;
  return opened.error();
}

KafkaSettings sound() { return {{"retention.ms", "-1"}, {"retention.bytes", "-1"}, {"max.message.bytes", "8000000"}}; }
KafkaSettings sound_but(const std::string& name, const std::string& value) {
  KafkaSettings settings = sound();
  settings[name] = value;
  return settings;
}

TEST(KafkaTopic, AnExistingTopicThatKeepsAllRecordsIsAccepted) {
  const KafkaJournalOptions options = new_journal();
  shared_cluster().make_topic(options.topic, 1, sound());
  EXPECT_TRUE(open_kafka_journal(options));
  EXPECT_TRUE(open_kafka_journal(options)) << "and again, as it exists";
}

TEST(KafkaTopic, ATopicThatLosesOrReordersRecordsIsRefusedWithTheSetting) {
  const auto expect_message = [](const Error& error, const std::string& text) {
    EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
  };
  expect_message(refusal_of(sound(), 2), "it has 2 partitions");
  expect_message(refusal_of(sound_but("cleanup.policy", "compact")),
                 "compacted topic forgets entries; set it to \"delete\"");
  expect_message(refusal_of(sound_but("cleanup.policy", "compact,delete")), "cleanup.policy");
  expect_message(refusal_of(sound_but("retention.ms", "604800000")), "its retention.ms is 604800000");
  expect_message(refusal_of(sound_but("retention.bytes", "1000000")), "its retention.bytes is 1000000");
  expect_message(refusal_of(sound_but("max.message.bytes", "1000000")), "its max.message.bytes is 1000000");
  expect_message(refusal_of(sound_but("unclean.leader.election.enable", "true")),
                 "unclean.leader.election.enable is true");
  expect_message(refusal_of(sound_but("min.insync.replicas", "2")), "it has only 1 replicas");
}

TEST(KafkaTopic, AMissingTopicIsCreatedOnlyOnRequest) {
  KafkaJournalOptions options = new_journal();
  options.create = false;
  const auto missing = open_kafka_journal(options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  options.create = true;
  options.replicas = 3;  // with one broker
  const auto too_many = open_kafka_journal(options);
  ASSERT_FALSE(too_many);
  EXPECT_NE(too_many.error().message.find("with 3 replicas"), std::string::npos) << too_many.error().message;
}

TEST(KafkaTopic, IsNotCreatedWithFewerReplicasThanBrokersAreListed) {
  KafkaJournalOptions options = new_journal();
  options.brokers += ",127.0.0.1:1,127.0.0.1:2";  // where no broker runs
  const Millis usual = std::exchange(options.open_timeout, Millis{6'000});
  const auto opened = open_kafka_journal(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(opened.error().message.find("with 3 replicas"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().message.find("--kafka-replicas"), std::string::npos) << opened.error().message;
  options.replicas = 1;
  options.open_timeout = usual;
  EXPECT_TRUE(open_kafka_journal(options)) << "as requested";
}

TEST(KafkaTopic, ConcurrentOpensCreateItOnce) {
  const KafkaJournalOptions options = new_journal();
  std::vector<std::future<Result<std::unique_ptr<Journal>>>> openers;
  for (int i = 0; i < 4; ++i) {
    openers.push_back(std::async(std::launch::async, [&options] { return open_kafka_journal(options); }));
  }
  for (auto& opener : openers) {
    const auto opened = opener.get();
    EXPECT_TRUE(opened) << opened.error().message;
  }
}

TEST(KafkaRecord, CarriesHeadersSoThatConsumersNeedNotDecode) {
  KafkaJournalOptions options = new_journal();
  options.headers = [](std::string_view entry) {
    return KafkaHeaders{{"family", "api,taint"}, {"length", std::to_string(entry.size())}};
  };
  append_now(*open_kafka_journal(options).value(), "12345");
  EXPECT_EQ(shared_cluster().headers_of_first(options.topic), (KafkaHeaders{{"family", "api,taint"}, {"length", "5"}}));
}

TEST(KafkaKeyedTopic, RemovedValuesAreDeletedFromTheDisk) {
  KafkaJournalOptions options = new_journal();
  options.keyed = true;
  options.forget_within = Millis{100};
  options.settings = {{"compression.type", "none"}};  // so that the text can be searched for
  const auto journal = open_kafka_journal(options).value();
  append_now(*journal, "one\nto be forgotten");
  append_now(*journal, "two\nto be kept\nwith a second line");
  append_now(*journal, "three\n");
  EXPECT_EQ(bytes_of(read_all(*journal)),
            (std::vector<std::string>{"one\nto be forgotten", "two\nto be kept\nwith a second line", "three\n"}));
  const auto on_disk = [&](const std::string& text) {
    return shared_cluster().bytes_on_disk(options.topic).find(text) != std::string::npos;
  };
  EXPECT_TRUE(on_disk("to be forgotten"));
  append_now(*journal, "one");
  EXPECT_EQ(read_all(*journal).back().bytes, "one") << "a tombstone is read as its key alone";
  EXPECT_TRUE(e2e::eventually([&] {
    append_now(*journal, "roll\n{}");
    return on_disk("to be kept") && !on_disk("to be forgotten");
  }));
  std::map<std::string, std::string> table;
  for (const std::string& entry : bytes_of(read_all(*open_kafka_journal(options).value()))) {
    table[entry.substr(0, entry.find('\n'))] = entry;
  }
  EXPECT_EQ(table["two"], "two\nto be kept\nwith a second line");
  EXPECT_TRUE(table["one"].empty() || table["one"] == "one") << table["one"];
}

TEST(KafkaKeyedTopic, ATopicWithOtherRetentionIsRefused) {
  const auto refused_for = [](const KafkaSettings& settings, const std::string& text) {
    KafkaJournalOptions options = new_journal();
    options.keyed = true;
    shared_cluster().make_topic(options.topic, 1, settings);
    const auto opened = open_kafka_journal(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
    EXPECT_NE(opened.error().message.find(text), std::string::npos) << opened.error().message;
  };
  refused_for(sound(), "set it to \"compact\"");
  refused_for(sound_but("cleanup.policy", "compact,delete"), "set it to \"compact\"");
  refused_for(sound_but("cleanup.policy", "compact"), "max.compaction.lag.ms");
}

/// A journal of which the broker has forgotten the last record, and a tail that has read it.
class ForgetfulBroker : public ::testing::Test {
 protected:
  ForgetfulBroker() { options_.loss_patience = Millis{120'000}; }  // a broker may take long to start
  void SetUp() override {
    options_.brokers = cluster_.bootstrap();
    options_.topic = "forgetful.journal";
    append({"one", "two"});
    const std::string short_log = e2e::read_file(cluster_.segment(options_.topic));
    append({"three"});
    journal_ = must(open_kafka_journal(options_));
    tail_ = must(journal_->tail({}));
    ASSERT_EQ(must(journal_->head()), Offset{3});
    for (size_t count = 0; count < 3;) count += must(tail_->next(10, Millis{60'000})).size();
    cluster_.kill(0);
    whole_log_ = e2e::read_file(cluster_.segment(options_.topic));
    restart_with(short_log);
    ASSERT_EQ(end(), 2);
  }
  void append(const std::vector<std::string>& records) {
    const auto journal = must(open_kafka_journal(options_));
    for (const std::string& record : records) append_now(*journal, record);
  }
  int64_t end() { return must(must(open_kafka_journal(options_))->head()).value; }
  void restart_with(const std::string& log) {
    std::ofstream{cluster_.segment(options_.topic), std::ios::binary | std::ios::trunc} << log;
    cluster_.start(0);
    cluster_.wait_ready(1);
  }
  /// Calls next() until it returns a record or an error that `ends`.
  Result<std::vector<JournalRecord>> next_until(const std::function<bool(const Error&)>& ends) {
    Result<std::vector<JournalRecord>> read = std::vector<JournalRecord>{};
    EXPECT_TRUE(e2e::eventually([&] {
      read = tail_->next(10, Millis{100});
      return read ? !read.value().empty() : ends(read.error());
    }));
    return read;
  }
  static bool says_that_it_ended(const Error& error) {
    return error.message.find("but records up to offset 2 were read") != std::string::npos;
  }

  KafkaCluster cluster_;
  KafkaJournalOptions options_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Journal::Tail> tail_;
  std::string whole_log_;
};

// As after a partition: the former leader answers for a moment before it learns that it is not the leader any more.
TEST_F(ForgetfulBroker, ATailGoesOnWhenTheRecordsAreThereAgain) {
  const auto cut = next_until(says_that_it_ended);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kUnavailable) << cut.error().message;
  cluster_.kill(0);
  restart_with(whole_log_);
  append({"four"});
  const auto read = next_until([](const Error& error) { return error.code == ErrorCode::kCorrupt; });
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read.value().size(), 1U);
  EXPECT_EQ(read.value()[0].offset, Offset{3});
  EXPECT_EQ(read.value()[0].bytes, "four");
}

TEST_F(ForgetfulBroker, ATailEndsWhenOtherRecordsTookThePlaceOfThoseItHasRead) {
  ASSERT_FALSE(next_until(says_that_it_ended));
  append({"other", "more"});
  const auto read = next_until([](const Error& error) { return error.code == ErrorCode::kCorrupt; });
  ASSERT_FALSE(read) << read.value()[0].bytes;
  EXPECT_NE(read.error().message.find("the brokers have lost acknowledged entries"), std::string::npos)
      << read.error().message;
}

class ImpatientTail : public ForgetfulBroker {
 protected:
  ImpatientTail() { options_.loss_patience = Millis{500}; }
};

TEST_F(ImpatientTail, EndsWhenTheRecordsStayLost) {
  const auto read = next_until([](const Error& error) { return error.code == ErrorCode::kCorrupt; });
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("the brokers have lost acknowledged entries"), std::string::npos)
      << read.error().message;
  // The next one does not wait for them.
  tail_ = must(journal_->tail({}));
  for (size_t count = 0; count < 2;) count += must(tail_->next(10, Millis{60'000})).size();
  const auto end = tail_->next(10, Millis{0});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(end.value().empty());
}

TEST(KafkaBroker, KilledUnderLoadAndStartedAgainLosesNothing) {
  KafkaJournalOptions options = new_journal();
  const auto journal = open_kafka_journal(options).value();
  const auto tail = journal->tail({}).value();
  append_now(*journal, "before");
  constexpr int kEntries = 2'000;
  std::vector<std::future<Result<Offset>>> answers;
  for (int i = 0; i < kEntries; ++i) {
    answers.push_back(append(*journal, "entry " + std::to_string(i)));
    if (i == kEntries / 2) shared_cluster().kill(0);
  }
  shared_cluster().start(0);
  std::vector<std::string> unknown;
  std::map<int64_t, std::string> acknowledged;
  for (int i = 0; i < kEntries; ++i) {
    const auto answer = answers[static_cast<size_t>(i)].get();
    const std::string entry = "entry " + std::to_string(i);
    if (answer) {
      acknowledged[answer.value().value] = entry;
    } else {
      unknown.push_back(entry);
    }
  }
  shared_cluster().wait_ready(1);
  append_now(*journal, "after");
  std::map<int64_t, std::string> stored;
  while (stored.empty() || stored.rbegin()->second != "after") {
    const auto more = tail->next(1'000, kPatience);
    if (!more) {
      ASSERT_EQ(more.error().code, ErrorCode::kUnavailable) << more.error().message;
      continue;
    }
    for (const auto& record : more.value()) stored[record.offset.value] = record.bytes;
  }
  for (const auto& [offset, entry] : acknowledged) EXPECT_EQ(stored[offset], entry);
  // In order and without duplicates: the producer numbers its records, and the broker records the numbers.
  std::set<std::string> seen;
  int last = -1;
  for (const auto& [offset, entry] : stored) {
    EXPECT_TRUE(seen.insert(entry).second) << entry << " twice";
    if (!entry.starts_with("entry ")) continue;
    EXPECT_GT(std::stoi(entry.substr(6)), last);
    last = std::stoi(entry.substr(6));
  }
  EXPECT_GE(acknowledged.size(), static_cast<size_t>(kEntries) / 4) << unknown.size() << " not acknowledged";
}

}  // namespace
}  // namespace shiplog::kafka_test
