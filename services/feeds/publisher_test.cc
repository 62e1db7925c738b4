#include "services/feeds/publisher.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "schemas/feeds/cloudevent.pb.h"
#include "services/feeds/protobuf_format.h"
#include "tests/support/feed_consumer.h"
#include "tests/support/journal_fleet.h"

namespace shiplog::feeds {
namespace {

/// Topics that several publishers write to, of which one at a time may: as Kafka's transactions have it.
struct SharedTopics {
  std::mutex mutex;
  std::vector<CloudEvent> events;
  FeedPositions positions;
  int newest_writer = 0;
  int opened = 0;
  /// The next so many publications fail; every second one after it was stored.
  int failures = 0;

  size_t size() {
    const std::lock_guard lock{mutex};
    return events.size();
  }
  bool wait_for(size_t count) {
    for (int tries = 0; tries < 2000; ++tries) {
      if (size() >= count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  }
};

class TransactionalSink final : public FeedSink {
 public:
  explicit TransactionalSink(SharedTopics& topics) : topics_{topics} {
    const std::lock_guard lock{topics_.mutex};
    writer_ = ++topics_.newest_writer;
    ++topics_.opened;
  }
  Result<FeedPositions> positions() override {
    const std::lock_guard lock{topics_.mutex};
    return topics_.positions;
  }
  Result<void> publish(const std::vector<CloudEvent>& events, const FeedPositions& positions) override {
    const std::lock_guard lock{topics_.mutex};
    if (writer_ != topics_.newest_writer) return Error{ErrorCode::kConflict, "fenced"};
    const bool fails = topics_.failures > 0;
    if (fails && --topics_.failures % 2 == 0) return Error{ErrorCode::kUnavailable, "not stored"};
    topics_.events.insert(topics_.events.end(), events.begin(), events.end());
    topics_.positions = positions;
    if (fails) return Error{ErrorCode::kUnavailable, "stored, but the acknowledgement was lost"};
    return ok();
  }

 private:
  SharedTopics& topics_;
  int writer_ = 0;
};

class PublisherTest : public ::testing::Test, protected JournalFleet {
 protected:
  FeedPublisher::Options options(std::vector<Family> families) {
    return {.projection = projection(),
            .journal = journal_.get(),
            .feed = &replica_.feed(),
            .families = std::move(families),
            .open = [this] { return Result<std::unique_ptr<FeedSink>>{std::make_unique<TransactionalSink>(topics_)}; },
            .retry = Millis{20},
            .limits = {.entries = 7, .bytes = 4096}};
  }
  std::vector<Family> all() { return all_families(); }

  test::FeedConsumer consume() {
    const std::lock_guard lock{topics_.mutex};
    test::FeedConsumer consumer;
    for (const CloudEvent& event : topics_.events) {
      EXPECT_TRUE(consumer.take(must(parse_json(to_json(event))))) << event.id << " is there twice";
    }
    return consumer;
  }

  SharedTopics topics_;
};

TEST(FeedPositions, AreReadAsTheyAreWritten) {
  const FeedPositions positions{{Family::kApi, Offset{12}}, {Family::kControl, Offset{7}}};
  EXPECT_EQ(to_string(positions), "api=12 control=7");
  EXPECT_EQ(parse_positions("api=12 control=7"), positions);
  EXPECT_EQ(parse_positions(" api=12 later=3 control=7 quota"), positions) << "of a newer build";
  EXPECT_EQ(parse_positions(""), FeedPositions{});
}

TEST_F(PublisherTest, EveryEventIsPublishedOnceThoughPublicationsFail) {
  make_fleet();
  write_maps(20);
  topics_.failures = 5;
  FeedPublisher publisher{options(all())};
  publisher.lead(true);
  write_maps(30);
  append({LeaseTaken{"scheduler", "host", 1}});
  EXPECT_TRUE(topics_.wait_for(53));
  const auto consumer = consume();
  EXPECT_EQ(consumer.events(), 53U);
  EXPECT_EQ(consumer.complete_to(), 52);
  EXPECT_EQ(consumer.hash(), state_hash());
  EXPECT_GE(topics_.opened, 6);
}

TEST_F(PublisherTest, OnlyALeaderPublishesAndTheNextOneContinues) {
  make_fleet();
  FeedPublisher first{options(all())}, second{options(all())};
  first.lead(true);
  write_maps(5);
  EXPECT_TRUE(topics_.wait_for(7));
  first.lead(false);
  second.lead(true);
  write_maps(5);
  EXPECT_TRUE(topics_.wait_for(12));
  // A process that has not noticed yet that it leads no more takes over and is taken over from: still once.
  first.lead(true);
  write_maps(20);
  EXPECT_TRUE(topics_.wait_for(32));
  EXPECT_EQ(consume().complete_to(), 32);
}

TEST_F(PublisherTest, AFamilyThatIsAddedLaterGetsAllOfItsHistory) {
  make_fleet();
  write_maps(5);
  append({LeaseTaken{"scheduler", "host", 1}});
  {
    FeedPublisher publisher{options({Family::kApi})};
    publisher.lead(true);
    EXPECT_TRUE(topics_.wait_for(7));
  }
  FeedPublisher publisher{options({Family::kApi, Family::kControl})};
  publisher.lead(true);
  write_maps(1);
  EXPECT_TRUE(topics_.wait_for(9));
  EXPECT_EQ(consume().of_type().at("io.shiplog.control.LeaseTaken.v1"), 1);
}

TEST_F(PublisherTest, AFeedThatIsMadeAgainHasTheSameEvents) {
  make_fleet();
  write_maps(25);
  std::optional<FeedPublisher> publisher{std::in_place, options(all())};
  publisher->lead(true);
  EXPECT_TRUE(topics_.wait_for(27));
  publisher.reset();  // waits until it has stopped
  std::vector<std::string> before, after;
  const auto texts = [this] {
    const std::lock_guard lock{topics_.mutex};
    std::vector<std::string> all;
    for (const CloudEvent& event : topics_.events) all.push_back(to_json(event));
    return all;
  };
  before = texts();
  {
    const std::lock_guard lock{topics_.mutex};
    topics_.events.clear();
    topics_.positions.clear();
    ++topics_.newest_writer;
  }
  publisher.emplace(options(all()));
  publisher->lead(true);
  EXPECT_TRUE(topics_.wait_for(27));
  EXPECT_EQ(texts(), before);
}

TEST_F(PublisherTest, TheProtobufFormatHasWhatTheJsonFormatHas) {
  make_fleet();
  FeedPublisher publisher{options(all())};
  publisher.lead(true);
  ASSERT_TRUE(topics_.wait_for(2));
  const CloudEvent event = topics_.events[1];
  io::cloudevents::v1::CloudEvent message;
  ASSERT_TRUE(message.ParseFromString(to_protobuf(event)));
  const Value json = must(parse_json(to_json(event)));
  EXPECT_EQ(message.id(), json["id"].str());
  EXPECT_EQ(message.source(), json["source"].str());
  EXPECT_EQ(message.type(), json["type"].str());
  EXPECT_EQ(message.spec_version(), json["specversion"].str());
  EXPECT_EQ(must(parse_json(message.text_data())), json["data"]);
  for (const char* name : {"actor", "entryid", "revision", "sequence", "subject", "datacontenttype"}) {
    EXPECT_EQ(message.attributes().at(name).ce_string(), json[name].str()) << name;
  }
  EXPECT_EQ(message.attributes().at("dataschema").ce_uri(), json["dataschema"].str());
  const auto& time = message.attributes().at("time").ce_timestamp();
  EXPECT_EQ(time.seconds() * 1000 + time.nanos() / 1'000'000, event.time.value);
  EXPECT_EQ(to_protobuf(event), to_protobuf(topics_.events[1]));
}

}  // namespace
}  // namespace shiplog::feeds
