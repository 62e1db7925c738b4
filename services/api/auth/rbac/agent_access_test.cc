// What agents and the RBAC generator may do, whatever their roles permit (1.7.9, 9.1.2).
#include "services/api/auth/rbac/agent_access.h"

#include <functional>
#include <string>

#include "events/state/agent_identity.h"
#include "events/state/object.h"
#include "tests/support/given.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const User kAgent{"system:karmada:agent:m1", {agent_identity::kGroup}, "", {}};
const User kGenerator{agent_identity::kRbacGenerator, {agent_identity::kGroup}, "", {}};
const ClusterIds kClusters = {{"m1", "uid-1"}, {"m2", "uid-2"}};

bool may(const char* verb, const char* group, const char* resource, const char* ns, const char* name,
         const User& user = kAgent) {
  Attributes wanted;
  wanted.verb = verb;
  wanted.group = group;
  wanted.resource = resource;
  wanted.ns = ns;
  wanted.name = name;
  return beyond_agent(user, wanted).empty();
}

TEST(AgentAccess, AnAgentReadsOnlyWhatBelongsToItsCluster_9_1) {
  const char* work = "work.karmada.io";
  EXPECT_TRUE(may("list", work, "works", "karmada-es-m1", ""));
  EXPECT_FALSE(may("list", work, "works", "karmada-es-m2", ""));
  EXPECT_FALSE(may("list", work, "works", "", "")) << "of all clusters";
  EXPECT_FALSE(may("get", work, "resourcebindings", "default", "web"));
  EXPECT_TRUE(may("get", "", "secrets", "karmada-cluster", "m1-impersonator"));
  EXPECT_FALSE(may("get", "", "secrets", "karmada-cluster", "m2-impersonator"));
  EXPECT_FALSE(may("get", "", "secrets", "kube-system", "m1"));
  EXPECT_FALSE(may("list", "", "secrets", "karmada-cluster", ""));
  EXPECT_TRUE(may("update", "coordination.k8s.io", "leases", "karmada-cluster", "m1"));
  EXPECT_TRUE(may("update", "coordination.k8s.io", "leases", "karmada-system", "karmada-agent-m1"));
  EXPECT_FALSE(may("update", "coordination.k8s.io", "leases", "karmada-cluster", "m2"));
  EXPECT_TRUE(may("get", "cluster.karmada.io", "clusters", "", "m1"));
  EXPECT_TRUE(may("list", "cluster.karmada.io", "clusters", "", ""));
  EXPECT_FALSE(may("get", "cluster.karmada.io", "clusters", "", "m2"));
  EXPECT_FALSE(may("deletecollection", "cluster.karmada.io", "clusters", "", ""));
  EXPECT_TRUE(may("get", work, "works", "karmada-es-m2", "x", {"jane", {}, "", {}})) << "roles decide for others";
}

std::string refused(const User& user, const ObjectKey& key, const Value& object, const Value& old = {}) {
  const auto error = refuse_agent_write(kClusters, user, key, old, object);
  return error ? error->message : "";
}

TEST(AgentAccess, AnAgentCreatesItsOwnClusterOnly_1_3_3) {
  const User agent{"system:karmada:agent:m3", {agent_identity::kGroup}, "", {}};
  const ObjectKey key{type::kCluster, "", "m3"};
  const Value good = json(R"({"spec":{"syncMode":"Pull","id":"uid-3","secretRef":{"namespace":"karmada-cluster",
      "name":"m3"},"impersonatorSecretRef":{"namespace":"karmada-cluster","name":"m3-impersonator"}}})");
  EXPECT_EQ(refused(agent, key, good), "");
  EXPECT_NE(refused(agent, {type::kCluster, "", "m4"}, good), "");
  const auto with = [&](const std::function<void(Value&)>& change) {
    Value changed = good;
    change(changed.edit("spec"));
    return refused(agent, key, changed);
  };
  EXPECT_NE(with([](Value& spec) { spec.set("syncMode", "Push"); }), "") << "the control plane would connect to it";
  EXPECT_NE(with([](Value& spec) { spec.edit("secretRef").set("name", "m2"); }).find("spec.secretRef"),
            std::string::npos)
      << "the token of another member would be sent to spec.apiEndpoint";
  EXPECT_NE(with([](Value& spec) { spec.edit("impersonatorSecretRef").set("namespace", "kube-system"); }), "");
  EXPECT_EQ(with([](Value& spec) { spec.set("id", "uid-2"); }),
            "clusters.cluster.karmada.io \"m3\" is forbidden: the cluster ID uid-2 or the cluster name m3 has been "
            "registered");
}

TEST(AgentAccess, AnAgentWritesNoSecretOrLeaseOfOthers) {
  EXPECT_EQ(refused(kAgent, {type::kSecret, "karmada-cluster", "m1"}, json("{}")), "");
  EXPECT_NE(refused(kAgent, {type::kSecret, "karmada-cluster", "m2"}, json("{}")), "");
  EXPECT_EQ(refused(kAgent, {"leases.coordination.k8s.io", "karmada-cluster", "m1"}, json("{}")), "");
  EXPECT_NE(refused(kAgent, {"leases.coordination.k8s.io", "karmada-cluster", "m2"}, json("{}")), "");
  EXPECT_NE(refused(kAgent, {type::kWork, "karmada-es-m2", "x"}, json("{}")), "");
}

Value role(const Rules& rules) { return Value::object({{"rules", to_value(rules)}}); }

Value binding(const char* kind, const std::string& name, const std::string& user) {
  return Value::object(
      {{"roleRef", Value::object({{"apiGroup", rbac::kGroup}, {"kind", kind}, {"name", name}})},
       {"subjects", Value::array({Value::object({{"apiGroup", rbac::kGroup}, {"kind", "User"}, {"name", user}})})}});
}

TEST(AgentAccess, TheGeneratorMakesExactlyTheRolesOfAgents_9_1_2) {
  const std::string all = "system:karmada:new:agent";
  const std::string work = "system:karmada:new:agent-work";
  const ObjectKey cluster_role{rbac::kClusterRole, "", all};
  EXPECT_EQ(refused(kGenerator, cluster_role, role(agent_identity::cluster_rules("new"))), "");
  EXPECT_NE(refused(kGenerator, cluster_role, role(agent_identity::cluster_rules("m1"))), "");
  EXPECT_NE(refused(kGenerator, cluster_role, role({{{"*"}, {"*"}, {"*"}, {}, {}}})), "");
  Value aggregating = role(agent_identity::cluster_rules("new"));
  aggregating.set("aggregationRule", json(R"({"clusterRoleSelectors":[{}]})"));
  EXPECT_NE(refused(kGenerator, cluster_role, aggregating), "");
  Value labelled = role(agent_identity::cluster_rules("new"));
  labelled.edit("metadata").edit("labels").set("rbac.authorization.k8s.io/aggregate-to-view", "true");
  EXPECT_NE(refused(kGenerator, cluster_role, labelled), "") << "other roles would gather its rules";

  const ObjectKey cluster_binding{rbac::kClusterRoleBinding, "", all};
  EXPECT_EQ(refused(kGenerator, cluster_binding, binding("ClusterRole", all, "system:karmada:agent:new")), "");
  EXPECT_NE(refused(kGenerator, cluster_binding, binding("ClusterRole", "cluster-admin", "system:karmada:agent:new")),
            "");
  EXPECT_NE(refused(kGenerator, cluster_binding, binding("ClusterRole", all, "jane")), "");
  Value two = binding("ClusterRole", all, "system:karmada:agent:new");
  two.edit("subjects").push_back(Value::object({{"kind", "Group"}, {"name", "system:authenticated"}}));
  EXPECT_NE(refused(kGenerator, cluster_binding, two), "");

  EXPECT_EQ(refused(kGenerator, {rbac::kRole, "karmada-es-new", work}, role(agent_identity::work_rules())), "");
  EXPECT_NE(refused(kGenerator, {rbac::kRole, "karmada-es-m1", work}, role(agent_identity::work_rules())), "");
  EXPECT_NE(refused(kGenerator, {rbac::kRole, "default", work}, role(agent_identity::work_rules())), "");
  EXPECT_NE(refused(kGenerator, {rbac::kClusterRole, "", "view"}, role({})), "");
}

TEST(AgentAccess, TheGeneratorLeavesRegisteredClustersAlone) {
  const ObjectKey of_m1{rbac::kClusterRole, "", "system:karmada:m1:agent"};
  EXPECT_NE(refused(kGenerator, of_m1, role(agent_identity::cluster_rules("m1"))).find("is registered already"),
            std::string::npos);
  EXPECT_NE(refused(kGenerator, of_m1, {}, role({})), "") << "nor does it delete their roles";
  EXPECT_EQ(refused(kGenerator, {rbac::kClusterRole, "", "system:karmada:new:agent"}, {}, role({})), "");
  EXPECT_NE(refused(kGenerator, {rbac::kClusterRole, "", "cluster-admin"}, {}, role({})), "");
  EXPECT_EQ(refused(kGenerator, {type::kNamespace, "", "karmada-es-new"}, json("{}")), "");
  EXPECT_NE(refused(kGenerator, {type::kNamespace, "", "karmada-es-m1"}, json("{}")), "");
  EXPECT_NE(refused(kGenerator, {type::kNamespace, "", "mine"}, json("{}")), "");
  const char* requests = "certificatesigningrequests.certificates.k8s.io";
  EXPECT_EQ(refused(kGenerator, {requests, "", "agent-rbac-generator-newabcde"}, {}, json("{}")), "");
  EXPECT_NE(refused(kGenerator, {requests, "", "jane"}, {}, json("{}")), "");
}

TEST(AgentAccess, AClusterIsNotNamedSoThatItsAgentReadsTheSecretOfAnother) {
  const std::string name = "m2-impersonator";
  const ObjectKey key{rbac::kRole, "karmada-cluster", agent_identity::secret_role_of(name)};
  EXPECT_NE(refused(kGenerator, key, role(agent_identity::secret_rules(name))), "");
}

TEST(AgentAccess, NamesOfAgentsAndRoles) {
  EXPECT_EQ(agent_identity::cluster_of("system:karmada:agent:m1"), "m1");
  EXPECT_FALSE(agent_identity::cluster_of(agent_identity::kRbacGenerator));
  EXPECT_FALSE(agent_identity::cluster_of("system:karmada:agent:"));
  EXPECT_EQ(agent_identity::cluster_of_role("system:karmada:m1:agent-secret"), "m1");
  EXPECT_FALSE(agent_identity::cluster_of_role("system:karmada:agent-rbac-generator"));
  EXPECT_FALSE(agent_identity::cluster_of_role("system:karmada::agent"));
  EXPECT_FALSE(agent_identity::cluster_of_role("system:karmada:a:b:agent"));
}

TEST(AgentAccess, WhatAControlPlaneBeginsWith_9_2_3) {
  given::History history;
  history.object({type::kNamespace, "", "kube-public"}, "{}");
  std::vector<Event> missing = missing_agent_access(history.state());
  EXPECT_EQ(missing.size(), agent_bootstrap_access().size());
  history.accept(std::move(missing));
  EXPECT_TRUE(missing_agent_access(history.state()).empty());
  const Value& generator =
      history.state().value_of({rbac::kClusterRole, "", "system:karmada:agent-rbac-generator"})["rules"];
  for (const Rule& rule : rules_from(generator)) {
    for (const auto* list : {&rule.verbs, &rule.resources, &rule.api_groups}) {
      for (const std::string& word : *list) EXPECT_NE(word, "*");
    }
  }
}

}  // namespace
}  // namespace shiplog::api
