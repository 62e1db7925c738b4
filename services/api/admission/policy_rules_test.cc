#include "events/base/quantity.h"
#include "services/api/admission/deletion.h"
#include "tests/support/admit.h"

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

std::string refused_in_spec(std::string_view more) { return fields_of(create(kPolicies, policy(more))); }

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

std::string message_of_failover(const char* application) {
  const auto made =
      create(kPolicies,
             policy((R"("propagateDeps":true,"failover":{"application":)" + std::string{application} + "}").c_str()));
  return made ? "" : made.error().message;
}

TEST(PolicyAdmission, ApplicationFailoverIsDefaulted_3_1) {
  const auto made =
      create(kPolicies, policy(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{}},
      "cluster":{}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["failover"],
            json(R"({"application":{"decisionConditions":{"tolerationSeconds":300},"purgeMode":"Gracefully",
                     "gracePeriodSeconds":600},"cluster":{"purgeMode":"Gracefully"}})"));
  const auto directly = create(kPolicies, policy(R"("propagateDeps":true,"failover":{"application":{
      "decisionConditions":{"tolerationSeconds":0},"purgeMode":"Directly"}})"));
  ASSERT_TRUE(directly.has_value()) << message_of(directly);
  EXPECT_EQ(directly.value()["spec"]["failover"]["application"],
            json(R"({"decisionConditions":{"tolerationSeconds":0},"purgeMode":"Directly"})"));
}

TEST(PolicyAdmission, ApplicationFailoverIsValidated_3_1_1) {
  const auto says = [](const char* application, std::string_view words) {
    const std::string message = message_of_failover(application);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  says(
      R"({"decisionConditions":{},"purgeMode":"Never","gracePeriodSeconds":5})",
      "spec.failover.application.gracePeriodSeconds: Invalid value: 5: only takes effect when purgeMode is gracefully");
  says(R"({"decisionConditions":{},"gracePeriodSeconds":0})",
       "spec.failover.application.gracePeriodSeconds: Invalid value: 0: must be greater than 0");
  says(R"({"decisionConditions":{"tolerationSeconds":-1}})",
       "spec.failover.application.decisionConditions.tolerationSeconds: Invalid value: -1: must be greater than or "
       "equal "
       "to 0");
  says(R"({"decisionConditions":{},"purgeMode":"Sometimes"})", "spec.failover.application.purgeMode");
  says(R"({})", "decisionConditions");
  says(R"({"decisionConditions":{},"statePreservation":{"rules":[{"aliasLabelName":"-a","jsonPath":"{.x}"}]}})",
       "spec.failover.application.statePreservation.rules[0].aliasLabelName: Invalid value: \"-a\"");
  const auto no_dependencies = create(kPolicies, policy(R"("failover":{"application":{"decisionConditions":{}}})"));
  ASSERT_FALSE(no_dependencies.has_value());
  EXPECT_NE(
      no_dependencies.error().message.find("spec.propagateDeps: Invalid value: false: application failover is set, "
                                           "propagateDeps must be true"),
      std::string::npos)
      << no_dependencies.error().message;
}

TEST(PolicyAdmission, FailoverGetsItsGracePeriod) {  // D-33, D-34, 3.1.1
  const auto made =
      create(kPolicies, policy(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{}}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["failover"]["application"]["gracePeriodSeconds"].as_int(), 600);
  EXPECT_EQ(refused_in_spec(R"("failover":{"application":{"decisionConditions":{}}})"), "spec.propagateDeps");
  EXPECT_EQ(refused_in_spec(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{},
      "purgeMode":"Never","gracePeriodSeconds":5}})"),
            "spec.failover.application.gracePeriodSeconds");
}

TEST(PolicyAdmission, DenialsAreTheWebhooks) {  // D-34, KIND-20, 5.1.1
  const auto refused =
      create(kPolicies, policy(R"("suspension":{"dispatching":true,"dispatchingOnClusters":{"clusterNames":["m1"]}})"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(refused.error().message.starts_with(
      "admission webhook \"propagationpolicy.karmada.io\" denied the request: spec.suspension: Invalid value: "))
      << refused.error().message;
  EXPECT_TRUE(refused.error().message.ends_with(
      ": suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames"))  // 5.1.1
      << refused.error().message;
  const auto grace =
      create(kPolicies, policy(R"("propagateDeps":true,"failover":{"application":{"decisionConditions":{},
      "purgeMode":"Never","gracePeriodSeconds":5}})"));
  EXPECT_TRUE(message_of(grace).ends_with("only takes effect when purgeMode is gracefully")) << message_of(grace);
}

TEST(PolicyAdmission, RulesOfPlacement) {  // D-34
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterAffinity":{},"clusterAffinities":[{"affinityName":"a"}]})"),
            "spec.placement.clusterAffinities");
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterAffinities":[{"affinityName":"a"},{"affinityName":"a"},
      {"affinityName":"-x"}]})"),
            "spec.placement.clusterAffinities[1].affinityName,spec.placement.clusterAffinities[2].affinityName");
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterAffinity":{"fieldSelector":{"matchExpressions":[
      {"key":"planet","operator":"Exists"}]}}})"),
            "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key,"
            "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator");
  EXPECT_EQ(refused_in_spec(R"("placement":{"spreadConstraints":[{"spreadByField":"region"}]})"),
            "spec.placement.spreadConstraints");
  EXPECT_EQ(
      refused_in_spec(R"("placement":{"spreadConstraints":[{"spreadByField":"cluster","minGroups":3,"maxGroups":2}]})"),
      "spec.placement.spreadConstraints[0].maxGroups");
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterTolerations":[{"key":"a","operator":"Gt","value":"1"}]})"),
            "spec.placement.clusterTolerations[0].operator");
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterAffinities":[{"affinityName":"a","overflowAffinities":[
      {"affinityName":"a"}]}]})"),
            "spec.placement.clusterAffinities[0].overflowAffinities,"
            "spec.placement.clusterAffinities[0].overflowAffinities,"
            "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName");
}

TEST(PolicyAdmission, MoreRulesOfPlacement_D_34) {
  const auto spread = [](const std::string& constraints) {
    return refused_in_spec(R"("placement":{"spreadConstraints":[)" + constraints + "]}");
  };
  const std::string root = "spec.placement.spreadConstraints";
  const std::string by_cluster = R"({"spreadByField":"cluster","maxGroups":2})";
  EXPECT_EQ(spread(by_cluster + R"(,{"spreadByField":"cluster","maxGroups":3})"), root);
  EXPECT_EQ(spread(R"({"spreadByField":"cluster","spreadByLabel":"tier"})"), root + "[0].spreadByLabel");
  EXPECT_EQ(spread(R"({"spreadByField":"cluster","minGroups":-1,"maxGroups":-1})"),
            root + "[0].minGroups," + root + "[0].maxGroups");
  EXPECT_EQ(spread(by_cluster), "no error");

  const auto affinity = [](const char* own, const char* anti) {
    return refused_in_spec(std::string{R"("placement":{"workloadAffinity":{"affinity":{"groupByLabelKey":")"} + own +
                           R"("},"antiAffinity":{"groupByLabelKey":")" + anti + R"("}}})");
  };
  EXPECT_EQ(affinity("app", "app"), "spec.placement.workloadAffinity");
  EXPECT_EQ(affinity("app", "-x"), "spec.placement.workloadAffinity.antiAffinity.groupByLabelKey");
  EXPECT_EQ(affinity("app", "tier"), "no error");

  const auto overflow = [](const char* own, const char* tiers, const char* scheduling) {
    return refused_in_spec(std::string{R"("placement":{"clusterAffinities":[{"affinityName":"a")"} + own +
                           R"(,"overflowAffinities":[)" + tiers + R"(]}],"replicaScheduling":)" + scheduling + "}");
  };
  const char* names = R"(,"clusterNames":["m1"])";
  const char* aggregated = R"({"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"})";
  const char* tier = R"({"affinityName":"b","clusterNames":["m2"]})";
  const std::string term = "spec.placement.clusterAffinities[0].overflowAffinities";
  EXPECT_EQ(overflow(names, tier, aggregated), "no error");
  EXPECT_EQ(overflow(names, tier, R"({"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted",
      "weightPreference":{"dynamicWeight":"AvailableReplicas"}})"),
            "no error");
  EXPECT_EQ(overflow(names, tier, R"({"replicaSchedulingType":"Divided"})"), term);
  EXPECT_EQ(overflow("", tier, aggregated), term) << "nothing of its own";
  EXPECT_EQ(refused_in_spec(R"("placement":{"clusterTolerations":[{"key":"a","operator":"Lt","value":"1"}]})"),
            "spec.placement.clusterTolerations[0].operator");
}

/// Of both kinds of policies, when they are created and when they are changed.
TEST(PolicyAdmission, TheSameIsRefusedOfBothKindsAndOfUpdates_D_34) {
  const std::string divided = R"({"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted",
      "weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["m1"]},"weight":1}]}})";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"("placement":{"clusterAffinity":{},"clusterAffinities":[{"affinityName":"a"}]})",
       "spec.placement.clusterAffinities"},
      {R"("placement":{"spreadConstraints":[{"spreadByField":"region"}]})", "spec.placement.spreadConstraints"},
      {R"("placement":{"clusterTolerations":[{"key":"a","operator":"Lt","value":"1"}]})",
       "spec.placement.clusterTolerations[0].operator"},
      {R"("placement":{"workloadAffinity":{"affinity":{"groupByLabelKey":"a"},"antiAffinity":{"groupByLabelKey":"a"}}})",
       "spec.placement.workloadAffinity"},
      {R"("placement":{"clusterAffinities":[{"affinityName":"a","clusterNames":["m1"],"overflowAffinities":[
          {"affinityName":"b","clusterNames":["m2"]}]}],"replicaScheduling":)" +
           divided + "}",
       "spec.placement.clusterAffinities[0].overflowAffinities"},
      {R"("suspension":{"dispatching":true,"dispatchingOnClusters":{"clusterNames":["m1"]}})", "spec.suspension"},
      {R"("failover":{"application":{"decisionConditions":{}}})", "spec.propagateDeps"}};
  for (const char* kind : {kPolicies, kClusterPolicies}) {
    const Value old = stored(kind, policy());
    for (const auto& [spec, field] : refused) {
      EXPECT_EQ(fields_of(create(kind, policy(spec))), field) << kind;
      Value changed = old;
      const Value wanted = policy(spec);
      for (const auto& member : wanted["spec"].members()) {
        if (member.key() != "resourceSelectors") changed.edit("spec").set(std::string{member.key()}, member.value);
      }
      EXPECT_EQ(fields_of(update(kind, old, changed)), field) << kind << " is changed";
    }
  }
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

TEST(PolicyAdmission, SchedulerAndPermanentIdStay) {  // D-34, D-15
  Value old = stored(kPolicies, policy());
  old.edit("metadata").edit("labels").set("propagationpolicy.karmada.io/permanent-id", "id-1");
  Value object = old;
  object.edit("spec").set("schedulerName", "mine");
  object.edit("metadata").erase("labels");
  EXPECT_EQ(fields_of(update(kPolicies, old, object)),
            "spec.schedulerName,metadata.labels.propagationpolicy.karmada.io/permanent-id");
  object = old;
  object.edit("metadata").edit("labels").set("propagationpolicy.karmada.io/permanent-id", "id-2");
  EXPECT_EQ(fields_of(update(kPolicies, old, object)), "metadata.labels.propagationpolicy.karmada.io/permanent-id")
      << "another one";
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

TEST(OverrideAdmission, RulesAndDeprecatedFieldsExcludeEachOther) {  // D-34, KIND-7, D-33
  EXPECT_EQ(fields_of(create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"targetCluster":{},"overriders":
      {"plaintext":[{"path":"/a","operator":"remove"}]},"overrideRules":[{"overriders":{}}]}})"))),
            "spec.targetCluster,spec.overriders");
  const auto made = create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"resourceSelectors":[
      {"apiVersion":"v1","kind":"ConfigMap"}],"overrideRules":[{"overriders":{"plaintext":[
      {"path":"/data/a","operator":"add","value":"x"}]}}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["resourceSelectors"][0]["namespace"].as_string(), "default");
}

TEST(PolicyAdmission, TheAuthorIsTheUserWhoLastWroteTheSpec) {
  const char* const annotation = "policy.shiplog.io/author";
  const auto author_of = [&](const Result<Value>& admitted) {
    EXPECT_TRUE(admitted.has_value()) << message_of(admitted);
    return admitted ? admitted.value()["metadata"]["annotations"][annotation].str() : "";
  };
  for (const char* type : {kOverrides, "propagationpolicies.policy.karmada.io"}) {
    Value object = json(R"({"metadata":{"name":"o","namespace":"default"},"spec":{"resourceSelectors":[
        {"apiVersion":"v1","kind":"Secret"}],"overrideRules":[{"overriders":{}}]}})");
    if (type != kOverrides) object.edit("spec").erase("overrideRules");
    object.edit("metadata").edit("annotations").set(annotation, "root");
    const auto as = [&](const std::string& author, const Value* old, Value wanted) {
      Admission admission = admission_for(type, old == nullptr ? "" : "o");
      admission.author = author;
      return old == nullptr ? admit_create(admission, std::move(wanted))
                            : admit_update(admission, *old, std::move(wanted));
    };
    EXPECT_EQ(author_of(as("", nullptr, object)), "") << "what a client says does not count";
    const auto created = as("ann", nullptr, object);
    EXPECT_EQ(author_of(created), "ann");
    Value old = created.value();
    old.edit("metadata").set("uid", "u");
    old.edit("metadata").set("resourceVersion", "7");
    Value labelled = old;
    labelled.edit("metadata").edit("labels").set("a", "b");
    labelled.edit("metadata").edit("annotations").set(annotation, "root");
    EXPECT_EQ(author_of(as("bob", &old, labelled)), "ann");
    labelled.edit("metadata").erase("annotations");
    EXPECT_EQ(author_of(as("bob", &old, labelled)), "ann");
    Value changed = old;
    changed.edit("spec").edit("resourceSelectors").edit_items()[0].set("kind", "ConfigMap");
    EXPECT_EQ(author_of(as("bob", &old, changed)), "bob");
    EXPECT_EQ(author_of(as("", &old, changed)), "") << "while the check is off, no author is known";
    Value unknown = old;
    unknown.edit("metadata").erase("annotations");
    EXPECT_EQ(author_of(as("bob", &unknown, unknown)), "bob") << "any write records one";
  }
}

TEST(OverrideAdmission, NoPathLeadsToTheIdentityOfAnObject) {
  Value policy = json(R"({"metadata":{"name":"o"},"spec":{"overrideRules":[{"overriders":{
      "plaintext":[{"path":"/apiVersion","operator":"replace","value":"rbac.authorization.k8s.io/v1"},
                   {"path":"/kind","operator":"replace","value":"ClusterRoleBinding"},
                   {"path":"/metadata/namespace","operator":"remove"},{"path":"/metadata/annotations","operator":"remove"}],
      "fieldOverrider":[{"fieldPath":"/metadata/name","yaml":[{"subPath":"","operator":"replace","value":"x"}]}],
      "imageOverrider":[{"predicate":{"path":"/metadata/namespace"},"component":"Tag","operator":"remove"}]}}]}})");
  const auto refused = create(kOverrides, policy);
  EXPECT_EQ(fields_of(refused),
            "spec.overrideRules[0].overriders.plaintext[0].path,spec.overrideRules[0].overriders.plaintext[1].path,"
            "spec.overrideRules[0].overriders.plaintext[2].path,"
            "spec.overrideRules[0].overriders.fieldOverrider[0].fieldPath,"
            "spec.overrideRules[0].overriders.imageOverrider[0].predicate.path");
  EXPECT_NE(message_of(refused).find("an override may not change /apiVersion"), std::string::npos)
      << message_of(refused);
  EXPECT_EQ(fields_of(create(kOverrides, json(R"({"metadata":{"name":"o"},"spec":{"overriders":{
      "plaintext":[{"path":"/metadata/namespace","operator":"replace","value":"x"}]}}})"))),
            "spec.overriders.plaintext[0].path");

  // A policy of an earlier build can be labelled and replaced by a better one, but not made worse.
  policy.edit("metadata").set("namespace", "default");
  policy.edit("metadata").set("resourceVersion", "7");
  Value labelled = policy;
  labelled.edit("metadata").edit("labels").set("a", "b");
  EXPECT_EQ(fields_of(update(kOverrides, policy, labelled)), "no error");
  labelled.edit("spec").edit("overrideRules").edit_items()[0].edit("overriders").erase("fieldOverrider");
  EXPECT_NE(fields_of(update(kOverrides, policy, labelled)), "no error");
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

TEST(ClusterAdmission, GetsResourceModelsOnCreateOnly) {  // CL-10
  const Value made = stored(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}})"));
  const Value& models = made["spec"]["resourceModels"];
  ASSERT_EQ(models.size(), 9U);
  EXPECT_EQ(to_json(models[1]), R"({"grade":1,"ranges":[{"max":"2","min":"1","name":"cpu"},)"
                                R"({"max":"16Gi","min":"4Gi","name":"memory"}]})");
  const std::vector<std::vector<std::string>> table = {
      // S-67
      {"0", "1", "0", "4Gi"},         {"1", "2", "4Gi", "16Gi"},        {"2", "4", "16Gi", "32Gi"},
      {"4", "8", "32Gi", "64Gi"},     {"8", "16", "64Gi", "128Gi"},     {"16", "32", "128Gi", "256Gi"},
      {"32", "64", "256Gi", "512Gi"}, {"64", "128", "512Gi", "1024Gi"}, {"128", "MAX", "1024Gi", "MAX"}};
  const auto same = [](const Value& is, const std::string& wanted) {
    return parse_quantity(is.str()).value() == parse_quantity(wanted == "MAX" ? "9223372036854775807" : wanted).value();
  };
  for (size_t grade = 0; grade < table.size(); ++grade) {
    const Value& ranges = models[grade]["ranges"];
    EXPECT_EQ(models[grade]["grade"].as_int(), static_cast<int64_t>(grade));
    EXPECT_EQ(ranges[0]["name"].str() + ranges[1]["name"].str(), "cpumemory");
    EXPECT_TRUE(same(ranges[0]["min"], table[grade][0])) << grade;
    EXPECT_TRUE(same(ranges[0]["max"], table[grade][1])) << grade;
    EXPECT_TRUE(same(ranges[1]["min"], table[grade][2])) << grade;
    EXPECT_TRUE(same(ranges[1]["max"], table[grade][3])) << grade;
  }
  Value object = made;
  object.edit("spec").erase("resourceModels");
  const auto updated = update(kClusters, made, object);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_FALSE(updated.value()["spec"].contains("resourceModels"));
}

TEST(ClusterAdmission, StampsTaintsAndMovesTheZone) {  // CL-5, CL-7
  const auto made = create(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push","zone":"z1","taints":[
      {"key":"a","effect":"NoExecute"},{"key":"a","effect":"NoSchedule"}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["taints"][0]["timeAdded"].as_string(), "2026-01-02T03:04:05Z");
  EXPECT_FALSE(made.value()["spec"]["taints"][1].contains("timeAdded"));
  EXPECT_EQ(to_json(made.value()["spec"]["zones"]), R"(["z1"])");
  EXPECT_FALSE(made.value()["spec"].contains("zone"));
}

TEST(ClusterAdmission, IsChecked) {  // CL-1 to CL-8, S-68, 1.1.1
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

TEST(ClusterAdmission, AReferenceToASecretNeedsNameAndNamespace_CL_4_1_2_4) {
  const auto refused = [](const std::string& reference, const std::string& value) {
    Value object = json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}})");
    object.edit("spec").set(reference, json(value));
    return fields_of(create(kClusters, object));
  };
  for (const std::string reference : {"secretRef", "impersonatorSecretRef"}) {
    EXPECT_EQ(refused(reference, R"({"namespace":"ns","name":"n"})"), "no error") << reference;
    for (const char* without_name : {R"({"namespace":"ns"})", R"({"namespace":"ns","name":""})"}) {
      EXPECT_EQ(refused(reference, without_name), "spec." + reference + ".name");
    }
    for (const char* without_namespace : {R"({"name":"n"})", R"({"namespace":"","name":"n"})"}) {
      EXPECT_EQ(refused(reference, without_namespace), "spec." + reference + ".namespace");
    }
  }
}

TEST(ClusterAdmission, ProxyHeadersAreTexts_1_1_1) {
  const auto with = [](const char* headers) {
    Value object = json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push","proxyURL":"http://proxy"}})");
    object.edit("spec").set("proxyHeader", json(headers));
    return create(kClusters, object);
  };
  const auto made = with(R"({"X-Team":"a,b"})");
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["proxyHeader"]["X-Team"], Value{"a,b"});
  EXPECT_FALSE(with(R"({"X-Team":["a"]})").has_value());
}

TEST(ClusterAdmission, AStatusIsDecodedAndNotValidated_CL_28) {
  const Value made = stored(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}})"));
  const auto with_status = [&](std::string_view status) {
    Value object = made;
    object.set("status", json(status));
    Admission admission = admission_for(kClusters, "m1");
    return admit_status_update(admission, made, object);
  };
  const auto odd = with_status(R"({"conditions":[{"type":"Mine","status":"Perhaps","reason":"","message":"",
      "lastTransitionTime":"2026-01-02T12:00:00Z"},{"type":""}],"remedyActions":["TrafficControl"]})");
  ASSERT_TRUE(odd.has_value()) << message_of(odd);
  EXPECT_EQ(odd.value()["status"]["conditions"][0]["reason"], Value{""});
  // What is stored so is no obstacle to a write of the spec.
  Value edited = odd.value();
  edited.edit("spec").set("region", "r");
  const auto updated = update(kClusters, odd.value(), edited);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(updated.value()["status"], odd.value()["status"]);
  const auto wrong = with_status(R"({"conditions":"none"})");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kBadRequest) << "no Go type could hold it";
}

TEST(MemberAdmission, DoesNotReadTheLabelThatProtectsFromDeletion_D_41) {
  const Kind& maps = *Kinds::compiled().find_type("configmaps");
  const Value marked =
      json(R"({"metadata":{"name":"c","labels":{"resourcetemplate.karmada.io/deletion-protected":"Always"}}})");
  EXPECT_FALSE(admit_delete(maps, marked).has_value());
  EXPECT_TRUE(admit_unprotected_delete(maps, marked).has_value());
  const Kind& namespaces = *Kinds::compiled().find_type("namespaces");
  EXPECT_FALSE(admit_unprotected_delete(namespaces, json(R"({"metadata":{"name":"default"}})")).has_value());
}

TEST(ClusterAdmission, ModelsMustFitTogether_S_68) {  // CL-8, CL-9
  const auto range = [](const char* name, const char* least, const char* most) {
    return std::string{R"({"name":")"} + name + R"(","min":")" + least + R"(","max":")" + most + R"("})";
  };
  const auto grade = [](int number, const std::string& ranges) {
    return R"({"grade":)" + std::to_string(number) + R"(,"ranges":[)" + ranges + "]}";
  };
  const auto made = [](const std::string& models) {
    return create(kClusters,
                  json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push","resourceModels":[)" + models + "]}}"));
  };
  const auto good = made(grade(1, range("cpu", "2", "9")) + "," + grade(0, range("cpu", "1", "2")));
  ASSERT_TRUE(good.has_value()) << message_of(good);
  const Value& models = good.value()["spec"]["resourceModels"];
  EXPECT_EQ(models[0]["grade"].as_int(), 0) << "sorted";
  EXPECT_EQ(models[0]["ranges"][0]["min"].str(), "0");
  EXPECT_EQ(models[1]["ranges"][0]["max"].str(), "9223372036854775807");
  const auto refused = [&](const std::string& list) { return !made(list).has_value(); };
  const std::string first = grade(0, range("cpu", "0", "2"));
  EXPECT_TRUE(refused(first + "," + grade(0, range("cpu", "2", "4")))) << "equal grades";
  EXPECT_TRUE(refused(first + "," + grade(1, range("cpu", "2", "4") + "," + range("memory", "0", "4")))) << "a number";
  EXPECT_TRUE(refused(first + "," + grade(1, range("memory", "2", "4")))) << "other names";
  EXPECT_TRUE(refused(grade(0, range("cpu", "0", "0")) + "," + grade(1, range("cpu", "0", "4")))) << "an empty range";
  EXPECT_TRUE(refused(first + "," + grade(1, range("cpu", "3", "4")))) << "a gap";
}

TEST(QuotaAdmission, AssignmentsFitTheWhole) {  // Q-2
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
            "spec.overall[cpu],spec.overall[pods],spec.overall[wheels],spec.overall[wheels]");
}

TEST(TaintPolicyAdmission, NoDuplicatesButEvictionsArePermitted) {  // TN-14, with upstream's --allow-no-execute flag on
  const auto refused =
      create("clustertaintpolicies.policy.karmada.io", json(R"({"metadata":{"name":"t"},"spec":{"taints":[
      {"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}]}})"));
  EXPECT_EQ(fields_of(refused), "spec.taints[1]");
  EXPECT_TRUE(
      message_of(refused).starts_with("admission webhook \"clustertaintpolicy.karmada.io\" denied the request: "))
      << message_of(refused);
}

TEST(PolicyAdmission, NoExecuteTaintsOfPoliciesNeedAnOption_TN_14) {
  Admission admission = admission_for("clustertaintpolicies.policy.karmada.io");
  const Value policy = json(R"({"metadata":{"name":"t"},"spec":{"taints":[
      {"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}]}})");
  EXPECT_TRUE(admit_create(admission, policy).has_value());
  admission.allows_no_execute_policies = false;
  const auto refused = admit_create(admission, policy);
  EXPECT_EQ(fields_of(refused), "spec.taints[1].effect");
  EXPECT_NE(message_of(refused).find("Configuring taint with NoExecute effect is not allowed, this capability must be "
                                     "explicitly enabled by administrators through command-line flags"),
            std::string::npos);
}

TEST(PolicyAdmission, ALabelSelectorThatMatchesNothingIsWarnedOf) {  // S-16
  const auto warnings = [](const char* operation) {
    Admission admission = admission_for("propagationpolicies.policy.karmada.io");
    const std::string selector = std::string{R"({"matchExpressions": [{"key": "tier", "operator": ")"} + operation +
                                 R"(", "values": ["gold"]}]})";
    const auto admitted = admit_create(admission, json(R"({"metadata": {"name": "p"}, "spec": {
      "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
      "placement": {"clusterAffinity": {"labelSelector": )" +
                                                       selector + "}}}}"));
    EXPECT_TRUE(admitted.has_value()) << message_of(admitted);
    return admission.warnings;
  };
  EXPECT_TRUE(warnings("In").empty());
  for (const char* wrong : {"Near", "Exists"}) {
    ASSERT_EQ(warnings(wrong).size(), 1U) << wrong;
    EXPECT_EQ(warnings(wrong)[0].find("spec.placement.clusterAffinity.labelSelector matches nothing"), 0U);
  }
}

}  // namespace
}  // namespace shiplog::api
