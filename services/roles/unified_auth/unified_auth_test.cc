// Whom the impersonator of each member may act as (1.17).
#include <random>

#include "events/state/impersonation.h"
#include "events/state/rbac.h"
#include "services/roles/unified_auth/decide.h"
#include "services/roles/unified_auth/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::unified_auth {
namespace {

using given::FakeTask;
using given::History;
using given::json;

const ObjectKey kM1{type::kCluster, "", "m1"};
const ObjectKey kM2{type::kCluster, "", "m2"};

constexpr const char* kWithImpersonator = R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "spec":
    {"syncMode": "Push", "impersonatorSecretRef": {"namespace": "karmada-cluster", "name": "x-impersonator"}}})";

ObjectKey role_key(const std::string& name) { return {rbac::kClusterRole, "", name}; }
ObjectKey binding_key_of(const std::string& name) { return {rbac::kClusterRoleBinding, "", name}; }

Value proxy_role(const std::string& names = "") {
  return json(R"({"rules": [{"apiGroups": ["cluster.karmada.io"], "resources": ["clusters/proxy"], "verbs": ["*"])" +
              (names.empty() ? "" : R"(, "resourceNames": [)" + names + "]") + "}]}");
}

Value binding_of(const std::string& role, const std::string& subjects) {
  return json(R"({"roleRef": {"kind": "ClusterRole", "name": ")" + role + R"("}, "subjects": [)" + subjects + "]}");
}

const std::string kAlice = R"({"kind": "User", "name": "alice"})";
const std::string kTeam = R"({"kind": "Group", "name": "team"})";
const std::string kRobot = R"({"kind": "ServiceAccount", "namespace": "ci", "name": "robot"})";

class UnifiedAuth : public testing::Test {
 protected:
  UnifiedAuth() {
    for (const ObjectKey& cluster : {kM1, kM2}) {
      history.object(cluster, kWithImpersonator);
      history.object({type::kNamespace, "", execution_space(cluster.name)}, R"({"kind": "Namespace"})");
    }
  }

  const Value& work(const char* kind, const std::string& cluster = "m1") {
    return history.state().value_of(impersonation_work(kind, cluster));
  }
  const Value& manifest(const char* kind, const std::string& cluster = "m1") {
    return work(kind, cluster)["spec"]["workload"]["manifests"][0];
  }
  std::string rules(const ObjectKey& cluster = kM1) {
    history.settle(decide, cluster);
    return to_json(manifest("ClusterRole", cluster.name.str())["rules"]);
  }

  History history;
};

TEST_F(UnifiedAuth, TwoWorksBringTheRightsOfTheImpersonator_1_17_2) {
  history.put(role_key("proxy"), proxy_role());
  history.put(binding_key_of("a"), binding_of("proxy", kAlice + "," + kTeam + "," + kRobot));
  EXPECT_EQ(history.settle(decide, kM1), 1);

  EXPECT_EQ(to_json(manifest("ClusterRole")["rules"]),
            R"([{"apiGroups":[""],"resourceNames":["alice"],"resources":["users"],"verbs":["impersonate"]},)"
            R"({"apiGroups":[""],"resourceNames":["robot"],"resources":["serviceaccounts"],"verbs":["impersonate"]},)"
            R"({"apiGroups":[""],"resourceNames":["team"],"resources":["groups"],"verbs":["impersonate"]}])");
  EXPECT_EQ(manifest("ClusterRole")["metadata"]["name"], "karmada-impersonator");
  EXPECT_EQ(label_of(manifest("ClusterRole"), label::kSystem), "true");
  EXPECT_EQ(label_of(manifest("ClusterRole"), label::kManaged), "true");
  const Value& binding = manifest("ClusterRoleBinding");
  EXPECT_EQ(to_json(binding["subjects"]),
            R"([{"kind":"ServiceAccount","name":"karmada-impersonator","namespace":"karmada-cluster"}])");
  EXPECT_EQ(binding["roleRef"]["name"], "karmada-impersonator");
  for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) {
    const Value& owner = work(kind)["metadata"]["ownerReferences"][0];
    EXPECT_EQ(owner["kind"], "Cluster");
    EXPECT_EQ(owner["uid"].as_string(), uid_of(history.state().value_of(kM1)));
    EXPECT_TRUE(has_finalizer(work(kind), finalizer::kWork));
    EXPECT_EQ(condition_of(work(kind), "Dispatching")["status"], "True");
  }
}

// As upstream's tools look for them.
TEST_F(UnifiedAuth, NamesOfTheWorksAreUpstreams_1_17_2) {
  EXPECT_EQ(impersonation_work("ClusterRole", "m1").ns, "karmada-es-m1");
  EXPECT_EQ(impersonation_work("ClusterRole", "m1").name, work_name("ClusterRole", "", "karmada-impersonator"));
}

TEST_F(UnifiedAuth, ClusterRolesCountByTheClustersTheyName_1_17_1) {
  history.put(role_key("one"), proxy_role(R"("m1")"));
  history.put(binding_key_of("a"), binding_of("one", kAlice));
  EXPECT_EQ(rules(kM1),
            R"([{"apiGroups":[""],"resourceNames":["alice"],"resources":["users"],"verbs":["impersonate"]}])");
  EXPECT_EQ(rules(kM2), "[]");
}

TEST_F(UnifiedAuth, WhatPermitsTheGlobalProxyPermitsEveryCluster_1_17_1) {
  EXPECT_TRUE(proxy_scope(json(R"([{"apiGroups": ["search.karmada.io"], "resources": ["proxying/proxy"], "verbs": ["*"],
                                    "resourceNames": ["other"]}])"))
                  .all);
  EXPECT_TRUE(proxy_scope(json(R"([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])")).all);
  EXPECT_TRUE(
      proxy_scope(json(R"([{"apiGroups": ["cluster.karmada.io"], "resources": ["*/proxy"], "verbs": ["get"]}])")).all);
  for (const char* other : {R"({"apiGroups": ["cluster.karmada.io"], "resources": ["clusters"], "verbs": ["*"]})",
                            R"({"apiGroups": [""], "resources": ["clusters/proxy"], "verbs": ["*"]})",
                            R"({"apiGroups": ["search.karmada.io"], "resources": ["search/proxy"], "verbs": ["*"]})",
                            R"({"nonResourceURLs": ["*"], "verbs": ["*"]})"}) {
    EXPECT_TRUE(proxy_scope(json("[" + std::string{other} + "]")).empty()) << other;
  }
}

TEST_F(UnifiedAuth, RoleBindingsGrantNothing_1_17_1) {
  history.put(role_key("proxy"), proxy_role());
  history.put({rbac::kRoleBinding, "default", "a"}, binding_of("proxy", kAlice));
  EXPECT_EQ(rules(), "[]");
}

TEST_F(UnifiedAuth, ARevokedRightIsRevokedInTheMember_1_17_3) {
  history.put(role_key("proxy"), proxy_role());
  history.put(binding_key_of("a"), binding_of("proxy", kAlice));
  ASSERT_NE(rules(), "[]");
  history.accept({DeletionRequested{.object = binding_key_of("a")}});
  EXPECT_EQ(rules(), "[]");
}

TEST_F(UnifiedAuth, WithoutAnImpersonatorThereIsNothingToGrant) {
  history.edit(kM2, [](Value& cluster) { cluster.edit("spec").erase("impersonatorSecretRef"); });
  EXPECT_EQ(history.settle(decide, kM2), 0);
  history.settle(decide, kM1);
  history.edit(kM1, [](Value& cluster) { cluster.edit("spec").erase("impersonatorSecretRef"); });
  EXPECT_EQ(history.settle(decide, kM1), 1);
  EXPECT_TRUE(deleting(work("ClusterRole"))) << "what nothing keeps up to date does not stay granted";
  EXPECT_TRUE(deleting(work("ClusterRoleBinding")));
}

TEST_F(UnifiedAuth, AClusterThatLeavesOrHasNoExecutionSpaceIsWaitedFor) {
  const ObjectKey m3{type::kCluster, "", "m3"};
  history.object(m3, kWithImpersonator);
  EXPECT_EQ(history.settle(decide, m3), 0);
  history.edit(kM1, [](Value& cluster) { cluster.edit("metadata").edit("finalizers").push_back("x/y"); });
  history.remove(kM1);
  EXPECT_EQ(history.settle(decide, kM1), 0);
}

// A user with the right to propagate ClusterRoles could otherwise choose whom the control plane acts as there.
TEST_F(UnifiedAuth, AWorkOfABindingIsLeftAloneAndReported) {
  const ObjectKey taken = impersonation_work("ClusterRole", "m1");
  history.object(taken, R"({"kind": "Work", "spec": {"workload": {"manifests": [{"kind": "ClusterRole"}]}}})");
  const auto decided = decide(history.state(), kM1, history.now());
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, ErrorCode::kConflict);
  EXPECT_NE(decided.error().message.find("karmada-impersonator"), std::string::npos);
}

class UnifiedAuthTriggers : public UnifiedAuth {
 protected:
  UnifiedAuthTriggers() : role{make_unified_auth_role()} {
    std::vector<ObjectKey> wake;
    role->on_start(history.state(), wake);
    EXPECT_EQ(wake, (std::vector<ObjectKey>{kM1, kM2}));
    for (const ObjectKey& cluster : wake) reconcile(cluster);
  }
  void reconcile(const ObjectKey& cluster) {
    const auto task = std::make_shared<FakeTask>(history, cluster);
    role->reconcile(task);
    EXPECT_FALSE(task->failure);
  }
  std::vector<ObjectKey> woken(std::vector<Event> events) { return given::woken(*role, history, std::move(events)); }

  std::unique_ptr<Role> role;
};

TEST_F(UnifiedAuthTriggers, ChangesOfRightsTriggerTheClustersTheyConcern_1_17_3) {
  const auto create = [&](const ObjectKey& key, const Value& value) {
    return woken({ObjectCreated{key, History::named(key, value)}});
  };
  EXPECT_TRUE(create(role_key("one"), proxy_role(R"("m2")")).empty()) << "it is bound to no subject";
  EXPECT_TRUE(create(role_key("other"), json(R"({"rules": []})")).empty());
  EXPECT_EQ(create(binding_key_of("a"), binding_of("one", kAlice)), std::vector<ObjectKey>{kM2});
  EXPECT_TRUE(create(binding_key_of("b"), binding_of("other", kTeam)).empty());
  reconcile(kM2);
  EXPECT_NE(to_json(manifest("ClusterRole", "m2")["rules"]), "[]");

  // A ClusterRole that was bound before it permits the proxy.
  const auto edit = [&](const ObjectKey& key, const char* field, const Value& value) {
    Value object = history.state().value_of(key);
    object.set(field, value);
    return woken({ObjectUpdated{key, object}});
  };
  EXPECT_EQ(edit(role_key("other"), "rules", proxy_role()["rules"]), (std::vector<ObjectKey>{kM1, kM2}));
  reconcile(kM1);
  EXPECT_EQ(to_json(manifest("ClusterRole")["rules"]),
            R"([{"apiGroups":[""],"resourceNames":["team"],"resources":["groups"],"verbs":["impersonate"]}])");
  EXPECT_EQ(edit(role_key("one"), "rules", proxy_role(R"("m1")")["rules"]), (std::vector<ObjectKey>{kM1, kM2}))
      << "where it permitted, and where it does now";
  EXPECT_EQ(woken({DeletionRequested{.object = binding_key_of("a")}}), std::vector<ObjectKey>{kM1});
  EXPECT_TRUE(edit(binding_key_of("b"), "metadata", json(R"({"name": "b", "labels": {"a": "b"}})")).empty());
}

TEST_F(UnifiedAuthTriggers, ClustersTheirSpacesAndTheirWorksTriggerThem_1_17_3) {
  const ObjectKey m3{type::kCluster, "", "m3"};
  EXPECT_EQ(woken({ObjectCreated{m3, History::named(m3, json(kWithImpersonator))}}), std::vector<ObjectKey>{m3});
  const ObjectKey space{type::kNamespace, "", "karmada-es-m3"};
  EXPECT_EQ(woken({ObjectCreated{space, History::named(space, json(R"({"kind": "Namespace"})"))}}),
            std::vector<ObjectKey>{m3});
  Value labelled = history.state().value_of(kM1);
  labelled.edit("metadata").edit("labels").set("a", "b");
  EXPECT_TRUE(woken({ObjectUpdated{kM1, labelled}}).empty());

  const ObjectKey role_work = impersonation_work("ClusterRole", "m1");
  EXPECT_TRUE(woken({WorkApplied{role_work, 1, ""}}).empty()) << "its status";
  Value meddled = history.state().value_of(role_work);
  meddled.edit("spec").set("suspendDispatching", true);
  EXPECT_EQ(woken({ObjectUpdated{role_work, meddled}}), std::vector<ObjectKey>{kM1});
  reconcile(kM1);
  EXPECT_FALSE(history.state().value_of(role_work)["spec"]["suspendDispatching"].as_bool());
  woken({DeletionRequested{.object = role_work}});
  EXPECT_EQ(woken({WorkRemoved{role_work}}), std::vector<ObjectKey>{kM1});
  reconcile(kM1);
  EXPECT_FALSE(history.state().value_of(role_work).is_null());
}

// Upstream's unregister deletes the Works of a Pull cluster, and waits until it finds none.
TEST_F(UnifiedAuthTriggers, InAPullClusterDeletedWorksAreMadeAgainAfterAPause_1_10_3) {
  history.edit(kM1, [](Value& cluster) { cluster.edit("spec").set("syncMode", "Pull"); });
  for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) {
    const ObjectKey key = impersonation_work(kind, "m1");
    woken({DeletionRequested{.object = key}});
    EXPECT_EQ(woken({WorkRemoved{key}}), std::vector<ObjectKey>{kM1});
  }
  const auto task = std::make_shared<FakeTask>(history, kM1);
  role->reconcile(task);
  EXPECT_TRUE(task->folded.empty()) << "so that it finds none";
  EXPECT_TRUE(task->looks_again);
  for (int second = 0; second < 10; ++second) history.accept(std::vector<Event>{});
  reconcile(kM1);
  for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) EXPECT_FALSE(work(kind).is_null()) << kind;
}

// The role follows changes; `replay --verify` reads everything: both have to see the same.
TEST(ProxyGrants, FollowedChangeByChangeTheyAreWhatReadingEverythingGives) {
  std::mt19937 random{17};
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  History history;
  ProxyGrants followed = ProxyGrants::of(history.state());
  for (int step = 0; step < 600; ++step) {
    const bool is_role = draw(2) == 0;
    const ObjectKey key =
        is_role ? role_key("r" + std::to_string(draw(4))) : binding_key_of("b" + std::to_string(draw(8)));
    std::vector<Event> events;
    if (history.state().find(key) != nullptr && draw(3) == 0) {
      events.emplace_back(DeletionRequested{.object = key});
    } else {
      Value value = is_role ? std::vector<Value>{proxy_role(), proxy_role(R"("m1")"), proxy_role(R"("m1", "m2")"),
                                                 json(R"({"rules": []})")}[static_cast<size_t>(draw(4))]
                            : binding_of("r" + std::to_string(draw(4)), draw(2) == 0 ? kAlice : kTeam + "," + kRobot);
      if (history.state().find(key) == nullptr) {
        events.emplace_back(ObjectCreated{key, History::named(key, std::move(value))});
      } else {
        events.emplace_back(ObjectUpdated{key, History::named(key, std::move(value))});
      }
    }
    const std::string before[] = {to_json(followed.impersonation_rules("m1")),
                                  to_json(followed.impersonation_rules("m2"))};
    ProxyScope concerned;
    const Folded folded = history.fold(std::move(events));
    ASSERT_FALSE(folded.refusal);
    for (const Change& change : folded.changes) followed.follow(change, concerned);
    ASSERT_EQ(followed, ProxyGrants::of(history.state())) << "step " << step;
    for (const int member : {0, 1}) {
      const std::string name = member == 0 ? "m1" : "m2";
      if (to_json(followed.impersonation_rules(name)) != before[member]) {
        EXPECT_TRUE(concerned.contains(name)) << "step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace shiplog::unified_auth
