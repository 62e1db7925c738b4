#include "services/api/auth/rbac/owned_kinds.h"

#include <functional>

#include <gtest/gtest.h>

#include "services/api/auth/rbac/bootstrap.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const ObjectKey kBinding{"resourcebindings.work.karmada.io", "team-a", "web-deployment"};
const ObjectKey kWorkOfM1{"works.work.karmada.io", "karmada-es-m1", "web"};

class OwnedKinds : public ::testing::Test {
 protected:
  OwnedKinds() {
    for (const auto& [key, object] : bootstrap_access()) policy.put(key, object);
    for (const char* role : {"edit", "admin"}) {
      bind("team-a", role, role);
      bind("karmada-es-m1", role, role);
    }
    bind("", "root", "cluster-admin");
  }
  void bind(const std::string& ns, const std::string& user, const std::string& role) {
    policy.put({ns.empty() ? rbac::kClusterRoleBinding : rbac::kRoleBinding, ns, user},
               json(R"({"roleRef":{"kind":"ClusterRole","name":")" + role +
                    R"("},"subjects":[{"kind":"User","name":")" + user + R"("}]})"));
  }
  static User user(const std::string& name) { return {name, {kAuthenticatedGroup}, "", {}}; }

  std::string refusal(const std::string& who, const ObjectKey& key, const Value& old, const Value& object) {
    const auto refused = refuse_owned(policy, user(who), key, old, object);
    EXPECT_TRUE(!refused || refused->code == ErrorCode::kForbidden);
    return refused ? refused->message : "";
  }
  /// The denial that an editor of the namespace receives for a change of the binding; "": nothing.
  std::string edited(const std::function<void(Value&)>& change) {
    Value after = binding;
    change(after);
    EXPECT_EQ(refusal("root", kBinding, binding, after), "");
    EXPECT_EQ(refusal("admin", kBinding, binding, after), refusal("edit", kBinding, binding, after));
    return refusal("edit", kBinding, binding, after);
  }

  RbacPolicy policy;
  const Value binding = json(R"({"metadata":{"name":"web-deployment","namespace":"team-a","resourceVersion":"7",
      "labels":{"resourcebinding.karmada.io/permanent-id":"x"},"finalizers":["karmada.io/binding-controller"]},
      "spec":{"resource":{"kind":"Deployment","name":"web"},"clusters":[{"name":"m1"}]},
      "status":{"conditions":[]}})");
};

TEST_F(OwnedKinds, EditorsSuspendAndEvict) {
  EXPECT_EQ(edited([](Value& one) { one.edit("spec").edit("suspension").set("dispatching", true); }), "");
  EXPECT_EQ(edited([](Value& one) {
              one.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster":"m1","reason":"moving"}])"));
            }),
            "");
  EXPECT_EQ(edited([](Value& one) {
              one.edit("metadata").edit("labels").set("team", "blue");
              one.edit("metadata").edit("annotations").set("example.com/notkarmada.io", "x");
              one.edit("metadata").edit("finalizers").push_back("example.com/hold");
              one.edit("metadata").erase("managedFields");
            }),
            "");
}

TEST_F(OwnedKinds, TheRestOfABindingIsTheControlPlanes) {
  const auto expect = [&](const std::string& part, const std::function<void(Value&)>& change) {
    EXPECT_EQ(edited(change), "resourcebindings.work.karmada.io \"web-deployment\" is forbidden: " + part +
                                  " is written by the control plane; users need the verb \"manage\" on "
                                  "resourcebindings.work.karmada.io to do so");
  };
  expect("spec.resource", [](Value& one) { one.edit("spec").edit("resource").set("name", "other"); });
  expect("spec.clusters", [](Value& one) { one.edit("spec").set("clusters", json(R"([{"name":"m2"}])")); });
  expect("spec.requiredBy", [](Value& one) { one.edit("spec").set("requiredBy", json(R"([{"name":"x"}])")); });
  expect("spec.conflictResolution", [](Value& one) { one.edit("spec").set("conflictResolution", "Overwrite"); });
  expect("metadata.ownerReferences",
         [](Value& one) { one.edit("metadata").set("ownerReferences", json(R"([{"uid":"u"}])")); });
  const std::string reserved = " of the domains karmada.io and shiplog.io";
  expect("metadata.labels" + reserved,
         [](Value& one) { one.edit("metadata").edit("labels").set("resourcebinding.karmada.io/permanent-id", "y"); });
  expect("metadata.labels" + reserved, [](Value& one) { one.edit("metadata").erase("labels"); });
  expect("metadata.annotations" + reserved, [](Value& one) {
    one.edit("metadata").edit("annotations").set("resourcebinding.karmada.io/dependencies", "[]");
  });
  expect("metadata.annotations" + reserved,
         [](Value& one) { one.edit("metadata").edit("annotations").set("binding.shiplog.io/template-digest", "x"); });
  expect("metadata.finalizers" + reserved, [](Value& one) { one.edit("metadata").erase("finalizers"); });
  expect("status", [](Value& one) { one.edit("status").set("aggregatedStatus", json("[1]")); });
  EXPECT_NE(refusal("edit", kBinding, {}, binding).find("a binding is written by the control plane"),
            std::string::npos);
  EXPECT_EQ(refusal("edit", kBinding, binding, {}), "") << "deleting is up to roles";
  EXPECT_EQ(refusal("root", kBinding, {}, binding), "");
}

TEST_F(OwnedKinds, WorksAreTheControlPlanesAltogether) {
  const Value work = json(R"({"metadata":{"name":"web"},"spec":{"workload":{"manifests":[]}}})");
  for (const char* who : {"edit", "admin"}) {
    for (const auto& [old, object] : {std::pair{Value{}, work}, {work, work}, {work, Value{}}}) {
      EXPECT_EQ(refusal(who, kWorkOfM1, old, object),
                "works.work.karmada.io \"web\" is forbidden: a Work is written by the control plane; users need the "
                "verb \"manage\" on works.work.karmada.io to do so");
    }
  }
  EXPECT_EQ(refusal("root", kWorkOfM1, {}, work), "");
  EXPECT_FALSE(refuse_owned(policy, {"cert", {kMastersGroup}, "", {}}, kWorkOfM1, {}, work));
}

TEST_F(OwnedKinds, AnAgentReportsAboutItsOwnWorksAndReleasesThem_1_7_9) {
  const Value work = json(R"({"metadata":{"name":"web","resourceVersion":"7","finalizers":["x/y",
      "karmada.io/execution-controller"]},"spec":{"workload":{"manifests":[{"kind":"ConfigMap"}]}}})");
  const User agent{"system:karmada:agent:m1", {"system:karmada:agents"}, "", {}};
  const auto allowed = [&](const User& user, const std::function<void(Value&)>& change,
                           const ObjectKey& key = kWorkOfM1) {
    Value changed = work;
    change(changed);
    return !refuse_owned(policy, user, key, work, changed);
  };
  const auto report = [](Value& one) { one.edit("status").set("conditions", json("[1]")); };
  const auto release = [](Value& one) { one.edit("metadata").set("finalizers", json(R"(["x/y"])")); };
  EXPECT_TRUE(allowed(agent, report));
  EXPECT_TRUE(allowed(agent, release));
  EXPECT_FALSE(allowed(agent, [](Value& one) { one.edit("spec").edit("workload").set("manifests", json("[]")); }));
  EXPECT_FALSE(allowed(agent, [](Value& one) { one.edit("metadata").edit("labels").set("a", "b"); }));
  EXPECT_FALSE(allowed(agent, [](Value& one) { one.edit("metadata").erase("finalizers"); }));
  EXPECT_TRUE(refuse_owned(policy, agent, kWorkOfM1, {}, work)) << "it creates none";
  EXPECT_FALSE(refuse_owned(policy, agent, kWorkOfM1, work, {})) << "as it does when it is unregistered";
  EXPECT_FALSE(allowed(agent, report, {"works.work.karmada.io", "karmada-es-m2", "web"})) << "of another cluster";
  EXPECT_FALSE(allowed({"system:karmada:agent:m1", {}, "", {}}, report)) << "a name without the group";
  EXPECT_FALSE(allowed({"system:karmada:agent:", {"system:karmada:agents"}, "", {}}, report,
                       {"works.work.karmada.io", "karmada-es-", "web"}));
}

TEST_F(OwnedKinds, TheVerbCanBeGrantedByItself) {
  const Value work = json(R"({"metadata":{"name":"web"}})");
  policy.put({rbac::kClusterRole, "", "agents"},
             json(R"({"rules":[{"verbs":["manage"],"apiGroups":["work.karmada.io"],"resources":["works"]}]})"));
  bind("karmada-es-m1", "agent", "agents");
  EXPECT_EQ(refusal("agent", kWorkOfM1, {}, work), "");
  EXPECT_NE(refusal("agent", {"works.work.karmada.io", "karmada-es-m2", "web"}, {}, work), "");
  EXPECT_NE(refusal("agent", kBinding, {}, binding), "");
}

TEST_F(OwnedKinds, OtherKindsPass) {
  EXPECT_EQ(refusal("nobody", {"configmaps", "team-a", "c"}, {}, json(R"({"metadata":{"name":"c"}})")), "");
}

}  // namespace
}  // namespace shiplog::api
