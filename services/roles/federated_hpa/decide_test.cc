#include "services/roles/federated_hpa/decide.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/answers.h"
#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/cron_scaler/decide.h"
#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::History;
using given::json;

const ObjectKey kKey{kFederatedHpa, "default", "web"};
const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};

class FederatedHpaDecision : public testing::Test {
 protected:
  FederatedHpaDecision() {
    for (const char* name : {"m1", "m2"}) put_cluster(name, "True");
    history_.object(kWeb, R"({"metadata":{"labels":{"propagationpolicy.karmada.io/permanent-id":"p"}},
        "spec":{"replicas":2}})");
    Value binding = json(R"({"spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
        "clusters":[{"name":"m2","replicas":1},{"name":"m1","replicas":1}]}})");
    binding.edit("spec").edit("resource").set("uid", value(kWeb)["metadata"]["uid"]);
    history_.put(kBinding, History::named(kBinding, binding));
    put_autoscaler(R"("minReplicas":1,"maxReplicas":10)");
  }

  void put_cluster(const std::string& name, const std::string& ready) {
    history_.object({type::kCluster, "", name},
                    R"({"status":{"conditions":[{"type":"Ready","status":")" + ready + R"("}]}})");
  }
  void put_autoscaler(const std::string& bounds, const std::string& metrics = kHalfCpu) {
    history_.object(kKey, R"({"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},)" +
                              bounds + R"(,"metrics":[)" + metrics + "]}}");
  }
  const Value& value(const ObjectKey& key) { return history_.state().value_of(key); }
  int64_t replicas() { return value(kWeb)["spec"]["replicas"].as_int(); }
  /// "STATUS REASON" of a condition.
  std::string condition(const char* type) {
    const Value& condition = condition_of(value(kKey), type);
    return condition["status"].str() + " " + condition["reason"].str();
  }
  std::string message(const char* type) { return condition_of(value(kKey), type)["message"].str(); }

  /// Both clusters, each with one replica whose CPU, of one that it requests, is used so far.
  Measurement measured(int64_t percent) {
    Measurement measurement;
    measurement.at = history_.now();
    measurement.generation = value(kKey)["metadata"]["generation"].as_int();
    measurement.selector = "app=web";
    for (const char* name : {"m1", "m2"}) {
      measurement.clusters.push_back({.cluster = name,
                                      .replicas = replicas() / 2,
                                      .status_replicas = replicas() / 2,
                                      .pods = 1,
                                      .ready_pods = 1,
                                      .metrics = {{.ready = replicas() / 2,
                                                   .usage = replicas() / 2 * percent * 10,
                                                   .requested = replicas() / 2 * 1000,
                                                   .failure = {}}},
                                      .failure = {}});
    }
    return measurement;
  }
  /// Folds what it decides; whether there was a decision.
  bool decides(const Measurement* measurement) {
    const ScalingStep step = evaluate(history_.state(), kKey, history_.now(), measurement);
    const auto* decision = std::get_if<Decision>(&step.decided);
    if (decision == nullptr) return false;
    history_.accept(*decision);
    return true;
  }
  bool decides(const Measurement& measurement) { return decides(&measurement); }

  static constexpr const char* kHalfCpu =
      R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}})";
  History history_;
};

TEST_F(FederatedHpaDecision, ScalesTheTemplate_5_8_5_5_8_7) {
  EXPECT_TRUE(decides(measured(80)));
  EXPECT_EQ(replicas(), 4);
  const Value& status = value(kKey)["status"];
  EXPECT_EQ(status["currentReplicas"].as_int(), 2);
  EXPECT_EQ(status["desiredReplicas"].as_int(), 4);
  EXPECT_EQ(status["observedGeneration"], value(kKey)["metadata"]["generation"]);
  EXPECT_FALSE(status["lastScaleTime"].str().empty());
  EXPECT_EQ(status["currentMetrics"][0]["resource"]["current"]["averageUtilization"].as_int(), 80);
  EXPECT_EQ(condition("AbleToScale"), "True SucceededRescale");
  EXPECT_EQ(condition("ScalingActive"), "True ValidMetricFound");
  EXPECT_EQ(condition("ScalingLimited"), "False DesiredWithinRange");
  EXPECT_TRUE(decides(measured(50)));
  EXPECT_EQ(replicas(), 4);
  EXPECT_EQ(condition("AbleToScale"), "True ReadyForNewScale");
  EXPECT_EQ(value(kKey)["status"]["currentReplicas"].as_int(), 4);
}

TEST_F(FederatedHpaDecision, WhatOnlyJittersIsNotWritten) {
  ASSERT_TRUE(decides(measured(46)));
  EXPECT_FALSE(decides(measured(49)));
  EXPECT_TRUE(decides(measured(54))) << "more than a tenth";
  Measurement soon = measured(46);
  soon.recorded = UtcMillis{soon.at.value - 30'000};
  EXPECT_FALSE(decides(soon)) << "averages alone once a minute";
  EXPECT_EQ(replicas(), 2);
}

TEST_F(FederatedHpaDecision, AnIdleWorkloadIsNotWrittenAgain) {
  put_autoscaler(R"("minReplicas":2,"maxReplicas":10)");
  ASSERT_TRUE(decides(measured(1)));
  EXPECT_FALSE(decides(measured(2))) << "twice as much, and far from the target";
}

TEST_F(FederatedHpaDecision, AveragesAloneAreWrittenEveryTenMinutes) {
  ASSERT_TRUE(decides(measured(46)));
  Measurement later = measured(54);
  later.recorded = UtcMillis{later.at.value - 120'000};
  EXPECT_FALSE(decides(later));
  later.recorded = UtcMillis{later.at.value - 600'000};
  EXPECT_TRUE(decides(later));
}

TEST_F(FederatedHpaDecision, AToleranceMayBeAWholeNumber_5_8_6) {
  put_autoscaler(R"("minReplicas":1,"maxReplicas":10,"behavior":{"scaleUp":{"tolerance":0,"selectPolicy":"Max",
      "policies":[{"type":"Pods","value":9,"periodSeconds":15}]}})");
  EXPECT_TRUE(decides(measured(51)));
  EXPECT_EQ(replicas(), 3);
}

TEST_F(FederatedHpaDecision, ARescaleTakesTheReplicasFromWhoAppliedThem_SSA_6) {
  history_.edit(kWeb, [](Value& web) {
    web.edit("metadata").set("managedFields", json(R"([{"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1",
        "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])"));
  });
  EXPECT_TRUE(decides(measured(80)));
  const Value& managers = value(kWeb)["metadata"]["managedFields"];
  ASSERT_EQ(managers.size(), 1U);
  EXPECT_EQ(managers[0]["manager"].as_string(), "federated-hpa");
}

TEST_F(FederatedHpaDecision, AClusterMayHaveWhatItWasGivenAtMost) {
  const auto most = [&] { return most_replicas(history_.state(), *target_to_measure(history_.state(), kKey), 2); };
  using MostReplicas = std::map<std::string, int64_t>;
  EXPECT_EQ(most(), (MostReplicas{{"m1", 2}, {"m2", 2}}));
  history_.object({type::kNamespace, "", "karmada-es-m1"}, "{}");
  history_.object({type::kWork, "karmada-es-m1", work_name("Deployment", "default", "web")},
                  R"({"spec":{"workload":{"manifests":[{"spec":{"replicas":7}}]}}})");
  EXPECT_EQ(most(), (MostReplicas{{"m1", 7}, {"m2", 2}})) << "an override";
  history_.edit(kWeb, [](Value& web) {
    web.edit("metadata").edit("labels").set("resourcetemplate.karmada.io/retain-replicas", "true");
  });
  EXPECT_TRUE(most().empty()) << "members scale it";
}

TEST_F(FederatedHpaDecision, TheSelectorOfABuiltInKindIsTheTemplates) {
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("selector", json(R"({"matchLabels":{"app":"web"}})")); });
  EXPECT_EQ(target_to_measure(history_.state(), kKey)->selector, "app=web");
}

TEST_F(FederatedHpaDecision, ReadsReadyClustersOfTheBinding_5_8_2) {
  EXPECT_EQ(target_to_measure(history_.state(), kKey)->clusters, (std::vector<std::string>{"m1", "m2"}));
  put_cluster("m2", "Unknown");
  EXPECT_EQ(target_to_measure(history_.state(), kKey)->clusters, std::vector<std::string>{"m1"});
}

TEST_F(FederatedHpaDecision, ATargetThatCannotBeScaledIsACondition_5_8_2_5_8_7) {
  history_.edit(kBinding, [](Value& binding) { binding.edit("spec").set("clusters", Value::array()); });
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetTargetClusters");
  EXPECT_FALSE(decides(nullptr)) << "once";
  history_.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("resource").set("uid", "another"); });
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetBinding");
  EXPECT_EQ(
      message("AbleToScale"),
      "the HPA controller was unable to get the binding by scaleTargetRef: No binding matches the target resource. ");
  history_.edit(kWeb, [](Value& web) { web.edit("metadata").erase("labels"); });
  EXPECT_TRUE(decides(nullptr));
  EXPECT_NE(message("AbleToScale").find("No label of policy found"), std::string::npos);
  history_.remove(kWeb);
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetScaleTargetRef");
  history_.edit(kKey, [](Value& object) { object.edit("spec").edit("scaleTargetRef").set("kind", "DaemonSet"); });
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetScale");
}

TEST_F(FederatedHpaDecision, WithoutReplicasInAnyClusterNothingIsScaled_5_8_3) {
  Measurement none = measured(90);
  for (ClusterFigures& cluster : none.clusters)
    cluster = {.cluster = cluster.cluster, .metrics = {}, .failure = "refused"};
  EXPECT_TRUE(decides(none));
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetScale");
  EXPECT_NE(message("AbleToScale").find("possibly because all of clusters are not ready; cluster m1: refused"),
            std::string::npos);
}

TEST_F(FederatedHpaDecision, ZeroReplicasSwitchItOff) {
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 0); });
  EXPECT_FALSE(target_to_measure(history_.state(), kKey));
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(replicas(), 0);
  EXPECT_EQ(condition("ScalingActive"), "False ScalingDisabled");
}

TEST_F(FederatedHpaDecision, BoundsNeedNoMember) {
  put_autoscaler(R"("minReplicas":3,"maxReplicas":10)");
  EXPECT_FALSE(target_to_measure(history_.state(), kKey));
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(replicas(), 3);
  put_autoscaler(R"("minReplicas":1,"maxReplicas":2)");
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(replicas(), 2);
}

TEST_F(FederatedHpaDecision, AMeasurementForAnotherSpecDecidesNothing) {
  Measurement old = measured(90);
  old.generation -= 1;
  EXPECT_FALSE(decides(old));
}

TEST_F(FederatedHpaDecision, TheHighestOfTheMetricsCounts) {
  const std::string queue =
      R"({"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"10"}}})";
  put_autoscaler(R"("minReplicas":1,"maxReplicas":10)", std::string{kHalfCpu} + "," + queue);
  Measurement both = measured(40);
  for (ClusterFigures& cluster : both.clusters) cluster.metrics.push_back({.ready = 1, .usage = 30'000, .failure = {}});
  EXPECT_TRUE(decides(both));
  EXPECT_EQ(replicas(), 4) << "six, but not more than four at once";
  EXPECT_EQ(message("ScalingActive"),
            "the HPA was able to successfully calculate a replica count from pods metric queue");
  EXPECT_EQ(condition("ScalingLimited"), "True ScaleUpLimit");
}

TEST_F(FederatedHpaDecision, WithAMetricUnknownItScalesUpAndNotDown) {
  const std::string queue =
      R"({"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"10"}}})";
  put_autoscaler(R"("minReplicas":1,"maxReplicas":10)", std::string{kHalfCpu} + "," + queue);
  const auto unknown = [&](int64_t percent) {
    Measurement measurement = measured(percent);
    for (ClusterFigures& cluster : measurement.clusters) cluster.metrics.push_back({.failure = "not found"});
    return measurement;
  };
  EXPECT_TRUE(decides(unknown(10)));
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(condition("ScalingActive"), "False FailedGetPodsMetric");
  EXPECT_TRUE(decides(unknown(80)));
  EXPECT_EQ(replicas(), 4);
  EXPECT_EQ(condition("ScalingActive"), "True ValidMetricFound");
}

TEST_F(FederatedHpaDecision, PodsOfSeveralAutoscalersAreNotScaled_5_8_2) {
  Measurement measurement = measured(90);
  measurement.rivals = {"other"};
  EXPECT_TRUE(decides(measurement));
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(condition("ScalingActive"), "False AmbiguousSelector");
  measurement = measured(90);
  measurement.selector = "";
  EXPECT_TRUE(decides(measurement));
  EXPECT_EQ(condition("ScalingActive"), "False InvalidSelector");
}

TEST_F(FederatedHpaDecision, TooManyMetricsAreRefusedLoudly) {
  std::string metrics = kHalfCpu;
  for (size_t i = 0; i < kMostMetrics; ++i) metrics += std::string{","} + kHalfCpu;
  put_autoscaler(R"("minReplicas":1,"maxReplicas":10)", metrics);
  EXPECT_FALSE(target_to_measure(history_.state(), kKey));
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("ScalingActive"), "False InvalidMetricSourceType");
  EXPECT_FALSE(decides(nullptr)) << "once";
}

/// A FederatedHPA of a custom resource whose schema allows three replicas; it has two.
class FederatedHpaOfAShop : public FederatedHpaDecision {
 protected:
  FederatedHpaOfAShop() {
    history_.object({type::kCustomResourceDefinition, "", "shops.example.org"}, R"({"spec":{"group":"example.org",
        "names":{"kind":"Shop","plural":"shops"},"scope":"Namespaced","versions":[{"name":"v1","served":true,
        "storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
          "properties":{"size":{"type":"integer","maximum":3}}}}}},
        "subresources":{"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}}}]}})");
    history_.object(kShop, R"({"metadata":{"labels":{"propagationpolicy.karmada.io/permanent-id":"p"}},
        "spec":{"size":2}})");
    Value binding = json(R"({"spec":{"resource":{"apiVersion":"example.org/v1","kind":"Shop","name":"shop"},
        "clusters":[{"name":"m1","replicas":1},{"name":"m2","replicas":1}]}})");
    binding.edit("spec").edit("resource").set("uid", value(kShop)["metadata"]["uid"]);
    const ObjectKey key{type::kResourceBinding, "default", "shop-shop"};
    history_.put(key, History::named(key, binding));
    history_.edit(kKey, [](Value& object) {
      object.edit("spec").set("scaleTargetRef", json(R"({"apiVersion":"example.org/v1","kind":"Shop","name":"shop"})"));
    });
  }
  const ObjectKey kShop{"shops.example.org", "default", "shop"};
};

TEST_F(FederatedHpaOfAShop, IsNotScaledToWhatTheSchemaRefuses_5_8_7) {
  EXPECT_TRUE(decides(measured(80)));
  EXPECT_EQ(value(kShop)["spec"]["size"].as_int(), 2);
  EXPECT_EQ(condition("AbleToScale"), "False FailedUpdateScale");
  EXPECT_EQ(message("AbleToScale"),
            "the HPA controller was unable to update the target scale: shops.example.org \"shop\" is invalid: "
            "spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3");
  EXPECT_FALSE(decides(measured(80))) << "once";
  EXPECT_TRUE(decides(measured(25)));
  EXPECT_EQ(value(kShop)["spec"]["size"].as_int(), 1);
}

TEST_F(FederatedHpaOfAShop, HasToHaveTheFieldOfItsReplicas_5_8_7) {
  history_.edit(kShop, [](Value& shop) { shop.set("spec", Value::object()); });
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(condition("AbleToScale"), "False FailedGetScale");
  EXPECT_NE(message("AbleToScale").find("the spec replicas field \".spec.size\""), std::string::npos);
}

TEST_F(FederatedHpaDecision, AReplayDecidesTheSameByWhatWasRecorded) {
  Measurement measurement = measured(80);
  measurement.recent.recommended = {{measurement.at, 2}};
  measurement.recent.added = {{measurement.at, 1}};
  measurement.rivals = {};
  EXPECT_EQ(measurement_from(to_value(measurement)), measurement);
  QuestionAnswered answered;
  answered.object = kKey;
  answered.operation = kMeasureReplicas;
  answered.asked = "members";
  answered.basis = kNoQualifier;
  answered.answers = Value::object({{kNoQualifier, Value::object({{"answer", to_value(measurement)}})}});
  history_.accept({Event{answered}});
  const auto again = decide(history_.state(), kKey, history_.now());
  const ScalingStep first = evaluate(history_.state(), kKey, history_.now(), &measurement);
  EXPECT_EQ(again.value(), first.decided);
  ASSERT_NE(decision_of(again), nullptr);
  history_.accept(*decision_of(again));
  EXPECT_EQ(replicas(), 4);
  EXPECT_EQ(first.recommended, 4);
}

TEST_F(FederatedHpaDecision, ACronFederatedHpaSetsTheBoundsAndItScalesWithin_5_9_3) {
  const ObjectKey hours{cron_scaler::kCronFederatedHpa, "default", "hours"};
  history_.object(hours, R"({"spec":{
      "scaleTargetRef":{"apiVersion":"autoscaling.karmada.io/v1alpha1","kind":"FederatedHPA","name":"web"},
      "rules":[{"name":"day","schedule":"*/5 * * * *","targetMinReplicas":5,"targetMaxReplicas":8}]}})");
  const auto due = [&](UtcMillis now) {
    const auto zones = [](const std::string&) { return std::make_shared<const cron::TimeZone>(); };
    const auto decided = cron_scaler::decide(history_.state(), hours, now, zones);
    ASSERT_NE(decision_of(decided), nullptr);
    history_.accept(*decision_of(decided));
  };
  due(history_.now());
  due(history_.now() + Millis{5 * 60 * 1000});
  EXPECT_EQ(value(kKey)["spec"]["minReplicas"].as_int(), 5);
  EXPECT_TRUE(decides(nullptr));
  EXPECT_EQ(replicas(), 5);
}

TEST_F(FederatedHpaDecision, ItCanBeSwitchedOff) {
  history_.accept({FoldVersionActivated{7}});
  history_.accept({OptionsSet{{{"controllers", {"*", "-federatedHorizontalPodAutoscaler"}}}}});
  EXPECT_FALSE(decides(measured(90)));
  EXPECT_FALSE(target_to_measure(history_.state(), kKey));
}

}  // namespace
}  // namespace shiplog::federated_hpa
