#include "services/api/admission/test_admit.h"

namespace shiplog::api {
namespace {

const char* const kPolicies = "propagationpolicies.policy.karmada.io";
const char* const kClusterPolicies = "clusterpropagationpolicies.policy.karmada.io";
const char* const kOverrides = "overridepolicies.policy.karmada.io";
const char* const kClusters = "clusters.cluster.karmada.io";

/// A policy for the Deployment "web" with more in its spec.
Value policy(std::string_view more = "") {
  return json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment",)"
              R"("name":"web"}])" +
              std::string{more.empty() ? "" : ","} + std::string{more} + "}}");
}

std::string refused_fields(std::string_view more) { return fields_of(create(kPolicies, policy(more))); }

TEST(PolicyAdmission, FillsInWhatTheDetectorRelies) {  // D-33
  const auto made = create(kPolicies, policy(R"("placement":{"spreadConstraints":[{"maxGroups":2}],
      "replicaScheduling":{"replicaSchedulingType":"Divided"}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& spec = made.value()["spec"];
  EXPECT_EQ(spec["resourceSelectors"][0]["namespace"].as_string(), "default");
  EXPECT_EQ(to_json(spec["placement"]["spreadConstraints"]),
            R"([{"maxGroups":2,"minGroups":1,"spreadByField":"cluster"}])");
  EXPECT_EQ(spec["placement"]["replicaScheduling"]["replicaDivisionPreference"].as_string(), "Weighted");
  EXPECT_EQ(spec["schedulerName"].as_string(), "default-scheduler");
  EXPECT_EQ(spec["preemption"].as_string(), "Never");
  EXPECT_EQ(spec["conflictResolution"].as_string(), "Abort");
  EXPECT_EQ(made.value()["metadata"]["generation"].as_int(), 1);
}

TEST(PolicyAdmission, ServiceImportsBringTheirDependencies) {  // D-33
  const auto made = create(kPolicies, json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[
      {"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceImport"}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_TRUE(made.value()["spec"]["propagateDeps"].as_bool());
}

TEST(PolicyAdmission, FailoverGetsItsGracePeriod) {  // D-33, D-34
  const auto made =
      create(kPolicies, policy(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{}}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["failover"]["application"]["gracePeriodSeconds"].as_int(), 600);
  EXPECT_EQ(refused_fields(R"("failover":{"application":{"decisionConditions":{}}})"), "spec.propagateDeps");
  EXPECT_EQ(refused_fields(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{},
      "purgeMode":"Never","gracePeriodSeconds":5}})"),
            "spec.failover.application.gracePeriodSeconds");
}

TEST(PolicyAdmission, DenialsAreTheWebhooks) {  // D-34, api 2.4
  const auto refused =
      create(kPolicies, policy(R"("suspension":{"dispatching":true,"dispatchingOnClusters":{"clusterNames":["m1"]}})"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(refused.error().message.starts_with(
      "admission webhook \"propagationpolicy.karmada.io\" denied the request: spec.suspension: Invalid value: "))
      << refused.error().message;
}

TEST(PolicyAdmission, RulesOfPlacement) {  // D-34
  EXPECT_EQ(refused_fields(R"("placement":{"clusterAffinity":{},"clusterAffinities":[{"affinityName":"a"}]})"),
            "spec.placement.clusterAffinities");
  EXPECT_EQ(refused_fields(R"("placement":{"clusterAffinities":[{"affinityName":"a"},{"affinityName":"a"},
      {"affinityName":"-x"}]})"),
            "spec.placement.clusterAffinities[1].affinityName,spec.placement.clusterAffinities[2].affinityName");
  EXPECT_EQ(refused_fields(R"("placement":{"clusterAffinity":{"fieldSelector":{"matchExpressions":[
      {"key":"planet","operator":"Exists"}]}}})"),
            "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key,"
            "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator");
  EXPECT_EQ(refused_fields(R"("placement":{"spreadConstraints":[{"spreadByField":"region"}]})"),
            "spec.placement.spreadConstraints");
  EXPECT_EQ(
      refused_fields(R"("placement":{"spreadConstraints":[{"spreadByField":"cluster","minGroups":3,"maxGroups":2}]})"),
      "spec.placement.spreadConstraints[0].maxGroups");
  EXPECT_EQ(refused_fields(R"("placement":{"clusterTolerations":[{"key":"a","operator":"Gt","value":"1"}]})"),
            "spec.placement.clusterTolerations[0].operator");
  EXPECT_EQ(refused_fields(R"("placement":{"clusterAffinities":[{"affinityName":"a","overflowAffinities":[
      {"affinityName":"a"}]}]})"),
            "spec.placement.clusterAffinities[0].overflowAffinities,"
            "spec.placement.clusterAffinities[0].overflowAffinities,"
            "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName");
}

TEST(PolicyAdmission, SelectorsStayInTheNamespace) {  // D-34
  EXPECT_EQ(fields_of(create(kPolicies, json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[
      {"apiVersion":"v1","kind":"ConfigMap","namespace":"other"}]}})"))),
            "spec.resourceSelectors[0].namespace");
  EXPECT_TRUE(create(kClusterPolicies, json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[
      {"apiVersion":"v1","kind":"ConfigMap","namespace":"other"}]}})"))
                  .has_value());
  EXPECT_EQ(fields_of(create(kPolicies, json(R"({"metadata":{"name":"p"},"spec":{"preemption":"Always",
      "resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap"}]}})"))),
            "spec.resourceSelectors[0].name");
}

TEST(PolicyAdmission, SchedulerAndPermanentIdStay) {  // D-34
  Value old = stored(kPolicies, policy());
  old.edit("metadata").edit("labels").set("propagationpolicy.karmada.io/permanent-id", "id-1");
  Value object = old;
  object.edit("spec").set("schedulerName", "mine");
  object.edit("metadata").erase("labels");
  EXPECT_EQ(fields_of(update(kPolicies, old, object)),
            "spec.schedulerName,metadata.labels.propagationpolicy.karmada.io/permanent-id");
  EXPECT_TRUE(update(kPolicies, old, old).has_value());
}

TEST(PolicyAdmission, CopiedPoliciesLoseTheirPermanentId) {
  Value copy = policy();
  copy.edit("metadata").edit("labels").set("propagationpolicy.karmada.io/permanent-id", "id-1");
  EXPECT_EQ(create(kPolicies, copy).value()["metadata"]["labels"].size(), 0U);
}

TEST(PolicyAdmission, SchemasComeBeforeTheWebhook) {
  const auto refused = create(kPolicies, json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[]}})"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST(OverrideAdmission, RulesAndDeprecatedFieldsExcludeEachOther) {  // D-34, api 4.2
  EXPECT_EQ(fields_of(create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"targetCluster":{},"overriders":
      {"plaintext":[{"path":"/a","operator":"remove"}]},"overrideRules":[{"overriders":{}}]}})"))),
            "spec.targetCluster,spec.overriders");
  const auto made = create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"resourceSelectors":[
      {"apiVersion":"v1","kind":"ConfigMap"}],"overrideRules":[{"overriders":{"plaintext":[
      {"path":"/data/a","operator":"add","value":"x"}]}}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["resourceSelectors"][0]["namespace"].as_string(), "default");
}

TEST(OverrideAdmission, FieldOverriders) {  // D-34
  EXPECT_EQ(fields_of(create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"overrideRules":[{"overriders":{
      "fieldOverrider":[{"fieldPath":"data"},{"fieldPath":"/data/a","json":[{"subPath":"/x","operator":"add"},
      {"subPath":"/x","operator":"remove","value":1}]}]}}]}})"))),
            "spec.overrideRules[0].overriders.fieldOverrider[0].fieldPath,"
            "spec.overrideRules[0].overriders.fieldOverrider[0],"
            "spec.overrideRules[0].overriders.fieldOverrider[1].json[0].value,"
            "spec.overrideRules[0].overriders.fieldOverrider[1].json[1].value");
}

TEST(ClusterAdmission, GetsResourceModelsOnCreateOnly) {  // 1.2.10
  const Value made = stored(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}})"));
  const Value& models = made["spec"]["resourceModels"];
  ASSERT_EQ(models.size(), 9U);
  EXPECT_EQ(to_json(models[1]), R"({"grade":1,"ranges":[{"max":"2","min":"1","name":"cpu"},)"
                                R"({"max":"16Gi","min":"4Gi","name":"memory"}]})");
  Value object = made;
  object.edit("spec").erase("resourceModels");
  const auto updated = update(kClusters, made, object);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_FALSE(updated.value()["spec"].contains("resourceModels"));
}

TEST(ClusterAdmission, StampsTaintsAndMovesTheZone) {  // 1.2.5, 1.2.7
  const auto made = create(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push","zone":"z1","taints":[
      {"key":"a","effect":"NoExecute"},{"key":"a","effect":"NoSchedule"}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["taints"][0]["timeAdded"].as_string(), "2026-01-02T03:04:05Z");
  EXPECT_FALSE(made.value()["spec"]["taints"][1].contains("timeAdded"));
  EXPECT_EQ(to_json(made.value()["spec"]["zones"]), R"(["z1"])");
  EXPECT_FALSE(made.value()["spec"].contains("zone"));
}

TEST(ClusterAdmission, IsChecked) {  // 1.2.1 to 1.2.8
  const auto refused = [](std::string_view spec, const char* name = "m1") {
    Value object = Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", json(spec)}});
    return fields_of(create(kClusters, object));
  };
  EXPECT_EQ(refused(R"({"syncMode":"Push"})", "a.b"), "metadata.name");
  EXPECT_EQ(refused(R"({})"), "spec.syncMode");
  EXPECT_EQ(refused(R"({"syncMode":"Drag"})"), "spec.syncMode");
  for (const char* endpoint : {"m1:6443", "https://u:p@m1", "https://m1#x", "https://m1?x=1", "https://"}) {
    EXPECT_EQ(refused(R"({"syncMode":"Push","apiEndpoint":")" + std::string{endpoint} + "\"}"), "spec.apiEndpoint");
  }
  EXPECT_EQ(refused(R"({"syncMode":"Push","apiEndpoint":"https://10.0.0.1:6443/x"})"), "no error");
  EXPECT_EQ(refused(R"({"syncMode":"Push","proxyURL":"ftp://x"})"), "spec.proxyURL");
  EXPECT_EQ(refused(R"({"syncMode":"Push","zone":"a","zones":["b"]})"), "spec.zone");
  EXPECT_EQ(refused(R"({"syncMode":"Push","taints":[{"key":"a","effect":"PreferNoSchedule"}]})"),
            "spec.taints[0].effect");
  EXPECT_EQ(
      refused(R"({"syncMode":"Push","taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]})"),
      "spec.taints[1]");
  EXPECT_EQ(refused(R"({"syncMode":"Push","resourceModels":[{"grade":1,"ranges":[{"name":"cpu","min":"3","max":"9"}]},
      {"grade":0,"ranges":[{"name":"cpu","min":"1","max":"2"}]}]})"),
            "spec.resourceModels[1].ranges[0]");
  EXPECT_EQ(refused(R"({"syncMode":"Push","resourceModels":[{"grade":1,"ranges":[{"name":"cpu","min":"2","max":"9"}]},
      {"grade":0,"ranges":[{"name":"cpu","min":"1","max":"2"}]}]})"),
            "no error");
}

TEST(QuotaAdmission, AssignmentsFitTheWhole) {  // 4.1.2
  const auto refused = [](std::string_view spec) {
    Value object = Value::object({{"metadata", Value::object({{"name", "q"}})}, {"spec", json(spec)}});
    return fields_of(create("federatedresourcequotas.policy.karmada.io", object));
  };
  EXPECT_EQ(refused(R"({"overall":{"cpu":"10"},"staticAssignments":[{"clusterName":"m1","hard":{"cpu":"4"}},
      {"clusterName":"m2","hard":{"cpu":6}}]})"),
            "no error");
  EXPECT_EQ(refused(R"({"overall":{"cpu":"9"},"staticAssignments":[{"clusterName":"m1","hard":{"cpu":"4"}},
      {"clusterName":"m2","hard":{"cpu":"6","memory":"1Gi"}}]})"),
            "spec.overall[cpu],spec.overall[memory]");
  EXPECT_EQ(refused(R"({"overall":{"cpu":"-1","pods":"1500m","wheels":"4"}})"),
            "spec.overall[cpu],spec.overall[pods],spec.overall[wheels]");
}

TEST(TaintPolicyAdmission, NoTwinsButEvictionsAreAllowed) {  // 2.4.12, with upstream's --allow-no-execute flag on
  const auto refused =
      create("clustertaintpolicies.policy.karmada.io", json(R"({"metadata":{"name":"t"},"spec":{"taints":[
      {"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}]}})"));
  EXPECT_EQ(fields_of(refused), "spec.taints[1]");
  EXPECT_TRUE(
      message_of(refused).starts_with("admission webhook \"clustertaintpolicy.karmada.io\" denied the request: "))
      << message_of(refused);
}

}  // namespace
}  // namespace shiplog::api
