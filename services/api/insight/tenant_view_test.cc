#include "services/api/insight/tenant_view.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

using test::json;

/// Who may get what is in the namespace team-a, and nothing else.
InsightReader tenant() {
  return {false, [](const ObjectKey& object) { return object.ns == "team-a"; }};
}

const char* const kHistory =
    R"({"kind":"History","object":{"type":"deployments.apps","namespace":"team-a","name":"web"},
  "revision":90,"internal":"x","items":[
  {"revision":80,"time":"t3","offset":8,"operation":"updated","who":{"user":"","service":"binder"},"verb":"decide",
   "why":{"event":"BindingPut","summary":"by secret-policy","object":{"type":"resourcebindings.work.karmada.io",
     "namespace":"team-a","name":"web-deployment"},"events":[{"summary":"secret-policy"}],"explanation":{"a":"secret-policy"},
     "causes":[{"offset":7,"revision":79,"user":"secret-admin","event":"ObjectUpdated",
       "object":{"type":"clusterpropagationpolicies.policy.karmada.io","name":"secret-policy"}},
      {"offset":6,"revision":70,"user":"jane","event":"ObjectUpdated",
       "object":{"type":"deployments.apps","namespace":"team-a","name":"web"}}]},
   "changes":[{"path":"metadata.labels","change":"added"}]},
  {"revision":70,"time":"t2","offset":6,"operation":"updated","verb":"update",
   "who":{"user":"jane","service":"api","sourceIP":"10.1.1.1","userAgent":"kubectl"},
   "why":{"event":"ObjectUpdated","summary":"s","events":[],"causes":[]},"changes":[]},
  {"revision":60,"time":"t1","offset":5,"operation":"updated","verb":"update",
   "who":{"user":"secret-admin","service":"api","sourceIP":"10.1.1.2"},
   "why":{"event":"ObjectUpdated","object":{"type":"namespaces","name":"other"},"causes":[]},"changes":[]},
  {"revision":10,"time":"t0","offset":1,"operation":"created","who":{"user":"before"},"why":{"causes":[]},"changes":[]}
  ]})";

TEST(TenantView, HistoryShowsWhatHappenedToTheObjectAndHidesForeignCauses) {
  const Value shown = tenant_history(json(kHistory), Revision{50}, tenant());
  EXPECT_EQ(
      to_json(shown),
      R"({"items":[)"
      R"({"changes":[{"change":"added","path":"metadata.labels"}],"operation":"updated","revision":80,"time":"t3",)"
      R"("verb":"decide","who":{"service":"binder","user":""},"why":{"causes":[{"hidden":true,"revision":79},)"
      R"({"event":"ObjectUpdated","object":{"name":"web","namespace":"team-a","type":"deployments.apps"},)"
      R"("revision":70,"user":"jane"}],"event":"BindingPut","object":{"name":"web-deployment",)"
      R"("namespace":"team-a","type":"resourcebindings.work.karmada.io"}}},)"
      R"({"changes":[],"operation":"updated","revision":70,"time":"t2","verb":"update",)"
      R"("who":{"service":"api","user":"jane"},"why":{"causes":[],"event":"ObjectUpdated"}},)"
      R"({"changes":[],"operation":"updated","revision":60,"time":"t1","verb":"update",)"
      R"("who":{"hidden":true,"service":"api"},"why":{"causes":[]}}],)"
      R"("kind":"History","limited":true,"object":{"name":"web","namespace":"team-a","type":"deployments.apps"},)"
      R"("revision":90})");
  EXPECT_EQ(to_json(shown).find("secret"), std::string::npos);
}

TEST(TenantView, BlameAndDiffHideTheSame) {
  Value blame = json(kHistory);
  blame.set("origins", blame["items"]);
  blame.set("items", json(R"([{"path":"spec","value":"1","origin":3}])"));
  const std::string shown = to_json(tenant_blame(blame, Revision{50}, tenant()));
  for (const char* hidden : {"secret", "10.1.1", "before", "kubectl"}) {
    EXPECT_EQ(shown.find(hidden), std::string::npos) << hidden;
  }
  const Value from = json(kHistory);
  const Value comparison = Value::object(
      {{"kind", "Comparison"},
       {"items", Value::array({Value::object({{"object", from["object"]}, {"versions", from["items"]}})})}});
  const Value compared = tenant_comparison(comparison, Revision{50}, tenant());
  EXPECT_EQ(compared["items"][0]["versions"].size(), 3U);
  EXPECT_EQ(to_json(compared).find("secret"), std::string::npos);
}

const char* const kWhy =
    R"({"kind":"Why","revision":90,"object":{"type":"deployments.apps","namespace":"team-a","name":"web"},
  "binding":{"type":"resourcebindings.work.karmada.io","namespace":"team-a","name":"web-deployment"},
  "notes":["no scheduler is running"],"interpreters":{"status":"secret-customization"},
  "policy":{"summary":"secret-policy has it","steps":["beat secret-policy-2"],"factsNow":[{"policy":"secret-policy"}],
    "since":{"revision":5},"now":{"revision":6}},
  "placement":{"outcome":"PlacementDecided","summary":"on secret-cluster","steps":["secret-cluster"],"made":{"revision":7},
    "targets":[{"name":"member1","replicas":2}]},
  "clusters":[{"cluster":"member1","replicas":2},{"cluster":"secret-cluster","verdicts":[{"reason":"taint secret=1"}]}],
  "members":[{"cluster":"member1","work":{"name":"w"},"steps":["secret-override"],"conditions":[{"type":"Applied"}],
    "now":["secret"]}]})";

Value binding() {
  return json(R"({"metadata":{"labels":{"clusterpropagationpolicy.karmada.io/permanent-id":"1"},"annotations":{
    "clusterpropagationpolicy.karmada.io/name":"secret-policy"}}})");
}

TEST(TenantView, WhyIsLimitedToTheTenantsOwnBindingAndItsClusters) {
  EXPECT_EQ(to_json(tenant_why(json(kWhy), binding(), tenant())),
            R"({"binding":{"name":"web-deployment","namespace":"team-a","type":"resourcebindings.work.karmada.io"},)"
            R"("hiddenClusters":2,"kind":"Why","limited":true,)"
            R"("members":[{"cluster":"member1","conditions":[{"type":"Applied"}],"hidden":true}],)"
            R"("notes":["2 clusters are not shown: verdicts need the permission to get the cluster and the policy"],)"
            R"("object":{"name":"web","namespace":"team-a","type":"deployments.apps"},)"
            R"("placement":{"made":{"revision":7},"outcome":"PlacementDecided",)"
            R"("summary":"it was placed on member1:2","targets":[{"name":"member1","replicas":2}]},)"
            R"("policy":{"hidden":true,"now":{"revision":6},"since":{"revision":5},)"
            R"("summary":"a policy that you may not get has it"},"revision":90})");
  // With the permission for the template alone, not even the clusters that it is on.
  const InsightReader templates{false, [](const ObjectKey& object) { return object.type == "deployments.apps"; }};
  const std::string least = to_json(tenant_why(json(kWhy), binding(), templates));
  EXPECT_EQ(least.find("member1"), std::string::npos) << least;
  EXPECT_EQ(least.find("secret"), std::string::npos) << least;
}

TEST(TenantView, ClustersThatAUserWroteAreNotThoseOfThePlacement) {
  Value answer = json(kWhy);
  answer.edit("placement").set("changed", json(R"({"revision":8,"user":"secret-admin"})"));
  const Value shown = tenant_why(answer, binding(), tenant());
  EXPECT_EQ(shown["placement"]["summary"].str(), "its clusters were changed since: it is on member1:2");
  EXPECT_EQ(to_json(shown).find("secret"), std::string::npos);
}

TEST(TenantView, WhyShowsVerdictsToThoseWhoMayGetPolicyAndCluster) {
  const InsightReader reader{false, [](const ObjectKey& object) { return object.name != "secret-cluster"; }};
  const Value shown = tenant_why(json(kWhy), binding(), reader);
  EXPECT_EQ(shown["policy"]["object"]["name"].str(), "secret-policy");
  EXPECT_EQ(shown["policy"]["summary"].str(), "ClusterPropagationPolicy secret-policy has it");
  EXPECT_EQ(shown["clusters"].size(), 1U);
  EXPECT_EQ(shown["hiddenClusters"].as_int(), 1);
  EXPECT_EQ(to_json(shown).find("secret-cluster"), std::string::npos);
}

TEST(TenantView, AnObjectWithoutABindingNamesNoPolicies) {
  const Value answer = json(R"({"kind":"Why","revision":1,"object":{"type":"deployments.apps","namespace":"team-a",
    "name":"web"},"summary":"ClusterPropagationPolicy secret-policy selects it; cluster secret-cluster"})");
  EXPECT_EQ(to_json(tenant_why(answer, Value{}, tenant())).find("secret"), std::string::npos);
}

// A namespace that was deleted and made again is another one: the earlier one's objects belonged to others.
TEST(TenantView, ObjectsAreShownFromTheCreationOfTheirNamespaceOn) {
  TestFleet fleet;
  const ObjectKey ns{type::kNamespace, "", "team-a"};
  const ObjectKey map = config_map("team-a", "settings");
  fleet.create(ns);
  fleet.create(map, "of the first team");
  fleet.remove(map);
  fleet.remove(ns);
  fleet.create(ns);
  const Revision again = fleet.revision();
  fleet.create(map, "of the second team");
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(must(oldest_shown(view, map)), again);
  EXPECT_EQ(must(oldest_shown(view, ns)), again);
  EXPECT_EQ(must(oldest_shown(view, {type::kCluster, "", "m1"})), Revision{});
  EXPECT_TRUE(check_shown(again, std::nullopt));
  EXPECT_TRUE(check_shown(again, again));
  EXPECT_FALSE(check_shown(again, Revision{again.value - 1}));
}

}  // namespace
}  // namespace shiplog::api
