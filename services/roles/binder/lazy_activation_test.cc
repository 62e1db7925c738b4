#include "services/roles/binder/lazy_activation.h"

#include <gtest/gtest.h>

#include "events/state/new_binding.h"
#include "services/roles/binder/claim.h"
#include "services/roles/binder/decide.h"
#include "tests/support/binder_loop.h"

// D-47, D-48: a Lazy policy takes effect with the user's next change of a template.

namespace shiplog::binder {
namespace {

using given::json;

const ObjectKey kNext{type::kPropagationPolicy, "default", "q"};

std::string lazy_policy(const std::string& cluster, const std::string& more = R"(, "activationPreference": "Lazy")") {
  return R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default",
      "name": "web"}], "placement": {"clusterAffinity": {"clusterNames": [")" +
         cluster + R"("]}})" + more + "}}";
}

void touch(Loop& loop) {
  loop.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", web["spec"]["replicas"].as_int() + 1); });
}
void place(Loop& loop, const ObjectKey& policy, const char* cluster) {
  loop.edit(policy, [&](Value& value) { value.set("spec", json(lazy_policy(cluster))["spec"]); });
}
std::string noted(const Loop& loop) {
  return std::string{annotation_of(loop.history.state().value_of(kWeb), kLazyDigestAnnotation)};
}

TEST(BinderLazy, WhatIsTheUsersInATemplate_D_6) {
  const auto digest = [](const std::string& metadata, const std::string& more = "") {
    return std::string{user_digest(template_digest(json(R"({"metadata": {)" + metadata + "}" + more + "}")))};
  };
  const std::string plain = digest(R"("name": "a")");
  EXPECT_EQ(digest(R"("name": "a", "generation": 3, "resourceVersion": "7", "managedFields": [{}])"), plain);
  EXPECT_EQ(digest(R"("name": "a", "labels": {"propagationpolicy.karmada.io/permanent-id": "x"})"), plain);
  EXPECT_EQ(digest(R"("name": "a", "annotations": {"any.karmada.io/x": "y"})", R"(, "status": {"a": 1})"), plain);
  EXPECT_NE(digest(R"("name": "a", "labels": {"namespace.karmada.io/skip-auto-propagation": "true"})"), plain);
  EXPECT_NE(digest(R"("name": "a", "labels": {"app": "x"})"), plain);
  EXPECT_NE(digest(R"("name": "a", "annotations": {"karmada.io/x": "y"})"), plain) << "no dot before karmada.io";
  EXPECT_NE(digest(R"("name": "a")", R"(, "spec": {"a": 1})"), plain);
}

TEST(BinderLazy, ATemplateThatWasThereIsOnlyClaimedUntilTheUserTouchesIt_D_47_D_48a) {
  Loop loop;
  loop.create(kWeb, kDeployment);
  loop.create(kPolicy, lazy_policy("m1"));
  EXPECT_EQ(holder(loop), "p");
  EXPECT_FALSE(label_of(loop.history.state().value_of(kWeb), label::kPolicyId).empty());
  EXPECT_EQ(loop.history.state().find(kBinding), nullptr);
  EXPECT_FALSE(noted(loop).empty());
  touch(loop);
  EXPECT_EQ(placed_on(loop), "m1");
  EXPECT_TRUE(noted(loop).empty()) << "the note would reach the members";
}

TEST(BinderLazy, AStatusOrALabelOfKarmadasIsNoTouch_D_6_D_47) {
  Loop loop;
  loop.create(kWeb, kDeployment);
  loop.create(kPolicy, lazy_policy("m1"));
  loop.edit(kWeb, [](Value& web) { web.edit("metadata").edit("labels").set("x.karmada.io/y", "z"); });
  loop.edit(kWeb, [](Value& web) { web.edit("status").set("replicas", 4); });
  EXPECT_EQ(loop.history.state().find(kBinding), nullptr);
  loop.edit(kWeb, [](Value& web) { web.edit("metadata").edit("labels").set("tier", "front"); });
  EXPECT_NE(loop.history.state().find(kBinding), nullptr);
}

TEST(BinderLazy, ALaterTemplateIsPropagatedAtOnce_D_48b) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1"));
  loop.create(kWeb, kDeployment);
  EXPECT_EQ(placed_on(loop), "m1");
}

TEST(BinderLazy, ATemplateFromBeforeThePolicyGotItsIdCountsAsLater_D_48b) {
  given::History history;
  history.object(kPolicy, lazy_policy("m1")).object(kWeb, kDeployment);
  history.settle(decide, kPolicy);
  history.settle(decide, kWeb);
  EXPECT_NE(history.state().find(kBinding), nullptr);
}

TEST(BinderLazy, AnEditOfThePolicyWaitsForTheTouchAndThenTheNewestCounts_D_48c_D_48d) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1"));
  loop.create(kWeb, kDeployment);
  const Value before = loop.history.state().value_of(kBinding);
  place(loop, kPolicy, "m2");
  EXPECT_EQ(loop.history.state().value_of(kBinding), before);
  place(loop, kPolicy, "m3");
  EXPECT_EQ(loop.history.state().value_of(kBinding), before);
  touch(loop);
  EXPECT_EQ(placed_on(loop), "m3");
}

TEST(BinderLazy, DeletingThePolicyStripsTheClaims_D_48e) {
  for (const bool bound : {true, false}) {
    Loop loop;
    if (bound) loop.create(kPolicy, lazy_policy("m1"));
    loop.create(kWeb, kDeployment);
    if (!bound) loop.create(kPolicy, lazy_policy("m1"));
    ASSERT_EQ(loop.history.state().find(kBinding) != nullptr, bound);
    loop.fold({DeletionRequested{kPolicy}});
    EXPECT_EQ(loop.history.state().find(kPolicy), nullptr);
    EXPECT_FALSE(has_claim_metadata(loop.history.state().value_of(kWeb)));
    EXPECT_TRUE(noted(loop).empty());
    EXPECT_FALSE(has_claim_metadata(loop.history.state().value_of(kBinding)));
    EXPECT_EQ(loop.history.state().find(kBinding) != nullptr, bound);
  }
}

TEST(BinderLazy, ASelectorThatBeginsToSelectItClaimsOnly_D_47) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1"));
  loop.edit(kPolicy,
            [](Value& policy) { policy.edit("spec").edit("resourceSelectors").edit_items()[0].set("name", "other"); });
  loop.create(kWeb, kDeployment);
  ASSERT_EQ(holder(loop), "");
  place(loop, kPolicy, "m1");
  EXPECT_EQ(holder(loop), "p");
  EXPECT_EQ(loop.history.state().find(kBinding), nullptr);
  touch(loop);
  EXPECT_NE(loop.history.state().find(kBinding), nullptr);
}

TEST(BinderLazy, APolicyThatTurnsEagerIsAppliedAndOneThatTurnsLazyWaits_D_47) {
  Loop loop;
  loop.create(kWeb, kDeployment);
  loop.create(kPolicy, lazy_policy("m1"));
  loop.edit(kPolicy, [](Value& policy) { policy.edit("spec").erase("activationPreference"); });
  EXPECT_EQ(placed_on(loop), "m1");
  EXPECT_TRUE(noted(loop).empty());
  EXPECT_EQ(annotation_of(loop.history.state().value_of(kPolicy), kEffectiveSinceAnnotation), "");
  place(loop, kPolicy, "m2");  // Lazy again
  EXPECT_EQ(placed_on(loop), "m1");
  touch(loop);
  EXPECT_EQ(placed_on(loop), "m2");
}

TEST(BinderLazy, WhatAnotherPolicyReleasesIsOnlyClaimed_D_19_D_47) {
  for (const char* first : {R"(, "activationPreference": "Lazy")", ""}) {
    Loop loop;
    loop.create(kWeb, kDeployment);
    loop.create(kPolicy, lazy_policy("m1", first));
    loop.create(kNext, lazy_policy("m2"));
    ASSERT_EQ(holder(loop), "p");
    const bool bound = loop.history.state().find(kBinding) != nullptr;
    loop.fold({DeletionRequested{kPolicy}});
    EXPECT_EQ(loop.history.state().find(kPolicy), nullptr);
    EXPECT_EQ(holder(loop), "q");
    EXPECT_EQ(loop.history.state().find(kBinding) != nullptr, bound);
    EXPECT_EQ(holder(loop, kBinding), "") << "D-39: without a claim, it rests";
    if (bound) {
      EXPECT_EQ(placed_on(loop), "m1");
    }
    touch(loop);
    EXPECT_EQ(placed_on(loop), "m2");
    EXPECT_EQ(holder(loop, kBinding), "q");
  }
}

TEST(BinderLazy, APreemptingLazyPolicyTakesTheClaimNowAndTheBindingLater_D_43_D_47) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1", ""));
  loop.create(kWeb, kDeployment);
  loop.create(kNext, lazy_policy("m2", R"(, "activationPreference": "Lazy", "preemption": "Always", "priority": 1)"));
  EXPECT_EQ(holder(loop), "q");
  EXPECT_EQ(placed_on(loop), "m1");
  touch(loop);
  EXPECT_EQ(placed_on(loop), "m2");
  EXPECT_EQ(holder(loop, kBinding), "q");
}

TEST(BinderLazy, ADeletedBindingIsCreatedAgain) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1"));
  loop.create(kWeb, kDeployment);
  loop.edit(kBinding, [](Value& binding) { binding.edit("metadata").erase("finalizers"); });
  loop.fold({ObjectRemoved{kBinding}});
  EXPECT_EQ(placed_on(loop), "m1");
}

TEST(BinderLazy, AMissingOverrideHoldsBackTheSuccessorButNotTheRelease_D_13_D_38) {
  Loop loop;
  loop.create(kPolicy, lazy_policy("m1", ""));
  loop.create(kWeb, kDeployment);
  loop.create(kNext, lazy_policy("m2", R"(, "dependentOverrides": ["op"])"));
  loop.fold({DeletionRequested{kPolicy}});
  EXPECT_EQ(loop.history.state().find(kPolicy), nullptr);
  EXPECT_EQ(holder(loop), "");
}

}  // namespace
}  // namespace shiplog::binder
