// One trace from a client's request through the journal to the call of the member (W3C Trace Context).
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00-" + kTrace + "-00f067aa0ba902b7-01";
const std::string kTracedMaps = "/api/v1/namespaces/default/configmaps";

class Traces : public ::testing::Test {
 protected:
  static std::string config_map(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})";
  }
  static Answer create(const ApiClient& api, const std::string& name, HttpHeaders headers) {
    headers.add("Content-Type", "application/json");
    return api.call("POST", kTracedMaps, config_map(name), std::move(headers));
  }
  /// The audit rows of a trace, at a process.
  Value rows(const std::string& process, const std::string& query) const {
    return fleet_.api(process).get("/shiplog/v1/audit?order=oldest&" + query).json["items"];
  }
  static bool has_event(const Value& rows, const std::string& kind) {
    return std::ranges::any_of(rows.items(), [&](const Value& row) {
      return std::ranges::any_of(row["events"].items(),
                                 [&](const Value& event) { return event["kind"].as_string() == kind; });
    });
  }

  Fleet fleet_;
};

TEST_F(Traces, OneTraceLeadsFromTheRequestOverTheDecisionsToTheMember) {
  fleet_.serve();
  fleet_.join("member1");
  fleet_.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: games}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: games}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  const ApiClient api = fleet_.api();
  ASSERT_EQ(create(api, "games", {{"traceparent", kParent}, {"tracestate", "vendor=1"}}).status, 201);

  // The member is an API server too: its own audit trail has the trace of the call that it received.
  ASSERT_TRUE(eventually([&] { return rows("member1", "name=games&trace=" + kTrace).size() > 0; }))
      << rows("member1", "name=games").size() << " entries of other traces";
  EXPECT_EQ(rows("member1", "name=games&trace=" + kTrace)[0]["verb"].as_string(), "create");
  ASSERT_TRUE(eventually([&] { return has_event(rows("plane", "trace=" + kTrace), "WorkApplied"); }));
  const Value traced = rows("plane", "trace=" + kTrace);
  for (const char* event : {"ObjectCreated", "BindingPut", "PlacementDecided", "WorkRendered", "WorkApplied"}) {
    EXPECT_TRUE(has_event(traced, event)) << event;
  }
  EXPECT_FALSE(has_event(traced, "WorkStatusObserved")) << "what a member reports of its own accord is another trace";
  EXPECT_EQ(traced[0]["trace"].as_string(), kTrace);
  EXPECT_EQ(traced[0]["user"].as_string(), "kubernetes-admin");
  EXPECT_TRUE(traced[0]["cause"].is_null()) << "a trace is no cause";
  EXPECT_NE(fleet_.log_tail("plane", 1 << 20).find("trace_id=" + kTrace), std::string::npos);

  const std::string audit = fleet_.shiplogctl_ok({"audit", "--trace", kTrace});
  EXPECT_NE(audit.find("WorkApplied"), std::string::npos) << audit;
  EXPECT_NE(fleet_.shiplogctl_ok({"audit", "--trace", kTrace, "-o", "json"}).find(kTrace), std::string::npos);
  EXPECT_NE(fleet_.shiplogctl_ok({"history", "configmap/games"}).find("trace " + kTrace), std::string::npos);
  EXPECT_NE(fleet_.shiplogctl_ok({"why", "configmap/games"}).find("trace " + kTrace), std::string::npos);
  expect_replay_equals(fleet_, api, "sqlite:" + fleet_.path("plane/journal.db"));
}

TEST_F(Traces, RequestWithoutAValidHeaderBeginsATraceOfItsOwn) {
  fleet_.serve();
  const ApiClient api = fleet_.api();
  ASSERT_EQ(create(api, "none", {}).status, 201);
  ASSERT_EQ(create(api, "invalid", {{"traceparent", "00-" + kTrace + "-0000000000000000-01"}}).status, 201);
  ASSERT_EQ(create(api, "twice", {{"traceparent", kParent}, {"traceparent", kParent}}).status, 201);
  EXPECT_EQ(rows("plane", "trace=" + kTrace).size(), 0U);
  std::vector<std::string> ids;
  for (const char* name : {"none", "invalid", "twice"}) {
    const Value row = rows("plane", "event=ObjectCreated&name=" + std::string{name})[0];
    ids.push_back(row["trace"].str());
    EXPECT_EQ(ids.back().size(), 32U) << name;
  }
  EXPECT_EQ(std::ranges::count(ids, ids.front()), 1);
}

// A trace id grants no rights: a user who sends the trace id of another user only adds entries to that trace.
TEST_F(Traces, TenantWhoCopiesATraceGainsNothing) {
  fleet_.serve();
  const ApiClient api = fleet_.api();
  ASSERT_EQ(create(api, "admins", {{"traceparent", kParent}}).status, 201);
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  fleet_.kubectl_ok({"create", "rolebinding", "ann", "--clusterrole=edit", "--user=ann", "-n", "shop"});
  const auto as_ann = [&](const std::string& method, const std::string& path, const std::string& body = {}) {
    return api.call(method, path, body,
                    {{"Impersonate-User", "ann"}, {"traceparent", kParent}, {"Content-Type", "application/json"}});
  };
  ASSERT_EQ(as_ann("POST", "/api/v1/namespaces/shop/configmaps", config_map("anns")).status, 201);
  EXPECT_EQ(as_ann("GET", kTracedMaps + "/admins").status, 403);
  EXPECT_EQ(as_ann("GET", "/shiplog/v1/audit?trace=" + kTrace).status, 403);
  EXPECT_EQ(as_ann("GET", "/shiplog/v1/status").status, 403);

  // Denials are in the journal a moment after the response: they are appended together.
  const auto rows_of_ann = [&] {
    const Value rows_of_trace = rows("plane", "trace=" + kTrace);
    return std::ranges::count_if(rows_of_trace.items(),
                                 [](const Value& row) { return row["user"].as_string() == "ann"; });
  };
  EXPECT_TRUE(eventually([&] { return rows_of_ann() == 4; }))
      << rows_of_ann() << " entries; there should be the ConfigMap and three denials, under the user's name";
  const Value chain = api.get("/shiplog/v1/chain?kind=configmap&name=admins&namespace=default").json["items"];
  for (const Value& entry : chain.items()) EXPECT_NE(entry["user"].as_string(), "ann");
}

}  // namespace
}  // namespace shiplog::e2e
