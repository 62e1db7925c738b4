#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/cluster.h"
#include "events/state/object.h"
#include "events/state/placement.h"
#include "events/state/policy.h"
#include "events/state/quota.h"
#include "tests/support/given.h"

namespace shiplog {
namespace {

using given::json;

LabelSelector selector(std::string_view text) { return label_selector_from(json(text)); }

TEST(LabelSelectorView, EveryRequirementMustHold) {
  const Value labels = json(R"({"app": "web", "tier": "front"})");
  EXPECT_TRUE(selector(R"({})").matches(labels));
  EXPECT_TRUE(selector(R"({"matchLabels": {"app": "web", "tier": "front"}})").matches(labels));
  EXPECT_FALSE(selector(R"({"matchLabels": {"app": "web", "tier": "back"}})").matches(labels));
  EXPECT_TRUE(
      selector(R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "web"]}]})").matches(labels));
  EXPECT_TRUE(
      selector(R"({"matchExpressions": [{"key": "none", "operator": "NotIn", "values": ["a"]}]})").matches(labels));
  EXPECT_TRUE(selector(R"({"matchExpressions": [{"key": "app", "operator": "Exists"}]})").matches(labels));
  EXPECT_FALSE(selector(R"({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]})").matches(labels));
  EXPECT_TRUE(selector(R"({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})").matches(nullptr));
}

TEST(LabelSelectorView, MatchesNothingWhenAnOperatorIsNotAllowed) {  // D-9
  for (const auto* text : {R"({"matchExpressions": [{"key": "app", "operator": "Like", "values": ["web"]}]})",
                           R"({"matchExpressions": [{"key": "app", "operator": "In"}]})",
                           R"({"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["web"]}]})"}) {
    EXPECT_FALSE(selector(text).valid) << text;
    EXPECT_FALSE(selector(text).matches(json(R"({"app": "web"})"))) << text;
  }
}

Value deployment() {
  return json(R"({"apiVersion": "apps/v1", "kind": "Deployment",
                  "metadata": {"namespace": "default", "name": "web", "labels": {"app": "web"}}})");
}

SelectorMatch policy_match(const std::string& ns, const std::string& selectors) {
  return match(policy_from(json(R"({"metadata": {"name": "p", "namespace": ")" + ns +
                                R"("}, "spec": {"resourceSelectors": )" + selectors + "}}")),
               deployment());
}

TEST(PolicyView, RanksNameAboveLabelsAboveAll) {  // D-8 to D-10
  EXPECT_EQ(policy_match("default", R"([{"apiVersion": "apps/v1", "kind": "Deployment"}])"), SelectorMatch::kAll);
  EXPECT_EQ(policy_match("default", R"([{"apiVersion": "apps/v1", "kind": "Deployment", "labelSelector": {}}])"),
            SelectorMatch::kLabels);
  EXPECT_EQ(policy_match("default", R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                                         "labelSelector": {"matchLabels": {"app": "other"}}}])"),
            SelectorMatch::kName);
  EXPECT_EQ(policy_match("default", R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
                                        {"apiVersion": "apps/v1", "kind": "Deployment"}])"),
            SelectorMatch::kAll);
  EXPECT_EQ(policy_match("default", R"([{"apiVersion": "apps/v1beta1", "kind": "Deployment"}])"), SelectorMatch::kNone);
}

TEST(PolicyView, ReachesOnlyItsOwnNamespaceUnlessClusterScoped) {  // D-8
  const std::string all = R"([{"apiVersion": "apps/v1", "kind": "Deployment"}])";
  EXPECT_EQ(policy_match("other", all), SelectorMatch::kNone);
  EXPECT_EQ(policy_match("", all), SelectorMatch::kAll);
  EXPECT_EQ(policy_match("", R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "other"}])"),
            SelectorMatch::kNone);
}

TEST(ClusterView, ReadsWhatServicesDecideOn) {  // S-64
  const Cluster cluster = cluster_from(json(R"({
    "metadata": {"name": "m1", "uid": "u", "labels": {"env": "prod"}},
    "spec": {"syncMode": "Push", "zone": "z1", "region": "r1", "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}],
               "apiEnablements": [{"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]},
                                  {"groupVersion": "apps/v1", "resources": [{"name": "d", "kind": "Deployment"}]}],
               "resourceSummary": {"allocatable": {"cpu": "2", "pods": 110, "storage": "2Ki"}, "allocated": {"cpu": "1500m"},
                                   "allocating": {"cpu": "100m", "memory": "1Gi"}}}})"));
  EXPECT_TRUE(cluster.ready());
  EXPECT_EQ(cluster.api_enablements,
            (SharedList<std::string>{std::vector<std::string>{"apps/v1, Kind=Deployment", "v1, Kind=Pod"}}));
  EXPECT_EQ(cluster.zones, std::vector<std::string>{"z1"});
  EXPECT_EQ(cluster.taints, (std::vector<Taint>{{"k", "", "NoSchedule"}}));
  EXPECT_EQ(cluster.room, (std::map<std::string, Cluster::Room>{{"cpu", {1, 400, 400}},  // units are rounded up
                                                                {"pods", {110, 110'000, 110'000}},
                                                                {"storage", {2048, 2'048'000, 2048}}}));  // M-4
}

TEST(PlacementView, ExcludeWinsAndAllGivenCriteriaMustHold) {  // S-16, S-17
  Cluster cluster;
  cluster.name = "m1";
  cluster.region = "r1";
  cluster.zones = {"z1", "z2"};
  cluster.labels = {{"env", "prod"}};
  const auto matches = [&](std::string_view text) { return cluster_affinity_from(json(text)).matches(cluster); };
  EXPECT_TRUE(matches("{}"));
  EXPECT_FALSE(matches(R"({"clusterNames": ["m1"], "exclude": ["m1"]})"));
  EXPECT_FALSE(matches(R"({"clusterNames": ["m2"]})"));
  EXPECT_FALSE(matches(R"({"clusterNames": ["m1"], "labelSelector": {"matchLabels": {"env": "test"}}})"));
  const auto field = [](const char* key, const char* op, const char* values) {
    return std::string{R"({"fieldSelector": {"matchExpressions": [{"key": ")"} + key + R"(", "operator": ")" + op +
           R"(", "values": )" + values + "}]}}";
  };
  EXPECT_TRUE(matches(field("zone", "In", R"(["z2", "z9"])")));
  EXPECT_FALSE(matches(field("zone", "NotIn", R"(["z2"])")));
  EXPECT_TRUE(matches(field("region", "In", R"(["r1"])")));
  EXPECT_FALSE(matches(field("provider", "In", R"(["p"])")));
  EXPECT_TRUE(matches(field("provider", "NotIn", R"(["p"])")));  // an empty field is an absent key
}

TEST(PlacementView, FieldSelectorsOfEveryOperator_S_17) {
  const auto matches = [](const char* key, const char* op, const char* values, bool filled) {
    Cluster cluster;
    if (filled) cluster.zones = {"z1", "z2"};
    if (filled) cluster.region = "r1";
    return cluster_affinity_from(json(std::string{R"({"fieldSelector": {"matchExpressions": [{"key": ")"} + key +
                                      R"(", "operator": ")" + op + R"(", "values": )" + values + "}]}}"))
        .matches(cluster);
  };
  for (const char* key : {"zone", "region"}) {
    EXPECT_TRUE(matches(key, "Exists", "[]", true)) << key;
    EXPECT_FALSE(matches(key, "Exists", "[]", false)) << key;
    EXPECT_FALSE(matches(key, "DoesNotExist", "[]", true)) << key;
    EXPECT_TRUE(matches(key, "DoesNotExist", "[]", false)) << key;
    EXPECT_FALSE(matches(key, "Gt", R"(["1"])", true)) << key;
  }
  EXPECT_FALSE(matches("zone", "In", R"(["z1"])", false));
  EXPECT_TRUE(matches("zone", "NotIn", R"(["z1"])", false));
  EXPECT_FALSE(matches("region", "In", R"(["r1"])", false));
  EXPECT_TRUE(matches("region", "NotIn", R"(["r1"])", false));
}

TEST(PlacementView, ReadsTheStrategy) {  // S-44
  const auto strategy = [](std::string_view text) {
    return placement_from(Value::object({{"replicaScheduling", json(text)}})).value().strategy;
  };
  EXPECT_EQ(placement_from(json("{}")).value().strategy, Strategy::kDuplicated);
  EXPECT_EQ(strategy(R"({"replicaSchedulingType": "Divided"})"), Strategy::kStaticWeight);
  EXPECT_EQ(strategy(R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"})"),
            Strategy::kAggregated);
  EXPECT_EQ(strategy(R"({"replicaSchedulingType": "Divided", "weightPreference": {"dynamicWeight":
                         "AvailableReplicas"}})"),
            Strategy::kDynamicWeight);
  EXPECT_FALSE(placement_from(json(R"({"replicaScheduling": {"replicaSchedulingType": "Tripled"}})")).has_value());
}

TEST(TolerationView, MatchesAsKubernetesDoes) {  // 2.3.3
  const auto tolerates = [](std::string_view text, const Taint& taint) {
    return tolerations_from(json(text)).at(0).tolerates(taint);
  };
  const Taint taint{"k", "v", "NoSchedule"};
  EXPECT_TRUE(tolerates(R"([{"operator": "Exists"}])", taint));
  EXPECT_TRUE(tolerates(R"([{"key": "k", "value": "v", "effect": "NoSchedule"}])", taint));
  EXPECT_FALSE(tolerates(R"([{"key": "k", "value": "w"}])", taint));
  EXPECT_FALSE(tolerates(R"([{"key": "k", "operator": "Exists", "effect": "NoExecute"}])", taint));
  EXPECT_FALSE(tolerates(R"([{"key": "k", "operator": "Lt", "value": "v"}])", taint));
  EXPECT_EQ(to_string(taint), "k=v:NoSchedule");
  EXPECT_EQ(to_string(Taint{"k", "", "NoExecute"}), "k:NoExecute");
}

TEST(QuotaView, UsageIsRequestTimesAssignedReplicas) {  // Q-7
  const Value binding = json(R"({"spec": {"replicas": 3, "clusters": [{"name": "a", "replicas": 3},
      {"name": "b", "replicas": 3}], "replicaRequirements": {"resourceRequest": {"cpu": "250m", "memory": "64Mi"}}}})");
  EXPECT_EQ(to_json(to_value(usage_of(binding, false))), to_json(json(R"({"cpu": "1500m", "memory": "384Mi"})")));
  EXPECT_TRUE(usage_of(json(R"({"spec": {"clusters": [{"name": "a"}]}})"), false).empty());
}

TEST(QuotaView, LeavesOutWhatDoesNotParse) {  // Q-14
  EXPECT_EQ(resource_list_from(json(R"({"cpu": "oops", "pods": 3, "memory": "1.5Gi"})")),
            (ResourceList{{"memory", parse_quantity("1536Mi").value()}, {"pods", Quantity::from_units(3)}}));
}

TEST(BindingView, ReadsSpecStatusAndClaim) {  // S-13
  const ObjectKey key{type::kResourceBinding, "default", "web-deployment"};
  const Binding binding = binding_from(key, json(R"({
    "metadata": {"generation": 4, "labels": {"propagationpolicy.karmada.io/permanent-id": "id"},
                 "annotations": {"policy.karmada.io/applied-placement": "{}"}},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
             "replicas": 2, "clusters": [{"name": "m1", "replicas": 2}], "placement": {},
             "gracefulEvictionTasks": [{"fromCluster": "m2"}]},
    "status": {"schedulerObservedGeneration": 3, "conditions": [{"type": "Scheduled", "status": "True",
               "reason": "Success"}]}})"));
  EXPECT_TRUE(binding.claimed);
  EXPECT_TRUE(binding.workload);
  EXPECT_EQ(binding.targets, (std::vector<Target>{{"m1", 2}}));
  EXPECT_EQ(binding.evicting, std::vector<std::string>{"m2"});
  EXPECT_EQ(binding.scheduled_reason, "Success");
  EXPECT_EQ(binding.applied_placement, "{}");
  EXPECT_FALSE(binding_from(key, json(R"({"metadata": {}})")).claimed);
}

TEST(ObjectView, FindsFinalizers) {
  const Value object = json(R"({"metadata": {"finalizers": ["a", "b"]}})");
  EXPECT_TRUE(has_finalizer(object, "b"));
  EXPECT_FALSE(has_finalizer(object, "c"));
  EXPECT_FALSE(has_finalizer(Value{}, "a"));
}

}  // namespace
}  // namespace shiplog
