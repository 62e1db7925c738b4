#include "services/api/insight/insight.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/journal/memory_journal.h"
#include "services/runtime/tail_thread.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

const ObjectKey kMap = config_map("default", "settings");

/// Keeps what is sent; a client that reads everything at once, until it is closed.
class InsightWriter final : public ResponseWriter {
 public:
  void send(HttpResponse response) override {
    const std::lock_guard lock{mutex_};
    status_ = response.status;
    body_ = std::move(response.body);
    ended_ = true;
    changed_.notify_all();
  }
  void start(int status, HttpHeaders) override {
    const std::lock_guard lock{mutex_};
    status_ = status;
  }
  void write(std::string chunk, Done done) override {
    const bool gone = closed();
    {
      const std::lock_guard lock{mutex_};
      if (!gone) body_ += chunk;
      changed_.notify_all();
    }
    done(gone ? Result<void>{Error{ErrorCode::kUnavailable, "the client is gone"}} : ok());
  }
  void end() override {
    const std::lock_guard lock{mutex_};
    ended_ = true;
    changed_.notify_all();
  }
  void upgrade(HttpHeaders, Upgraded then) override { then(Error{ErrorCode::kUnavailable, "not a connection"}); }
  void on_close(std::function<void()> callback) override { on_close_ = std::move(callback); }
  bool closed() const override {
    const std::lock_guard lock{mutex_};
    return closed_;
  }

  void close() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    if (on_close_) on_close_();
  }
  int status() const { return status_; }
  bool ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
  }
  /// The whole answer, or the first `lines` lines of one that goes on.
  std::string wait(size_t lines = 0) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{20}, [&] {
      return ended_ || (lines > 0 && static_cast<size_t>(std::ranges::count(body_, '\n')) >= lines);
    });
    return body_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  std::string body_;
  bool ended_ = false;
  bool closed_ = false;
  std::function<void()> on_close_;
};

class FixedClock final : public Clock {
 public:
  UtcMillis now() const override { return {1'700'000'600'000}; }
};

/// A journal in memory with a running replica and its projection file.
class InsightTest : public testing::Test {
 protected:
  InsightTest() : projections_{std::move(must(Projections::open(folder_.file("p.db"))).projections)} {
    const Offset from = must(replica_.open());
    tail_ = std::make_unique<TailThread>("journal", *journal_, replica_, loop_, from,
                                         [](const Error& error) { ADD_FAILURE() << error.message; });
    append("admin",
           {ObjectCreated{{type::kNamespace, "", "default"}, object_value({type::kNamespace, "", "default"})}});
    append("alice", {ObjectCreated{kMap, object_value(kMap, "one")}});
    append("bob", {ObjectUpdated{kMap, object_value(kMap, "two")}});
    append("bob", {ObjectCreated{kMap, object_value(kMap, "three")}});  // refused: it exists
  }
  ~InsightTest() override {
    tail_.reset();
    loop_.stop();
  }

  void append(const std::string& user, std::vector<Event> events) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Entry entry;
    entry.time = UtcMillis{1'700'000'000'000 + 60'000 * ++entries_};
    entry.actor = {user, {}, "api", "10.0.0.1", "kubectl"};
    entry.request = {"create", "/api/v1"};
    entry.events = std::move(events);
    replica_.append(std::move(entry), [&](Result<Outcome> outcome) {
      EXPECT_TRUE(outcome);
      const std::lock_guard lock{mutex};
      done = true;
      changed.notify_all();
    });
    std::unique_lock lock{mutex};
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds{20}, [&] { return done; }));
  }

  std::shared_ptr<InsightWriter> ask(const std::string& target, const std::string& method = "GET") {
    HttpRequest request;
    request.method = method;
    request.target = target;
    EXPECT_TRUE(parse_target(request));
    auto writer = std::make_shared<InsightWriter>();
    handled_ = serve_insight(store_, clock_, kinds_, {}, request, writer);
    return writer;
  }
  Value answer(const std::string& target) {
    const auto writer = ask(target);
    EXPECT_EQ(writer->status(), 200) << writer->wait();
    return must(parse_json(writer->wait()));
  }

  TemporaryFolder folder_;
  std::unique_ptr<Projections> projections_;
  std::shared_ptr<Journal> journal_ = make_memory_journal();
  SeededRandom random_{3};
  ThreadLoop loop_;
  Replica replica_{{"journal", journal_.get(), &loop_, &random_, projections_.get()}};
  std::unique_ptr<TailThread> tail_;
  Store store_{*journal_, replica_, folder_.file("p.db")};
  FixedClock clock_;
  std::shared_ptr<const Kinds> kinds_ = std::make_shared<Kinds>(Kinds::compiled());
  int64_t entries_ = 0;
  bool handled_ = false;
};

TEST_F(InsightTest, OtherPathsAreNotItsOwn) {
  const auto writer = ask("/api/v1/pods");
  EXPECT_FALSE(handled_);
  EXPECT_EQ(writer->status(), 0);
}

TEST_F(InsightTest, HistoryHasEveryVersionNewestFirstByDefault) {
  const Value newest = answer("/shiplog/v1/history?kind=cm&name=settings");
  ASSERT_EQ(newest["items"].size(), 2U);
  EXPECT_EQ(newest["object"]["namespace"].str(), "default");
  EXPECT_EQ(newest["items"][0]["who"]["user"].str(), "bob");
  EXPECT_EQ(newest["items"][0]["changes"][0]["path"].str(), "data.text");
  const Value oldest =
      answer("/shiplog/v1/history?type=configmaps&namespace=default&name=settings&order=oldest&limit=2");
  EXPECT_EQ(oldest["items"][0]["who"]["user"].str(), "alice");
  EXPECT_TRUE(oldest["more"].is_null());
  EXPECT_TRUE(answer("/shiplog/v1/history?kind=cm&name=settings&limit=1")["more"].as_bool()) << "there are older ones";
  EXPECT_EQ(answer("/shiplog/v1/history?kind=ns&name=default")["items"].size(), 1U) << "no namespace of its own";
}

TEST_F(InsightTest, AKindWhoseDefinitionWasDeletedStillHasAHistory) {
  const ObjectKey definition{type::kCustomResourceDefinition, "", "widgets.example.com"};
  const ObjectKey widget{"widgets.example.com", "default", "one"};
  append("alice", {ObjectCreated{definition, must(parse_json(R"({
      "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
      "metadata": {"name": "widgets.example.com"},
      "spec": {"group": "example.com", "scope": "Namespaced",
               "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wi"]},
               "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                   "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})"))}});
  append("alice", {ObjectCreated{widget, object_value(widget, "one")}});
  append("bob", {DeletionRequested{widget}});
  append("bob", {DeletionRequested{definition}});
  for (const char* word : {"widget", "Widgets", "wi", "widgets.example.com"}) {
    const std::string named = std::string{"kind="} + word + "&name=one";
    EXPECT_EQ(answer("/shiplog/v1/history?" + named)["items"].size(), 2U) << word;
    EXPECT_EQ(answer("/shiplog/v1/audit?" + named)["items"].size(), 2U) << word;
    EXPECT_EQ(answer("/shiplog/v1/blame?at=5&" + named)["object"]["type"].str(), "widgets.example.com") << word;
  }
  EXPECT_EQ(ask("/shiplog/v1/history?kind=gadget&name=one")->status(), 404);
}

TEST_F(InsightTest, MistakesGetAStatusThatStatesTheCause) {
  for (const auto& [target, status, words] : std::vector<std::tuple<std::string, int, std::string>>{
           {"history?kind=cm", 400, "name is missing"},
           {"history?name=x", 400, "kind (or type) is missing"},
           {"history?kind=cm&name=none", 404, "configmaps \\\"none\\\" not found"},
           {"history?kind=ship&name=x", 404, "resource type \\\"ship\\\""},
           {"history?kind=cm&name=settings&limit=-1", 400, "limit"},
           {"history?kind=cm&name=settings&order=up", 400, "order"},
           {"audit?since=yesterday", 400, "yesterday"},
           {"audit?family=ships", 400, "ships"},
           {"why?kind=cm&name=settings&at=abc", 400, "is neither a revision, nor a time"},
           {"why?kind=cm&name=settings&at=abc", 400, "kept are revision 0 to 3 (2023-11-14T22:16:20.000Z)"},
           {"why?kind=cm&name=settings&at=4", 400, "at: \\\"4\\\" is newer than the newest revision; kept are"},
           {"history?kind=cm&name=settings&at=1h", 400, "before the oldest"},
           {"revision?at=2030-01-01T00:00:00Z", 400, "in the future"},
           {"revision?at=-1h", 400, "is neither"},
           {"revision?at=99999999999999999999999", 400, "is newer"},
           {"events?family=ships", 400, "ships"},
           {"effects?of=2&within=-5s", 400, "negative"},
           {"nothing", 404, "/shiplog/v1/nothing"}}) {
    const auto writer = ask("/shiplog/v1/" + target);
    EXPECT_TRUE(handled_);
    EXPECT_EQ(writer->status(), status) << target;
    EXPECT_NE(writer->wait().find(words), std::string::npos) << target << ": " << writer->wait();
  }
  EXPECT_EQ(ask("/shiplog/v1/audit", "POST")->status(), 405);
}

TEST_F(InsightTest, AuditFiltersByUserObjectTimeAndRefusal) {
  EXPECT_EQ(answer("/shiplog/v1/audit")["items"].size(), 4U);
  EXPECT_EQ(answer("/shiplog/v1/audit?user=bob")["items"].size(), 2U);
  EXPECT_EQ(answer("/shiplog/v1/audit?kind=cm&namespace=default&name=settings")["items"].size(), 3U);
  const Value refused = answer("/shiplog/v1/audit?refused=true");
  ASSERT_EQ(refused["items"].size(), 1U);
  EXPECT_EQ(refused["items"][0]["result"].str(), "refused");
  EXPECT_EQ(refused["items"][0]["refusal"]["code"].str(), "already_exists");
  // The clock stands at minute 10, the entries at minutes 1 to 4.
  EXPECT_EQ(answer("/shiplog/v1/audit?since=7m")["items"].size(), 2U);
  EXPECT_EQ(answer("/shiplog/v1/audit?until=2023-11-14T22:15:20Z")["items"].size(), 1U);
}

TEST_F(InsightTest, WhatIsDeniedIsAmongTheRefusedWithItsVerb) {
  append("eve", {RequestDenied{kMap, 403, "Forbidden", "eve may not"}});
  const Value refused = answer("/shiplog/v1/audit?refused=true");
  ASSERT_EQ(refused["items"].size(), 2U);
  EXPECT_EQ(refused["items"][0]["result"].str(), "denied");
  EXPECT_EQ(refused["items"][0]["user"].str(), "eve");
  EXPECT_EQ(refused["items"][0]["verb"].str(), "create");
  EXPECT_EQ(refused["items"][1]["result"].str(), "refused");
}

TEST_F(InsightTest, AtIsARevisionATimeOrADurationBeforeNow) {
  // The clock stands at minute 10, the entries at minutes 1 to 4, at revisions 1, 2, 3 and 3.
  const auto revision = [&](const std::string& at) {
    return answer("/shiplog/v1/revision?at=" + at)["revision"].as_int();
  };
  EXPECT_EQ(revision("2"), 2);
  EXPECT_EQ(revision("8m"), 2);
  EXPECT_EQ(revision("7m59s%20ago"), 2);
  EXPECT_EQ(revision("2023-11-14T22:15:20Z"), 2);
  EXPECT_EQ(revision("2023-11-14T22:15:19Z"), 1);
  EXPECT_EQ(revision("1s"), 3);
  EXPECT_EQ(answer("/shiplog/v1/revision")["time"].str(), "2023-11-14T22:16:20.000Z");
  EXPECT_EQ(answer("/shiplog/v1/history?kind=cm&name=settings&at=8m")["items"].size(), 1U);
  EXPECT_EQ(answer("/shiplog/v1/history?kind=cm&name=settings&at=7m")["items"].size(), 2U);
  EXPECT_EQ(answer("/shiplog/v1/chain?kind=cm&name=settings&at=8m")["items"][0]["user"].str(), "alice");
  EXPECT_EQ(answer("/shiplog/v1/why?kind=cm&name=settings&at=2023-11-14T22:15:20Z")["revision"].as_int(), 2);
}

TEST_F(InsightTest, ExportHasEveryObjectOfARevisionInTheFormThatIsStored) {
  const Value newest = answer("/shiplog/v1/export");
  EXPECT_EQ(newest["kind"].str(), "StateExport");
  EXPECT_TRUE(newest["continue"].is_null());
  State state;
  loop_.call([&] { state = replica_.state(); });
  Hash128 sum;
  for (const Value& item : newest["items"].items()) {
    const ObjectKey key{item["type"].str(), item["namespace"].str(), item["name"].str()};
    EXPECT_EQ(item["object"], state.value_of(key)) << to_string(key);
    sum += must(object_from(key, to_json(item["object"]))).hash;
  }
  EXPECT_EQ(newest["items"].size(), state.object_count());
  EXPECT_EQ(newest["objectsHash"].str(), to_string(sum));
  const Value past = answer("/shiplog/v1/export?at=2");
  EXPECT_EQ(past["revision"].as_int(), 2);
  EXPECT_TRUE(past["objectsHash"].is_null()) << "known of the newest revision alone";
  EXPECT_NE(to_json(past["items"]), to_json(newest["items"]));
  const Value last = newest["items"][newest["items"].size() - 1];
  const std::string position = last["type"].str() + "%0A" + last["namespace"].str() + "%0A" + last["name"].str();
  EXPECT_EQ(answer("/shiplog/v1/export?continue=" + position)["items"].size(), 0U);
  EXPECT_EQ(ask("/shiplog/v1/export?continue=anything")->status(), 400);
  EXPECT_EQ(ask("/shiplog/v1/export?at=999")->status(), 400);
}

TEST_F(InsightTest, StateReportsTheHashOfTheFold) {
  const Value state = answer("/shiplog/v1/state");
  EXPECT_EQ(state["revision"].as_int(), 3);
  EXPECT_EQ(state["nextOffset"].as_int(), 4);
  std::string hash;
  loop_.call([&] { hash = to_string(replica_.state().hash()); });
  EXPECT_EQ(state["stateHash"].str(), hash);
}

TEST_F(InsightTest, ChainAndDecisionsAnswerForOneObject) {
  EXPECT_EQ(answer("/shiplog/v1/chain?kind=cm&name=settings")["items"].size(), 1U);
  EXPECT_EQ(answer("/shiplog/v1/decisions?kind=cm&name=settings")["items"].size(), 0U);
}

TEST_F(InsightTest, FailoversAreThoseOfAnObjectANamespaceOrTheFleet) {
  append("admin", {ObjectCreated{{type::kNamespace, "", "other"}, object_value({type::kNamespace, "", "other"})}});
  const auto fail_over = [&](const std::string& ns, const std::string& name) {
    const ObjectKey binding{type::kResourceBinding, ns, name + "-deployment"};
    Value made = object_value(binding);
    made.set("spec", must(parse_json(R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":")" + ns +
                                     R"(","name":")" + name + R"("},"clusters":[{"name":"m1","replicas":3}]})")));
    EvictionStarted started;
    started.binding = binding;
    started.cluster = "m1";
    started.reason = "ApplicationFailure";
    started.message = "the workload has been Unhealthy";
    started.producer = "resource-binding-application-failover-controller";
    started.purge_mode = "Directly";
    started.preserved_labels = Value::object({{"job-id", "a1"}});
    PlacementDecided placed;
    placed.binding = binding;
    placed.targets = {{"m2", 3}};
    append("", {BindingPut{binding, made, {}}});
    append("", {started});
    append("", {placed});
    append("", {EvictionFinished{binding, "m1", "the remaining clusters are healthy"}});
  };
  EXPECT_EQ(answer("/shiplog/v1/failovers")["items"].size(), 0U);
  fail_over("default", "web");
  fail_over("other", "db");
  const Value all = answer("/shiplog/v1/failovers");
  EXPECT_EQ(all["kind"].str(), "FailoverList");
  ASSERT_EQ(all["items"].size(), 2U);
  EXPECT_EQ(all["items"][0]["object"]["name"].str(), "db") << "the newest first";
  const Value& one = all["items"][1];
  EXPECT_EQ(one["object"], must(parse_json(R"({"apiVersion":"apps/v1","kind":"Deployment","namespace":"default",
      "name":"web"})")));
  EXPECT_EQ(one["binding"]["name"].str(), "web-deployment");
  EXPECT_EQ(one["from"].str(), "m1");
  EXPECT_EQ(one["replicas"].as_int(), 3);
  EXPECT_EQ(one["reason"].str(), "ApplicationFailure");
  EXPECT_EQ(one["purgeMode"].str(), "Directly");
  EXPECT_EQ(one["preservedLabels"]["job-id"].str(), "a1");
  EXPECT_EQ(one["to"][0]["cluster"].str(), "m2");
  EXPECT_EQ(one["unplaced"].as_int(), 0);
  EXPECT_EQ(one["endedBecause"].str(), "from m1: the remaining clusters are healthy");
  EXPECT_EQ(one["durationMillis"].as_int(), 120'000) << "an entry a minute";

  const auto names = [&](const std::string& query) {
    std::string found;
    const Value list = answer("/shiplog/v1/failovers?" + query);
    for (const Value& item : list["items"].items()) found += item["object"]["name"].str() + " ";
    return found;
  };
  EXPECT_EQ(names("namespace=other"), "db ");
  EXPECT_EQ(names("kind=deployment&name=web&namespace=default"), "web ");
  EXPECT_EQ(names("kind=rb&name=web-deployment"), "web ");
  EXPECT_EQ(names("kind=deployment&name=none"), "");
  EXPECT_EQ(names("limit=1"), "db ");
}

TEST_F(InsightTest, EventsStreamFromAnOffsetToTheEnd) {
  const auto writer = ask("/shiplog/v1/events?from=2");
  const std::string lines = writer->wait();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
  const Value first = must(parse_json(lines.substr(0, lines.find('\n'))));
  EXPECT_EQ(first["offset"].as_int(), 2);
  EXPECT_EQ(first["events"][0]["kind"].str(), "ObjectUpdated");
  const std::string limited = ask("/shiplog/v1/events?limit=3")->wait();
  EXPECT_EQ(std::ranges::count(limited, '\n'), 3);
}

TEST_F(InsightTest, FollowedEventsGoOnUntilTheClientLeaves) {
  const auto writer = ask("/shiplog/v1/events?follow=true&family=api");
  append("carol", {LeaseTaken{"scheduler", "host", 1}});  // of another family
  append("carol", {DeletionRequested{kMap}});
  const std::string lines = writer->wait(1);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1) << lines;
  EXPECT_NE(lines.find("DeletionRequested"), std::string::npos);
  EXPECT_FALSE(writer->ended());
  writer->close();
  append("carol", {ObjectCreated{kMap, object_value(kMap)}});
  EXPECT_EQ(writer->wait(1), lines) << "nothing is read for a client that has left";
}

}  // namespace
}  // namespace shiplog::api
