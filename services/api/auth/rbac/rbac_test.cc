#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/auth/rbac/bootstrap.h"
#include "services/api/auth/rbac/escalation.h"

namespace shiplog::api {
namespace {

const User kJane{"jane", {"dev", kAuthenticatedGroup}, "", {}};

Attributes asks(const std::string& verb, const std::string& group, const std::string& resource,
                const std::string& ns = "", const std::string& name = "") {
  Attributes wanted;
  wanted.verb = verb;
  wanted.group = group;
  const size_t slash = resource.find('/');
  wanted.resource = resource.substr(0, slash);
  if (slash != std::string::npos) wanted.subresource = resource.substr(slash + 1);
  wanted.ns = ns;
  wanted.name = name;
  return wanted;
}

Attributes asks_path(const std::string& verb, const std::string& path) {
  Attributes wanted;
  wanted.is_resource = false;
  wanted.verb = verb;
  wanted.path = path;
  return wanted;
}

Value parsed(const std::string& text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? value.value() : Value{};
}

Rule rule(const std::string& text) { return rules_from(Value::array({parsed(text)})).front(); }

/// A policy from objects as short as can be.
struct Given {
  RbacPolicy policy;
  Given& cluster_role(const std::string& name, const std::string& rules) {
    policy.put({rbac::kClusterRole, "", name}, parsed(R"({"rules":)" + rules + "}"));
    return *this;
  }
  Given& role(const std::string& ns, const std::string& name, const std::string& rules) {
    policy.put({rbac::kRole, ns, name}, parsed(R"({"rules":)" + rules + "}"));
    return *this;
  }
  Given& bind(const std::string& ns, const std::string& name, const std::string& role, const std::string& subject) {
    const size_t slash = role.find('/');
    policy.put({ns.empty() ? rbac::kClusterRoleBinding : rbac::kRoleBinding, ns, name},
               parsed(R"({"roleRef":{"kind":")" + role.substr(0, slash) + R"(","name":")" + role.substr(slash + 1) +
                      R"("},"subjects":[)" + subject + "]}"));
    return *this;
  }
  bool may(const Attributes& wanted, const User& user = kJane) const { return policy.decide(user, wanted).allowed; }
};

const std::string kUserJane = R"({"kind":"User","name":"jane"})";
const std::string kGroupDev = R"({"kind":"Group","name":"dev"})";

TEST(Attributes, AreReadFromMethodPathAndQuery) {  // AUTHZ-1
  const auto is = [](const Attributes& got, const Attributes& want) {
    return got.verb == want.verb && got.group == want.group && got.resource == want.resource &&
           got.subresource == want.subresource && got.ns == want.ns && got.name == want.name && got.is_resource;
  };
  EXPECT_TRUE(is(attributes_of("GET", "/api/v1/namespaces/a/pods/p", {}), asks("get", "", "pods", "a", "p")));
  EXPECT_TRUE(is(attributes_of("GET", "/apis/apps/v1/deployments", {}), asks("list", "apps", "deployments")));
  EXPECT_TRUE(is(attributes_of("GET", "/api/v1/pods", {{"watch", "1"}}), asks("watch", "", "pods")));
  EXPECT_TRUE(is(attributes_of("GET", "/api/v1/pods", {{"watch", "false"}}), asks("list", "", "pods")));
  EXPECT_TRUE(is(attributes_of("PATCH", "/apis/apps/v1/namespaces/a/deployments/d/status", {}),
                 asks("patch", "apps", "deployments/status", "a", "d")));
  EXPECT_TRUE(is(attributes_of("DELETE", "/api/v1/namespaces/a/pods", {}), asks("deletecollection", "", "pods", "a")));
  EXPECT_TRUE(is(attributes_of("POST", "/api/v1/namespaces/a/serviceaccounts/s/token", {}),
                 asks("create", "", "serviceaccounts/token", "a", "s")));
  // A namespace is authorized from within.
  EXPECT_TRUE(is(attributes_of("GET", "/api/v1/namespaces/a", {}), asks("get", "", "namespaces", "a", "a")));
  EXPECT_TRUE(is(attributes_of("PUT", "/api/v1/namespaces/a/finalize", {}),
                 asks("update", "", "namespaces/finalize", "a", "a")));
  EXPECT_TRUE(is(attributes_of("GET", "/api/v1/namespaces/a/pods", {{"fieldSelector", "x=y,metadata.name=p"}}),
                 asks("list", "", "pods", "a", "p")));
  const Attributes path = attributes_of("GET", "/apis/apps/v1", {});
  EXPECT_FALSE(path.is_resource);
  EXPECT_EQ(path.verb, "get");
  EXPECT_EQ(path.path, "/apis/apps/v1");
}

TEST(Attributes, DenialsHaveKubernetesMessages) {  // AUTHZ-1
  EXPECT_EQ(
      forbidden(kJane, asks("list", "apps", "deployments", "default")).message,
      R"(deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" in the )"
      R"(namespace "default")");
  EXPECT_EQ(forbidden(kJane, asks("get", "", "nodes", "", "n1")).message,
            R"(nodes "n1" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope)");
  EXPECT_EQ(forbidden(kJane, asks("get", "", "pods/log", "a", "p"), "RBAC: why").message,
            R"(pods "p" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "a")"
            ": RBAC: why");
  EXPECT_EQ(forbidden(kJane, asks_path("get", "/metrics")).message,
            R"(forbidden: User "jane" cannot get path "/metrics")");
}

TEST(Rules, MatchVerbGroupAndResource) {  // AUTHZ-3
  const Rule pods = rule(R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})");
  EXPECT_TRUE(allows(pods, asks("get", "", "pods", "a", "p")));
  EXPECT_FALSE(allows(pods, asks("delete", "", "pods", "a", "p")));
  EXPECT_FALSE(allows(pods, asks("get", "apps", "pods")));
  EXPECT_FALSE(allows(pods, asks("get", "", "pods/log", "a", "p"))) << "a subresource is granted by its own name";
  const Rule all = rule(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})");
  EXPECT_TRUE(allows(all, asks("impersonate", "apps", "deployments/scale")));
  EXPECT_FALSE(allows(all, asks_path("get", "/metrics")));
  const Rule scale = rule(R"({"verbs":["update"],"apiGroups":["apps"],"resources":["*/scale"]})");
  EXPECT_TRUE(allows(scale, asks("update", "apps", "deployments/scale")));
  EXPECT_FALSE(allows(scale, asks("update", "apps", "deployments")));
  EXPECT_FALSE(allows(scale, asks("update", "apps", "deployments/status")));
  EXPECT_TRUE(
      allows(rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]})"), asks("get", "", "pods/log")));
}

TEST(Rules, WithNamesMatchNothingWithoutAName) {  // AUTHZ-3
  const Rule one = rule(R"({"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["c"]})");
  EXPECT_TRUE(allows(one, asks("get", "", "configmaps", "a", "c")));
  EXPECT_FALSE(allows(one, asks("get", "", "configmaps", "a", "d")));
  EXPECT_FALSE(allows(one, asks("list", "", "configmaps", "a")));
  EXPECT_FALSE(allows(one, asks("create", "", "configmaps", "a")));
}

TEST(Rules, OfPathsMatchExactlyOrByBeginning) {  // AUTHZ-3
  const Rule paths = rule(R"({"verbs":["get"],"nonResourceURLs":["/healthz","/apis/*"]})");
  EXPECT_TRUE(allows(paths, asks_path("get", "/healthz")));
  EXPECT_FALSE(allows(paths, asks_path("get", "/healthz/ping")));
  EXPECT_TRUE(allows(paths, asks_path("get", "/apis/apps/v1")));
  EXPECT_FALSE(allows(paths, asks_path("get", "/api")));
  EXPECT_FALSE(allows(paths, asks_path("post", "/healthz")));
  EXPECT_TRUE(allows(rule(R"({"verbs":["get"],"nonResourceURLs":["*"]})"), asks_path("get", "/anything")));
}

TEST(Policy, MastersMayEverything) {  // AUTHZ-1
  const Given given;
  EXPECT_TRUE(given.may(asks("delete", "apps", "deployments", "a", "d"), {"root", {kMastersGroup}, "", {}}));
  EXPECT_FALSE(given.may(asks("get", "", "pods", "a", "p")));
}

TEST(Policy, UnitesClusterWideAndNamespacedBindings) {  // AUTHZ-2
  Given given;
  given.cluster_role("reader", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")
      .role("a", "writer", R"([{"verbs":["create"],"apiGroups":[""],"resources":["pods"]}])")
      .bind("", "everywhere", "ClusterRole/reader", kGroupDev)
      .bind("a", "here", "Role/writer", kUserJane)
      .bind("b", "lent", "ClusterRole/reader", R"({"kind":"User","name":"joe"})");
  EXPECT_TRUE(given.may(asks("get", "", "pods", "z", "p")));
  EXPECT_TRUE(given.may(asks("create", "", "pods", "a")));
  EXPECT_FALSE(given.may(asks("create", "", "pods", "b"))) << "the Role is of another namespace";
  EXPECT_FALSE(given.may(asks("create", "", "pods")));
  const User joe{"joe", {}, "", {}};
  EXPECT_TRUE(given.may(asks("get", "", "pods", "b", "p"), joe)) << "a ClusterRole, bound in a namespace";
  EXPECT_FALSE(given.may(asks("get", "", "pods", "a", "p"), joe));
  EXPECT_FALSE(given.may(asks("get", "", "pods", "", "p"), joe));
  EXPECT_EQ(given.policy.decide(kJane, asks("create", "", "pods", "a")).reason,
            R"(RBAC: allowed by RoleBinding "here/a" of Role "writer" to User "jane")");
  EXPECT_EQ(given.policy.decide(kJane, asks("get", "", "pods", "a")).reason,
            R"(RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "dev")");
}

TEST(Policy, ServiceAccountsAreUsers) {  // AUTHZ-2
  Given given;
  given.cluster_role("reader", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")
      .bind("a", "sa", "ClusterRole/reader",
            R"({"kind":"ServiceAccount","name":"robot"},{"kind":"ServiceAccount","name":"robot","namespace":"b"})");
  EXPECT_TRUE(given.may(asks("get", "", "pods", "a"), {"system:serviceaccount:a:robot", {}, "", {}}));
  EXPECT_TRUE(given.may(asks("get", "", "pods", "a"), {"system:serviceaccount:b:robot", {}, "", {}}));
  EXPECT_FALSE(given.may(asks("get", "", "pods", "a"), {"system:serviceaccount:c:robot", {}, "", {}}));
  EXPECT_FALSE(given.may(asks("get", "", "pods", "a"), {"robot", {}, "", {}}));
}

TEST(Policy, AMissingRoleGrantsNothingAndIsNamed) {  // AUTHZ-2
  Given given;
  given.bind("a", "dangling", "Role/gone", kUserJane).bind("", "other", "ClusterRole/away", kUserJane);
  const auto decision = given.policy.decide(kJane, asks("get", "", "pods", "a"));
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.reason, R"(RBAC: [clusterrole.rbac.authorization.k8s.io "away" not found, )"
                             R"(role.rbac.authorization.k8s.io "gone" not found])");
}

TEST(Policy, PathsAreGrantedByClusterRoleBindingsAlone) {  // AUTHZ-3
  Given given;
  given.cluster_role("look", R"([{"verbs":["get"],"nonResourceURLs":["/metrics"]}])")
      .bind("a", "here", "ClusterRole/look", kUserJane);
  EXPECT_FALSE(given.may(asks_path("get", "/metrics")));
  EXPECT_TRUE(given.policy.held(kJane, "a").rules.empty());
  given.bind("", "all", "ClusterRole/look", kUserJane);
  EXPECT_TRUE(given.may(asks_path("get", "/metrics")));
}

TEST(Policy, FollowsChangesOfRolesAndBindings) {  // AUTHZ-2
  Given given;
  const Attributes wanted = asks("get", "", "pods", "a");
  given.cluster_role("r", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")
      .bind("a", "b", "ClusterRole/r", kUserJane);
  EXPECT_TRUE(given.may(wanted));
  given.bind("a", "b", "ClusterRole/r", kGroupDev);
  EXPECT_TRUE(given.may(wanted));
  EXPECT_FALSE(given.may(wanted, {"jane", {}, "", {}})) << "the old subject is no longer bound";
  given.cluster_role("r", "[]");
  EXPECT_FALSE(given.may(wanted));
  given.cluster_role("r", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])");
  given.policy.erase({rbac::kRoleBinding, "a", "b"});
  EXPECT_FALSE(given.may(wanted));
}

TEST(Escalation, AUserGrantsOnlyPermissionsThatTheyHold) {  // AUTHZ-5
  Given given;
  given.cluster_role("mine", R"([{"verbs":["get","list"],"apiGroups":["apps"],"resources":["*"]}])")
      .bind("a", "mine", "ClusterRole/mine", kUserJane);
  const ObjectKey key{rbac::kRole, "a", "new"};
  const auto wanted = [](const std::string& rules) { return parsed(R"({"rules":)" + rules + "}"); };
  const Value held = wanted(R"([{"verbs":["get"],"apiGroups":["apps"],"resources":["deployments","pods/log"]}])");
  EXPECT_FALSE(escalation(given.policy, kJane, key, {}, held));
  const Value more =
      wanted(R"([{"verbs":["list","get","watch","delete"],"apiGroups":["apps"],"resources":["deployments"]}])");
  const auto refused = escalation(given.policy, kJane, key, {}, more);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kForbidden);
  EXPECT_EQ(refused->message,
            "roles.rbac.authorization.k8s.io \"new\" is forbidden: user \"jane\" (groups=[\"dev\" "
            "\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
            "{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"delete\" \"watch\"]}");
  EXPECT_TRUE(escalation(given.policy, kJane, {rbac::kRole, "b", "new"}, {}, held)) << "held in another namespace only";
  EXPECT_FALSE(escalation(given.policy, kJane, key, more, more)) << "the rules are not what changes";
  EXPECT_FALSE(escalation(given.policy, {"root", {kMastersGroup}, "", {}}, key, {}, more));
  given.role("a", "boss", R"([{"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]}])")
      .bind("a", "boss", "Role/boss", kUserJane);
  EXPECT_FALSE(escalation(given.policy, kJane, key, {}, more));
}

TEST(Escalation, ALabelOfARoleGrantsItsPermissionsThroughAggregation) {  // AUTHZ-4, AUTHZ-5
  Given given;
  const ObjectKey key{rbac::kClusterRole, "", "all"};
  const Value all = parsed(R"({"metadata":{"name":"all","resourceVersion":"3"},
      "rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})");
  Value labelled = all;
  labelled.edit("metadata").edit("labels").set("rbac.authorization.k8s.io/aggregate-to-edit", "true");
  const auto refused = escalation(given.policy, kJane, key, all, labelled);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kForbidden);
  EXPECT_TRUE(escalation(given.policy, kJane, key, labelled, all))
      << "as in Kubernetes, where any other change needs it";

  Value collected = all;
  Value& metadata = collected.edit("metadata");
  metadata.set("resourceVersion", "4");
  metadata.set("finalizers", Value::array({"example.com/wait"}));
  metadata.set("ownerReferences", Value::array({Value::object({{"kind", "Namespace"}, {"name", "a"}})}));
  metadata.set("managedFields", Value::array({Value::object({{"manager", "kubectl"}})}));
  EXPECT_FALSE(escalation(given.policy, kJane, key, all, collected)) << "for garbage collection";
}

TEST(Escalation, AnyChangeOfABindingNeedsThePermissionsOfItsRole) {  // AUTHZ-5
  Given given;
  given.cluster_role("big", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])");
  const ObjectKey key{rbac::kRoleBinding, "a", "b"};
  const Value bound =
      parsed(R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"big"},"subjects":[]})");
  Value labelled = bound;
  labelled.edit("metadata").edit("labels").set("team", "a");
  EXPECT_TRUE(escalation(given.policy, kJane, key, bound, labelled));
  EXPECT_FALSE(escalation(given.policy, kJane, key, bound, bound));
}

TEST(Escalation, NamesAndPathsAreComparedToo) {  // AUTHZ-5
  const Rules held = {rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["s"]})"),
                      rule(R"({"verbs":["get"],"nonResourceURLs":["/apis/*"]})")};
  EXPECT_TRUE(not_held(held, {rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],
                                       "resourceNames":["s"]})")})
                  .empty());
  EXPECT_EQ(not_held(held, {rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"]})")}).size(), 1u);
  EXPECT_EQ(not_held(held, {rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],
                                     "resourceNames":["s","t"]})")})
                .size(),
            1u);
  EXPECT_TRUE(not_held(held, {rule(R"({"verbs":["get"],"nonResourceURLs":["/apis/apps","/apis/*"]})")}).empty());
  EXPECT_EQ(not_held(held, {rule(R"({"verbs":["get"],"nonResourceURLs":["*"]})")}).size(), 1u);
}

TEST(Escalation, BindingNeedsTheRolesPermissionsOrTheVerbBind) {  // AUTHZ-5
  Given given;
  given.cluster_role("big", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])")
      .cluster_role("small", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")
      .bind("a", "small", "ClusterRole/small", kUserJane);
  const ObjectKey key{rbac::kRoleBinding, "a", "new"};
  const auto to = [](const char* role) {
    return parsed(std::string{R"({"roleRef":{"kind":"ClusterRole","name":")"} + role + R"("},"subjects":[]})");
  };
  EXPECT_FALSE(escalation(given.policy, kJane, key, {}, to("small")));
  const auto refused = escalation(given.policy, kJane, key, {}, to("big"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kForbidden);
  const auto missing = escalation(given.policy, kJane, key, {}, to("none"));
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::kNotFound);
  EXPECT_EQ(missing->message.substr(0, missing->message.find(' ')), "rolebindings.rbac.authorization.k8s.io");
  given
      .cluster_role("binder", R"([{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],
                                    "resources":["clusterroles"],"resourceNames":["big"]}])")
      .bind("a", "binder", "ClusterRole/binder", kUserJane);
  EXPECT_FALSE(escalation(given.policy, kJane, key, {}, to("big")));
}

TEST(Escalation, AggregatingNeedsEverything) {  // AUTHZ-5
  Given given;
  const Value role = parsed(R"({"aggregationRule":{"clusterRoleSelectors":[{}]},"rules":[]})");
  const ObjectKey key{rbac::kClusterRole, "", "new"};
  const auto refused = escalation(given.policy, kJane, key, {}, role);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("must have cluster-admin privileges to use an aggregationRule"), std::string::npos);
}

TEST(Impersonation, IsUtf8) {  // AUTHZ-9
  EXPECT_FALSE(impersonation_of({{"Impersonate-User", "\xff"}}));
  EXPECT_FALSE(impersonation_of({{"Impersonate-User", "joe"}, {"Impersonate-Extra-%ff", "x"}}));
  EXPECT_TRUE(impersonation_of({{"Impersonate-User", "zoë"}}));
}

TEST(Impersonation, ChecksEachPartOfTheIdentity) {  // AUTHZ-9
  EXPECT_FALSE(impersonation_of({{"Accept", "x"}}).value());
  const auto found = impersonation_of({{"Impersonate-User", "joe"},
                                       {"impersonate-group", "a"},
                                       {"Impersonate-Group", "b"},
                                       {"Impersonate-Uid", "7"},
                                       {"Impersonate-Extra-Acme%2FScope", "x"}});
  ASSERT_TRUE(found);
  const Impersonation& as = *found.value();
  EXPECT_EQ(as.as.name, "joe");
  EXPECT_EQ(as.as.groups, (std::vector<std::string>{"a", "b", kAuthenticatedGroup}));
  EXPECT_EQ(as.as.extra.at("acme/scope"), std::vector<std::string>{"x"});
  std::vector<std::string> needed;
  for (const Attributes& one : as.needed) {
    needed.push_back(one.verb + " " + one.group + " " + one.resource + "/" + one.subresource + " " + one.name);
  }
  EXPECT_EQ(needed, (std::vector<std::string>{"impersonate  users/ joe", "impersonate  groups/ a",
                                              "impersonate  groups/ b", "impersonate authentication.k8s.io uids/ 7",
                                              "impersonate authentication.k8s.io userextras/acme/scope x"}));
}

TEST(Impersonation, OfServiceAccountsAndAnonymous) {  // AUTHZ-9
  const auto account = impersonation_of({{"Impersonate-User", "system:serviceaccount:a:robot"}});
  ASSERT_TRUE(account && account.value());
  EXPECT_EQ(account.value()->needed[0].resource, "serviceaccounts");
  EXPECT_EQ(account.value()->needed[0].ns, "a");
  EXPECT_EQ(account.value()->needed[0].name, "robot");
  EXPECT_EQ(account.value()->as.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:a", kAuthenticatedGroup}));
  const auto anonymous = impersonation_of({{"Impersonate-User", kAnonymousUser}});
  EXPECT_EQ(anonymous.value()->as.groups, std::vector<std::string>{kUnauthenticatedGroup});
  EXPECT_FALSE(impersonation_of({{"Impersonate-Group", "a"}})) << "a group without a user";
  EXPECT_FALSE(impersonation_of({{"Impersonate-User", ""}}));
  EXPECT_FALSE(impersonation_of({{"Impersonate-User", "joe"}, {"Impersonate-Colour", "red"}}));
}

TEST(Bootstrap, SystemAdminMayReachAllMembers_1_16_8) {
  RbacPolicy policy;
  for (const auto& [key, object] : bootstrap_access()) policy.put(key, object);
  const std::string path = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api/v1/pods";
  for (const char* method : {"GET", "POST", "DELETE", "OPTIONS"}) {
    EXPECT_TRUE(policy.decide({"system:admin", {}, "", {}}, attributes_of(method, path, {})).allowed) << method;
    EXPECT_FALSE(policy.decide({"ann", {kAuthenticatedGroup}, "", {}}, attributes_of(method, path, {})).allowed);
  }
  EXPECT_FALSE(
      policy.decide({"system:admin", {}, "", {}}, attributes_of("GET", path.substr(0, path.find("/proxy")), {}))
          .allowed);
}

TEST(Bootstrap, MonitorsReadMetricsAndHealth) {  // AUTHZ-6
  RbacPolicy policy;
  for (const auto& [key, object] : bootstrap_access()) policy.put(key, object);
  const User monitor{"prometheus", {"system:monitoring", kAuthenticatedGroup}, "", {}};
  for (const char* path : {"/metrics", "/readyz", "/livez/ping"}) {
    EXPECT_TRUE(policy.decide(monitor, attributes_of("GET", path, {})).allowed) << path;
  }
  EXPECT_FALSE(policy.decide(monitor, attributes_of("POST", "/metrics", {})).allowed);
  EXPECT_FALSE(policy.decide({"ann", {kAuthenticatedGroup}, "", {}}, attributes_of("GET", "/metrics", {})).allowed);
}

TEST(Attributes, OfARequestToAMemberAreThoseOfTheProxy) {  // 9.2.4
  const std::string path = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
  for (const std::string rest : {"", "/api/v1/pods", "/apis/apps/v1/namespaces/a/deployments/b/scale"}) {
    const Attributes wanted = attributes_of("GET", path + rest, {{"watch", "true"}});
    EXPECT_EQ(wanted.group, "cluster.karmada.io");
    EXPECT_EQ(wanted.resource, "clusters");
    EXPECT_EQ(wanted.subresource, "proxy") << rest;
    EXPECT_EQ(wanted.name, "m1");
    EXPECT_EQ(wanted.ns, "");
    EXPECT_EQ(wanted.verb, "get") << "a watch in the member";
  }
  EXPECT_EQ(attributes_of("HEAD", path, {}).verb, "get");
  EXPECT_EQ(attributes_of("POST", path + "/api", {}).verb, "create");
  EXPECT_EQ(attributes_of("PUT", path + "/api", {}).verb, "update");
  EXPECT_EQ(attributes_of("PATCH", path + "/api", {}).verb, "patch");
  EXPECT_EQ(attributes_of("DELETE", path + "/api", {}).verb, "delete");
}

TEST(Bootstrap, AdminHoldsWhatEditHoldsAndEditWhatViewHolds) {  // AUTHZ-6
  RbacPolicy policy;
  for (const auto& [key, object] : bootstrap_access()) policy.put(key, object);
  const auto rules = [&](const char* name) { return *policy.role(rbac::kClusterRole, "", name); };
  EXPECT_FALSE(rules("view").empty());
  EXPECT_TRUE(not_held(rules("edit"), rules("view")).empty());
  EXPECT_TRUE(not_held(rules("admin"), rules("edit")).empty());
  EXPECT_TRUE(not_held(rules("cluster-admin"), rules("admin")).empty());
  EXPECT_FALSE(not_held(rules("view"), rules("edit")).empty());
  const auto holds = [&](const char* name, const Attributes& wanted) {
    const Rules held = rules(name);
    return std::ranges::any_of(held, [&](const Rule& one) { return allows(one, wanted); });
  };
  EXPECT_FALSE(holds("view", asks("get", "", "secrets", "a"))) << "reading secrets is more than viewing";
  EXPECT_TRUE(holds("edit", asks("create", "policy.karmada.io", "propagationpolicies", "a")));
  EXPECT_FALSE(holds("edit", asks("create", rbac::kGroup, "roles", "a")));
  EXPECT_TRUE(holds("admin", asks("create", rbac::kGroup, "roles", "a")));
  EXPECT_FALSE(holds("admin", asks("update", "", "resourcequotas", "a")));
  EXPECT_FALSE(holds("admin", asks("update", "policy.karmada.io", "federatedresourcequotas", "a")));
  EXPECT_TRUE(policy.decide({"anybody", {kAuthenticatedGroup}, "", {}}, asks_path("get", "/apis/apps/v1")).allowed);
  EXPECT_FALSE(policy.decide({"nobody", {kUnauthenticatedGroup}, "", {}}, asks_path("get", "/apis")).allowed);
  EXPECT_TRUE(policy.decide({"nobody", {kUnauthenticatedGroup}, "", {}}, asks_path("get", "/version")).allowed);
}

}  // namespace
}  // namespace shiplog::api
