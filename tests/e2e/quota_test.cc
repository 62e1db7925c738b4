// FederatedResourceQuotas with real processes and kubectl: static assignments in three members, what a refusal looks
// like, and several API servers that write at the same time.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kQuotas = "/apis/policy.karmada.io/v1alpha1/namespaces/default/federatedresourcequotas/";
const std::string kInMember = "/api/v1/namespaces/default/resourcequotas/limits";
const std::string kDenied = "admission webhook \"resourcebinding.karmada.io\" denied the request: ";

std::string quota(const std::string& spec) {
  return "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: limits, namespace: "
         "default}\nspec: " +
         spec + "\n---\n";
}

/// The Deployment web, whose pods request so much.
std::string web(int replicas, const std::string& cpu) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: " +
         std::to_string(replicas) +
         "\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n"
         "      containers:\n      - {name: main, image: \"nginx:1.27\", resources: {requests: {cpu: " +
         cpu + "}}}\n---\n";
}

class Quotas : public ThreeMembers {
 protected:
  Value status() { return api_->get(kQuotas + "limits").json["status"]; }
  void expect_status(const std::string& field, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return to_json(status()[field]) == wanted; }))
        << field << " is " << to_json(status()[field]) << " instead of " << wanted;
  }
  std::string hard_in(const std::string& member) {
    return to_json(fleet_.api(member).get(kInMember).json["spec"]["hard"]);
  }
  int64_t ready_in(const std::string& member) {
    return fleet_.api(member).get(kDeployment + "web").json["status"]["readyReplicas"].as_int();
  }
  /// The messages of Events of this reason about the object.
  std::string told(const std::string& reason, const std::string& kind, const std::string& name) {
    return fleet_.kubectl_ok({"get", "events", "--field-selector",
                              "reason=" + reason + ",involvedObject.kind=" + kind + ",involvedObject.name=" + name,
                              "-o", "jsonpath={.items[*].message}"});
  }
};

TEST_F(Quotas, StaticAssignmentsBecomeResourceQuotasAndAreReported_4_2_1_4_2_2) {
  apply(
      quota("{overall: {cpu: 100}, staticAssignments: [{clusterName: member2, hard: {cpu: 1}}, "
            "{clusterName: member1, hard: {cpu: 2}}]}"));
  expect_holders(kInMember, "member1 member2");
  EXPECT_EQ(hard_in("member1"), R"({"cpu":"2"})");
  const std::string selector =
      "federatedresourcequota.karmada.io/name=limits,federatedresourcequota.karmada.io/namespace=default";
  const Value work =
      json(fleet_.kubectl_ok({"get", "works", "-n", "karmada-es-member1", "-l", selector, "-o", "json"}));
  EXPECT_EQ(work["items"].size(), 1U);

  apply(web(5, "500m") + policy("web", "web", "member1, member2"));
  EXPECT_TRUE(eventually([&] { return ready_in("member1") == 4 && ready_in("member2") == 2; }))
      << ready_in("member1") << " and " << ready_in("member2") << ": the members themselves refuse more pods";
  expect_status("aggregatedStatus", R"([{"clusterName":"member1","hard":{"cpu":"2"},"used":{"cpu":"2"}},)"
                                    R"({"clusterName":"member2","hard":{"cpu":"1"},"used":{"cpu":"1"}}])");
  expect_status("overallUsed", R"({"cpu":"5"})");

  // Corrected, restored when a member's user changes it, removed when it is dropped or the quota goes.
  patch("federatedresourcequota", "limits",
        R"({"spec":{"staticAssignments":[{"clusterName":"member2","hard":{"cpu":"2"}}]}})");
  expect_holders(kInMember, "member2");
  EXPECT_TRUE(eventually([&] { return hard_in("member2") == R"({"cpu":"2"})"; })) << hard_in("member2");
  EXPECT_TRUE(eventually([&] { return ready_in("member1") == 5 && ready_in("member2") == 4; }));
  fleet_.kubectl_ok({"patch", "resourcequota", "limits", "--type=merge", "-p", R"({"spec":{"hard":{"cpu":"90"}}})"}, "",
                    "member2");
  EXPECT_TRUE(eventually([&] { return hard_in("member2") == R"({"cpu":"2"})"; })) << hard_in("member2");
  fleet_.kubectl_ok({"delete", "federatedresourcequota", "limits"});
  expect_holders(kInMember, "");
}

TEST_F(Quotas, ARefusedBindingKeepsWhatItHasUntilThereIsRoom_4_5) {
  apply(quota("{overall: {cpu: 1}}") + web(5, "100m") + policy("web", "web", "member1"));
  expect_replicas("web", "member1:5");
  expect_status("overallUsed", R"({"cpu":"500m"})");

  const std::string refusal =
      kDenied + "FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 2, limit 1.";
  // 4.3.10: a dry run has the same answer, and uses nothing.
  const auto dry_run = [&](const std::string& replicas) {
    return fleet_.kubectl({"patch", "resourcebinding", "web-deployment", "--type=json", "--dry-run=server", "-p",
                           R"([{"op":"replace","path":"/spec/clusters/0/replicas","value":)" + replicas + "}]"});
  };
  EXPECT_TRUE(dry_run("20").says(refusal)) << dry_run("20");
  EXPECT_TRUE(dry_run("10").ok()) << dry_run("10");
  EXPECT_EQ(replicas("web"), "member1:5");
  expect_status("overallUsed", R"({"cpu":"500m"})");
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=20"});
  EXPECT_TRUE(eventually([&] { return condition("web", "Scheduled") == "False QuotaExceeded: " + refusal; }))
      << condition("web", "Scheduled");
  EXPECT_EQ(replicas("web"), "member1:5") << "4.5.1, 4.5.5";
  EXPECT_TRUE(eventually([&] {
    return told("ScheduleBindingFailed", "ResourceBinding", "web-deployment").find(refusal) != std::string::npos &&
           told("ScheduleBindingFailed", "Deployment", "web").find(refusal) != std::string::npos;
  })) << "4.5.2";

  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=5"});
  EXPECT_TRUE(eventually([&] { return condition("web", "Scheduled").starts_with("True"); }));
  fleet_.kubectl_ok({"set", "resources", "deployment", "web", "--requests=cpu=300m"});
  EXPECT_TRUE(eventually([&] {
    return told("ApplyPolicyFailed", "Deployment", "web")
               .find("Apply policy(default/web) failed: " + kDenied +
                     "FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 1500m, limit "
                     "1.") != std::string::npos;
  })) << "4.5.4: "
      << told("ApplyPolicyFailed", "Deployment", "web");
  EXPECT_EQ(to_json(api_->get(kBindings + "web-deployment").json["spec"]["replicaRequirements"]["resourceRequest"]),
            R"({"cpu":"100m"})");
  expect_status("overallUsed", R"({"cpu":"500m"})");

  patch("federatedresourcequota", "limits", R"({"spec":{"overall":{"cpu":"2"}}})");
  expect_status("overallUsed", R"({"cpu":"1500m"})");

  // Beyond a lowered limit a decrease is permitted, also one that does not reach it.
  patch("federatedresourcequota", "limits", R"({"spec":{"overall":{"cpu":"300m"}}})");
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=3"});
  expect_replicas("web", "member1:3");
}

Value placed_binding(const std::string& name) {
  Value made = json(R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{},"spec":{
      "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default"},
      "replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1"}},"clusters":[{"name":"m1","replicas":1}]}})");
  made.edit("metadata").set("name", name);
  made.edit("spec").edit("resource").set("name", name);
  return made;
}

/// A pod that requests so much.
Value pod(const std::string& name, const std::string& cpu) {
  Value made = json(R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[{"name":"main","image":"i:1",
      "resources":{"requests":{}}}]}})");
  made.edit("metadata").set("name", name);
  made.edit("spec").edit("containers").edit_items()[0].edit("resources").edit("requests").set("cpu", cpu);
  return made;
}

// As an API server's admission: a pod that is created past every controller is charged, or refused.
TEST(QuotaOfAMember, RefusesPodsThatAreCreatedDirectly) {
  Fleet fleet;
  fleet.member("m1");
  const ApiClient api = fleet.api("m1");
  const std::string pods = "/api/v1/namespaces/default/pods";
  const auto used = [&] {
    return to_json(api.get("/api/v1/namespaces/default/resourcequotas/few").json["status"]["used"]);
  };
  fleet.kubectl_ok({"create", "quota", "few", "--hard=pods=12,requests.cpu=2"}, "", "m1");
  ASSERT_TRUE(eventually([&] { return used() == R"({"pods":"0","requests.cpu":"0"})"; })) << used();

  EXPECT_EQ(api.post(pods, pod("a", "1200m")).status, 201);
  EXPECT_EQ(used(), R"({"pods":"1","requests.cpu":"1200m"})");
  const std::string refusal =
      "pods \"b\" is forbidden: exceeded quota: few, requested: requests.cpu=1200m, used: requests.cpu=1200m, limited: "
      "requests.cpu=2";
  for (const char* dry_run : {"", "?dryRun=All"}) {
    const Answer refused = api.post(pods + dry_run, pod("b", "1200m"));
    EXPECT_EQ(refused.status, 403) << refused;
    EXPECT_EQ(refused.reason(), "Forbidden");
    EXPECT_EQ(refused.message(), refusal);
  }
  const Ran ran = fleet.kubectl({"create", "-f", "-"}, to_json(pod("b", "1200m")), "m1");
  EXPECT_TRUE(ran.says(refusal)) << ran;
  Value unstated = pod("b", "1");
  unstated.edit("spec").edit("containers").edit_items()[0].erase("resources");
  EXPECT_EQ(api.post(pods, unstated).message(),
            "pods \"b\" is forbidden: failed quota: few: must specify requests.cpu for: main");
  EXPECT_EQ(api.post(pods + "?dryRun=All", pod("b", "100m")).status, 201);
  EXPECT_EQ(used(), R"({"pods":"1","requests.cpu":"1200m"})") << "a dry run uses nothing";

  // Eleven more pods are permitted, but only eight of 100m have room.
  std::atomic<int> accepted{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      const ApiClient own = fleet.api("m1");
      for (int number = 0; number < 4; ++number) {
        const std::string name = "p-" + std::to_string(writer) + "-" + std::to_string(number);
        const Answer answer = own.post(pods, pod(name, "100m"));
        EXPECT_TRUE(answer.status == 201 || answer.status == 403) << answer;
        if (answer.status == 201) ++accepted;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(accepted, 8);
  EXPECT_EQ(used(), R"({"pods":"9","requests.cpu":"2"})");
  fleet.kubectl_ok({"delete", "pod", "a", "--force", "--grace-period=0"}, "", "m1");
  EXPECT_TRUE(eventually([&] { return used() == R"({"pods":"8","requests.cpu":"800m"})"; })) << used();
}

// No scheduler runs: what the API servers accept is decided by the journal's order alone.
TEST(QuotaApiServers, NeverExceedAQuotaTogether_4_3_8_4_3_13) {
  constexpr int kLimit = 50;
  constexpr int kOfAWriter = 25;
  const std::vector<std::string> names = {"plane", "second", "third"};
  Fleet fleet;
  for (const std::string& name : names) {
    std::vector<std::string> options = {"--roles=" + std::string{name == "plane" ? "api,quota,lifecycle" : "api"},
                                        "--journal=sqlite:" + fleet.path("shared/journal.db")};
    if (name == "plane") options.push_back(kAllGates);
    fleet.serve(name, options, true);
  }
  fleet.kubectl_ok({"apply", "-f", "-"}, quota("{overall: {cpu: " + std::to_string(kLimit) + "}}"));

  std::atomic<int> accepted{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 6; ++writer) {
    writers.emplace_back([&, writer] {
      const ApiClient api = fleet.api(names[static_cast<size_t>(writer) % names.size()]);
      for (int number = 0; number < kOfAWriter; ++number) {
        const Answer answer = api.post("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings",
                                       placed_binding("b-" + std::to_string(writer) + "-" + std::to_string(number)));
        if (answer.status == 201) {
          ++accepted;
        } else if (answer.status == 403 && answer.reason() == "QuotaExceeded") {
          EXPECT_EQ(answer.message(), kDenied +
                                          "FederatedResourceQuota(default/limits) exceeded for resource cpu: "
                                          "requested sum 51, limit 50.");
          ++refused;
        } else {
          ADD_FAILURE() << answer;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(accepted, kLimit);
  EXPECT_EQ(refused, 6 * kOfAWriter - kLimit);
  for (const std::string& name : names) {
    EXPECT_EQ(to_json(fleet.api(name).get(kQuotas + "limits").json["status"]["overallUsed"]),
              R"({"cpu":")" + std::to_string(kLimit) + R"("})");
  }
}

}  // namespace
}  // namespace shiplog::e2e
