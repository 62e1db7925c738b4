// Feeds as topics of a real broker: leaders are killed and frozen while clients write, and a consumer that reads
// committed records only has each event once.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "events/base/json.h"
#include "events/journal/kafka/feed_writer.h"
#include "services/feeds/feed_reader.h"
#include "tests/kafka/cluster.h"
#include "tests/support/feed_consumer.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr int kPartitions = 3;

struct FeedRecord {
  std::string topic;
  int32_t partition = 0;
  std::string key;
  std::string value;
};

/// All committed records of topics, each partition in its order.
std::vector<FeedRecord> read_topics(const std::vector<std::string>& topics) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"bootstrap.servers", kafka_test::shared_cluster().bootstrap()},
                                          {"group.id", "a-consumer"},
                                          {"enable.auto.commit", "false"},
                                          {"isolation.level", "read_committed"},
                                          {"enable.partition.eof", "true"},
                                          {"fetch.wait.max.ms", "20"},
                                          {"auto.offset.reset", "earliest"}}) {
    EXPECT_EQ(rd_kafka_conf_set(conf, name.c_str(), value.c_str(), nullptr, 0), RD_KAFKA_CONF_OK) << name;
  }
  const std::unique_ptr<rd_kafka_t, void (*)(rd_kafka_t*)> consumer{rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0),
                                                                    rd_kafka_destroy};
  rd_kafka_poll_set_consumer(consumer.get());
  const std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)> all{
      rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy};
  for (const std::string& topic : topics) {
    for (int32_t partition = 0; partition < kPartitions; ++partition) {
      rd_kafka_topic_partition_list_add(all.get(), topic.c_str(), partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
  }
  rd_kafka_assign(consumer.get(), all.get());
  std::vector<FeedRecord> records;
  std::set<std::pair<std::string, int32_t>> ended;
  const size_t wanted = topics.size() * kPartitions;
  eventually([&] {
    while (ended.size() < wanted) {
      const std::unique_ptr<rd_kafka_message_t, void (*)(rd_kafka_message_t*)> message{
          rd_kafka_consumer_poll(consumer.get(), 100), rd_kafka_message_destroy};
      if (!message) return false;
      if (message->rkt == nullptr) continue;
      const std::string topic = rd_kafka_topic_name(message->rkt);
      if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) ended.emplace(topic, message->partition);
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      ended.erase({topic, message->partition});
      records.push_back({topic,
                         message->partition,
                         {static_cast<const char*>(message->key), message->key_len},
                         {static_cast<const char*>(message->payload), message->len}});
    }
    return true;
  });
  EXPECT_EQ(ended.size(), wanted);
  std::ranges::stable_sort(records, {}, [](const FeedRecord& record) {
    return std::pair{record.topic, record.partition};
  });
  return records;
}
std::vector<std::string> values_of(const std::vector<FeedRecord>& records, const std::string& topic) {
  std::vector<std::string> values;
  for (const FeedRecord& record : records) {
    if (record.topic == topic) values.push_back(record.value);
  }
  return values;
}

void delete_topic(const std::string& topic) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", kafka_test::shared_cluster().bootstrap().c_str(), nullptr, 0);
  const std::unique_ptr<rd_kafka_t, void (*)(rd_kafka_t*)> admin{rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0),
                                                                 rd_kafka_destroy};
  const std::unique_ptr<rd_kafka_queue_t, void (*)(rd_kafka_queue_t*)> queue{rd_kafka_queue_new(admin.get()),
                                                                             rd_kafka_queue_destroy};
  rd_kafka_DeleteTopic_t* doomed[] = {rd_kafka_DeleteTopic_new(topic.c_str())};
  rd_kafka_DeleteTopics(admin.get(), doomed, 1, nullptr, queue.get());
  rd_kafka_DeleteTopic_destroy(doomed[0]);
  const std::unique_ptr<rd_kafka_event_t, void (*)(rd_kafka_event_t*)> answer{rd_kafka_queue_poll(queue.get(), 30'000),
                                                                              rd_kafka_event_destroy};
  ASSERT_TRUE(answer);
  EXPECT_EQ(rd_kafka_event_error(answer.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/// As the brokers do when nothing was committed for a week.
void delete_group(const std::string& group) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", kafka_test::shared_cluster().bootstrap().c_str(), nullptr, 0);
  const std::unique_ptr<rd_kafka_t, void (*)(rd_kafka_t*)> admin{rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0),
                                                                 rd_kafka_destroy};
  const std::unique_ptr<rd_kafka_queue_t, void (*)(rd_kafka_queue_t*)> queue{rd_kafka_queue_new(admin.get()),
                                                                             rd_kafka_queue_destroy};
  rd_kafka_DeleteGroup_t* doomed[] = {rd_kafka_DeleteGroup_new(group.c_str())};
  rd_kafka_DeleteGroups(admin.get(), doomed, 1, nullptr, queue.get());
  rd_kafka_DeleteGroup_destroy(doomed[0]);
  const std::unique_ptr<rd_kafka_event_t, void (*)(rd_kafka_event_t*)> answer{rd_kafka_queue_poll(queue.get(), 30'000),
                                                                              rd_kafka_event_destroy};
  ASSERT_TRUE(answer);
  size_t count = 0;
  const auto* groups = rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(answer.get()), &count);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(rd_kafka_group_result_error(groups[0]), nullptr);
}

/// As `kafka-consumer-groups.sh --reset-offsets` does.
void set_group_offset(const std::string& group, const std::string& topic, int64_t offset) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", kafka_test::shared_cluster().bootstrap().c_str(), nullptr, 0);
  rd_kafka_conf_set(conf, "group.id", group.c_str(), nullptr, 0);
  const std::unique_ptr<rd_kafka_t, void (*)(rd_kafka_t*)> consumer{rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0),
                                                                    rd_kafka_destroy};
  const std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)> list{
      rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy};
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = offset;
  EXPECT_EQ(rd_kafka_commit(consumer.get(), list.get(), 0), RD_KAFKA_RESP_ERR_NO_ERROR);
}

class FeedsOnKafka : public ::testing::Test {
 protected:
  void serve(const std::string& name, const std::string& roles) {
    const bool api = roles.find("api") != std::string::npos;
    fleet_.serve(name,
                 {"--roles=" + roles, "--journal=kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + name_,
                  "--keys-dir=" + fleet_.path(name + "-keys"), "--hash-every=100", "--feeds=all",
                  "--feed-partitions=" + std::to_string(kPartitions)},
                 api);
  }
  std::string topic(Family family) const { return name_ + ".feed." + std::string{name_of(family)}; }
  std::vector<std::string> topics() const {
    std::vector<std::string> all;
    for (const Family family : feeds::all_families()) all.push_back(topic(family));
    return all;
  }
  /// As a leader leaves a topic that was killed in its first transaction: records that no reader sees.
  void begin_and_abandon(const std::string& topic, int records) const {
    KafkaFeedOptions options;
    options.journal.brokers = kafka_test::shared_cluster().bootstrap();
    options.journal.topic = name_ + ".journal";
    options.transactional_id = options.group = name_ + ".feeds";
    options.topics = {topic};
    options.partitions = kPartitions;
    auto killed = KafkaFeedWriter::open(options);
    ASSERT_TRUE(killed.has_value()) << killed.error().message;
    std::vector<KafkaFeedRecord> abandoned;
    for (int index = 0; index < records; ++index) abandoned.push_back({topic, std::to_string(index), "abandoned", {}});
    const auto written = killed.value()->write(abandoned, [&] {
      const auto next = KafkaFeedWriter::open(options);
      EXPECT_TRUE(next.has_value()) << next.error().message;
      return KafkaFeedProgress{1, {}};
    });
    ASSERT_FALSE(written.has_value());
    EXPECT_GE(killed.value()->written(topic), records);
  }
  /// The whole feed is there, each event once.
  void expect_whole_feed(const ApiClient& api) const {
    const Value state = api.get("/shiplog/v1/state").json;
    test::FeedConsumer consumer;
    EXPECT_TRUE(eventually([&] {
      consumer = {};
      for (const FeedRecord& record : read_topics(topics())) {
        EXPECT_TRUE(consumer.take(json(record.value))) << record.value << " is there twice";
      }
      return consumer.complete_to() >= state["revision"].as_int();
    })) << consumer.complete_to();
    EXPECT_EQ(consumer.hash(), state["stateHash"].str());
  }
  /// The publisher of a process leads, as its log tells.
  bool publishes(const std::string& process) const {
    const std::string log = fleet_.log_tail(process, 1 << 20);
    const size_t began = log.rfind("event=feeds.publishing");
    return began != std::string::npos && log.find("event=feeds.stopped", began) == std::string::npos &&
           log.find("event=feeds.publish_failed", began) == std::string::npos;
  }

  std::string name_ = kafka_test::new_fleet();
  Fleet fleet_;
};

/// Creates, changes and deletes ConfigMaps until it is told to stop.
class SteadyWrites {
 public:
  explicit SteadyWrites(const ApiClient& api) : api_{api}, thread_{[this] { run(); }} {}
  ~SteadyWrites() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int written() const { return written_; }

 private:
  void run() {
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    for (int step = 0; !stopping_; ++step) {
      const std::string name = "map-" + std::to_string(step / 3 % 40);
      const Value map = Value::object(
          {{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"step", std::to_string(step)}})}});
      const Answer answer = step % 3 == 0   ? api_.post(maps, map)
                            : step % 3 == 1 ? api_.put(maps + "/" + name, map)
                                            : api_.remove(maps + "/" + name);
      if (answer.status >= 200 && answer.status < 300) ++written_;
    }
  }

  const ApiClient& api_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> written_{0};
  std::thread thread_;
};

TEST_F(FeedsOnKafka, EachEventIsThereOnceThoughLeadersAreKilledAndFrozenAndAFeedIsMadeAgain) {
  serve("plane", "api,control,lifecycle");
  const ApiClient api = fleet_.api();
  serve("first", "feeds");
  ASSERT_TRUE(eventually([&] { return publishes("first"); })) << fleet_.log_tail("first");
  serve("second", "feeds");
  SteadyWrites writes{api};
  const auto after_more_writes = [&](int count) {
    const int until = writes.written() + count;
    EXPECT_TRUE(eventually([&] { return writes.written() >= until; }));
  };
  after_more_writes(100);
  fleet_.kill("first");
  EXPECT_TRUE(eventually([&] { return publishes("second"); })) << fleet_.log_tail("second");
  after_more_writes(100);
  // Frozen in the middle, replaced, and woken up while another one leads: two at once believe that they lead.
  serve("third", "feeds");
  EXPECT_TRUE(eventually([&] { return fleet_.log_tail("third").find("journal.caught_up") != std::string::npos; }));
  EXPECT_TRUE(fleet_.process("second").freeze());
  EXPECT_TRUE(eventually([&] { return publishes("third"); })) << fleet_.log_tail("third");
  after_more_writes(50);
  fleet_.process("second").thaw();
  after_more_writes(100);
  writes.stop();

  const Value state = api.get("/shiplog/v1/state").json;
  test::FeedConsumer consumer;
  std::vector<FeedRecord> records;
  EXPECT_TRUE(eventually([&] {
    consumer = {};
    records = read_topics(topics());
    for (const FeedRecord& record : records) {
      EXPECT_TRUE(consumer.take(json(record.value))) << record.value << " is there twice";
    }
    return consumer.complete_to() >= state["revision"].as_int();
  })) << consumer.complete_to();
  EXPECT_EQ(consumer.complete_to(), state["revision"].as_int());
  EXPECT_EQ(consumer.hash(), state["stateHash"].str());
  EXPECT_GT(consumer.of_type().at("io.shiplog.control.StateHashed.v1"), 1);

  std::string lines;
  std::map<std::pair<std::string, std::string>, std::pair<int32_t, int64_t>> seen;  // partition and newest revision
  for (const FeedRecord& record : records) {
    lines += record.value + "\n";
    const Value event = json(record.value);
    EXPECT_EQ(event["subject"].str().empty() ? event["source"].str() : event["subject"].str(), record.key);
    auto& [partition, newest] = seen.try_emplace({record.topic, record.key}, record.partition, 0).first->second;
    EXPECT_EQ(partition, record.partition) << record.key;
    if (const Value& change = event["data"]["change"]; !change.is_null()) {
      EXPECT_LT(newest, change["revision"].as_int()) << record.key;
      newest = change["revision"].as_int();
    }
  }
  const Ran example = run({"python3", "-B", SHIPLOG_EXAMPLES "/feeds/rebuild.py"}, {}, lines, std::chrono::seconds{60});
  EXPECT_TRUE(example.says("state hash " + state["stateHash"].str())) << example;

  // Deleted, the feed of a family is made again, from the beginning and with the same ids, whoever creates its topic;
  // those of others go on.
  std::map<Family, std::vector<std::string>> before;
  for (const Family family : feeds::all_families()) before[family] = values_of(records, topic(family));
  EXPECT_GT(before[Family::kApi].size(), 300U);
  delete_topic(topic(Family::kControl));
  delete_topic(topic(Family::kApi));
  kafka_test::shared_cluster().make_topic(topic(Family::kApi), kPartitions, {{"max.message.bytes", "16908288"}});
  fleet_.kubectl_ok({"create", "configmap", "after"});
  const int64_t last = api.get("/shiplog/v1/state").json["revision"].as_int();
  EXPECT_TRUE(eventually([&] {
    consumer = {};
    records = read_topics(topics());
    for (const FeedRecord& record : records) {
      EXPECT_TRUE(consumer.take(json(record.value))) << record.value << " is there twice";
    }
    return consumer.complete_to() >= last &&
           values_of(records, topic(Family::kControl)).size() >= before[Family::kControl].size();
  })) << consumer.complete_to();
  for (const auto& [family, events] : before) {
    const std::vector<std::string> now = values_of(records, topic(family));
    const std::set<std::string> again(now.begin(), now.end());
    EXPECT_TRUE(std::ranges::all_of(events, [&](const std::string& event) { return again.contains(event); }))
        << name_of(family);
  }
  for (const char* name : {"second", "third"}) EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;

  // Where the brokers have forgotten how far feeds have come, nothing is guessed until an administrator tells.
  delete_group(name_ + ".feeds");
  serve("fourth", "feeds");
  EXPECT_TRUE(eventually([&] {
    return fleet_.log_tail("fourth", 1 << 20).find("how far it has come is unknown: the group") != std::string::npos;
  })) << fleet_.log_tail("fourth");
  EXPECT_FALSE(publishes("fourth"));
  // Everything up to now was published, and this is the offset after it.
  const int64_t next = api.get("/shiplog/v1/state").json["nextOffset"].as_int();
  fleet_.kubectl_ok({"create", "configmap", "last"});
  set_group_offset(name_ + ".feeds", name_ + ".journal", next);
  const size_t published = consumer.events();
  EXPECT_TRUE(eventually([&] {
    consumer = {};
    for (const FeedRecord& record : read_topics(topics())) {
      EXPECT_TRUE(consumer.take(json(record.value))) << record.value << " is there twice";
    }
    return consumer.complete_to() == api.get("/shiplog/v1/state").json["revision"].as_int();
  })) << consumer.complete_to();
  EXPECT_GT(consumer.events(), published);
  for (const char* name : {"plane", "fourth"}) EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;
}

TEST_F(FeedsOnKafka, ALeaderThatIsKilledInTheFirstTransactionOfATopicIsReplaced) {
  serve("plane", "api,control,lifecycle");
  const ApiClient api = fleet_.api();
  begin_and_abandon(topic(Family::kApi), 10);
  serve("first", "feeds");
  ASSERT_TRUE(eventually([&] { return publishes("first"); })) << fleet_.log_tail("first");
  expect_whole_feed(api);
  EXPECT_EQ(fleet_.process("first").terminate(), 0);

  // The same where a topic is made again: with more in it than the former one had, and nothing that a reader sees.
  delete_topic(topic(Family::kApi));
  begin_and_abandon(topic(Family::kApi), 2'000);
  serve("second", "feeds");
  ASSERT_TRUE(eventually([&] { return publishes("second"); })) << fleet_.log_tail("second");
  expect_whole_feed(api);
  for (const char* name : {"plane", "second"}) EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;
}

TEST_F(FeedsOnKafka, FeedsWithoutTopicsToWriteToAreRefusedWithTheRemedy) {
  const auto refused = [&](std::vector<std::string> options) {
    std::vector<std::string> command{SHIPLOG_BUILT "/shiplogd", "serve", "--data-dir=" + fleet_.path("none")};
    command.insert(command.end(), options.begin(), options.end());
    return run(command, {}, "", std::chrono::seconds{60});
  };
  EXPECT_TRUE(refused({"--feeds=all"}).says("--feeds needs a journal on Kafka"));
  EXPECT_TRUE(refused({"--feeds=ships", "--journal=kafka:b:1/f"}).says("there is no family of events \"ships\""));
}

}  // namespace
}  // namespace shiplog::e2e
