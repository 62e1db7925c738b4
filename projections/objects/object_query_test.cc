#include "projections/objects/object_query.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

std::vector<std::string> names(const std::vector<ObjectRow>& rows) {
  std::vector<std::string> found;
  for (const ObjectRow& row : rows) found.push_back(row.key.ns + "/" + row.key.name);
  return found;
}
using Names = std::vector<std::string>;

TEST(ObjectQuery, GetsAnObjectAsItIsServed) {
  TestFleet fleet;
  const ObjectKey key = config_map("default", "a");
  fleet.create(key, "one");
  fleet.update(key, "two");
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const ObjectQuery objects{view};
  const auto row = must(objects.get(key));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->key, key);
  EXPECT_EQ(row->revision, fleet.revision());
  EXPECT_EQ(row->json, to_json(fleet.state().value_of(key)));
  EXPECT_EQ(must(parse_json(row->json))["metadata"]["resourceVersion"].str(), std::to_string(fleet.revision().value));
  EXPECT_FALSE(must(objects.get(config_map("default", "b"))));
  EXPECT_FALSE(must(objects.get({"unheard.of", "default", "a"})));
  EXPECT_TRUE(must(objects.get({type::kNamespace, "", "default"})));
}

TEST(ObjectQuery, ListsByNamespaceAndNameAndContinuesWhereItStopped) {
  TestFleet fleet;
  for (const char* ns : {"other", "default"}) {
    for (const char* name : {"b", "a", "c", "a-1", "B"}) fleet.create(config_map(ns, name));
  }
  fleet.create({"secrets", "default", "a"});
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const ObjectQuery objects{view};
  const Names all{"default/B", "default/a", "default/a-1", "default/b", "default/c",
                  "other/B",   "other/a",   "other/a-1",   "other/b",   "other/c"};
  EXPECT_EQ(names(must(objects.list({.type = "configmaps"}))), all);
  EXPECT_EQ(must(objects.count({.type = "configmaps"})), 10U);
  EXPECT_EQ(must(objects.count({.type = "configmaps", .ns = "other"})), 5U);
  EXPECT_EQ(must(objects.count({.type = "configmaps", .ns = "none"})), 0U);

  for (const size_t limit : {1U, 3U, 4U, 100U}) {
    Names paged;
    ObjectList which{.type = "configmaps", .limit = limit};
    while (true) {
      const auto page = must(objects.list(which));
      if (page.empty()) break;
      for (const std::string& name : names(page)) paged.push_back(name);
      which.after = ObjectList::Position{page.back().key.ns.str(), page.back().key.name.str()};
      EXPECT_EQ(must(objects.count(which)), all.size() - paged.size());
    }
    EXPECT_EQ(paged, all) << "pages of " << limit;
  }
  EXPECT_EQ(names(must(objects.list({.type = "configmaps", .ns = "other", .after = {{"default", "c"}}, .limit = 2}))),
            (Names{"other/B", "other/a"}));
  EXPECT_EQ(names(must(objects.list({.type = "configmaps", .ns = "other", .after = {{"other", "a-1"}}}))),
            (Names{"other/b", "other/c"}));
  EXPECT_TRUE(must(objects.list({.type = "configmaps", .ns = "default", .after = {{"other", "a"}}})).empty());
  EXPECT_EQ(must(objects.count({.type = "configmaps", .ns = "default", .after = {{"other", "a"}}})), 0U);
}

TEST(ObjectQuery, VisitMayStopAndMayRunOtherQueries) {
  TestFleet fleet;
  for (const char* name : {"a", "b", "c"}) fleet.create(config_map("default", name), name);
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const ObjectQuery objects{view};
  std::string seen;
  must(objects.visit({.type = "configmaps"}, [&](const ObjectRowView& row) {
    must(objects.visit({.type = "configmaps", .ns = "default"}, [&](const ObjectRowView& inner) {
      seen += inner.name;
      return true;
    }));
    seen += must(objects.get(config_map("default", std::string{row.name})))->json == row.json ? "=" : "!";
    return row.name != "b";
  }));
  EXPECT_EQ(seen, "abc=abc=");
}

TEST(ObjectQuery, ReadsAsOfEveryRevision) {
  TestFleet fleet;
  std::map<uint64_t, std::map<std::string, std::string>> expected;  // revision, "ns/name", JSON
  std::map<std::string, ObjectKey> ever;
  size_t absent = 0;
  for (int i = 0; i < 250; ++i) {
    const ObjectKey key = config_map(i % 3 == 0 ? "other" : "default", "c" + std::to_string(i * 7 % 11));
    if (i % 5 == 4) {
      fleet.remove(key);
    } else if (fleet.state().find(key) == nullptr) {
      fleet.create(key, std::to_string(i));
    } else {
      fleet.update(key, std::to_string(i));
    }
    auto& now = expected[fleet.revision().value];
    now.clear();
    for (const auto& [name, object] : fleet.state().objects("configmaps")) {
      now[name.ns + "/" + name.name] = to_json(object.value);
      ever.emplace(name.ns + "/" + name.name, ObjectKey{"configmaps", name.ns, name.name});
    }
  }
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const ObjectQuery objects{view};
  for (const auto& [revision, then] : expected) {
    const std::optional<Revision> at = Revision{revision};
    std::map<std::string, std::string> found;
    const auto rows = must(objects.list({.type = "configmaps", .at = at}));
    for (const ObjectRow& row : rows) {
      found[row.key.ns + "/" + row.key.name] = row.json;
      EXPECT_EQ(must(objects.get(row.key, at))->json, row.json);
    }
    EXPECT_EQ(found, then) << "revision " << revision;
    EXPECT_TRUE(
        std::is_sorted(rows.begin(), rows.end(), [](const ObjectRow& a, const ObjectRow& b) { return a.key < b.key; }));
    EXPECT_EQ(must(objects.count({.type = "configmaps", .at = at})), then.size());
    // What was not there then is not found, though it is stored from other revisions.
    for (const auto& [name, known] : ever) {
      const bool there = then.contains(name);
      EXPECT_EQ(must(objects.get(known, at)).has_value(), there) << name << " at revision " << revision;
      absent += there ? 0 : 1;
    }
    // Page by page it is the same list.
    std::map<std::string, std::string> paged;
    std::optional<ObjectList::Position> after;
    while (true) {
      const auto page = must(objects.list({.type = "configmaps", .ns = "other", .after = after, .limit = 2, .at = at}));
      ASSERT_LE(page.size(), 2U);
      for (const ObjectRow& row : page) {
        paged[row.key.ns + "/" + row.key.name] = row.json;
        after = ObjectList::Position{row.key.ns.str(), row.key.name.str()};
      }
      if (page.size() < 2) break;
    }
    std::map<std::string, std::string> others;
    std::ranges::copy_if(then, std::inserter(others, others.end()),
                         [](const auto& one) { return one.first.starts_with("other/"); });
    EXPECT_EQ(paged, others) << "revision " << revision;
  }
  EXPECT_GT(absent, 500U) << "objects were deleted and made again";
  EXPECT_GT(expected.size(), 200U);
}

TEST(ObjectQuery, RevisionsNotReachedOrNoLongerStoredAreErrors) {
  TestFleet fleet;
  const ObjectKey key = config_map("default", "a");
  fleet.create(key, "1");
  const Revision first = fleet.revision();
  fleet.update(key, "2");
  const Revision second = fleet.revision();
  fleet.update(key, "3");
  must(fleet.projections().trim_history(second));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const ObjectQuery objects{view};
  EXPECT_EQ(objects.get(key, first).error().code, ErrorCode::kGone);
  EXPECT_EQ(objects.list({.type = "configmaps", .at = first}).error().code, ErrorCode::kGone);
  EXPECT_TRUE(must(objects.get(key, second)));
  const Revision future{fleet.revision().value + 1};
  EXPECT_EQ(objects.get(key, future).error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(objects.count({.type = "configmaps", .at = future}).error().code, ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace shiplog
