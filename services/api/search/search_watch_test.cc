// Watches over clusters: what they send of objects, changes and versions, and what a slow client holds.
#include "services/api/search/search_watch.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/api/search/member_body.h"
#include "services/api/search/multi_version.h"
#include "services/http/io_threads.h"
#include "services/runtime/manual_executor.h"
#include "tests/support/folded_change.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;
using Words = std::vector<std::string>;

/// The client of a watch. Writes to it complete at once, or at take() while it is stalled.
class WatchingClient final : public ResponseWriter {
 public:
  bool stalled = false;
  bool ended = false;
  int status = 0;
  std::string text;

  void send(HttpResponse response) override {
    status = response.status;
    text += response.body;
  }
  void start(int sent, HttpHeaders) override { status = sent; }
  void write(std::string chunk, Done done) override {
    text += chunk;
    taken_ = std::move(done);
    if (!stalled) take();
  }
  void end() override { ended = true; }
  void upgrade(HttpHeaders, Upgraded) override {}
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }

  /// The connection ends: nothing more is taken.
  void drop() { taken_ = {}; }
  void take() {
    if (auto done = std::exchange(taken_, {})) done(ok());
  }
  std::vector<Value> events() const {
    std::vector<Value> events;
    for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      events.push_back(json(text.substr(at, end - at)));
    }
    return events;
  }
  /// "ADDED a" of each event.
  Words words() const {
    Words words;
    for (const Value& event : events()) {
      words.push_back(event["type"].str() + " " + event["object"]["metadata"]["name"].str());
    }
    return words;
  }

 private:
  Done taken_;
};

class SearchWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    MemberClients::Options options;
    options.io = std::make_shared<IoThreads>(1);
    members_.configure(std::move(options));
    cache_.configure({.members = &members_, .kinds = &kinds_, .random = &random_});
    server_->options.random = &random_;
    server_->options.clock = &clock_;
    watches_ = std::make_shared<SearchWatches>(server_, cache_, [this](std::function<void()> work) {
      const std::lock_guard lock{mutex_};
      work_.push_back(std::move(work));
    });
  }
  void TearDown() override {
    watches_->stop();
    cache_.stop();
    for (const auto& client : clients_) client->drop();
  }
  void fold(const ObjectKey& key, const Value& after) {
    cache_.on_folded(state_, DecodedRecord{}, test::folded_change(key, {}, after));
  }
  /// ConfigMaps of these clusters, of all namespaces or of some.
  void select(const Words& clusters, const Words& namespaces = {""}) {
    for (const std::string& name : clusters) {
      fold({type::kCluster, "", name},
           json(R"({"metadata":{"name":")" + name +
                R"("},"spec":{},"status":{"conditions":[{"type":"Ready","status":"True"}]}})"));
    }
    std::string selectors;
    for (const std::string& ns : namespaces) {
      selectors += std::string{selectors.empty() ? "" : ","} +
                   R"({"apiVersion":"v1","kind":"ConfigMap","namespace":")" + ns + R"("})";
    }
    fold({"resourceregistries.search.karmada.io", "", "r"},
         json(R"({"metadata":{"name":"r"},"spec":{"targetCluster":{},"resourceSelectors":[)" + selectors + "]}}"));
    sources_ = cache_.selection(kind_).sources;
  }
  CachedObject::Ptr object(const MemberSource& source, const std::string& name, const std::string& version,
                           const std::string& data = "x") {
    const std::string ns = source.scope().ns.empty() ? "default" : source.scope().ns;
    return CachedObject::make(source.scope(),
                              json(R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
                                   R"(","resourceVersion":")" + version + R"("},"data":{"a":")" + data + R"("}})"),
                              compressor_, budget_)
        .value();
  }
  void list(MemberSource& source, const Words& names, const std::string& version, const std::string& data = "x") {
    CachedObjects objects;
    for (const std::string& name : names) objects.insert(object(source, name, "1", data));
    source.collection().replace(std::move(objects), version);
  }
  std::shared_ptr<WatchingClient> watch(const std::string& version, bool stalled = false,
                                        const std::string& labels = {}) {
    auto client = std::make_shared<WatchingClient>();
    client->stalled = stalled;
    clients_.push_back(client);
    const auto context = std::make_shared<RequestContext>();
    context->writer = client;
    context->kinds = kinds_.current();
    context->kind = &kind_;
    context->request.query.emplace_back("resourceVersion", version);
    ReadOptions options;
    options.label_selector = labels;
    watches_->start(context, options);
    return client;
  }
  /// False: there was nothing to do.
  bool run_one() {
    std::function<void()> next;
    {
      const std::lock_guard lock{mutex_};
      if (work_.empty()) return false;
      next = std::move(work_.front());
      work_.pop_front();
    }
    next();
    return true;
  }
  void run() {
    while (run_one()) {
    }
  }
  void wake() {
    watches_->wake("");
    run();
  }
  static Words numbered(size_t count) {
    Words names;
    for (size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(10'000 + i));
    return names;
  }

  const Kind& kind_ = *Kinds::compiled().find("", "v1", "configmaps");
  State state_;
  SystemRandom random_;  // used by two threads
  ManualExecutor clock_;
  KindRegistry kinds_{Kinds::compiled()};
  MemberClients members_;
  SearchCache cache_;
  std::shared_ptr<Server> server_ = std::make_shared<Server>();
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  std::shared_ptr<SearchWatches> watches_;
  Compressor compressor_;
  std::shared_ptr<CacheBudget> budget_ = std::make_shared<CacheBudget>(size_t{1} << 30U);
  SearchCache::Sources sources_;
  std::vector<std::shared_ptr<WatchingClient>> clients_;
};

TEST_F(SearchWatch, AnObjectOfAnEventCanBeUpdatedWithItsOwnVersion_6_4_5) {
  select({"m1", "m2"});
  list(*sources_[0], {"a"}, "120");
  list(*sources_[1], {"b"}, "98");
  const auto client = watch("");
  run();
  ASSERT_EQ(client->words(), (Words{"ADDED a", "ADDED b"}));
  for (const Value& event : client->events()) {
    const std::string cluster = event["object"]["metadata"]["name"] == Value{"a"} ? "m1" : "m2";
    const Value sent = json(body_for_member("PUT", "application/json", to_json(event["object"]), cluster));
    EXPECT_EQ(sent["metadata"]["resourceVersion"], Value{"1"}) << "not 0, which would overwrite any change";
  }
  const auto resumed = watch(client->events()[1]["object"]["metadata"]["resourceVersion"].str());
  run();
  EXPECT_EQ(resumed->status, 200);
  EXPECT_EQ(resumed->words(), Words{"ADDED b"}) << "m2 was not complete at that event";
}

TEST_F(SearchWatch, AListOfSeveralNamespacesCanBeWatchedFrom_6_4_7) {
  select({"m1"}, {"one", "two"});
  ASSERT_EQ(sources_.size(), 2U);
  list(*sources_[0], {"a"}, "100");
  list(*sources_[1], {"b"}, "105");
  const auto client = watch(to_text(version_of(sources_)));
  run();
  EXPECT_EQ(client->status, 200) << client->text;
  sources_[1]->collection().put(object(*sources_[1], "b", "106"));
  sources_[0]->collection().put(object(*sources_[0], "new", "107"));
  wake();
  EXPECT_EQ(client->words(), (Words{"ADDED new", "MODIFIED b"}));
}

TEST_F(SearchWatch, ASlowClientHoldsNoObjects) {
  select({"m1"});
  list(*sources_[0], numbered(1'000), "100");
  const auto client = watch("", true);
  run();
  EXPECT_EQ(client->words().size(), 256U);
  sources_[0]->collection().drop();
  EXPECT_EQ(budget_->used(), 0U);
  client->take();
  run();
  EXPECT_EQ(client->events().back()["object"]["code"], Value{410});
}

TEST_F(SearchWatch, WhatChangesWhileTheFirstObjectsAreSentIsSeenOnce) {
  select({"m1"});
  const Words names = numbered(600);
  list(*sources_[0], names, "100");
  const auto client = watch("", true);
  run();
  CachedCollection& collection = sources_[0]->collection();
  collection.put(object(*sources_[0], names[0], "101"));
  collection.put(object(*sources_[0], names[599], "102"));
  collection.remove(object(*sources_[0], names[500], "103"));
  collection.put(object(*sources_[0], "a-new", "104"));
  collection.put(object(*sources_[0], "z-new", "105"));
  collection.remove(object(*sources_[0], names[1], "106"));
  client->stalled = false;
  client->take();
  run();
  Words expected;
  for (size_t i = 0; i < 256; ++i) expected.push_back("ADDED " + names[i]);
  for (const char* word : {"MODIFIED n10000", "ADDED a-new", "DELETED n10001"}) expected.push_back(word);
  for (size_t i = 256; i < 600; ++i) {
    if (i != 500) expected.push_back("ADDED " + names[i]);
  }
  expected.push_back("ADDED z-new");
  EXPECT_EQ(client->words(), expected);
  const auto resumed = watch(client->events().back()["object"]["metadata"]["resourceVersion"].str());
  run();
  EXPECT_EQ(resumed->words().size(), 600U) << "not all was sent at that event: it begins anew";
}

TEST_F(SearchWatch, AClusterWithVeryManyEventsHoldsUpNoOther) {
  select({"m1", "m2"});
  list(*sources_[0], numbered(2'000), "100");
  list(*sources_[1], {"other"}, "100");
  const auto client = watch("", true);
  run();
  EXPECT_EQ(client->words().size(), 256U);
  client->take();
  run();
  const Words words = client->words();
  EXPECT_EQ(std::count(words.begin(), words.end(), "ADDED other"), 1) << "in the second turn";
}

TEST_F(SearchWatch, OthersHaveTheirTurnWhileNothingMatches) {
  select({"m1"});
  list(*sources_[0], numbered(8), "100", std::string(size_t{3} << 20U, 'x'));
  const auto client = watch("", false, "no=such");
  int turns = 0;
  while (run_one()) ++turns;
  EXPECT_GE(turns, 4) << "two objects are looked at in each";
  EXPECT_EQ(client->words(), Words{});
  sources_[0]->collection().put(object(*sources_[0], "e", "101"));
  wake();
  EXPECT_EQ(client->words(), Words{});
  EXPECT_FALSE(client->ended);
}

TEST_F(SearchWatch, EndsWhenAnotherSetOfClustersIsSelected_6_5_10) {
  select({"m1"});
  list(*sources_[0], {"a"}, "100");
  const auto client = watch(to_text(version_of(sources_)));
  run();
  EXPECT_FALSE(client->ended);
  select({"m2"});
  wake();
  EXPECT_TRUE(client->ended);
  const auto again = watch(multi_version_of("gone", "7"));
  EXPECT_NE(again->text.find("too old resource version"), std::string::npos) << "a cluster that is not cached any more";
}

}  // namespace
}  // namespace shiplog::api
