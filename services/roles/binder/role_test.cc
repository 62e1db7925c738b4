#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "services/interpreter/customizations.h"
#include "tests/support/binder_loop.h"

namespace shiplog {
namespace {

using binder::kBinding;
using binder::kDeployment;
using binder::kPolicy;
using binder::kWeb;
using binder::Loop;
using given::json;

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

TEST(BinderRole, APolicyWithoutIdThatLetsGoOfATemplateLeavesItToTheNextOne_D_14_D_35) {
  constexpr const char* kSelecting =
      R"({"metadata": {"generation": 1}, "spec": {"priority": 9, "resourceSelectors": [{"apiVersion": "apps/v1",
      "kind": "Deployment", "name": "web"}]}})";
  const ObjectKey first{type::kPropagationPolicy, "default", "first"};
  for (const bool deleted : {true, false}) {
    given::History history;
    history.fold({ObjectCreated{kWeb, given::History::named(kWeb, json(kDeployment))},
                  ObjectCreated{kPolicy, given::History::named(kPolicy, json(kPolicyText))},
                  ObjectCreated{first, given::History::named(first, json(kSelecting))}});
    Value lets_go = history.state().value_of(first);
    lets_go.edit("spec").set("resourceSelectors", Value::array());
    const Folded folded =
        deleted ? history.fold({DeletionRequested{first}}) : history.fold({ObjectUpdated{first, lets_go}});
    ASSERT_FALSE(folded.refusal);
    std::vector<ObjectKey> triggered;
    const auto role = make_binder_role();
    for (const Change& change : folded.changes) role->on_change(history.state(), change, triggered);
    EXPECT_EQ(std::ranges::count(triggered, kWeb), 1) << deleted;
  }
}

}  // namespace
}  // namespace shiplog
