// Entries as clients see them.
#include "services/api/insight/render.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

TEST(InsightRender, AnEntryWithBytesThatAreNotUtf8IsValidJson) {
  AuditRow entry;
  entry.actor = {"eve", {"dev"}, "api", "10.0.0.1", "agent\xff"};
  entry.request = {"get", "/api/v1/namespaces/a/configmaps/\xff"};
  entry.events.push_back({"RequestDenied", "api", {"configmaps", "a", "\xff"}, "403"});
  const auto shown = parse_json(to_json(to_value(entry)));
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown.value()["path"].str(), "/api/v1/namespaces/a/configmaps/\uFFFD");
  EXPECT_EQ(shown.value()["userAgent"].str(), "agent\uFFFD");
  EXPECT_EQ(shown.value()["events"][0]["object"]["name"].str(), "\uFFFD");
  EXPECT_EQ(shown.value()["groups"][0].str(), "dev");
}

}  // namespace
}  // namespace shiplog::api
