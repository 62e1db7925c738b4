#include "services/collector/decide.h"

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/collector/aggregate.h"
#include "services/collector/facts.h"
#include "services/collector/interpret.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

constexpr UtcMillis kNoon{1'767'268'800'000};

Value with_status(Value object, const Value& status) {
  object.set("status", status);
  return object;
}
Value of_kind(const char* api_version, const char* kind, const Value& status) {
  return Value::object({{"apiVersion", api_version},
                        {"kind", kind},
                        {"metadata", Value::object({{"name", "x"}, {"generation", 4}})},
                        {"status", status}});
}
Value item(const char* cluster, const Value& status) {
  return Value::object({{"clusterName", cluster}, {"applied", true}, {"health", "Healthy"}, {"status", status}});
}

TEST(CollectorInterpret, DeploymentStatusCarriesBothGenerations_T_5) {
  Value web = with_status(
      deployment("default", "web", 2),
      Value::object({{"replicas", 2}, {"readyReplicas", 1}, {"observedGeneration", 7}, {"collisionCount", 9}}));
  EXPECT_FALSE(collector::reflected_status(web)) << "without the template's generation there is no status";
  web.edit("metadata").edit("annotations").set(annotation::kTemplateGeneration, "3");
  EXPECT_EQ(collector::reflected_status(web).value(), Value::object({{"replicas", 2},
                                                                     {"readyReplicas", 1},
                                                                     {"observedGeneration", 7},
                                                                     {"generation", 1},
                                                                     {"resourceTemplateGeneration", 3}}));
  EXPECT_TRUE(collector::reflected_status(deployment("default", "web", 2)).value().is_null());
}

TEST(CollectorInterpret, OtherKindsStatus_5_1) {
  const Value service = of_kind("v1", "Service", Value::object({{"loadBalancer", Value::object({{"ingress", 1}})}}));
  EXPECT_TRUE(collector::reflected_status(service).value().is_null()) << "not of type LoadBalancer";
  const Value claim = of_kind("v1", "PersistentVolumeClaim", Value::object({{"phase", "Bound"}, {"extra", 1}}));
  EXPECT_EQ(collector::reflected_status(claim).value(), claim["status"]) << "no own rule: the whole status";
  const Value job = of_kind("batch/v1", "Job", Value::object({{"active", 1}, {"ready", 1}}));
  EXPECT_EQ(collector::reflected_status(job).value(), Value::object({{"active", 1}}));
}

TEST(CollectorInterpret, HealthOfNativeKinds_T_4) {
  Value web = deployment("default", "web", 2);
  const auto health = [&](int64_t observed, int64_t updated, int64_t available) {
    return collector::health_of(with_status(
        web, Value::object(
                 {{"observedGeneration", observed}, {"updatedReplicas", updated}, {"availableReplicas", available}})));
  };
  EXPECT_EQ(health(1, 2, 2), "Healthy");
  EXPECT_EQ(health(0, 2, 2), "Unhealthy");
  EXPECT_EQ(health(1, 1, 2), "Unhealthy");
  EXPECT_EQ(health(1, 2, 1), "Unhealthy");
  EXPECT_EQ(collector::health_of(config_map("default", "x", "x")), "Healthy");
  EXPECT_EQ(collector::health_of(of_kind("v1", "Pod", Value::object({{"phase", "Running"}}))), "Unhealthy");
  EXPECT_EQ(collector::health_of(of_kind("v1", "Pod", Value::object({{"phase", "Succeeded"}}))), "Healthy");
  EXPECT_EQ(collector::health_of(of_kind("batch/v1", "Job", Value{})), "Healthy");
  EXPECT_EQ(collector::health_of(of_kind("networking.k8s.io/v1", "Ingress", Value{})), "Unhealthy");
}

TEST(CollectorAggregate, DeploymentSumsAndObservesWhenAllHave_T_13) {
  const auto member = [](int64_t replicas, int64_t template_generation) {
    return Value::object({{"replicas", replicas},
                          {"readyReplicas", replicas},
                          {"generation", 2},
                          {"observedGeneration", 2},
                          {"resourceTemplateGeneration", template_generation}});
  };
  Value web =
      of_kind("apps/v1", "Deployment", Value::object({{"conditions", Value::array({1})}, {"unavailableReplicas", 3}}));
  const auto lagging =
      collector::aggregated(web, Value::array({item("m1", member(2, 4)), item("m2", member(3, 3))}), kNoon);
  EXPECT_EQ((*lagging)["replicas"], Value{5});
  EXPECT_TRUE((*lagging)["observedGeneration"].is_null());
  EXPECT_TRUE((*lagging)["unavailableReplicas"].is_null());
  EXPECT_EQ((*lagging)["conditions"], Value::array({1})) << "other fields are kept";
  const auto all =
      collector::aggregated(web, Value::array({item("m1", member(2, 4)), item("m2", member(3, 4))}), kNoon);
  EXPECT_EQ((*all)["observedGeneration"], Value{4});
  EXPECT_EQ((*collector::aggregated(web, Value::array(), kNoon))["observedGeneration"], Value{4});
}

TEST(CollectorAggregate, StatefulSetsObservedGenerationStops_T_14) {
  const Value set = of_kind("apps/v1", "StatefulSet", Value{});
  const auto status =
      collector::aggregated(set, Value::array({item("m1", Value::object({{"readyReplicas", 2}}))}), kNoon);
  EXPECT_EQ((*status)["readyReplicas"], Value{2});
  EXPECT_EQ((*status)["replicas"], Value{0});
  EXPECT_TRUE((*status)["observedGeneration"].is_null());
}

TEST(CollectorAggregate, LoadBalancersAreUnited) {
  const auto at = [](const char* hostname, const char* ip) {
    Value point = Value::object();
    if (*hostname != 0) point.set("hostname", hostname);
    if (*ip != 0) point.set("ip", ip);
    return Value::object({{"loadBalancer", Value::object({{"ingress", Value::array({point})}})}});
  };
  Value service = of_kind("v1", "Service", Value{});
  EXPECT_FALSE(collector::aggregated(service, Value::array(), kNoon)) << "only of type LoadBalancer";
  service.edit("spec").set("type", "LoadBalancer");
  const auto status = collector::aggregated(
      service, Value::array({item("m1", at("", "9.9.9.9")), item("m2", at("b", "")), item("m3", at("b", ""))}), kNoon);
  EXPECT_EQ((*status)["loadBalancer"]["ingress"],
            Value::array({Value::object({{"hostname", "b"}}), Value::object({{"ip", "9.9.9.9"}})}));
}

TEST(CollectorAggregate, JobCompletesWithAllAndFailsWithOne) {
  const auto done = [](const char* type) {
    return Value::object({{"succeeded", 1},
                          {"startTime", "2026-01-01T00:00:00Z"},
                          {"conditions", Value::array({Value::object({{"type", type}, {"status", "True"}})})}});
  };
  const Value job = of_kind("batch/v1", "Job", Value{});
  Value complete = job;
  complete.set("status", *collector::aggregated(
                             job, Value::array({item("m1", done("Complete")), item("m2", done("Complete"))}), kNoon));
  EXPECT_EQ(condition_of(complete, "Complete")["reason"], "Completed");
  EXPECT_EQ(complete["status"]["succeeded"], Value{2});
  EXPECT_EQ(complete["status"]["startTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(*collector::aggregated(complete, Value::array(), kNoon), complete["status"]) << "frozen once finished";
  Value failed = job;
  failed.set("status", *collector::aggregated(
                           job, Value::array({item("m1", done("Complete")), item("m2", done("Failed"))}), kNoon));
  EXPECT_EQ(condition_of(failed, "Failed")["message"], "Job executed failed in member clusters m2");
  EXPECT_TRUE(condition_of(failed, "Complete").is_null());
}

TEST(CollectorAggregate, PhasesOfPodsAndClaims) {
  const auto phase = [](const char* text) { return Value::object({{"phase", text}}); };
  const Value pod = of_kind("v1", "Pod", Value{});
  EXPECT_EQ(
      (*collector::aggregated(pod, Value::array({item("m1", phase("Running")), item("m2", Value{})}), kNoon))["phase"],
      "Pending");
  EXPECT_EQ((*collector::aggregated(pod, Value::array({item("m1", phase("Running")), item("m2", phase("Failed"))}),
                                    kNoon))["phase"],
            "Failed");
  const Value claim = of_kind("v1", "PersistentVolumeClaim", Value{});
  EXPECT_EQ((*collector::aggregated(claim, Value::array({item("m1", phase("Lost")), item("m2", phase("Pending"))}),
                                    kNoon))["phase"],
            "Lost");
  EXPECT_FALSE(collector::aggregated(config_map("default", "x", "x"), Value::array(), kNoon)) << "T-15";
}

TEST(CollectorFacts, SumsNodesAndPods_1_14_8_1_14_9) {
  const auto node = [](const char* ready) {
    return Value::object(
        {{"status",
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
  const Value nodes = Value::array({node("True"), node("False")});
  EXPECT_EQ(collector::node_summary(nodes), Value::object({{"totalNum", 2}, {"readyNum", 1}}));
  const Value summary = collector::resource_summary(
      nodes, Value::array({pod("n", "Running", "250m"), pod("n", "Succeeded", "1"), pod("", "Pending", "1")}));
  EXPECT_EQ(summary["allocatable"], Value::object({{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "220"}}));
  EXPECT_EQ(summary["allocated"], Value::object({{"cpu", "500m"}, {"pods", "1"}}));
  EXPECT_EQ(summary["allocating"], Value::object({{"cpu", "2"}, {"pods", "1"}}));
}

TEST(CollectorFacts, HealthFromTheProbe_1_14_3) {
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

TEST(CollectorFacts, FlipsAreHeldBackUntilTheyLast_1_15) {
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
      stage.put(space, namespace_object(space.name));
    }
    stage.put({"deployments.apps", "default", "web"}, web);
    stage.put(key, binding(web, {{"m1", 2}, {"m2", 3}}));
    for (const char* name : {"m1", "m2"}) {
      stage.put(work_key(name, web),
                Value::object(
                    {{"metadata", Value::object({{"generation", 1},
                                                 {"labels", Value::object({{label::kBindingId, "id-defaultweb"}})}})},
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
    if (decided.value()) {
      EXPECT_FALSE(stage.write(decided.value()->events, decided.value()->expects).refusal);
    }
    EXPECT_FALSE(collector::decide(stage.state(), key, stage.now()).value());
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

TEST_F(CollectorDecide, FailedApplySaysWhy_T_7) {
  report("m1", 2);
  stage.write({WorkApplyFailed{work_key("m1", web), 1, "AppliedFailed", "no room"}});
  const Value& item = decide()["status"]["aggregatedStatus"][0];
  EXPECT_EQ(item, Value::object({{"clusterName", "m1"}, {"health", "Unknown"}, {"appliedMessage", "no room"}}));
}

TEST_F(CollectorDecide, UnscheduledBindingIsLeftAlone_T_6) {
  Value unscheduled = stage.state().value_of(key);
  unscheduled.erase("status");
  stage.put(key, unscheduled);
  EXPECT_FALSE(collector::decide(stage.state(), key, stage.now()).value());
}

TEST_F(CollectorDecide, WorkWithoutTheObjectIsAnError_T_8) {
  Value other = stage.state().value_of(work_key("m1", web));
  other.edit("spec").edit("workload").set("manifests", Value::array({deployment("default", "renamed", 1)}));
  stage.put(work_key("m1", web), other);
  EXPECT_FALSE(collector::decide(stage.state(), key, stage.now()));
}

}  // namespace
}  // namespace shiplog
