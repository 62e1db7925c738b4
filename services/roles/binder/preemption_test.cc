#include <array>
#include <random>

#include <gtest/gtest.h>

#include "services/roles/binder/claim.h"
#include "services/roles/binder/decide.h"
#include "tests/support/binder_loop.h"
#include "tests/support/decided.h"

// D-42 to D-46: a policy with spec.preemption Always takes what another one has claimed.

namespace shiplog::binder {
namespace {

using given::json;

ObjectKey policy_key(const std::string& name) {
  return name.starts_with("c") ? ObjectKey{type::kClusterPropagationPolicy, "", name}
                               : ObjectKey{type::kPropagationPolicy, "default", name};
}

/// Names web in namespace default by default; places on a cluster of its own name.
std::string policy_text(const std::string& name, int priority, bool always,
                        const std::string& selector = R"(, "namespace": "default", "name": "web")") {
  return R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment")" + selector +
         R"(}], "placement": {"clusterAffinity": {"clusterNames": [")" + name + R"("]}}, "priority": )" +
         std::to_string(priority) + R"(, "preemption": ")" + (always ? "Always" : "Never") + R"("}})";
}

/// A policy that holds web; then another that would preempt it.
std::string winner(const std::string& first, int first_priority, const std::string& second, int second_priority,
                   bool always = true) {
  Loop loop;
  loop.create(policy_key(first), policy_text(first, first_priority, false));
  loop.create(kWeb, kDeployment);
  EXPECT_EQ(holder(loop), first);
  loop.create(policy_key(second), policy_text(second, second_priority, always));
  EXPECT_EQ(placed_on(loop), holder(loop));
  return holder(loop);
}

TEST(BinderPreemption, WhichPolicyPreemptsWhich_D_43) {
  // PropagationPolicy from PropagationPolicy: strictly higher explicit priority.
  EXPECT_EQ(winner("p1", 1, "p2", 2), "p2");
  EXPECT_EQ(winner("p2", 1, "p1", 1), "p2");
  EXPECT_EQ(winner("p1", 1, "p2", 0), "p1");
  // From ClusterPropagationPolicy: always.
  EXPECT_EQ(winner("c1", 100, "p1", -100), "p1");
  // ClusterPropagationPolicy from ClusterPropagationPolicy: strictly higher.
  EXPECT_EQ(winner("c1", 1, "c2", 2), "c2");
  EXPECT_EQ(winner("c2", 1, "c1", 1), "c2");
  // ClusterPropagationPolicy from PropagationPolicy: never.
  EXPECT_EQ(winner("p1", -100, "c1", 100), "p1");
}

TEST(BinderPreemption, OnlyWithPreemptionAlways_D_37) {
  EXPECT_EQ(winner("p1", 1, "p2", 100, false), "p1");
  EXPECT_EQ(winner("c1", 1, "p2", 100, false), "c1");
}

TEST(BinderPreemption, ClaimAndBindingMoveInOneExplainedDecision_D_42_D_46) {
  Loop loop;
  loop.create(policy_key("p1"), policy_text("p1", 1, false));
  loop.create(kWeb, kDeployment);
  const std::string uid = loop.history.state().value_of(kBinding)["metadata"]["uid"].str();
  given::History& history = loop.history;
  history.object(policy_key("p2"), policy_text("p2", 7, true));
  history.settle(decide, policy_key("p2"));
  const auto decision = *decision_of(decide(history.state(), kWeb, history.now()));
  ASSERT_EQ(decision.events.size(), 2U);
  const auto& steps = std::get<BindingPut>(decision.events[1]).why.steps;
  EXPECT_EQ(steps.front(), (Fact{PolicyPreempted{"default", "p2", 7, "default", "p1", 1}}));
  history.accept(decision);
  EXPECT_EQ(holder(loop), "p2");
  const Value& binding = history.state().value_of(kBinding);
  EXPECT_EQ(binding["metadata"]["uid"].as_string(), uid);
  EXPECT_EQ(claim_of(binding)->policy.name, "p2");
  EXPECT_EQ(placed_on(loop), "p2");
}

TEST(BinderPreemption, AClaimThatMovesBetweenTheKindsLeavesNothingOfTheOldOneBehind_D_16_D_43) {
  Loop loop;
  loop.create(policy_key("c1"), policy_text("c1", 1, false));
  loop.create(kWeb, kDeployment);
  loop.create(policy_key("p1"), policy_text("p1", 0, true));
  for (const ObjectKey& key : {kWeb, kBinding}) {
    const Value& object = loop.history.state().value_of(key);
    EXPECT_EQ(claim_of(object)->policy, (State::Name{"default", "p1"}));
    EXPECT_EQ(label_of(object, label::kClusterPolicyId), "");
    EXPECT_EQ(annotation_of(object, kClusterPolicyNameAnnotation), "");
  }
}

TEST(BinderPreemption, OnlyOfWhatASelectorNames_D_42) {
  const auto taken_with = [](const std::string& name, const std::string& selector) {
    Loop loop;
    loop.create(policy_key("c0"), policy_text("c0", 0, false));
    loop.create(kWeb, kDeployment);
    loop.create(policy_key(name), policy_text(name, 9, true, selector));
    return holder(loop) == name;
  };
  EXPECT_TRUE(taken_with("p1", R"(, "namespace": "default", "name": "web")"));
  // With a name, labels are not compared.
  EXPECT_TRUE(
      taken_with("p1", R"(, "namespace": "default", "name": "web", "labelSelector": {"matchLabels": {"a": "b"}})"));
  EXPECT_FALSE(taken_with("p1", ""));
  EXPECT_FALSE(taken_with("p1", R"(, "labelSelector": {})"));
  EXPECT_TRUE(taken_with("c1", R"(, "namespace": "default", "name": "web")"));
  EXPECT_FALSE(taken_with("c1", R"(, "name": "web")")) << "names an object without a namespace";
  EXPECT_FALSE(taken_with("c1", R"(, "namespace": "other", "name": "web")"));
}

TEST(BinderPreemption, UnclaimedTemplatesGoByTheOrdinaryOrder_D_44) {
  Loop loop;
  loop.create(policy_key("p1"), policy_text("p1", 5, false));
  loop.create(policy_key("p2"), policy_text("p2", 4, true));
  loop.create(kWeb, kDeployment);
  EXPECT_EQ(holder(loop), "p1");
}

TEST(BinderPreemption, TheBestOfSeveralTakesIt_D_43) {
  Loop loop;
  loop.create(policy_key("c1"), policy_text("c1", 9, false));
  loop.create(kWeb, kDeployment);
  loop.create(policy_key("c2"), policy_text("c2", 20, true));
  EXPECT_EQ(holder(loop), "c2");
  loop.fold(
      {ObjectCreated{policy_key("p1"), given::History::named(policy_key("p1"), json(policy_text("p1", 1, true)))},
       ObjectCreated{policy_key("p2"), given::History::named(policy_key("p2"), json(policy_text("p2", 2, true)))}});
  EXPECT_EQ(holder(loop), "p2");
}

TEST(BinderPreemption, LoweringAPriorityPermitsThePreemptionAndTriggersNothingElse_D_45) {
  Loop loop;
  const ObjectKey other{"deployments.apps", "default", "other"};
  loop.create(policy_key("p9"), policy_text("p9", 9, false));
  loop.create(policy_key("p1"), policy_text("p1", 1, false, R"(, "namespace": "default", "name": "other")"));
  loop.create(kWeb, kDeployment);
  loop.create(other, kDeployment);
  loop.create(policy_key("p5"), policy_text("p5", 5, true));
  loop.create(policy_key("p7"), policy_text("p7", 7, true));
  ASSERT_EQ(holder(loop), "p9");
  const int others = loop.steps_of(other);
  loop.edit(policy_key("p9"), [](Value& policy) { policy.edit("spec").set("priority", 3); });
  EXPECT_EQ(holder(loop), "p7") << "the highest of those between";
  EXPECT_EQ(placed_on(loop), "p7");
  EXPECT_EQ(loop.steps_of(other), others);
}

TEST(BinderPreemption, AnEditThatTurnsItOnActsAtOnce_D_42) {
  Loop loop;
  loop.create(policy_key("p1"), policy_text("p1", 1, false));
  loop.create(kWeb, kDeployment);
  loop.create(policy_key("p2"), policy_text("p2", 2, false));
  ASSERT_EQ(holder(loop), "p1");
  loop.edit(policy_key("p2"), [](Value& policy) { policy.edit("spec").set("preemption", "Always"); });
  EXPECT_EQ(holder(loop), "p2");
  loop.edit(policy_key("p1"), [](Value& policy) {
    policy.edit("spec").set("priority", 3);
    policy.edit("spec").set("preemption", "Always");
  });
  EXPECT_EQ(holder(loop), "p1");
}

TEST(BinderPreemption, ATerminatingPolicyTakesNothing_D_42) {
  Loop loop;
  loop.create(policy_key("p1"), policy_text("p1", 1, false));
  loop.create(kWeb, kDeployment);
  given::History& history = loop.history;
  history.object(policy_key("p2"), policy_text("p2", 2, true));
  history.settle(decide, policy_key("p2"));
  history.remove(policy_key("p2"));  // its finalizer keeps it
  ASSERT_NE(history.state().find(policy_key("p2")), nullptr);
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, history.now())));
}

TEST(BinderPreemption, APolicyWhosePriorityNoLongerSufficesKeepsWhatItHas_D_18) {
  Loop loop;
  loop.create(policy_key("p1"), policy_text("p1", 1, false));
  loop.create(kWeb, kDeployment);
  loop.create(policy_key("p2"), policy_text("p2", 2, true));
  loop.edit(policy_key("p2"), [](Value& policy) { policy.edit("spec").set("priority", 0); });
  EXPECT_EQ(holder(loop), "p2");
}

// For any actions of users and any order of steps: in the end no policy claims what another may preempt.
class RandomPolicies {
 public:
  explicit RandomPolicies(uint32_t seed) : random_{seed}, loop_{seed + 1} {}

  void run() {
    for (int step = 0; step < 60; ++step) {
      act();
      check();
    }
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }

  void act() {
    if (below(3) == 0) {
      const ObjectKey key{"deployments.apps", "default", kNames[static_cast<size_t>(below(3))]};
      if (loop_.history.state().find(key) == nullptr) return loop_.create(key, kDeployment);
      if (below(4) == 0) return drop(key);
      return loop_.edit(key, [&](Value& object) { object.edit("spec").set("replicas", below(9)); });
    }
    const std::string name = (below(2) == 0 ? "c" : "p") + std::to_string(below(4));
    if (loop_.history.state().find(policy_key(name)) == nullptr) {
      return loop_.create(policy_key(name), policy_text(name, below(5), below(3) > 0, selector()));
    }
    if (below(4) == 0) return loop_.fold({DeletionRequested{policy_key(name)}});
    const Value spec = json(policy_text(name, below(5), below(3) > 0, selector()))["spec"];
    loop_.edit(policy_key(name), [&](Value& policy) { policy.set("spec", spec); });
  }

  /// The binding goes with it, as the garbage collector would see to.
  void drop(const ObjectKey& key) {
    loop_.fold({DeletionRequested{key}});
    const ObjectKey binding{type::kResourceBinding, "default", key.name + "-deployment"};
    if (loop_.history.state().find(binding) == nullptr) return;
    loop_.edit(binding, [](Value& value) { value.edit("metadata").erase("finalizers"); });
    loop_.fold({ObjectRemoved{binding}});
  }

  std::string selector() {
    const std::string ns = R"(, "namespace": "default")";
    return below(3) == 0 ? ns : ns + R"(, "name": ")" + kNames[static_cast<size_t>(below(3))] + "\"";
  }

  void check() {
    const State& state = loop_.history.state();
    for (const auto& [name, object] : state.objects("deployments.apps", "default")) {
      const ObjectKey key{"deployments.apps", name.ns, name.name};
      const auto left = decide(state, key, loop_.history.now());
      ASSERT_TRUE(left) << left.error().message;
      ASSERT_FALSE(decision_of(left)) << to_string(key) << " was not woken";
      const auto claim = claim_of(object.value);
      for (const auto& [id, policy] : state.policies()) {
        if (match(policy, object.value) == SelectorMatch::kNone) continue;
        ASSERT_TRUE(claim) << to_string(key) << " is selected and not claimed";
        ASSERT_TRUE(state.policies().contains(claim->policy));
        const Policy& has = state.policies().at(claim->policy);
        ASSERT_FALSE(may_take(policy, has, name.name.str()))
            << policy.name << " may take " << name.name << " from " << has.name;
      }
      if (claim) {
        ASSERT_NE(match(state.policies().at(claim->policy), object.value), SelectorMatch::kNone);
        const Value& binding = state.value_of({type::kResourceBinding, "default", name.name + "-deployment"});
        ASSERT_EQ(claim_of(binding)->policy, claim->policy);
        ASSERT_EQ(binding["spec"]["placement"], state.policies().at(claim->policy).spec["placement"]);
      }
    }
  }

  /// D-43, in so many words.
  static bool may_take(const Policy& policy, const Policy& has, const std::string& name) {
    const bool names_it =
        std::ranges::any_of(policy.selectors, [&](const ResourceSelector& one) { return one.name == name; });
    if (policy.spec["preemption"].as_string() != "Always" || !names_it) return false;
    if (!policy.cluster_scoped() && has.cluster_scoped()) return true;
    return policy.cluster_scoped() == has.cluster_scoped() && policy.priority > has.priority;
  }

  static constexpr std::array<const char*, 3> kNames = {"web", "api", "db"};
  std::mt19937 random_;
  Loop loop_;
};

TEST(BinderPreemption, NoPolicyKeepsATemplateThatAnotherPreempts_D_43) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomPolicies{seed}.run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace shiplog::binder
