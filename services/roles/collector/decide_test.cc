#include "services/roles/collector/decide.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/collector/cluster_status.h"
#include "services/roles/collector/manifest_status.h"
#include "services/roles/collector/member_totals.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

constexpr UtcMillis kNoon{1'767'268'800'000};

collector::MemberTotals totals_of(const Value& nodes, const Value& pods) {
  collector::MemberTotals totals;
  for (const Value& node : nodes.items()) totals.put_node(node);
  for (size_t index = 0; index < pods.size(); ++index) {
    Value pod = pods[index];
    pod.set("metadata", Value::object({{"namespace", "default"}, {"name", "pod-" + std::to_string(index)}}));
    totals.put_pod(pod);
  }
  return totals;
}

TEST(CollectorFacts, SumsNodesAndPods_CL_22_CL_23) {  // S-65
  const auto node = [](const char* name, const char* ready) {
    return Value::object(
        {{"metadata", Value::object({{"name", name}})},
         {"status",
          Value::object(
              {{"allocatable", Value::object({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}, {"gpu", "0"}})},
               {"conditions", Value::array({Value::object({{"type", "Ready"}, {"status", ready}})})}})}});
  };
  const auto pod = [](const char* on, const char* phase, const char* cpu) {
    const Value container =
        Value::object({{"resources", Value::object({{"requests", Value::object({{"cpu", cpu}})}})}});
    Value one = Value::object({{"spec", Value::object({{"containers", Value::array({container, container})}})},
                               {"status", Value::object({{"phase", phase}})}});
    if (*on != 0) one.edit("spec").set("nodeName", on);
    return one;
  };
  const Value nodes = Value::array({node("m", "True"), node("n", "False")});
  auto totals = totals_of(
      nodes, Value::array({pod("n", "Running", "250m"), pod("n", "Succeeded", "1"), pod("", "Pending", "1")}));
  EXPECT_EQ(totals.node_summary(), Value::object({{"totalNum", 2}, {"readyNum", 1}}));
  const Value summary = totals.resource_summary({});
  EXPECT_EQ(summary["allocatable"], Value::object({{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "220"}}));
  EXPECT_EQ(summary["allocated"], Value::object({{"cpu", "500m"}, {"pods", "1"}}));
  EXPECT_EQ(summary["allocating"], Value::object({{"cpu", "2"}, {"pods", "1"}}));
}

TEST(CollectorFacts, NodesAreCountedByTheGradeOfWhatIsFree_S_69) {  // CL-24, CL-25
  const auto node = [](const char* name, const char* cpu, const char* memory, int pods) {
    return Value::object(
        {{"metadata", Value::object({{"name", name}})},
         {"status",
          Value::object({{"allocatable", Value::object({{"cpu", cpu}, {"memory", memory}, {"pods", pods}})}})}});
  };
  const auto pod = [](const char* on, const char* phase, const char* cpu) {
    const Value container =
        Value::object({{"resources", Value::object({{"requests", Value::object({{"cpu", cpu}})}})}});
    return Value::object({{"spec", Value::object({{"nodeName", on}, {"containers", Value::array({container})}})},
                          {"status", Value::object({{"phase", phase}})}});
  };
  const auto model = [](int grade, const char* cpu, const char* memory) {
    return Value::object({{"grade", grade},
                          {"ranges", Value::array({Value::object({{"name", "cpu"}, {"min", cpu}}),
                                                   Value::object({{"name", "memory"}, {"min", memory}})})}});
  };
  const Value models = Value::array({model(0, "0", "0"), model(1, "1", "4Gi"), model(2, "2", "16Gi")});
  const Value nodes =
      Value::array({node("a", "4", "64Gi", 110), node("b", "4", "5Gi", 110), node("full", "4", "64Gi", 1),
                    node("c", "4", "64Gi", 110), node("over", "1", "64Gi", 110)});
  const Value pods = Value::array({pod("full", "Running", "1m"), pod("c", "Running", "3500m"), pod("a", "Failed", "4"),
                                   pod("over", "Running", "2")});
  const Value counts = totals_of(nodes, pods).resource_summary(models)["allocatableModelings"];
  EXPECT_EQ(counts,
            Value::array({Value::object({{"grade", 0}, {"count", 1}}), Value::object({{"grade", 1}, {"count", 1}}),
                          Value::object({{"grade", 2}, {"count", 1}})}))
      << "a is of grade 2, b of 1 by its memory, c of 0 by its cpu; the others are not counted";
}

TEST(CollectorFacts, ApiEnablementsAreSortedAndWithoutSubresources_CL_20_1_14_6) {
  const Value lists = parse_json(R"([
      {"groupVersion": "batch/v1", "resources": [{"name": "jobs", "kind": "Job"}, {"name": "jobs/status", "kind": "Job"},
                                                 {"name": "cronjobs", "kind": "CronJob"}]},
      {"groupVersion": "apps/v1", "resources": [{"name": "deployments/scale", "kind": "Scale"},
                                                {"name": "deployments", "kind": "Deployment"}]}])")
                          .value();
  EXPECT_EQ(
      to_json(collector::api_enablements(lists)),
      R"([{"groupVersion":"apps/v1","resources":[{"kind":"Deployment","name":"deployments"}]},)"
      R"({"groupVersion":"batch/v1","resources":[{"kind":"CronJob","name":"cronjobs"},{"kind":"Job","name":"jobs"}]}])");
}

TEST(CollectorFacts, HealthFromTheProbe_CL_17) {
  EXPECT_EQ(collector::health_from(200).reason, "ClusterReady");
  EXPECT_EQ(collector::health_from(204).reason, "ClusterNotReady");
  for (const int status : {0, 302, 401, 404, 500})
    EXPECT_EQ(collector::health_from(status).reason, "ClusterNotReachable");
  EXPECT_EQ(collector::health_from(Error{ErrorCode::kTimeout, "slow"}).reason, "ClusterNotReachable");
  EXPECT_EQ(collector::health_from(Error{ErrorCode::kUnavailable, "the certificate is not trusted"}).message,
            "cluster is not reachable: the certificate is not trusted");
  EXPECT_EQ(collector::health_from(500).message, "cluster is not reachable: it answers HTTP 500");
  EXPECT_EQ(collector::health_from(Error{ErrorCode::kNotFound, "no secret"}).message,
            "failed to create a ClusterClient: no secret");
}

TEST(CollectorFacts, FlipsAreHeldBackUntilTheyLast_CL_26) {
  collector::Damping damping;
  const auto ready = collector::health_from(200);
  const auto away = collector::health_from(0);
  Cluster::Condition stored{"Ready", "True", ready.reason, ready.message, {}};
  EXPECT_EQ(damping.damped("m1", ready, nullptr, UtcMillis{0}), ready);
  EXPECT_EQ(damping.damped("m1", away, &stored, UtcMillis{10'000}), ready);
  EXPECT_EQ(damping.damped("m1", away, &stored, UtcMillis{39'999}), ready);
  EXPECT_EQ(damping.damped("m1", away, &stored, UtcMillis{40'000}), away);
  stored = {"Ready", "False", away.reason, away.message, {}};
  EXPECT_EQ(damping.damped("m1", collector::health_from(204), &stored, UtcMillis{41'000}).reason, "ClusterNotReady")
      << "among not-True values at once (1.15.2)";
  collector::Damping restarted;
  EXPECT_EQ(restarted.damped("m1", ready, &stored, UtcMillis{42'000}), ready) << "the first counts at once (1.15.3)";
}

class CollectorDecide : public ::testing::Test {
 protected:
  CollectorDecide() {
    for (const char* name : {"m1", "m2"}) {
      const ObjectKey space{type::kNamespace, "", execution_space(name)};
      stage.put(space, namespace_object(space.name.str()));
    }
    stage.put({"deployments.apps", "default", "web"}, web);
    stage.put(key, binding(web, {{"m1", 2}, {"m2", 3}}));
    for (const char* name : {"m1", "m2"}) {
      stage.put(work_key(name, web),
                Value::object(
                    {{"metadata",
                      Value::object({{"generation", 1},
                                     {"labels", Value::object({{label::kBindingId, "id-defaultweb"}})},
                                     {"annotations", Value::object({{annotation::kBindingNamespace, "default"},
                                                                    {annotation::kBindingName, "web-deployment"}})}})},
                     {"spec", Value::object({{"workload", Value::object({{"manifests", Value::array({web})}})}})}}));
    }
  }
  void report(const std::string& cluster, int64_t ready) {
    const Value status = Value::object({{"replicas", ready},
                                        {"readyReplicas", ready},
                                        {"generation", 1},
                                        {"observedGeneration", 1},
                                        {"resourceTemplateGeneration", 1}});
    stage.write({WorkApplied{work_key(cluster, web), 1, "ok"},
                 WorkStatusObserved{work_key(cluster, web),
                                    Value::array({collector::manifest_status(0, web, status, "Healthy")})}});
  }
  const Value& decide() {
    const auto decided = collector::decide(stage.state(), key, stage.now());
    EXPECT_TRUE(decided) << decided.error().message;
    if (decision_of(decided)) {
      EXPECT_FALSE(stage.write(decision_of(decided)->events, decision_of(decided)->expects).refusal);
    }
    EXPECT_FALSE(decision_of(collector::decide(stage.state(), key, stage.now())));
    return stage.state().value_of(key);
  }

  Stage stage;
  const Value web = deployment("default", "web", 5);
  const ObjectKey key{type::kResourceBinding, "default", "web-deployment"};
};

TEST_F(CollectorDecide, SumsWorksUpIntoBindingAndTemplate_T_7_T_9_T_11) {
  report("m1", 2);
  const Value half = decide();
  EXPECT_EQ(condition_of(half, "FullyApplied")["reason"], "FullyAppliedFailed");
  EXPECT_EQ(half["status"]["aggregatedStatus"][1], Value::object({{"clusterName", "m2"}, {"health", "Unknown"}}));
  report("m2", 3);
  const Value& whole = decide();
  EXPECT_EQ(condition_of(whole, "FullyApplied")["status"], "True");
  EXPECT_EQ(condition_of(whole, "FullyApplied")["message"], "All works have been successfully applied");
  EXPECT_EQ(whole["status"]["aggregatedStatus"][1]["health"], "Healthy");
  EXPECT_EQ(whole["status"]["aggregatedStatus"][1]["applied"], Value{true});
  const Value& status = stage.state().value_of({"deployments.apps", "default", "web"})["status"];
  EXPECT_EQ(status["readyReplicas"], Value{5});
  EXPECT_EQ(status["observedGeneration"], Value{1});
}

// The status of the binding is written without the template's: something has to ask the interpreter again.
TEST_F(CollectorDecide, ABindingIsLookedAtAgainWhileTheInterpreterOfItsTemplateFails_T_11) {
  report("m1", 2);
  const auto without = collector::decide(stage.state(), key, stage.now());
  ASSERT_NE(decision_of(without), nullptr);
  EXPECT_EQ(decision_of(without)->look_again, std::nullopt) << "a change of a Work triggers it";
  stage.put({interpreter::kCustomizationType, "", "c"}, parse_json(R"({"spec":{
      "target":{"apiVersion":"apps/v1","kind":"Deployment"},
      "customizations":{"statusAggregation":{"luaScript":"function AggregateStatus(o) error('no') end"}}}})")
                                                            .value());
  const auto with = collector::decide(stage.state(), key, stage.now());
  ASSERT_NE(decision_of(with), nullptr);
  EXPECT_TRUE(std::get<StatusAggregated>(decision_of(with)->events.front()).template_object.empty());
  EXPECT_EQ(decision_of(with)->look_again, stage.now());
}

// An agent writes the status of its Works itself, so that a wrong one may be in the state.
TEST_F(CollectorDecide, AStatusOfWrongTypesReachesNoTemplateAndTheErrorNamesTheCluster_T_11) {
  report("m1", 2);
  report("m2", 3);
  decide();
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  const Value before = stage.state().value_of(web_key)["status"];
  report("m1", int64_t{1} << 40);
  report("m2", 4);
  const auto first = collector::decide(stage.state(), key, stage.now());
  ASSERT_NE(decision_of(first), nullptr);
  EXPECT_FALSE(stage.write(decision_of(first)->events, decision_of(first)->expects).refusal);
  EXPECT_EQ(stage.state().value_of(web_key)["status"], before);
  EXPECT_EQ(stage.state().value_of(key)["status"]["aggregatedStatus"][1]["status"]["readyReplicas"], Value{4})
      << "the binding has what each cluster reports";
  const auto then = collector::decide(stage.state(), key, stage.now());
  ASSERT_FALSE(then) << "it is reported as long as it lasts";
  EXPECT_EQ(then.error().message, "member cluster m1: status.replicas is 1099511627776, not a whole number of 32 bits");
  report("m1", 1);
  decide();
  EXPECT_EQ(stage.state().value_of(web_key)["status"]["readyReplicas"], Value{5});
}

TEST_F(CollectorDecide, AWorkThatWasNotRenderedForTheBindingIsIgnored) {
  report("m1", 2);
  Value foreign = stage.state().value_of(work_key("m1", web));
  foreign.edit("metadata").edit("annotations").set(annotation::kBindingName, "other-deployment");
  foreign.edit("metadata").set("name", "foreign");
  stage.put({type::kNamespace, "", "karmada-es-m3"}, namespace_object("karmada-es-m3"));
  stage.put({type::kWork, execution_space("m3"), "foreign"}, foreign);
  const Value& reported = decide();
  EXPECT_EQ(reported["status"]["aggregatedStatus"].size(), 2U) << "the label alone does not count";
}

TEST_F(CollectorDecide, AnObjectThatTheBindingMayNotReferToGetsNoStatus) {
  stage.put({type::kNamespace, "", "victim"}, namespace_object("victim"));
  const ObjectKey theirs{"deployments.apps", "victim", "web"};
  stage.put(theirs, deployment("victim", "web", 5));
  for (const char* cluster : {"m1", "m2"}) {
    Value work = stage.state().value_of(work_key(cluster, web));
    work.edit("spec").edit("workload").set("manifests", Value::array({deployment("victim", "web", 5)}));
    stage.put(work_key(cluster, web), work);
  }
  report("m1", 2);
  Value changed = stage.state().value_of(key);
  changed.edit("spec").edit("resource").set("namespace", "victim");
  stage.put(key, changed);
  decide();
  EXPECT_TRUE(stage.state().value_of(theirs)["status"].is_null());
}

TEST_F(CollectorDecide, WhatIsNotWhereItShouldBeIsNotFullyApplied_T_9) {
  report("m1", 2);
  report("m2", 3);
  EXPECT_EQ(condition_of(decide(), "FullyApplied")["status"], "True");
  const auto placed_on = [&](const std::vector<Target>& targets) {
    Value moved = stage.state().value_of(key);
    moved.edit("spec").set("clusters", binding(web, targets)["spec"]["clusters"]);
    stage.put(key, moved);
    return condition_of(decide(), "FullyApplied");
  };
  EXPECT_EQ(placed_on({{"m1", 5}})["status"], "False") << "there is a Work too many";
  EXPECT_EQ(placed_on({{"m1", 2}, {"m2", 3}})["status"], "True");
  EXPECT_EQ(placed_on({{"m1", 2}, {"m2", 3}, {"m3", 1}})["status"], "False") << "one is missing";
  const Value nowhere = placed_on({});
  EXPECT_EQ(nowhere["status"], "False") << "it is wanted nowhere";
  EXPECT_EQ(nowhere["message"], "Failed to apply all works, see status.aggregatedStatus for details");
}

TEST_F(CollectorDecide, FailedApplyStatesTheCause_T_7) {
  report("m1", 2);
  stage.write({WorkApplyFailed{work_key("m1", web), 1, "AppliedFailed", "no room"}});
  const Value& item = decide()["status"]["aggregatedStatus"][0];
  EXPECT_EQ(item, Value::object({{"clusterName", "m1"}, {"health", "Unknown"}, {"appliedMessage", "no room"}}));
}

TEST_F(CollectorDecide, BindingNamesTheCauseOfEveryBlockedWork) {
  report("m1", 2);
  stage.put(cluster_key("m2"), cluster_object("m2"));
  stage.write({ClusterConditionChanged{cluster_key("m2"), "Ready", "False", "ClusterNotReachable", ""}});
  stage.write({WorkApplyFailed{work_key("m1", web), 1, "AppliedFailed", "no room"}});
  const Value binding = decide();
  EXPECT_EQ(binding["status"]["aggregatedStatus"][1]["appliedMessage"], "cluster(m2) not ready");
  EXPECT_EQ(condition_of(binding, "FullyApplied")["message"],
            "Failed to apply all works, see status.aggregatedStatus for details; m1: no room; m2: cluster(m2) not "
            "ready");
}

TEST_F(CollectorDecide, BindingNamesWhatHoldsBackANewGeneration) {
  report("m1", 2);
  report("m2", 3);
  stage.put(cluster_key("m2"), cluster_object("m2"));
  stage.write({ClusterConditionChanged{cluster_key("m2"), "Ready", "False", "ClusterNotReachable", ""}});
  Value next = stage.state().value_of(work_key("m2", web));
  next.edit("spec").set("preserveResourcesOnDeletion", true);
  stage.put(work_key("m2", web), next);
  const Value item = decide()["status"]["aggregatedStatus"][1];
  EXPECT_EQ(item["applied"], Value{true}) << "the member has the generation before";
  EXPECT_EQ(item["appliedMessage"], "cluster(m2) not ready");
}

TEST_F(CollectorDecide, UnscheduledBindingIsLeftAlone_T_6) {
  Value unscheduled = stage.state().value_of(key);
  unscheduled.erase("status");
  stage.put(key, unscheduled);
  EXPECT_FALSE(decision_of(collector::decide(stage.state(), key, stage.now())));
}

TEST_F(CollectorDecide, AttachedBindingsAreAggregatedWithoutBeingScheduled_T_6_B_33) {
  Value attached = stage.state().value_of(key);
  attached.erase("status");
  const Value clusters = attached["spec"]["clusters"];
  attached.edit("spec").erase("clusters");
  attached.edit("spec").set(
      "requiredBy", Value::array({Value::object({{"namespace", "default"}, {"name", "x"}, {"clusters", clusters}})}));
  stage.put(key, attached);
  EXPECT_FALSE(decision_of(collector::decide(stage.state(), key, stage.now()))) << "no Work has said anything yet";
  report("m1", 2);
  stage.write({WorkApplyFailed{work_key("m2", web), 1, "AppliedFailed", "it is there already"}});
  const Value half = decide();
  EXPECT_EQ(condition_of(half, "FullyApplied")["status"], "False");
  EXPECT_EQ(half["status"]["aggregatedStatus"][1]["appliedMessage"], "it is there already");
  report("m2", 3);
  EXPECT_EQ(condition_of(decide(), "FullyApplied")["status"], "True");
}

TEST_F(CollectorDecide, WorkWithoutTheObjectIsAnError_T_8) {
  Value other = stage.state().value_of(work_key("m1", web));
  other.edit("spec").edit("workload").set("manifests", Value::array({deployment("default", "renamed", 1)}));
  stage.put(work_key("m1", web), other);
  EXPECT_FALSE(collector::decide(stage.state(), key, stage.now()));
}

}  // namespace
}  // namespace shiplog
