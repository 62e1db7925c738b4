// Watches: from a version, with selectors, without gaps (W-1 to W-18).
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

/// "ADDED name" of each event.
std::vector<std::string> news(const WatchStream& watch) {
  std::vector<std::string> out;
  for (const Value& event : watch.events()) {
    out.push_back(event["type"].str() + " " + event["object"]["metadata"]["name"].str());
  }
  return out;
}

using News = std::vector<std::string>;

TEST(Watches, EveryChangeAfterAVersionIsDeliveredOnce) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("watched-a", "{}", R"({"set":"watched"})")).status, 201);
  const std::string selected = kConfigMaps + "?labelSelector=set%3Dwatched";
  const std::string from = api().get(selected).json["metadata"]["resourceVersion"].str();
  ASSERT_EQ(api().post(kConfigMaps, config_map("watched-b", "{}", R"({"set":"watched"})")).status, 201);
  const auto watch = api().watch(selected + "&watch=true&resourceVersion=" + from);
  ASSERT_TRUE(watch->wait_for(1));
  ASSERT_EQ(api().patch(kConfigMaps + "/watched-a", "merge", json(R"({"data":{"a":"1"}})")).status, 200);
  ASSERT_EQ(api().remove(kConfigMaps + "/watched-b").status, 200);
  EXPECT_TRUE(watch->wait_for(3));
  EXPECT_EQ(news(*watch), (News{"ADDED watched-b", "MODIFIED watched-a", "DELETED watched-b"}));
  // Again from the same version, when all changes are in the past.
  const auto again = api().watch(selected + "&watch=true&resourceVersion=" + from);
  EXPECT_TRUE(again->wait_for(3));
  EXPECT_EQ(news(*again), news(*watch));
  int64_t last = std::stoll(from);
  for (const Value& event : watch->events()) {
    const int64_t version = std::stoll(event["object"]["metadata"]["resourceVersion"].str());
    EXPECT_GT(version, last);
    last = version;
  }
}

TEST(Watches, WithoutAVersionAWatchBeginsWithExistingObjects) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("begin-a", "{}", R"({"set":"begin"})")).status, 201);
  const auto watch = api().watch(kConfigMaps + "?watch=1&labelSelector=set%3Dbegin");
  ASSERT_TRUE(watch->wait_for(1));
  ASSERT_EQ(api().post(kConfigMaps, config_map("begin-b", "{}", R"({"set":"begin"})")).status, 201);
  EXPECT_TRUE(watch->wait_for(2));
  EXPECT_EQ(news(*watch), (News{"ADDED begin-a", "ADDED begin-b"}));
}

TEST(Watches, EnteringAndLeavingASelectorIsAddedAndDeleted) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("turn", "{}", R"({"set":"other"})")).status, 201);
  const std::string from = api().get(kConfigMaps).json["metadata"]["resourceVersion"].str();
  const auto watch = api().watch(kConfigMaps + "?watch=true&labelSelector=set%3Dturn&resourceVersion=" + from);
  for (const char* set : {"turn", "other", "turn"}) {
    Value patch;
    patch.edit("metadata").edit("labels").set("set", set);
    ASSERT_EQ(api().patch(kConfigMaps + "/turn", "merge", patch).status, 200);
  }
  ASSERT_EQ(api().patch(kConfigMaps + "/turn", "merge", json(R"({"data":{"a":"1"}})")).status, 200);
  EXPECT_TRUE(watch->wait_for(4));
  EXPECT_EQ(news(*watch), (News{"ADDED turn", "DELETED turn", "ADDED turn", "MODIFIED turn"}));
  const auto events = watch->events();
  EXPECT_NE(events[0]["object"]["metadata"]["resourceVersion"], events[1]["object"]["metadata"]["resourceVersion"]);
}

TEST(Watches, InitialEventsEndWithABookmark) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("initial", "{}", R"({"set":"initial"})")).status, 201);
  const auto watch = api().watch(kConfigMaps +
                                 "?watch=true&labelSelector=set%3Dinitial&sendInitialEvents=true&allowWatchBookmarks="
                                 "true&resourceVersionMatch=NotOlderThan");
  ASSERT_TRUE(watch->wait_for(2));
  const auto events = watch->events();
  EXPECT_EQ(events[0]["type"].str(), "ADDED");
  EXPECT_EQ(events[1]["type"].str(), "BOOKMARK");
  EXPECT_EQ(events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"].str(), "true");
}

TEST(Watches, EndAfterTheirTimeout) {
  const auto watch = api().watch(kConfigMaps + "?watch=true&timeoutSeconds=1&labelSelector=set%3Dnone");
  EXPECT_TRUE(eventually([&] { return watch->ended(); }));
  EXPECT_TRUE(watch->events().empty());
}

}  // namespace
}  // namespace shiplog::e2e
