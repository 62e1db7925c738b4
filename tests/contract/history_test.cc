// What two tenants see of history: each that of its own objects, and little of what others have to do with it.
#include "events/base/json.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1";

Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body = {},
          const std::string& type = "application/json") {
  return api().call(method, target, body, {{"Impersonate-User", user}, {"Content-Type", type}});
}

std::string ask(const std::string& what, const std::string& ns, const std::string& more = "&kind=deploy&name=web") {
  return "/shiplog/v1/" + what + "?namespace=" + ns + more;
}

void make_namespace(const std::string& ns) {
  ASSERT_EQ(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":")" + ns + R"("}})")).status, 201);
}

void grant(const std::string& user, const std::string& ns, const std::string& role) {
  ASSERT_EQ(api()
                .post(kRbac + "/namespaces/" + ns + "/rolebindings",
                      json(R"({"metadata":{"name":")" + user + R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
      "kind":"ClusterRole","name":")" +
                           role + R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User",
      "name":")" + user + R"("}]})"))
                .status,
            201);
}

std::string deployments(const std::string& ns) { return "/apis/apps/v1/namespaces/" + ns + "/deployments"; }

/// Two teams with a Deployment each, a cluster and a policy of the administrator's.
void make_teams() {
  static const bool made = [] {
    EXPECT_EQ(api()
                  .post("/apis/cluster.karmada.io/v1alpha1/clusters",
                        json(R"({"metadata":{"name":"hidden-cluster"},"spec":{"syncMode":"Pull"}})"))
                  .status,
              201);
    EXPECT_EQ(
        api()
            .post(kPolicies + "/clusterpropagationpolicies",
                  json(R"({"metadata":{"name":"hidden-policy"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",
      "kind":"Deployment","name":"web"}],"placement":{}}})"))
            .status,
        201);
    for (const char* team : {"team-a", "team-b"}) {
      make_namespace(team);
      grant(std::string{"user-"} + team, team, "edit");
      const Value web = deployment("web");
      EXPECT_EQ(as(std::string{"user-"} + team, "POST", deployments(team), to_json(web)).status, 201);
    }
    return true;
  }();
  ASSERT_TRUE(made);
  ASSERT_TRUE(eventually([] {
    return api().get("/apis/work.karmada.io/v1alpha2/namespaces/team-a/resourcebindings/web-deployment").status == 200;
  }));
  ASSERT_TRUE(eventually([] { return !api().get(ask("why", "team-a")).json["placement"].is_null(); }));
}

/// The name of the policy is in an annotation of the object itself, which the tenant reads as it is.
void expect_hides(const Answer& answer, std::vector<std::string> words = {}) {
  ASSERT_EQ(answer.status, 200) << answer;
  EXPECT_TRUE(answer.json["limited"].as_bool()) << answer;
  for (const char* word : {"hidden-cluster", "127.0.0.1", "user-team-b", "sourceIP", "userAgent"})
    words.push_back(word);
  for (const std::string& word : words) {
    EXPECT_EQ(answer.body.find("\"" + word), std::string::npos) << word << " in " << answer;
  }
}

TEST(TenantHistory, EachTenantReadsThatOfItsOwnObjects) {
  make_teams();
  for (const char* what : {"history", "blame", "why"}) {
    const Answer own = as("user-team-a", "GET", ask(what, "team-a"));
    ASSERT_EQ(own.status, 200) << what << own;
    expect_failure(as("user-team-a", "GET", ask(what, "team-b")), 403, "Forbidden");
    expect_failure(as("user-team-b", "GET", ask(what, "team-a")), 403, "Forbidden");
    expect_failure(as("stranger", "GET", ask(what, "team-a")), 403, "Forbidden");
    // Whether something exists is not to be found out either.
    expect_failure(as("user-team-a", "GET", ask(what, "team-b", "&kind=deploy&name=none")), 403, "Forbidden");
    EXPECT_EQ(as("user-team-a", "GET", ask(what, "team-a", "&kind=deploy&name=none")).status, 404);
    // Nor is another kind of the own namespace that the role does not include, or the whole kind.
    EXPECT_EQ(as("user-team-a", "GET", ask(what, "team-a", "&kind=clusters&name=hidden-cluster")).status, 403);
    EXPECT_EQ(as("user-team-a", "GET", ask(what, "team-a", "&kind=cpp&name=hidden-policy")).status, 403);
    EXPECT_EQ(as("user-team-a", "GET", ask(what, "team-a", "&kind=deploy")).status, 403);
    EXPECT_EQ(as("user-team-a", "GET", ask(what, "", "&type=deployments.apps&name=web")).status, 403);
  }
  const Answer all = api().get(ask("history", "team-a"));
  EXPECT_TRUE(all.json["limited"].is_null());
  EXPECT_FALSE(all.json["items"][0]["who"]["sourceIP"].is_null() && all.json["items"][1]["who"]["sourceIP"].is_null());
}

TEST(TenantHistory, OtherEndpointsStayClosed) {
  make_teams();
  for (const char* what :
       {"chain", "decisions", "audit", "events", "failovers", "export", "state", "status", "revision"}) {
    expect_failure(as("user-team-a", "GET", ask(what, "team-a")), 403, "Forbidden");
  }
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
    EXPECT_EQ(as("user-team-a", method, ask("history", "team-a"), "{}").status, 403);
  }
  EXPECT_EQ(as("user-team-a", "GET", "/at/r1" + ask("history", "team-a")).status, 403);
}

TEST(TenantHistory, HidesPoliciesClustersAddressesAndOtherUsers) {
  make_teams();
  // The administrator changes the tenant's object, and the policy, which is a cause.
  ASSERT_EQ(api().patch(deployments("team-a") + "/web", "merge", json(R"({"spec":{"replicas":3}})")).status, 200);
  for (const char* what : {"history", "blame"}) expect_hides(as("user-team-a", "GET", ask(what, "team-a")));
  expect_hides(as("user-team-a", "GET", ask("why", "team-a")), {"hidden-policy", "kubernetes-admin"});
  const Answer history = as("user-team-a", "GET", ask("history", "team-a") + "&order=oldest");
  EXPECT_EQ(history.json["items"][0]["who"]["user"].str(), "user-team-a");
  EXPECT_EQ(history.json["items"][0]["operation"].str(), "created");
  const Answer why = as("user-team-a", "GET", ask("why", "team-a"));
  EXPECT_TRUE(why.json["policy"]["hidden"].as_bool()) << why;
  EXPECT_GE(why.json["hiddenClusters"].as_int(), 1) << why;
  expect_failure(as("user-team-a", "GET", ask("why", "team-a") + "&cluster=hidden-cluster"), 403, "Forbidden");
  expect_failure(as("user-team-a", "GET", ask("why", "team-a") + "&cluster=none"), 403, "Forbidden");

  const std::string from = history.json["items"][0]["revision"].is_int()
                               ? std::to_string(history.json["items"][0]["revision"].as_int())
                               : "";
  const Answer diff = as("user-team-a", "GET", ask("diff", "team-a") + "&from=" + from);
  expect_hides(diff);
  EXPECT_EQ(diff.json["items"].size(), 1U) << diff;
  expect_failure(as("user-team-a", "GET", ask("diff", "team-a") + "&from=" + from + "&user=kubernetes-admin"), 403,
                 "Forbidden");
  expect_failure(as("user-team-a", "GET", ask("diff", "team-a") + "&from=1"), 403, "Forbidden", "before revision");
  EXPECT_EQ(as("user-team-a", "GET", ask("diff", "team-a", "&kind=deploy") + "&from=" + from).status, 403);
}

// A namespace is deleted, and another team gets one of the same name.
TEST(TenantHistory, DoesNotReachIntoAnEarlierNamespaceOfTheSameName) {
  const std::string maps = "/api/v1/namespaces/reused/configmaps";
  make_namespace("reused");
  ASSERT_EQ(api().post(maps, json(R"({"metadata":{"name":"m"},"data":{"k":"v"}})")).status, 201);
  ASSERT_EQ(api().patch(maps + "/m", "merge", json(R"({"data":{"k":"first-teams-value"}})")).status, 200);
  ASSERT_EQ(api().remove("/api/v1/namespaces/reused").status, 200);
  ASSERT_TRUE(eventually([] { return api().get("/api/v1/namespaces/reused").status == 404; }));
  make_namespace("reused");
  grant("second", "reused", "edit");
  const std::string question = ask("history", "reused", "&kind=cm&name=m");
  EXPECT_NE(api().get(question).body.find("first-teams-value"), std::string::npos) << "otherwise this tests nothing";
  EXPECT_EQ(as("second", "GET", question).status, 404);
  ASSERT_EQ(as("second", "POST", maps, R"({"metadata":{"name":"m"},"data":{"k":"mine"}})").status, 201);
  ASSERT_EQ(as("second", "PATCH", maps + "/m", R"({"data":{"k":"mine too"}})", "application/merge-patch+json").status,
            200);
  const Answer own = as("second", "GET", question);
  EXPECT_EQ(own.json["items"].size(), 2U) << own;
  EXPECT_EQ(own.body.find("first-teams-value"), std::string::npos) << own;
  EXPECT_EQ(as("second", "GET", ask("blame", "reused", "&kind=cm&name=m&at=1")).status, 403);
  EXPECT_EQ(as("second", "GET", ask("why", "reused", "&kind=cm&name=m&at=1")).status, 403);
}

// The data of a Secret is not part of any history, and a right for ConfigMaps is none for Secrets.
TEST(TenantHistory, OfASecretHasNoData) {
  make_teams();
  const std::string secrets = "/api/v1/namespaces/team-a/secrets";
  ASSERT_EQ(as("user-team-a", "POST", secrets, R"({"metadata":{"name":"s"},"stringData":{"k":"hunter2"}})").status,
            201);
  ASSERT_EQ(
      as("user-team-a", "PATCH", secrets + "/s", R"({"stringData":{"k":"hunter3"}})", "application/merge-patch+json")
          .status,
      200);
  grant("viewer", "team-a", "view");
  expect_failure(as("viewer", "GET", ask("history", "team-a", "&kind=secret&name=s")), 403, "Forbidden");
  EXPECT_EQ(as("viewer", "GET", ask("history", "team-a")).status, 200);
  const Answer own = as("user-team-a", "GET", ask("history", "team-a", "&kind=secret&name=s"));
  ASSERT_EQ(own.status, 200) << own;
  for (const char* data : {"hunter", "aHVudGVy"}) EXPECT_EQ(own.body.find(data), std::string::npos) << own;
}

TEST(TenantHistory, HasABoundForEachRequest) {
  make_teams();
  const std::string maps = "/api/v1/namespaces/team-a/configmaps";
  ASSERT_EQ(as("user-team-a", "POST", maps, R"({"metadata":{"name":"busy"}})").status, 201);
  for (int i = 0; i < 210; ++i) {
    ASSERT_EQ(as("user-team-a", "PATCH", maps + "/busy", R"({"data":{"k":")" + std::to_string(i) + R"("}})",
                 "application/merge-patch+json")
                  .status,
              200);
  }
  EXPECT_EQ(as("user-team-a", "GET", ask("history", "team-a", "&kind=cm&name=busy&limit=0")).json["items"].size(),
            200U);
  EXPECT_EQ(api().get(ask("history", "team-a", "&kind=cm&name=busy&limit=0")).json["items"].size(), 211U);
}

}  // namespace
}  // namespace shiplog::e2e
