#include "services/roles/collector/member_slices.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::collector {
namespace {

const MemberSlices::Name kWeb{"shop", "web"}, kDb{"shop", "db"};

Value slice(const std::string& name, const std::string& service, const std::string& address = "10.1.0.1") {
  return parse_json(R"({"metadata":{"name":")" + name +
                    R"(","namespace":"shop","labels":{"kubernetes.io/service-name":")" + service +
                    R"("}},"addressType":"IPv4","endpoints":[{"addresses":[")" + address + R"("]}]})")
      .value();
}

TEST(MemberSlices, EachSliceIsCheckedWhenItArrivesAndNotAgain) {
  MemberSlices slices{{kWeb, kDb}};
  for (int number = 0; number < 100; ++number) slices.take_in(slice("web-" + std::to_string(number), "web"), false);
  for (const auto& service : {kWeb, kDb}) slices.forget_change(service);
  slices.take_in(slice("web-7", "web", "10.1.0.2"), false);
  EXPECT_EQ(within_limits(*slices.of(kWeb)).slices.size(), 100U);
  EXPECT_EQ(slices.checks(), 101U);
  EXPECT_TRUE(slices.changed(kWeb));
  EXPECT_FALSE(slices.changed(kDb));
  EXPECT_EQ(slices.of(kDb), nullptr);
}

TEST(MemberSlices, WhatIsNotExportedOrCameFromTheControlPlaneIsNotKept) {
  MemberSlices slices{{kWeb}};
  slices.take_in(slice("db-1", "db"), false);
  Value brought = slice("m2-web-1", "web");
  brought.edit("metadata").edit("labels").set(label::kSliceManagedBy, kDispatchedSlices);
  slices.take_in(brought, false);
  EXPECT_EQ(slices.size(), 0U);
  EXPECT_EQ(slices.checks(), 0U);
}

TEST(MemberSlices, ASliceIsOfOneServiceAtATime) {
  MemberSlices slices{{kWeb, kDb}};
  slices.take_in(slice("x", "web"), false);
  for (const auto& service : {kWeb, kDb}) slices.forget_change(service);
  slices.take_in(slice("x", "db"), false);
  EXPECT_EQ(slices.of(kWeb), nullptr);
  EXPECT_EQ(slices.of(kDb)->size(), 1U);
  EXPECT_TRUE(slices.changed(kWeb));
  EXPECT_TRUE(slices.changed(kDb));
  slices.take_in(slice("x", "db"), true);
  EXPECT_EQ(slices.size(), 0U);
}

TEST(MemberSlices, ServicesThatAreNoLongerExportedAreDropped) {
  MemberSlices slices{{kWeb, kDb}};
  slices.take_in(slice("a", "web"), false);
  slices.take_in(slice("b", "db"), false);
  slices.keep_only({kDb});
  EXPECT_EQ(slices.of(kWeb), nullptr);
  EXPECT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices.exported(), (std::set<MemberSlices::Name>{kDb}));
}

TEST(MemberSlices, OneThatIsNotUsableIsKeptAsSuch) {
  MemberSlices slices{{kWeb}};
  slices.take_in(slice("a", "web", "127.0.0.1"), false);
  slices.take_in(slice("b", "web"), false);
  const CollectedSlices collected = within_limits(*slices.of(kWeb));
  EXPECT_EQ(collected.slices.size(), 1U);
  EXPECT_NE(collected.problem.find("EndpointSlice \"a\" is left out"), std::string::npos) << collected.problem;
}

TEST(MemberSlices, WhatIsBeyondTheLimitIsAChangeOfAll) {
  MemberSlices slices{{kWeb, kDb}};
  for (int number = 0; number < 4096; ++number) slices.take_in(slice(std::to_string(number), "web"), false);
  for (const auto& service : {kWeb, kDb}) slices.forget_change(service);
  slices.take_in(slice("one-more", "web"), false);
  EXPECT_EQ(slices.size(), 4096U);
  EXPECT_NE(slices.problem(), "");
  EXPECT_TRUE(slices.changed(kDb)) << "it is a part of each report";
}

}  // namespace
}  // namespace shiplog::collector
