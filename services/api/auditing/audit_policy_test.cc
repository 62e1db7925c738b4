#include "services/api/auditing/audit_policy.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

using rbac::Attributes;
using rbac::User;

AuditPolicy policy(const std::string& rest) {
  auto parsed = parse_audit_policy("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rest);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? parsed.value() : AuditPolicy{};
}

std::string error_of(const std::string& rest, const std::string& head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n") {
  const auto parsed = parse_audit_policy(head + rest);
  return parsed ? "" : parsed.error().message;
}

Attributes about(std::string group, std::string resource, std::string subresource = "", std::string ns = "team-a",
                 std::string name = "web", std::string verb = "get") {
  Attributes request;
  request.verb = std::move(verb);
  request.group = std::move(group);
  request.resource = std::move(resource);
  request.subresource = std::move(subresource);
  request.ns = std::move(ns);
  request.name = std::move(name);
  return request;
}

Attributes at_path(std::string path) {
  Attributes request;
  request.verb = "get";
  request.is_resource = false;
  request.path = std::move(path);
  return request;
}

AuditLevel level(const AuditPolicy& policy, const Attributes& request, const User& user = {"jane", {"dev"}, "", {}}) {
  return decide_audit(policy, user, request).level;
}

TEST(AuditPolicy, TheFirstRuleThatMatchesDecides) {
  const AuditPolicy rules = policy(R"(
rules:
- level: None
  users: ["system:kube-proxy"]
- level: Request
  userGroups: [dev, ops]
  verbs: [get]
- level: Metadata
)");
  EXPECT_EQ(level(rules, about("", "pods")), AuditLevel::kRequest);
  EXPECT_EQ(level(rules, about("", "pods", "", "a", "b", "list")), AuditLevel::kMetadata);
  EXPECT_EQ(level(rules, about("", "pods"), {"eve", {}, "", {}}), AuditLevel::kMetadata);
  EXPECT_EQ(level(rules, about("", "pods"), {"system:kube-proxy", {"dev"}, "", {}}), AuditLevel::kNone);
}

TEST(AuditPolicy, RecordsNothingWhereNoRuleMatches) {
  EXPECT_EQ(level(policy("rules:\n- level: Metadata\n  users: [eve]\n"), about("", "pods")), AuditLevel::kNone);
}

TEST(AuditPolicy, ResourcesAreThoseOfTheirGroupAndSubresourcesAreNamed) {
  const auto with = [](const std::string& resources) {
    return policy("rules:\n- level: Metadata\n  resources:\n  - " + resources + "\n");
  };
  const auto matches = [&](const std::string& resources, const Attributes& request) {
    return level(with(resources), request) == AuditLevel::kMetadata;
  };
  EXPECT_TRUE(matches("{group: apps}", about("apps", "deployments", "scale")));
  EXPECT_FALSE(matches("{group: apps}", about("", "pods")));
  EXPECT_FALSE(matches(R"({group: "", resources: [deployments]})", about("apps", "deployments")));
  EXPECT_TRUE(matches(R"({resources: [pods]})", about("", "pods")));
  EXPECT_FALSE(matches(R"({resources: [pods]})", about("", "pods", "log")));
  EXPECT_TRUE(matches(R"({resources: [pods/log]})", about("", "pods", "log")));
  EXPECT_FALSE(matches(R"({resources: [pods/log]})", about("", "pods")));
  EXPECT_TRUE(matches(R"({resources: ["pods/*"]})", about("", "pods", "log")));
  EXPECT_TRUE(matches(R"({resources: ["pods/*"]})", about("", "pods")));  // as kube-apiserver
  EXPECT_FALSE(matches(R"({resources: ["pods/*"]})", about("", "podtemplates", "log")));
  EXPECT_TRUE(matches(R"({group: apps, resources: ["*/scale"]})", about("apps", "deployments", "scale")));
  EXPECT_FALSE(matches(R"({group: apps, resources: ["*/scale"]})", about("apps", "deployments")));
  EXPECT_TRUE(matches(R"({group: apps, resources: ["*"]})", about("apps", "deployments", "scale")));
  EXPECT_TRUE(matches(R"({resources: [configmaps], resourceNames: [web]})", about("", "configmaps")));
  EXPECT_FALSE(matches(R"({resources: [configmaps], resourceNames: [other]})", about("", "configmaps")));
  EXPECT_FALSE(matches(R"({resources: [pods]})", at_path("/healthz")));
}

TEST(AuditPolicy, NamespacesAndPathsAreDifferentRequests) {
  const AuditPolicy of_namespace = policy("rules:\n- level: Metadata\n  namespaces: [team-a]\n");
  EXPECT_EQ(level(of_namespace, about("", "pods")), AuditLevel::kMetadata);
  EXPECT_EQ(level(of_namespace, about("", "pods", "", "team-b")), AuditLevel::kNone);
  EXPECT_EQ(level(of_namespace, about("", "nodes", "", "")), AuditLevel::kNone);
  EXPECT_EQ(level(of_namespace, at_path("/version")), AuditLevel::kNone);
  const AuditPolicy without = policy("rules:\n- level: Metadata\n  namespaces: [\"\"]\n");
  EXPECT_EQ(level(without, about("", "nodes", "", "")), AuditLevel::kMetadata);
  EXPECT_EQ(level(without, about("", "pods")), AuditLevel::kNone);
  const AuditPolicy paths = policy("rules:\n- level: Metadata\n  nonResourceURLs: [/version, \"/shiplog/*\"]\n");
  EXPECT_EQ(level(paths, at_path("/version")), AuditLevel::kMetadata);
  EXPECT_EQ(level(paths, at_path("/version/x")), AuditLevel::kNone);
  EXPECT_EQ(level(paths, at_path("/shiplog/v1/why")), AuditLevel::kMetadata);
  EXPECT_EQ(level(paths, about("", "pods")), AuditLevel::kNone);
}

TEST(AuditPolicy, OmittedStagesAreThoseOfPolicyAndRule) {
  const AuditPolicy rules = policy(R"(
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Metadata
  users: [jane]
  omitStages: [ResponseStarted]
  omitManagedFields: false
- level: Metadata
)");
  const AuditDecision first = decide_audit(rules, {"jane", {}, "", {}}, about("", "pods"));
  EXPECT_TRUE(first.omitted.contains(AuditStage::kRequestReceived));
  EXPECT_TRUE(first.omitted.contains(AuditStage::kResponseStarted));
  EXPECT_FALSE(first.omitted.contains(AuditStage::kResponseComplete));
  EXPECT_FALSE(first.omit_managed_fields);
  const AuditDecision second = decide_audit(rules, {"eve", {}, "", {}}, about("", "pods"));
  EXPECT_FALSE(second.omitted.contains(AuditStage::kResponseStarted));
  EXPECT_TRUE(second.omit_managed_fields);
}

TEST(AuditPolicy, ErrorsNameTheFieldAndAllThatIsWrong) {
  EXPECT_EQ(error_of("rules: []\n"), "rules: a list with at least one rule is required");
  EXPECT_EQ(error_of("rules:\n- level: Metadata\n", "apiVersion: audit.k8s.io/v1beta1\nkind: Polic\n"),
            "apiVersion: must be audit.k8s.io/v1; kind: must be Policy");
  EXPECT_EQ(error_of("rules:\n- users: [a]\n"),
            "rules[0].level: is required: one of None, Metadata, Request, RequestResponse");
  EXPECT_EQ(error_of("rules:\n- level: metadata\n"),
            "rules[0].level: \"metadata\" is no level; there are: None, Metadata, Request, RequestResponse");
  // A misspelt field would make the rule match every user.
  EXPECT_EQ(error_of("rules:\n- level: None\n  user: [a]\n"), "rules[0].user: is no field of an audit policy");
  EXPECT_EQ(error_of("rules:\n- level: None\n  omitStages: [Started]\n  nonResourceURLs: [healthz, /a*b]\n"),
            "rules[0].omitStages: \"Started\" is no stage; there are: RequestReceived, ResponseStarted, "
            "ResponseComplete, Panic; rules[0].nonResourceURLs: \"healthz\" must be * or begin with /; "
            "rules[0].nonResourceURLs: \"/a*b\" may have a * only as its last character");
  EXPECT_EQ(error_of("rules:\n- level: None\n  namespaces: [a]\n  nonResourceURLs: [/a]\n"),
            "rules[0].nonResourceURLs: a rule cannot be about resources or namespaces as well; make it two rules");
  EXPECT_EQ(error_of("rules:\n- level: None\n  resources: [{group: apps/v1, resourceNames: [a]}]\n"),
            "rules[0].resources[0].group: \"apps/v1\" must be a group without a version: apps, not apps/v1; "
            "rules[0].resources[0].resourceNames: needs at least one resource in resources");
  EXPECT_EQ(error_of("rules:\n- level: None\n  verbs: get\n"), "rules[0].verbs: must be a list of strings");
  EXPECT_NE(error_of("rules: {"), "");
}

}  // namespace
}  // namespace shiplog::api
