#include "services/roles/scaler/role.h"

#include <gtest/gtest.h>

#include "services/roles/scaler/decide.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::History;
using given::json;
using given::woken;
using Keys = std::vector<ObjectKey>;

const ObjectKey kWeb{scaler::kDeployment, "default", "web"};
const ObjectKey kOther{scaler::kDeployment, "default", "other"};
const ObjectKey kHpa{scaler::kAutoscaler, "default", "web"};
constexpr const char* kDeployment = R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 4}})";

Value naming(const char* target) {
  return History::named(kHpa, json(std::string{R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
      "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": ")"} +
                                   target + R"("}}})"));
}

History switched_on() {
  History history;
  history.accept({OptionsSet{{{"controllers", {"*", kHpaScaleTargetMarker, kDeploymentReplicasSyncer}}}}});
  return history;
}

Event labelled(History& history, const char* value) {
  Value web = history.state().value_of(kWeb);
  web.edit("metadata").edit("labels").set(scaler::kRetainReplicasLabel, value);
  return ObjectUpdated{kWeb, web};
}

TEST(ScalerRole, AnAutoscalerTriggersWhatItNamesAndHasNamed_E_21) {
  History history = switched_on();
  const auto service = make_scaler_role();
  EXPECT_EQ(woken(*service, history, {ObjectCreated{kHpa, naming("web")}}), Keys{kWeb});
  EXPECT_EQ(woken(*service, history, {ObjectUpdated{kHpa, naming("other")}}), (Keys{kWeb, kOther}));
  EXPECT_EQ(woken(*service, history, {DeletionRequested{kHpa}}), Keys{kOther});
}

TEST(ScalerRole, ALaterTemplateAndOneThatLosesItsLabelAreTriggered_E_21) {
  History history = switched_on();
  const auto service = make_scaler_role();
  EXPECT_EQ(woken(*service, history, {ObjectCreated{kOther, History::named(kOther, json(kDeployment))}}), Keys{});
  history.put(kHpa, naming("web"));
  EXPECT_EQ(woken(*service, history, {ObjectCreated{kWeb, History::named(kWeb, json(kDeployment))}}), Keys{kWeb});
  EXPECT_EQ(woken(*service, history, {labelled(history, "no")}), Keys{kWeb});
}

TEST(ScalerRole, WhatMovesTheReplicasOfAMarkedTemplateTriggersIt_E_21) {
  History history = switched_on();
  history.object(kWeb, kDeployment);
  const auto service = make_scaler_role();
  const auto has = [&](int64_t replicas) {
    Value web = history.state().value_of(kWeb);
    web.edit("status").set("replicas", replicas);
    return woken(*service, history, {StatusUpdated{kWeb, web}});
  };
  EXPECT_EQ(has(3), Keys{}) << "nobody has marked it";
  EXPECT_EQ(woken(*service, history, {labelled(history, "true")}), Keys{kWeb});
  EXPECT_EQ(has(5), Keys{kWeb});
  const ObjectKey binding{type::kResourceBinding, "default", "web-deployment"};
  const Value bound = json(R"({"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})");
  EXPECT_EQ(woken(*service, history, {ObjectCreated{binding, History::named(binding, bound)}}), Keys{kWeb});
}

TEST(ScalerRole, IsIdleUntilAnOptionNamesItsPartsAndThenTriggersAll_E_21) {
  History history;
  history.object(kWeb, kDeployment);
  const auto service = make_scaler_role();
  EXPECT_EQ(woken(*service, history, {ObjectCreated{kHpa, naming("web")}}), Keys{});
  EXPECT_EQ(woken(*service, history, {OptionsSet{{{"controllers", {"*", kHpaScaleTargetMarker}}}}}), Keys{kWeb});
}

}  // namespace
}  // namespace shiplog
