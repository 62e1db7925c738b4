// Lists over clusters, and the cache that they are made from.
#include "services/api/search/search_list.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/api/search/multi_version.h"
#include "services/http/io_threads.h"
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
      objects.insert(CachedObject::make(
                         scope,
                         json(R"({"metadata":{"name":")" + name + R"(","namespace":")" + (ns.empty() ? "default" : ns) +
                              R"(","resourceVersion":"1","labels":{"name":")" + name + R"("}}})"),
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
  EXPECT_EQ(parse_multi_version(page(query).metadata["resourceVersion"].str()).at("m1"), "10")
      << "both are complete there";
  query.ns = "two";
  EXPECT_EQ(names(page(query)), Words{"m1/b"});
  query.ns = "three";
  EXPECT_EQ(names(page(query)), Words{});
  EXPECT_EQ(pages(1), (Words{"m1/a", "m1/b"})) << "pages within one cluster";
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
    Folded folded;
    Change change;
    change.object = key;
    change.before = before;
    change.after = after;
    folded.changes.push_back(change);
    cache_.on_folded(state_, DecodedRecord{}, folded);
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
