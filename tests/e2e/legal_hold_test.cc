// A LegalHold against the retention of a real control plane.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kHolds = "/apis/audit.shiplog.io/v1/legalholds";

class Hold : public ::testing::Test {
 protected:
  std::vector<std::string> options(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"--history-retention=1s", "--audit-retention=1s", "--retention-interval=1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  size_t versions(const std::string& name, const std::string& process = "plane") const {
    return fleet_.api(process).get("/shiplog/v1/history?kind=cm&limit=0&name=" + name).json["items"].size();
  }
  void make(const std::string& name) {
    ASSERT_EQ(fleet_.api().post(kMaps, json(R"({"metadata":{"name":")" + name + R"("}})")).status, 201);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(fleet_.api()
                    .patch(kMaps + "/" + name, "merge", json(R"({"data":{"k":")" + std::to_string(i) + R"("}})"))
                    .status,
                200);
    }
  }
  Answer hold(const std::string& name, const std::string& spec) {
    return fleet_.api().post(kHolds, json(R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}"));
  }
  double oldest_offset() const {
    const std::string metrics = fleet_.api().get("/metrics").body;
    const std::string series = "shiplog_journal_oldest_offset{journal=\"journal\"} ";
    const size_t at = metrics.find(series);
    return at == std::string::npos ? -1 : std::stod(metrics.substr(at + series.size()));
  }

  Fleet fleet_;
};

const char* const kOneMap =
    R"({"reason":"case 1","subjects":[{"resource":"configmaps","namespaces":["default"],"names":["held"]}]})";

TEST_F(Hold, KeepsVersionsThroughRestartsAndTakeOversUntilItIsDeleted) {
  fleet_.serve("plane", options());
  ASSERT_EQ(hold("case-1", kOneMap).status, 201);
  make("held");
  make("other");
  EXPECT_TRUE(eventually([&] { return versions("other") == 1; }));
  EXPECT_EQ(versions("held"), 5U);
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(kHolds + "/case-1").json["status"]["versions"].as_int() > 0; }));

  // A restarted process, and another one that takes over with a projection of its own.
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  fleet_.serve("plane", options());
  make("third");
  EXPECT_TRUE(eventually([&] { return versions("third") == 1; }));
  EXPECT_EQ(versions("held"), 5U);
  fleet_.kill("plane");
  fleet_.serve("second", options({"--journal=sqlite:" + fleet_.path("plane") + "/journal.db"}));
  EXPECT_TRUE(eventually([&] { return versions("third", "second") == 1 && versions("other", "second") == 1; }));
  EXPECT_EQ(versions("held", "second"), 5U);

  // Released by its deletion, which names its user.
  EXPECT_EQ(fleet_.api("second").remove(kHolds + "/case-1").status, 200);
  EXPECT_TRUE(eventually([&] { return versions("held", "second") == 1; }));
}

TEST_F(Hold, KeepsTheJournalFromItsBeginningOn) {
  fleet_.serve("plane", options({"--journal-retention=1s", "--snapshot-every=20"}));
  ASSERT_EQ(hold("case-1", R"({"reason":"r","everything":true})").status, 201);
  for (int i = 0; i < 60; ++i) make("m" + std::to_string(i));
  std::this_thread::sleep_for(std::chrono::seconds{6});
  EXPECT_EQ(oldest_offset(), 0) << fleet_.log_tail("plane");
  EXPECT_EQ(fleet_.api().remove(kHolds + "/case-1").status, 200);
  EXPECT_TRUE(eventually([&] {
    make("n" + std::to_string(std::rand()));
    return oldest_offset() > 0;
  }));
}

TEST_F(Hold, CannotBeNarrowedAndNeedsAReasonAndAnObject) {
  fleet_.serve();
  ASSERT_EQ(hold("case-1", kOneMap).status, 201);
  for (const char* change : {R"({"spec":{"to":"2020-01-01T00:00:00Z"}})", R"({"spec":{"from":"2020-01-01T00:00:00Z"}})",
                             R"({"spec":{"subjects":[{"resource":"secrets"}]}})", R"({"spec":{"reason":"none"}})"}) {
    const Answer refused = fleet_.api().patch(kHolds + "/case-1", "merge", json(change));
    EXPECT_EQ(refused.status, 422) << refused;
    EXPECT_NE(refused.message().find("cannot be changed"), std::string::npos) << refused;
  }
  EXPECT_EQ(fleet_.api().patch(kHolds + "/case-1", "merge", json(R"({"metadata":{"labels":{"a":"b"}}})")).status, 200);
  EXPECT_EQ(hold("a", R"({"everything":true})").status, 422);
  EXPECT_EQ(hold("a", R"({"reason":"","everything":true})").status, 422);
  EXPECT_EQ(hold("a", R"({"reason":"r"})").status, 422);
  EXPECT_EQ(hold("a", R"({"reason":"r","users":["x"],"from":"yesterday"})").status, 422);
  EXPECT_EQ(hold("a", R"({"reason":"r","families":["dispatching"]})").status, 422);
  EXPECT_TRUE(fleet_.kubectl_ok({"get", "legalholds"}).find("case 1") != std::string::npos);

  // A tenant with every right in a namespace neither sees nor makes nor releases them.
  ASSERT_EQ(fleet_.api()
                .post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                      json(R"({"metadata":{"name":"t"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
      "kind":"ClusterRole","name":"admin"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"t"}]})"))
                .status,
            201);
  const HttpHeaders as = {{"Impersonate-User", "t"}, {"Content-Type", "application/merge-patch+json"}};
  EXPECT_EQ(fleet_.api().call("GET", kHolds, "", as).status, 403);
  EXPECT_EQ(fleet_.api().call("DELETE", kHolds + "/case-1", "", as).status, 403);
  EXPECT_EQ(fleet_.api().call("DELETE", kHolds, "", as).status, 403);
  EXPECT_EQ(fleet_.api().call("PATCH", kHolds + "/case-1/status", R"({"status":{"entries":1}})", as).status, 403);
  EXPECT_EQ(fleet_.api()
                .call("POST", kHolds, R"({"metadata":{"name":"x"},"spec":{"reason":"r","everything":true}})",
                      {{"Impersonate-User", "t"}})
                .status,
            403);
  // Who released it is on record.
  EXPECT_EQ(fleet_.api().remove(kHolds + "/case-1").status, 200);
  const Value trail = fleet_.api().get("/shiplog/v1/audit?kind=legalholds&name=case-1&verb=delete").json;
  EXPECT_EQ(trail["items"][0]["user"].str(), "kubernetes-admin");
}

TEST_F(Hold, AFamilyThatIsNotKnownIsAnErrorAtTheStart) {
  Process& wrong = fleet_.serve("plane", {"--family-retention=dispatches=7d"}, false);
  EXPECT_TRUE(eventually([&] { return !wrong.running(); }));
  EXPECT_NE(fleet_.log_tail("plane").find("where the family is one of api, scheduling, dispatch"), std::string::npos);
  Process& twice = fleet_.serve("plane", {"--family-retention=api=7d,api=8d"}, false);
  EXPECT_TRUE(eventually([&] { return !twice.running(); }));
  EXPECT_NE(fleet_.log_tail("plane").find("names the family api twice"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::e2e
