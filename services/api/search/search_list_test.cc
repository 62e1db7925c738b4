// Lists over clusters, and the cache that they are made from.
#include "services/api/search/search_list.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "services/api/search/multi_version.h"
#include "services/http/io_threads.h"
#include "tests/support/folded_change.h"
#include "tests/support/http_peers.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;
using Words = std::vector<std::string>;

class SearchList : public ::testing::Test {
 protected:
  /// A cluster with these objects of a namespace, "a" of namespace default each.
  void put(const std::string& cluster, const std::string& version, const Words& names, const std::string& ns = {}) {
    CachedScope scope{cluster, "", "v1", "configmaps", "ConfigMap", ns, true};
    auto source = std::make_shared<MemberSource>(scope, shared_, budget_, std::function<void()>{});
    CachedObjects objects;
    for (const std::string& name : names) {
      objects.insert(
          CachedObject::make(scope,
                             json(R"({"metadata":{"name":")" + name + R"(","namespace":")" +
                                  (ns.empty() ? "default" : ns) + R"(","resourceVersion":"1","labels":{"name":")" +
                                  name + R"("}},"data":{"a":")" + payload_ + R"("}})"),
                             compressor_, budget_)
              .value());
    }
    source->collection().replace(std::move(objects), version);
    sources_.push_back(std::move(source));
  }
  CachedList page(const CachedQuery& query) const {
    return list_cached(kind_, sources_for(sources_, query.ns), query, [] { return false; }).value();
  }
  /// "CLUSTER/NAME" of each.
  Words names(const CachedList& list) {
    Words found;
    for (const auto& object : list.objects) {
      const Value value = object->value(compressor_).value();
      found.push_back(value["metadata"]["annotations"][kCachedFromCluster].str() + "/" + std::string{object->name()});
    }
    return found;
  }
  static std::string token(const CachedList& list) { return list.metadata["continue"].str(); }
  /// The pages of a list with a limit, one word each: "m1/a m1/b".
  Words pages(size_t limit) {
    Words found;
    CachedQuery query;
    query.limit = limit;
    for (bool more = true; more && found.size() < 20;) {
      const CachedList list = page(query);
      std::string words;
      for (const std::string& name : names(list)) words += (words.empty() ? "" : " ") + name;
      found.push_back(words);
      query.from = parse_multi_continue(token(list));
      more = !token(list).empty();
    }
    return found;
  }

  const Kind& kind_ = *Kinds::compiled().find("", "v1", "configmaps");
  MemberSource::Shared shared_;
  Compressor compressor_;
  std::shared_ptr<CacheBudget> budget_ = std::make_shared<CacheBudget>(size_t{1} << 20U);
  SearchCache::Sources sources_;
  std::string payload_;  // of objects that are put from here on
};

TEST_F(SearchList, ConcatenatesClustersInTheOrderOfTheirNames_6_5_3) {
  put("m1", "10", {"b", "a"});
  put("m2", "7", {"a"});
  const CachedList list = page({});
  EXPECT_EQ(names(list), (Words{"m1/a", "m1/b", "m2/a"}));
  EXPECT_EQ(parse_multi_version(list.metadata["resourceVersion"].str()),
            (MultiVersion{{{"m1", "10"}, {"m2", "7"}}, false}));
  EXPECT_EQ(token(list), "");
  EXPECT_EQ(list.kind, "ConfigMapList");
  EXPECT_EQ(list.warnings, Words{});
}

TEST_F(SearchList, PagesGoOnFromClusterToCluster_6_5_4) {
  put("m1", "10", {"a", "b", "c"});
  put("m2", "7", {});
  put("m3", "8", {"a"});
  EXPECT_EQ(pages(2), (Words{"m1/a m1/b", "m1/c m3/a"}));
  EXPECT_EQ(pages(3), (Words{"m1/a m1/b m1/c", "m3/a"})) << "the next cluster may be empty";
  EXPECT_EQ(pages(4), (Words{"m1/a m1/b m1/c m3/a"}));
  EXPECT_EQ(pages(1), (Words{"m1/a", "m1/b", "m1/c", "m3/a"}));
}

TEST_F(SearchList, ALastPageMayBeEmpty_6_5_4) {
  put("m1", "10", {"a"});
  put("m2", "7", {});
  EXPECT_EQ(pages(1), (Words{"m1/a", ""}));
}

TEST_F(SearchList, EveryPageHasTheVersionOfTheFirstOneWithAllClusters_6_5_5) {
  put("m1", "10", {"a", "b"});
  put("m2", "7", {"c"});
  CachedQuery query;
  query.limit = 1;
  const CachedList first = page(query);
  sources_[0]->collection().advance("99");
  query.from = parse_multi_continue(token(first));
  const CachedList second = page(query);
  EXPECT_EQ(second.metadata["resourceVersion"], first.metadata["resourceVersion"])
      << "a watch from it repeats what has changed between the pages";
}

TEST_F(SearchList, SelectorsCountBeforeTheLimit) {
  put("m1", "10", {"a", "b"});
  put("m2", "7", {"a", "b"});
  CachedQuery query;
  query.labels = parse_label_selector("name=b").value();
  EXPECT_EQ(names(page(query)), (Words{"m1/b", "m2/b"}));
  query.limit = 1;
  EXPECT_EQ(names(page(query)), Words{"m1/b"});
  query = {};
  query.fields = parse_field_selector("metadata.name=a", kind_).value();
  EXPECT_EQ(names(page(query)), (Words{"m1/a", "m2/a"}));
  query.ns = "default";
  EXPECT_EQ(names(page(query)), (Words{"m1/a", "m2/a"}));
}

TEST_F(SearchList, NamespacesThatAreNotCachedAreEmpty_6_4_7) {
  put("m1", "10", {"a"}, "one");
  put("m1", "12", {"b"}, "two");
  CachedQuery query;
  EXPECT_EQ(names(page(query)), (Words{"m1/a", "m1/b"})) << "the union";
  const MultiVersion version = parse_multi_version(page(query).metadata["resourceVersion"].str());
  EXPECT_EQ(version, (MultiVersion{{{"m1/one", "10"}, {"m1/two", "12"}}, false}));
  for (const auto& source : sources_) {
    EXPECT_TRUE(source->collection().mark_of(*version.at(source->scope().version_key()))) << "a watch begins there";
  }
  query.ns = "two";
  EXPECT_EQ(names(page(query)), Words{"m1/b"});
  query.ns = "three";
  EXPECT_EQ(names(page(query)), Words{});
  EXPECT_EQ(pages(1), (Words{"m1/a", "m1/b"})) << "pages within one cluster";
}

TEST_F(SearchList, APageOfLargeObjectsEndsEarly) {
  budget_ = std::make_shared<CacheBudget>(size_t{1} << 30U);
  payload_ = std::string(size_t{3} << 20U, 'x');
  put("m1", "10", {"a", "b", "c", "d", "e", "f", "g"});
  EXPECT_EQ(pages(500), (Words{"m1/a m1/b m1/c m1/d m1/e m1/f", "m1/g"}));
  CachedQuery query;
  for (char name = 'a'; name < 'q'; ++name) put("m3" + std::string{name}, "10", {"h"});
  const auto whole = list_cached(kind_, sources_, query, [] { return false; });
  ASSERT_FALSE(whole) << "without a limit there is no next page";
  EXPECT_EQ(whole.error().code, ErrorCode::kTooLarge);
}

TEST_F(SearchList, APageThatLooksAtManyObjectsEndsEarly) {
  budget_ = std::make_shared<CacheBudget>(size_t{1} << 30U);
  payload_ = std::string(size_t{4} << 20U, 'x');
  Words many;
  for (char name = 'a'; name < 'z'; ++name) many.push_back(std::string{name});
  put("m1", "10", many);
  CachedQuery query;
  query.limit = 500;
  query.labels = parse_label_selector("name=y").value();
  const CachedList first = page(query);
  EXPECT_EQ(names(first), Words{}) << "nothing matches so far";
  ASSERT_NE(token(first), "");
  query.from = parse_multi_continue(token(first));
  EXPECT_EQ(names(page(query)), Words{"m1/y"});
}

/// A client that takes the head of an answer and what is written then, and no more.
class StalledClient final : public ResponseWriter {
 public:
  std::string text;
  bool ended = false;
  Done taken;

  void send(HttpResponse) override { ADD_FAILURE() << "it is sent as a whole"; }
  void start(int, HttpHeaders) override {}
  void write(std::string chunk, Done done) override {
    text += chunk;
    taken = std::move(done);
  }
  void end() override { ended = true; }
  void upgrade(HttpHeaders, Upgraded) override {}
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }
};

TEST_F(SearchList, AListThatIsSentInPartsHoldsNoObjects) {
  payload_ = std::string(size_t{200} << 10U, 'x');
  put("m1", "10", {"a", "b", "c", "d", "e", "f"});
  const auto client = std::make_shared<StalledClient>();
  const auto context = std::make_shared<RequestContext>();
  context->writer = client;
  CachedList list = list_in_parts(kind_, sources_, {});
  list.place = std::make_shared<int>();
  const std::weak_ptr<void> place = list.place;
  answer_cached_list(context, std::move(list), UtcMillis{}, [](const std::function<void()>& work) { work(); });
  EXPECT_NE(client->text, "");
  EXPECT_FALSE(client->ended);
  EXPECT_FALSE(place.expired());
  sources_[0]->collection().replace({}, "20");
  sources_[0]->collection().drop();
  EXPECT_EQ(budget_->used(), 0U) << "what is dropped is freed, though the client has not taken it";
  std::exchange(client->taken, {})(ok());
  std::exchange(client->taken, {})(ok());
  EXPECT_TRUE(client->ended);
  EXPECT_TRUE(parse_json(client->text)) << client->text.substr(0, 300);
  EXPECT_TRUE(place.expired());
}

TEST_F(SearchList, AListInPartsIsWhole) {
  payload_ = std::string(size_t{200} << 10U, 'x');
  put("m1", "10", {"a", "b", "c", "d", "e", "f"});
  put("m2", "7", {"a"});
  const auto client = std::make_shared<StalledClient>();
  const auto context = std::make_shared<RequestContext>();
  context->writer = client;
  answer_cached_list(context, list_in_parts(kind_, sources_, {}), UtcMillis{},
                     [](const std::function<void()>& work) { work(); });
  int parts = 1;
  for (; !client->ended && parts < 20; ++parts) std::exchange(client->taken, {})(ok());
  EXPECT_GT(parts, 2);
  const auto list = parse_json(client->text);
  ASSERT_TRUE(list) << client->text.substr(0, 300);
  EXPECT_EQ(list.value()["items"].size(), 7U);
  EXPECT_EQ(list.value()["kind"], Value{"ConfigMapList"});
}

TEST_F(SearchList, AClusterThatIsNotListedIsNamed) {
  put("m1", "10", {"a"});
  put("m2", "7", {"a"});
  sources_[1]->collection().drop();
  EXPECT_EQ(page({}).warnings, Words{"configmaps of cluster m2 are missing: they have not been listed yet"});
  EXPECT_EQ(names(page({})), Words{"m1/a"});
}

class SearchCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MemberClients::Options options;
    options.io = std::make_shared<IoThreads>(1);
    members_.configure(std::move(options));
    cache_.configure({.members = &members_, .kinds = &kinds_, .random = &random_});
  }
  void fold(const ObjectKey& key, const Value& before, const Value& after) {
    cache_.on_folded(state_, DecodedRecord{}, test::folded_change(key, before, after));
  }
  void put_cluster(const std::string& ready) {
    fold({type::kCluster, "", "m1"}, {},
         json(R"({"metadata":{"name":"m1"},"spec":{},"status":{"conditions":[{"type":"Ready","status":")" + ready +
              R"("}]}})"));
  }
  void put_registry(const std::string& kind) {
    fold(
        {"resourceregistries.search.karmada.io", "", "r"}, {},
        json(R"({"metadata":{"name":"r"},"spec":{"targetCluster":{},"resourceSelectors":[{"apiVersion":"v1","kind":")" +
             kind + R"("}]}})"));
  }

  State state_;
  SeededRandom random_{1};
  KindRegistry kinds_{Kinds::compiled()};
  MemberClients members_;
  SearchCache cache_;
  const Kind& pods_ = *Kinds::compiled().find("", "v1", "pods");
};

TEST_F(SearchCacheTest, FollowsRegistriesAndClusters) {
  put_cluster("True");
  EXPECT_FALSE(cache_.registered(pods_));
  EXPECT_EQ(cache_.loop(), nullptr) << "without a registry there is no thread";
  put_registry("Pod");
  EXPECT_TRUE(cache_.registered(pods_)) << "at once";
  EXPECT_EQ(cache_.selection(pods_).sources.size(), 1U);
  const uint64_t generation = cache_.generation();
  put_cluster("Unknown");
  EXPECT_TRUE(cache_.registered(pods_)) << "6.4.3";
  EXPECT_TRUE(cache_.selection(pods_).sources.empty()) << "6.1.3";
  EXPECT_GT(cache_.generation(), generation) << "watches end";
  put_cluster("True");
  EXPECT_EQ(cache_.selection(pods_).sources.size(), 1U);
  put_registry("Secret");
  EXPECT_FALSE(cache_.registered(pods_));
  fold({"resourceregistries.search.karmada.io", "", "r"}, {}, {});
  EXPECT_FALSE(cache_.registered(*Kinds::compiled().find("", "v1", "secrets")));
}

TEST_F(SearchCacheTest, TheFoldThreadDoesNotWaitForAPlan) {
  std::future<void> folded;
  std::atomic<bool> waited{false};
  cache_.configure({.members = &members_, .kinds = &kinds_, .random = &random_, .on_plan = [&] {
                      if (waited) return;
                      waited = true;
                      folded = std::async(std::launch::async, [&] { put_cluster("True"); });
                      EXPECT_EQ(folded.wait_for(std::chrono::seconds{20}), std::future_status::ready);
                    }});
  put_registry("Pod");
  EXPECT_TRUE(cache_.registered(pods_));
  EXPECT_TRUE(testing::eventually([&] { return cache_.selection(pods_).sources.size() == 1; }))
      << "what was folded meanwhile is in the next plan";
  EXPECT_TRUE(waited);
  cache_.stop();
}

TEST_F(SearchCacheTest, ClustersThatChangeWhileAPlanIsMadeAreSeenAsTheyAre) {
  std::atomic<int> plans{0};
  cache_.configure({.members = &members_, .kinds = &kinds_, .random = &random_, .on_plan = [&] {
                      if (++plans == 1) put_cluster("False");
                    }});
  put_cluster("True");
  put_registry("Pod");
  EXPECT_TRUE(testing::eventually([&] { return cache_.selection(pods_).sources.empty() && plans > 1; }));
  cache_.stop();
}

TEST_F(SearchCacheTest, IsOffWithoutMemory) {
  cache_.configure({.members = &members_, .kinds = &kinds_, .random = &random_, .most_bytes = 0});
  put_registry("Pod");
  EXPECT_TRUE(cache_.off());
  EXPECT_EQ(cache_.loop(), nullptr);
}

TEST_F(SearchCacheTest, AClusterThatCannotBeReadIsAProblemAndNothingWaitsForIt) {
  put_cluster("True");
  put_registry("Pod");
  const auto sources = cache_.selection(pods_).sources;
  ASSERT_EQ(sources.size(), 1U);
  // Its thread tries at once, and finds no address.
  dynamic_cast<ThreadLoop&>(*cache_.loop()).call([] {});
  dynamic_cast<ThreadLoop&>(*cache_.loop()).call([] {});
  EXPECT_TRUE(sources[0]->settled());
  EXPECT_NE(sources[0]->problem(), "");
}

}  // namespace
}  // namespace shiplog::api
