#include <gtest/gtest.h>

#include "services/interpreter/customizations.h"
#include "tests/support/binder_loop.h"

namespace shiplog {
namespace {

using binder::Loop;
using given::json;

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kPolicy{type::kPropagationPolicy, "default", "p"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};

constexpr const char* kDeployment =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1, "template": {"spec": {}}}})";
constexpr const char* kPolicyText = R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1",
    "kind": "Deployment", "name": "web"}], "placement": {"clusterAffinity": {"clusterNames": ["m1"]}}}})";

TEST(BinderRole, BindsInAnyOrderOfCreation) {  // D-1, D-14, D-35
  for (const bool policy_first : {true, false}) {
    Loop loop;
    if (policy_first) loop.create(kPolicy, kPolicyText);
    loop.create(kWeb, kDeployment);
    if (!policy_first) loop.create(kPolicy, kPolicyText);
    EXPECT_NE(loop.history.state().find(kBinding), nullptr) << policy_first;
  }
}

TEST(BinderRole, APolicyEditReachesTheBinding) {  // D-35
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  Value policy = loop.history.state().value_of(kPolicy);
  policy.edit("spec").edit("placement").set("clusterAffinity", json(R"({"clusterNames": ["m2"]})"));
  loop.fold({ObjectUpdated{kPolicy, policy}});
  EXPECT_EQ(loop.history.state().value_of(kBinding)["spec"]["placement"], policy["spec"]["placement"]);
}

TEST(BinderRole, AClaimDoesNotMakeTheBindingAgainThatWasMadeWithIt) {  // D-5, D-16
  Loop loop;
  loop.fold({FoldVersionActivated{kFoldVersion}});  // in which annotations count as generations of a Deployment
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  ASSERT_FALSE(label_of(loop.history.state().value_of(kWeb), "propagationpolicy.karmada.io/permanent-id").empty());
  EXPECT_EQ(loop.history.state().value_of(kBinding)["metadata"]["generation"], Value{1});
}

TEST(BinderRole, ADeletedPolicyGoesOnceItsTemplatesAreReleased) {  // D-38
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  loop.fold({DeletionRequested{kPolicy}});
  EXPECT_EQ(loop.history.state().find(kPolicy), nullptr);
  EXPECT_TRUE(label_of(loop.history.state().value_of(kWeb), label::kPolicyId).empty());
  EXPECT_NE(loop.history.state().find(kBinding), nullptr);
}

TEST(BinderRole, ARestoredLabelOnABindingIsPutRight) {
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  const Value right = loop.history.state().value_of(kBinding);
  Value wrong = right;
  wrong.edit("metadata").erase("labels");
  loop.fold({ObjectUpdated{kBinding, wrong}});
  EXPECT_EQ(loop.history.state().value_of(kBinding)["metadata"]["labels"], right["metadata"]["labels"]);
}

TEST(BinderRole, AStatusChangeOfATemplateTriggersNothing) {  // D-5
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  const int before = loop.steps();
  Value web = loop.history.state().value_of(kWeb);
  web.edit("status").set("readyReplicas", 1);
  loop.fold({StatusUpdated{kWeb, web}});
  EXPECT_EQ(loop.steps(), before);
}

TEST(BinderRole, LabelsOfAPolicyTriggerNoTemplate_D_36) {
  Loop loop;
  loop.create(kPolicy, kPolicyText);
  loop.create(kWeb, kDeployment);
  const int before = loop.steps();
  Value policy = loop.history.state().value_of(kPolicy);
  policy.edit("metadata").edit("labels").set("team", "blue");
  policy.edit("metadata").edit("annotations").set("note", "x");
  loop.fold({ObjectUpdated{kPolicy, policy}});
  EXPECT_LE(loop.steps(), before + 1) << "the policy itself at most";
}

TEST(BinderRole, AChangedCustomizationGivesBindingsTheirReplicas_L_2) {
  Loop loop;
  loop.create(kWeb, kDeployment);
  loop.create(kPolicy, kPolicyText);
  ASSERT_EQ(loop.history.state().value_of(kBinding)["spec"]["replicas"], Value{1});
  loop.create({interpreter::kCustomizationType, "", "c"},
              R"({"spec": {"target": {"apiVersion": "apps/v1", "kind": "Deployment"},
      "customizations": {"replicaResource": {"luaScript": "function GetReplicas(o) return o.spec.replicas * 7 end"}}}})");
  EXPECT_EQ(loop.history.state().value_of(kBinding)["spec"]["replicas"], Value{7});
}

}  // namespace
}  // namespace shiplog
