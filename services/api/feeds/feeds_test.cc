#include "services/api/feeds/feeds.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/feed_consumer.h"
#include "tests/support/journal_fleet.h"

namespace shiplog::api {
namespace {

/// A client that takes a chunk only while it is told to.
class FeedClient final : public ResponseWriter {
 public:
  void send(HttpResponse response) override {
    const std::lock_guard lock{mutex_};
    status_ = response.status;
    body_ = std::move(response.body);
    ended_ = true;
    changed_.notify_all();
  }
  void start(int status, HttpHeaders headers) override {
    const std::lock_guard lock{mutex_};
    status_ = status;
    type_ = headers.get("Content-Type");
    changed_.notify_all();
  }
  void write(std::string chunk, Done done) override {
    {
      const std::lock_guard lock{mutex_};
      body_ += chunk;
      ++chunks_;
      if (slow_) {
        taking_ = std::move(done);
        changed_.notify_all();
        return;
      }
      changed_.notify_all();
    }
    done(ok());
  }
  void end() override {
    const std::lock_guard lock{mutex_};
    ended_ = true;
    changed_.notify_all();
  }
  void upgrade(HttpHeaders, Upgraded then) override { then(Error{ErrorCode::kUnavailable, "not a connection"}); }
  void on_close(std::function<void()> callback) override { on_close_ = std::move(callback); }
  bool closed() const override { return false; }

  void become_slow() { slow_ = true; }
  /// The chunk that was written has been taken.
  void take() { end_write(ok()); }
  void disconnect() {
    on_close_();
    end_write(Error{ErrorCode::kUnavailable, "closed"});
  }

  /// Of the answer, which may begin on another thread.
  int status() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return status_ != 0; });
    return status_;
  }
  std::string type() {
    status();
    return type_;
  }
  size_t chunks() const {
    const std::lock_guard lock{mutex_};
    return chunks_;
  }
  bool ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
  }
  /// The whole answer, or what there is as soon as it has so many lines or chunks.
  std::string wait(size_t lines, size_t chunks = 0) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{20}, [&] {
      return ended_ || (lines > 0 && static_cast<size_t>(std::ranges::count(body_, '\n')) >= lines) ||
             (chunks > 0 && chunks_ >= chunks);
    });
    return body_;
  }
  std::string whole() { return wait(0); }

 private:
  void end_write(Result<void> outcome) {
    Done done;
    {
      const std::lock_guard lock{mutex_};
      done = std::exchange(taking_, nullptr);
    }
    if (done) done(std::move(outcome));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  std::string type_;
  std::string body_;
  size_t chunks_ = 0;
  bool ended_ = false;
  std::atomic<bool> slow_{false};
  Done taking_;
  std::function<void()> on_close_;
};

using Lines = std::vector<Value>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(must(parse_json(line)));
  return lines;
}
std::vector<std::string> ids_of(const Lines& lines) {
  std::vector<std::string> ids;
  for (const Value& line : lines) ids.push_back(line["id"].str());
  return ids;
}

class FeedsTest : public testing::Test, protected JournalFleet {
 protected:
  std::shared_ptr<FeedClient> ask(const std::string& target, const HttpHeaders& headers = {}, bool slow = false) {
    HttpRequest request;
    request.target = target;
    request.headers = headers;
    EXPECT_TRUE(parse_target(request));
    auto client = std::make_shared<FeedClient>();
    if (slow) client->become_slow();
    EXPECT_TRUE(serve_feeds(store_, request, client));
    return client;
  }
  Lines feed(const std::string& target) {
    const auto client = ask(target + (target.find('?') == std::string::npos ? "?" : "&") + "follow=false");
    EXPECT_EQ(client->status(), 200) << client->whole();
    return lines_of(client->whole());
  }

  Store store_{*journal_, replica_, projection()};
};

TEST_F(FeedsTest, AnEventAnswersWhoWhatAndWhatBecameOfIt) {
  make_fleet();
  write_maps(1);
  const Lines lines = feed("/feeds/api?from=3");
  ASSERT_EQ(lines.size(), 1U);
  const Value& event = lines[0];
  EXPECT_EQ(event["specversion"].str(), "1.0");
  EXPECT_EQ(event["type"].str(), "io.shiplog.api.ObjectCreated.v1");
  EXPECT_EQ(event["subject"].str(), "configmaps/default/map-0");
  EXPECT_EQ(event["revision"].str(), "3");
  EXPECT_EQ(event["actor"].str(), "alice");
  EXPECT_EQ(event["data"]["change"]["object"]["data"]["text"].str(), "xxxx");
  EXPECT_EQ(event["data"]["change"]["operation"].str(), "created");
  const Lines all = feed("/feeds/api");
  const std::string uid = all[0]["data"]["change"]["object"]["metadata"]["uid"].str();
  ASSERT_EQ(all[0]["subject"].str(), "namespaces/kube-system");
  EXPECT_EQ(event["source"].str(), "urn:shiplog:fleet:" + uid);
}

TEST_F(FeedsTest, OnlyAcceptedEventsOfTheFamilyAreInAFeed) {
  make_fleet();
  write_maps(2);
  append({ObjectCreated{config_map("default", "map-0"), object_value(config_map("default", "map-0"))}});  // refused
  append({LeaseTaken{"scheduler", "host", 1}});
  append({ObjectRemoved{config_map("default", "map-1")}, LeaseTaken{"scheduler", "host", 2}});
  EXPECT_EQ(feed("/feeds/api").size(), 5U);
  EXPECT_EQ(feed("/feeds/control").size(), 2U);
  const Lines all = feed("/feeds/all");
  EXPECT_EQ(all.size(), 7U);
  EXPECT_EQ(all.back()["sequence"].str().substr(20), ".000001");
  EXPECT_EQ(feed("/feeds/quota").size(), 0U);
}

TEST_F(FeedsTest, AFeedResumesAfterAnyEventWithoutGapOrRepeat) {
  make_fleet();
  write_maps(5);
  append({ObjectRemoved{config_map("default", "map-0")}, LeaseTaken{"scheduler", "host", 1},
          ObjectRemoved{config_map("default", "map-1")}});
  const Lines all = feed("/feeds/all");
  for (size_t index = 0; index < all.size(); ++index) {
    Lines rest = feed("/feeds/all?after=" + all[index]["sequence"].str());
    EXPECT_EQ(rest, Lines(all.begin() + static_cast<ptrdiff_t>(index) + 1, all.end()));
  }
  // By revision: an entry that made several is there as a whole.
  EXPECT_EQ(feed("/feeds/all?from=9"), Lines(all.end() - 3, all.end()));
  EXPECT_EQ(feed("/feeds/all?from=10"), Lines{});
}

TEST_F(FeedsTest, GoesOverToWhatIsAppendedMeanwhile) {
  make_fleet();
  write_maps(300);
  const auto client = ask("/feeds/api");
  write_maps(100);
  const Lines lines = lines_of(client->wait(402));
  ASSERT_EQ(lines.size(), 402U);
  test::FeedConsumer consumer;
  for (const Value& line : lines) EXPECT_TRUE(consumer.take(line));
  EXPECT_EQ(consumer.complete_to(), 402);
  EXPECT_EQ(consumer.hash(), state_hash());
  EXPECT_FALSE(client->ended());
  client->disconnect();
  append({LeaseTaken{"scheduler", "host", 1}});
  EXPECT_EQ(client->wait(402).size(), client->wait(402).size());
}

TEST_F(FeedsTest, ForASlowClientNothingIsReadAhead) {
  make_fleet();
  write_maps(40, 200'000);
  const auto client = ask("/feeds/api", {}, true);
  for (size_t chunk = 1; chunk <= 4; ++chunk) {
    client->wait(0, chunk);
    write_maps(1, 200'000);  // others are served meanwhile
    EXPECT_EQ(client->chunks(), chunk);
    client->take();
  }
  const size_t held = client->wait(0, 5).size();
  EXPECT_LT(held, 8U << 20U);
  for (size_t before = 5; std::ranges::count(client->wait(46, before), '\n') < 46;) {
    before = client->chunks() + 1;
    client->take();
  }
  EXPECT_EQ(ids_of(lines_of(client->wait(0, 1))), ids_of(feed("/feeds/api")));
  client->disconnect();
}

TEST_F(FeedsTest, ServerSentEventsCarryTheSequenceToResumeFrom) {
  make_fleet();
  write_maps(2);
  const Lines all = feed("/feeds/all");
  const HttpHeaders accept{{"Accept", "text/event-stream"}};
  const auto client = ask("/feeds/all?follow=false", accept);
  const std::string text = client->whole();
  EXPECT_EQ(client->type(), "text/event-stream");
  std::string expected;
  for (const Value& event : all) {
    expected += "id: " + event["sequence"].str() + "\ndata: ";
    const size_t at = text.find(event["id"].str());
    ASSERT_NE(at, std::string::npos);
  }
  EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<ptrdiff_t>(all.size() * 3));
  EXPECT_EQ(text.find("id: " + all[0]["sequence"].str() + "\ndata: {"), 0U);
  HttpHeaders again = accept;
  again.add("Last-Event-ID", all[2]["sequence"].str());
  const std::string rest = ask("/feeds/all?follow=false&from=0", again)->whole();
  EXPECT_EQ(rest.find("id: " + all[3]["sequence"].str() + "\n"), 0U) << "it wins over from";
}

TEST_F(FeedsTest, EndsWhenItsTimeIsOver) {
  make_fleet();
  const auto client = ask("/feeds/all?timeoutSeconds=1");
  EXPECT_EQ(lines_of(client->whole()).size(), 2U);
  EXPECT_TRUE(client->ended());
}

TEST_F(FeedsTest, MistakesGetAStatusThatStatesTheCause) {
  EXPECT_EQ(ask("/feeds/api")->status(), 503) << "a fleet without kube-system has no source yet";
  make_fleet();
  for (const auto& [target, status, words] : std::vector<std::tuple<std::string, int, std::string>>{
           {"ships", 404, "use api, scheduling, dispatch, taint, quota, cluster, control, or all"},
           {"api?from=x", 400, "from: \\\"x\\\" is not a whole number"},
           {"api?from=4", 400, "revision 4 is in the future, the newest is 2"},
           {"api?after=7", 400, "is not a place in a feed"},
           {"api?after=00000000000000000009.000000", 400, "is not of this journal"},
           {"api?after=00000000000000000001.000000&from=1", 400, "from and after"},
           {"api?timeoutSeconds=-1", 400, "timeoutSeconds"},
           {"api?since=1h", 400, "\\\"since\\\" is not a parameter of feeds"},
           {"schemas/Nothing.json", 404, "there is no event Nothing"}}) {
    const auto client = ask("/feeds/" + target);
    EXPECT_EQ(client->status(), status) << target;
    EXPECT_NE(client->whole().find(words), std::string::npos) << target << ": " << client->whole();
  }
}

TEST_F(FeedsTest, WhatIsNotHeldAnyMoreIsExpired) {
  make_fleet();
  write_maps(5);
  const Lines all = feed("/feeds/api");
  must(projections_->trim_history(Revision{4}));
  for (const char* start : {"", "?from=4"}) {
    const auto client = ask(std::string{"/feeds/api"} + start);
    EXPECT_EQ(client->status(), 410) << start;
    EXPECT_EQ(must(parse_json(client->whole()))["reason"].str(), "Expired") << start;
  }
  EXPECT_EQ(feed("/feeds/api?from=5"), Lines(all.begin() + 4, all.end()));
  must(journal_->trim(Offset{6}));
  EXPECT_EQ(ask("/feeds/api?from=5")->status(), 410);
  EXPECT_EQ(feed("/feeds/api?from=7"), Lines(all.begin() + 6, all.end()));
}

TEST_F(FeedsTest, AFeedThatIsOvertakenByRetentionEndsWithTheReason) {
  make_fleet();
  write_maps(20, 400'000);
  const auto client = ask("/feeds/api", {}, true);
  client->wait(0, 1);
  must(projections_->trim_history(Revision{21}));
  must(journal_->trim(Offset{20}));
  while (!client->ended() && client->chunks() < 10) {
    const size_t before = client->chunks();
    client->take();
    client->wait(0, before + 1);
  }
  const Lines lines = lines_of(client->whole());
  EXPECT_EQ(lines.back()["kind"].str(), "Status");
  EXPECT_EQ(lines.back()["reason"].str(), "Expired");
  EXPECT_EQ(lines.back()["code"].as_int(), 410);
}

TEST_F(FeedsTest, SchemasAreServed) {
  const auto client = ask("/feeds/schemas/PlacementDecided.json");
  EXPECT_EQ(client->status(), 200);
  EXPECT_EQ(must(parse_json(client->whole()))["$id"].str(), "urn:shiplog:feeds:v1:PlacementDecided");
}

}  // namespace
}  // namespace shiplog::api
