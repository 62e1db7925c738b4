#include "services/api/denials/denial_tally.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

constexpr UtcMillis kNoon{1'700'000'000'000};

RefusedRequest refused(const std::string& user, const std::string& address, const std::string& type = "secrets",
                       const std::string& name = "a") {
  return {{.user = user, .groups = {"system:authenticated"}, .service = "api", .source_ip = address, .user_agent = ""},
          "get",
          "/api/v1/namespaces/default/" + type + "/" + name,
          {{}, {}, "4bf92f3577b34da6a3ce929d0e0e4736"},
          {{type, "default", name}, 403, "Forbidden", user + " cannot"}};
}

int64_t counted(const std::vector<Entry>& entries) {
  int64_t sum = 0;
  for (const Entry& entry : entries) {
    for (const Event& event : entry.events) sum += std::get<RequestsDenied>(event).count;
  }
  return sum;
}

TEST(DenialTally, RecordsTheFirstOnesInFullAndSumsUpTheRest) {
  DenialTally tally;
  int full = 0;
  for (int i = 0; i < 3000; ++i) full += tally.record(refused("eve", "10.0.0.1"), kNoon + Millis{i}) ? 1 : 0;
  EXPECT_EQ(full, 20);
  const auto entries = tally.take(kNoon + Millis{60'000});
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].actor.user, "eve");
  ASSERT_EQ(entries[0].events.size(), 1U);
  const auto& sum = std::get<RequestsDenied>(entries[0].events[0]);
  EXPECT_EQ(sum.count, 2980);
  EXPECT_EQ(sum.object, (ObjectKey{"secrets", "default", ""}));
  EXPECT_EQ(sum.first, kNoon + Millis{20});
  EXPECT_EQ(sum.last, kNoon + Millis{2999});
  EXPECT_EQ(sum.message, "eve cannot");
  EXPECT_TRUE(tally.empty());
  EXPECT_TRUE(tally.take(kNoon + Millis{60'000}).empty());
}

TEST(DenialTally, OneClientIsNotHeldAgainstAnother) {
  DenialTally tally;
  for (int i = 0; i < 100; ++i) tally.record(refused("eve", "10.0.0.1"), kNoon);
  EXPECT_TRUE(tally.suspicious(refused("eve", "10.0.0.1").actor, kNoon));
  EXPECT_FALSE(tally.suspicious(refused("ann", "10.0.0.1").actor, kNoon));
  EXPECT_TRUE(tally.record(refused("ann", "10.0.0.1"), kNoon));
  EXPECT_TRUE(tally.record(refused("eve", "10.0.0.2"), kNoon));
}

TEST(DenialTally, TokensComeBackOneByOne) {
  DenialTally tally;
  for (int i = 0; i < 100; ++i) tally.record(refused("eve", "10.0.0.1"), kNoon);
  EXPECT_FALSE(tally.record(refused("eve", "10.0.0.1"), kNoon + Millis{59'999}));
  EXPECT_TRUE(tally.record(refused("eve", "10.0.0.1"), kNoon + Millis{60'000}));
  EXPECT_FALSE(tally.record(refused("eve", "10.0.0.1"), kNoon + Millis{60'001}));
  EXPECT_TRUE(tally.suspicious(refused("eve", "10.0.0.1").actor, kNoon + Millis{19 * 60'000}));
  EXPECT_FALSE(tally.suspicious(refused("eve", "10.0.0.1").actor, kNoon + Millis{22 * 60'000}));
}

TEST(DenialTally, AllAddressesOfAnIpv6NetworkAreOneClient) {
  DenialTally tally;
  int full = 0;
  for (int i = 0; i < 200; ++i) {
    full += tally.record(refused("eve", "2001:db8:1:2::" + std::to_string(i)), kNoon) ? 1 : 0;
  }
  EXPECT_EQ(full, 20);
  EXPECT_TRUE(tally.record(refused("eve", "2001:db8:1:3::1"), kNoon));
}

TEST(DenialTally, AnyNumberOfClientsIsBoundedInMemoryAndEntries) {
  DenialTally tally;
  int64_t full = 0;
  constexpr int kRequests = 50'000;
  for (int i = 0; i < kRequests; ++i) {
    full += tally.record(refused("user" + std::to_string(i % 10'000), "10.0.0.1"), kNoon) ? 1 : 0;
  }
  EXPECT_EQ(full, tally.limits().total_burst);
  EXPECT_LE(tally.clients(), tally.limits().clients);
  const auto entries = tally.take(kNoon);
  EXPECT_LE(entries.size(), tally.limits().entries_per_window);
  EXPECT_EQ(counted(entries) + full, kRequests) << "no request is forgotten";
}

TEST(DenialTally, ManySubjectsOfOneClientAreSummedUp) {
  DenialTally tally;
  for (int i = 0; i < 1000; ++i) tally.record(refused("eve", "10.0.0.1", "type" + std::to_string(i)), kNoon);
  const auto entries = tally.take(kNoon);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_LE(entries[0].events.size(), tally.limits().subjects_per_client);
  EXPECT_EQ(counted(entries), 980);
  EXPECT_EQ(std::get<RequestsDenied>(entries[0].events.back()).object, ObjectKey{});
}

TEST(DenialTally, ClientsAreForgottenOnceTheyHaveBeenQuiet) {
  DenialTally tally{{.clients = 2}};
  tally.record(refused("a", "10.0.0.1"), kNoon);
  tally.record(refused("b", "10.0.0.1"), kNoon);
  EXPECT_FALSE(tally.record(refused("c", "10.0.0.1"), kNoon)) << "there is no room yet";
  EXPECT_TRUE(tally.record(refused("c", "10.0.0.1"), kNoon + Millis{120'000}));
  EXPECT_EQ(tally.clients(), 2U);
}

TEST(DenialTally, OneEntryIsBoundedWhateverTheClientSends) {
  RefusedRequest request = refused(std::string(100'000, 'u'), "10.0.0.1", "secrets", std::string(100'000, 'n'));
  request.actor.groups.assign(10'000, std::string(1000, 'g'));
  request.actor.user_agent.assign(100'000, 'a');
  request.denial.message.assign(1'000'000, 'm');
  const Entry entry = denial_entry(request, kNoon);
  size_t bytes = entry.actor.user.size() + entry.actor.user_agent.size() + entry.request.path.size();
  for (const std::string& group : entry.actor.groups) bytes += group.size();
  const auto& denial = std::get<RequestDenied>(entry.events[0]);
  bytes += denial.message.size() + denial.object.name.size() + denial.object.type.size();
  EXPECT_LT(bytes, 4096U);
  EXPECT_NE(denial.message.find("[998976 more bytes]"), std::string::npos) << denial.message;
  EXPECT_EQ(entry.actor.groups.back(), "[9992 more groups]");
}

TEST(Clipped, NeverCutsInsideACharacter) {
  EXPECT_EQ(clipped("abc", 3), "abc");
  EXPECT_EQ(clipped("abcd", 3), "abc[1 more bytes]");
  EXPECT_EQ(clipped("ab\u00e9", 3), "ab[2 more bytes]");
}

}  // namespace
}  // namespace shiplog::api
