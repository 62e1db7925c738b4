#include "events/state/policy_author.h"

#include <gtest/gtest.h>

#include "tests/support/given.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using given::History;
using given::json;

const ObjectKey kPolicy{type::kPropagationPolicy, "team-a", "p"};
const ObjectKey kSecret{"secrets", "team-a", "s"};

/// Policy team-a/p, last written by user ann of group dev.
class PolicyAuthor : public ::testing::Test {
 protected:
  PolicyAuthor() {
    history.object({type::kNamespace, "", "team-a"}, R"({"apiVersion":"v1","kind":"Namespace"})");
    policy_by({"ann", {"dev", "system:authenticated"}, "", {}});
    history.object({rbac::kClusterRole, "", "reader"},
                   R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})");
    history.object({rbac::kRole, "team-a", "reader"},
                   R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["s"]}]})");
  }
  void policy_by(const rbac::User& user) {
    Value policy = json(R"({"metadata":{"name":"p","namespace":"team-a"}})");
    if (!user.name.empty()) policy.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author_text(user));
    history.put(kPolicy, policy);
  }
  void bind(const std::string& ns, const std::string& role_kind, const std::string& subject) {
    history.object({ns.empty() ? rbac::kClusterRoleBinding : rbac::kRoleBinding, ns, "b"},
                   R"({"roleRef":{"kind":")" + role_kind + R"(","name":"reader"},"subjects":[)" + subject + "]}");
  }
  void options(std::vector<OptionSetting> settings) { history.accept({OptionsSet{std::move(settings)}}); }
  void check_authors() { options({{"enable-policy-author-check", {"true"}}}); }
  std::string objection(const ObjectKey& key = kSecret) {
    return policy_objection(history.state(), kPolicy, key, json(R"({"apiVersion":"v1","kind":"Secret"})"));
  }

  History history;
};

TEST_F(PolicyAuthor, IsNotCheckedByDefault) {
  EXPECT_EQ(objection(), "");
  policy_by({});
  EXPECT_EQ(objection(), "");
}

TEST_F(PolicyAuthor, NeedsARightToReadTheObject) {
  check_authors();
  EXPECT_EQ(objection(), "its author ann may not get secrets in namespace team-a");
  bind("team-a", "Role", R"({"kind":"User","name":"bob"},{"kind":"Group","name":"dev"})");
  EXPECT_EQ(objection(), "");
  EXPECT_NE(objection({"secrets", "team-a", "other"}), "") << "the role names one Secret";
  EXPECT_NE(objection({"secrets", "default", "s"}), "");
  EXPECT_EQ(objection({"deployments.apps", "team-a", "web"}),
            "its author ann may not get deployments.apps in namespace team-a");
  history.remove({rbac::kRoleBinding, "team-a", "b"});
  EXPECT_NE(objection(), "");
  bind("", "ClusterRole", R"({"kind":"User","name":"ann"})");
  EXPECT_EQ(objection({"secrets", "default", "s"}), "");
  EXPECT_EQ(objection({"clusterroles.rbac.authorization.k8s.io", "", "x"}),
            "its author ann may not get clusterroles.rbac.authorization.k8s.io at the cluster scope");
}

TEST_F(PolicyAuthor, MayBeAServiceAccount) {
  check_authors();
  policy_by({"system:serviceaccount:ci:robot", {}, "", {}});
  bind("team-a", "ClusterRole", R"({"kind":"ServiceAccount","name":"robot","namespace":"ci"})");
  EXPECT_EQ(objection(), "");
  policy_by({"system:serviceaccount:team-a:robot", {}, "", {}});
  EXPECT_NE(objection(), "");
}

TEST_F(PolicyAuthor, MayBeAnAdministrator) {
  check_authors();
  policy_by({"root", {rbac::kMastersGroup}, "", {}});
  EXPECT_EQ(objection(), "");
}

TEST_F(PolicyAuthor, MustBeRecorded) {
  check_authors();
  policy_by({});
  EXPECT_TRUE(objection().starts_with("it has no recorded author")) << objection();
}

TEST_F(PolicyAuthor, IsNotCheckedForKindsThatNamespacesMayNotPropagate) {
  options({{"namespaced-policy-apis", {"v1/ConfigMap,Service", "apps"}}});
  EXPECT_EQ(objection(), "policies of namespaces may not select Secret: it is not among --namespaced-policy-apis");
  EXPECT_EQ(policy_objection(history.state(), kPolicy, {"configmaps", "team-a", "c"},
                             json(R"({"apiVersion":"v1","kind":"ConfigMap"})")),
            "");
  EXPECT_EQ(policy_objection(history.state(), {type::kClusterPropagationPolicy, "", "p"}, kSecret,
                             json(R"({"apiVersion":"v1","kind":"Secret"})")),
            "")
      << "cluster-scoped policies are their authors' business";
}

}  // namespace
}  // namespace shiplog
