// The Works with the rights of a member's impersonator are the role unified-auth's (1.17).
#include "events/state/impersonation.h"
#include "tests/support/dispatcher_fixture.h"
#include "tests/support/literals.h"

namespace shiplog::testing {
namespace {

using test::json;

class ImpersonationWork : public Dispatcher {
 protected:
  ImpersonationWork() {
    Value made = json(R"({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "spec": {"workload": {"manifests": [
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
         "metadata": {"name": "karmada-impersonator"}, "rules": []}]}}, "metadata": {"ownerReferences": [
        {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "name": "m1", "uid": "u"}]}})");
    made.edit("metadata").set("name", work.name);
    made.edit("metadata").set("namespace", work.ns);
    stage.put(work, made);
    stage.run(Millis{5000});
  }

  const ObjectKey work = impersonation_work("ClusterRole", "m1");
  const ObjectKey role{"clusterroles.rbac.authorization.k8s.io", "", kImpersonator};
};

TEST_F(ImpersonationWork, IsDispatchedToTheMember_1_17_2) {
  EXPECT_EQ(on_member("m1", role)["kind"], "ClusterRole");
  EXPECT_TRUE(on_member("m2", role).is_null());
}

// Else a user with the right to propagate ClusterRoles would choose whom the control plane acts as in the member.
TEST_F(ImpersonationWork, IsNotReplacedByAPropagatedClusterRoleOfItsName) {
  place(role.type.str(), json(R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
      "metadata": {"name": "karmada-impersonator"}, "rules": [
      {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})"),
        {{"m1", 0}, {"m2", 0}});
  EXPECT_EQ(on_member("m1", role)["rules"].size(), 0U);
  EXPECT_EQ(on_member("m2", role)["rules"].size(), 1U) << "where there is none, it is an object like any other";
}

}  // namespace
}  // namespace shiplog::testing
