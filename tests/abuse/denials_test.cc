// A client with many refused requests does not fill the disk: the first refusals are recorded individually, the others
// are counted.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kSecrets = "/api/v1/namespaces/kube-system/secrets";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

HttpHeaders as(const std::string& user) { return {{"Impersonate-User", user}}; }

/// Bytes of the journal's files. (Preallocation and moves of the write-ahead log make this coarse.)
uintmax_t journal_bytes(const Fleet& fleet) {
  uintmax_t sum = 0;
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(fleet.path(std::string{"plane/"} + name), missing);
    if (!missing) sum += size;
  }
  return sum;
}

struct RecordedDenials {
  int64_t individual = 0;
  int64_t counted = 0;
  Value last_summary;
};

/// The refused requests of a user in the audit trail.
RecordedDenials recorded_denials(const ApiClient& api, const std::string& user) {
  RecordedDenials denials;
  const Answer audit = api.get("/shiplog/v1/audit?refused=true&limit=1000&user=" + user);
  EXPECT_EQ(audit.status, 200) << audit;
  for (const Value& entry : audit.json["items"].items()) {
    for (const Value& event : entry["events"].items()) {
      if (event["kind"].as_string() == "RequestsDenied") {
        denials.counted += std::stoll(event["summary"].str());  // "980 requests to ..."
        denials.last_summary = entry;
      } else {
        ++denials.individual;
      }
    }
  }
  return denials;
}

class DeniedRequests : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    ASSERT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/default").status == 200; }));
  }
  /// Counted requests are recorded when the server stops, if not before.
  void restart() {
    ASSERT_EQ(fleet_.process("plane").terminate(), 0) << fleet_.log_tail("plane");
    fleet_.serve();
    ASSERT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/default").status == 200; }));
  }

  Fleet fleet_;
};

TEST_F(DeniedRequests, AClientWithoutRightsCannotMakeTheJournalGrow) {
  constexpr int kRequests = 1500;
  const ApiClient api = fleet_.api();
  const uintmax_t before = journal_bytes(fleet_);
  HttpHeaders headers = as("eve");
  headers.set("User-Agent", std::string(4'000, 'a'));
  for (int group = 0; group < 20; ++group)
    headers.add("Impersonate-Group", std::to_string(group) + std::string(200, 'g'));
  for (int i = 0; i < kRequests; ++i) {
    const std::string name = std::to_string(i) + std::string(240, 'n');
    const Answer refused = api.call("GET", kSecrets + "/" + name, "", headers);
    ASSERT_EQ(refused.status, 403) << refused;
  }
  // Without bounds this is about 15 MB; with them, 20 entries of at most 4 KB.
  EXPECT_LT(journal_bytes(fleet_) - before, 1'500'000U);
  restart();
  const RecordedDenials denials = recorded_denials(fleet_.api(), "eve");
  EXPECT_EQ(denials.individual + denials.counted, kRequests) << "every request is accounted for";
  EXPECT_LE(denials.individual, 25);
  EXPECT_EQ(denials.last_summary["user"].str(), "eve");
  const Ran audit = fleet_.shiplogctl({"audit", "--refused", "--user", "eve"});
  EXPECT_TRUE(audit.says("RequestsDenied")) << audit;
  EXPECT_TRUE(audit.says("requests to get from")) << audit;
}

TEST_F(DeniedRequests, NamesAndPathsOverTheMaximumLengthAreNotRecorded) {
  const ApiClient api = fleet_.api();
  const std::vector<std::string> targets = {
      kSecrets + "/" + std::string(254, 'n'),          "/api/v1/namespaces/" + std::string(64, 'n') + "/secrets",
      "/apis/" + std::string(254, 'g') + "/v1/things", "/api/v1/" + std::string(64, 'r'),
      "/version/" + std::string(10'000, 'p'),
  };
  for (const std::string& target : targets) {
    const Answer refused = api.call("GET", target, "", as("eve"));
    EXPECT_EQ(refused.status, 400) << refused;
    EXPECT_NE(refused.message().find("bytes, more than the"), std::string::npos) << refused;
  }
  EXPECT_EQ(api.call("GET", kSecrets + "/" + std::string(253, 'n'), "", as("eve")).status, 403);
  EXPECT_TRUE(eventually([&] { return recorded_denials(api, "eve").individual > 0; }));
  EXPECT_EQ(recorded_denials(api, "eve").individual, 1);
}

TEST_F(DeniedRequests, WritesThatTheFoldRefusesAreNotStoredAgainAndAgain) {
  constexpr int kRequests = 100;
  const ApiClient api = fleet_.api();
  const Value object = Value::object({{"metadata", Value::object({{"name", "taken"}})},
                                      {"data", Value::object({{"filler", std::string(100'000, 'x')}})}});
  ASSERT_EQ(api.post(kConfigMaps, object).status, 201);
  const uintmax_t before = journal_bytes(fleet_);
  for (int i = 0; i < kRequests; ++i) {
    const Answer refused = api.post(kConfigMaps, object);
    ASSERT_EQ(refused.status, 409) << refused;
    EXPECT_EQ(refused.reason(), "AlreadyExists");
  }
  EXPECT_LT(journal_bytes(fleet_) - before, 2'000'000U) << "10 MB were sent";
  // A write that is no longer refused is stored immediately.
  EXPECT_EQ(api.remove(kConfigMaps + "/taken").status, 200);
  EXPECT_EQ(api.post(kConfigMaps, object).status, 201);
  restart();
  const RecordedDenials denials = recorded_denials(fleet_.api(), "kubernetes-admin");
  EXPECT_EQ(denials.individual + denials.counted, kRequests);
}

TEST_F(DeniedRequests, RefusedRequestsOfOneClientDoNotHideThoseOfAnother) {
  const ApiClient api = fleet_.api();
  for (int i = 0; i < 200; ++i) ASSERT_EQ(api.call("GET", kSecrets, "", as("eve")).status, 403);
  ASSERT_EQ(api.call("DELETE", kSecrets + "/a", "", as("mallory")).status, 403);
  EXPECT_TRUE(eventually([&] { return recorded_denials(api, "mallory").individual == 1; }));
  EXPECT_EQ(recorded_denials(api, "mallory").counted, 0);
}

}  // namespace
}  // namespace shiplog::e2e
