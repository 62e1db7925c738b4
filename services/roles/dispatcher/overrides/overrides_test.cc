#include "services/roles/dispatcher/overrides/overrides.h"

#include <gtest/gtest.h>

#include "events/explain/text.h"
#include "events/state/policy_author.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog::dispatcher {
namespace {

using shiplog::testing::cluster_key;
using shiplog::testing::cluster_object;
using shiplog::testing::Stage;
using test::json;

class Overriding : public ::testing::Test {
 protected:
  Overriding() {
    for (const char* name : {"m1", "m2"}) {
      Value cluster = cluster_object(name);
      cluster.edit("metadata").edit("labels").set("tier", name == std::string{"m1"} ? "prod" : "test");
      cluster.edit("spec").set("region", name == std::string{"m1"} ? "north" : "south");
      stage.put(cluster_key(name), cluster);
    }
  }

  void policy(const std::string& ns, const std::string& name, std::string_view spec) {
    Value object = Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", json(spec)}});
    if (!ns.empty()) object.edit("metadata").set("namespace", ns);
    stage.put({ns.empty() ? type::kClusterOverridePolicy : type::kOverridePolicy, ns, name}, object);
  }
  /// A rule that appends to annotation "trace", so that the order of rules can be read.
  static std::string trace(const std::string& word, const std::string& target = "null") {
    return R"({"targetCluster": )" + target + R"(, "overriders": {"annotationsOverrider": [
        {"operator": "add", "value": {"last": ")" +
           word + R"(", ")" + word + R"(": "yes"}}]}})";
  }
  static std::string rules(const std::string& selectors, const std::string& list) {
    return R"({"resourceSelectors": )" + selectors + R"(, "overrideRules": [)" + list + "]}";
  }
  static ObjectKey key_of(const Value& object) {
    return {"configmaps", object["metadata"]["namespace"].str(), object["metadata"]["name"].str()};
  }
  Overrides::Overridden apply(const std::string& cluster, const Value& object) {
    auto result =
        Overrides{stage.state(), key_of(object), object}.apply(object, *stage.state().cluster(cluster), failure_);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result.value() : Overrides::Overridden{};
  }
  std::string last(const std::string& cluster = "m1") {
    return std::string{annotation_of(apply(cluster, config).manifest, "last")};
  }
  bool applied(const std::string& word, const std::string& cluster = "m1") {
    return !annotation_of(apply(cluster, config).manifest, word).empty();
  }

  Fact failure_;
  Stage stage;
  const Value config = json(R"({"apiVersion": "v1", "kind": "ConfigMap",
      "metadata": {"name": "c", "namespace": "default", "labels": {"app": "web"}}, "data": {"k": "v"}})");
  const std::string kAll = "null";
  const std::string kByKind = R"([{"apiVersion": "v1", "kind": "ConfigMap"}])";
  const std::string kByLabel = R"([{"apiVersion": "v1", "kind": "ConfigMap",
      "labelSelector": {"matchLabels": {"app": "web"}}}])";
  const std::string kByName = R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}])";
};

TEST_F(Overriding, ClusterPoliciesComeFirst_B_16) {
  policy("default", "a", rules(kAll, trace("namespaced")));
  policy("", "b", rules(kByName, trace("cluster")));
  EXPECT_EQ(last(), "namespaced");
  EXPECT_TRUE(applied("cluster"));
}

TEST_F(Overriding, ReachesItsOwnNamespaceOnly_B_16) {
  policy("other", "a", rules(kAll, trace("foreign")));
  EXPECT_FALSE(applied("foreign"));
  Value unbound = config;
  unbound.edit("metadata").erase("namespace");
  policy("default", "a", rules(kAll, trace("own")));
  EXPECT_TRUE(applied("own"));
  EXPECT_TRUE(annotation_of(apply("m1", unbound).manifest, "own").empty()) << "cluster-scoped objects have none";
}

TEST_F(Overriding, WhatItsAuthorMayNotReadIsNotOverridden) {
  policy("default", "a", rules(kAll, trace("namespaced")));
  policy("", "b", rules(kAll, trace("cluster")));
  stage.write({OptionsSet{{{"enable-policy-author-check", {"true"}}}}});
  EXPECT_FALSE(applied("namespaced")) << "no author is recorded";
  const auto written_by = [&](const ObjectKey& key, const char* user) {
    Value object = stage.state().value_of(key);
    object.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author_text({user, {}, "", {}}));
    stage.put(key, object);
  };
  written_by({type::kOverridePolicy, "default", "a"}, "ann");
  written_by({type::kClusterOverridePolicy, "", "b"}, "ann");
  EXPECT_EQ(
      apply("m1", config).steps,
      (std::vector<Fact>{
          OverridePolicyForbidden{"", "b", "its author ann may not get configmaps in namespace default"},
          OverridePolicyForbidden{"default", "a", "its author ann may not get configmaps in namespace default"}}));
  stage.put({rbac::kClusterRole, "", "reader"},
            json(R"({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]}]})"));
  stage.put(
      {rbac::kRoleBinding, "default", "ann"},
      json(R"({"roleRef": {"kind": "ClusterRole", "name": "reader"}, "subjects": [{"kind": "User", "name": "ann"}]})"));
  EXPECT_TRUE(applied("namespaced"));
  EXPECT_TRUE(applied("cluster"));
}

TEST_F(Overriding, MostSpecificThenLastNameIsAppliedLast_B_17) {
  policy("default", "z-all", rules(kAll, trace("all")));
  policy("default", "z-kind", rules(kByKind, trace("kind")));
  EXPECT_EQ(last(), "kind") << "all alike: by name";
  policy("default", "b-label", rules(kByLabel, trace("label")));
  EXPECT_EQ(last(), "label");
  policy("default", "a-name", rules(kByName, trace("name")));
  EXPECT_EQ(last(), "name");
  policy("default", "b-name", rules(kByName, trace("second-name")));
  EXPECT_EQ(last(), "second-name");
  policy("default", "c", rules(R"([{"apiVersion": "v1", "kind": "Secret"}])", trace("secret")));
  EXPECT_FALSE(applied("secret"));
}

TEST_F(Overriding, DeprecatedFieldsAreOneRule_B_17) {
  policy("default", "old", R"({"targetCluster": {"clusterNames": ["m2"]},
      "overriders": {"annotationsOverrider": [{"operator": "add", "value": {"last": "old"}}]}})");
  EXPECT_EQ(last("m1"), "");
  EXPECT_EQ(last("m2"), "old");
}

TEST_F(Overriding, AppliesRulesWhoseClustersMatchInListOrder_B_18_S_16_S_17) {
  policy("", "a",
         rules(kAll, trace("one", R"({"labelSelector": {"matchLabels": {"tier": "prod"}}})") + "," +
                         trace("two", R"({"fieldSelector": {"matchExpressions": [
                                      {"key": "region", "operator": "In", "values": ["south"]}]}})") +
                         "," + trace("three", R"({"clusterNames": ["m1", "m2"], "exclude": ["m2"]})")));
  EXPECT_EQ(last("m1"), "three");
  EXPECT_TRUE(applied("one", "m1"));
  EXPECT_FALSE(applied("two", "m1"));
  EXPECT_EQ(last("m2"), "two");
}

TEST_F(Overriding, MatchingIsSettledBeforeAStageBegins_B_18) {
  policy("", "a",
         rules(kByKind, R"({"overriders": {"labelsOverrider": [{"operator": "replace", "value": {"app": "x"}}]}})"));
  policy("", "b", rules(kByLabel, trace("same-stage")));
  policy("default", "c", rules(kByLabel, trace("next-stage")));
  EXPECT_TRUE(applied("same-stage")) << "b was chosen before a changed the label";
  EXPECT_FALSE(applied("next-stage")) << "the label is gone by then";
}

TEST_F(Overriding, RecordsWhatWasAppliedSortedByPolicy_B_21) {
  policy("", "z", rules(kAll, trace("all")));
  policy("", "a", rules(kByName, trace("name") + "," + trace("again")));
  const auto result = apply("m1", config);
  ASSERT_EQ(result.applied_cluster.size(), 3U);
  EXPECT_EQ(result.applied_cluster[0]["policyName"], Value{"a"});
  EXPECT_EQ(result.applied_cluster[0]["overriders"]["annotationsOverrider"][0]["value"]["last"], Value{"name"});
  EXPECT_EQ(result.applied_cluster[1]["overriders"]["annotationsOverrider"][0]["value"]["last"], Value{"again"});
  EXPECT_EQ(result.applied_cluster[2]["policyName"], Value{"z"});
  EXPECT_TRUE(result.applied_namespaced.is_null());
}

TEST_F(Overriding, ReportsWhichRuleChangedWhat) {
  policy("", "a", rules(kAll, R"({"overriders": {}}, {"overriders": {"plaintext": [
      {"path": "/data/k", "operator": "replace", "value": "w"}, {"path": "/data/n", "operator": "add", "value": "new"}]}})"));
  EXPECT_EQ(apply("m1", config).steps,
            (std::vector<Fact>{OverrideApplied{"", "a", 1, ""}, OverrideApplied{"", "a", 2, R"(/data/k: "v" -> "w")"},
                               OverrideApplied{"", "a", 2, R"(/data/n: nothing -> "new")"}}));
  Value secret = config;
  secret.set("kind", "Secret");
  EXPECT_EQ(apply("m1", secret).steps[1],
            (Fact{OverrideApplied{"", "a", 2, "/data/k: a secret value -> a secret value"}}));
}

TEST_F(Overriding, AnErrorNamesPolicyClusterAndRule_B_21) {
  policy("default", "bad", rules(kAll, R"({"overriders": {"plaintext": [{"path": "/none", "operator": "remove"}]}})"));
  const auto result =
      Overrides{stage.state(), key_of(config), config}.apply(config, *stage.state().cluster("m1"), failure_);
  ASSERT_FALSE(result);
  const auto* failed = std::get_if<OverrideFailed>(&failure_);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->policy_namespace + "/" + failed->policy, "default/bad");
  EXPECT_EQ(text_of(failure_), result.error().message);
  EXPECT_TRUE(result.error().message.starts_with(
      "Apply override policy(default/bad) for cluster(m1) failed: rule 1: plaintext: the JSON patch cannot be applied"))
      << result.error().message;
}

TEST(OverrideChanges, AreCutShort) {
  Value after = Value::object();
  for (int i = 0; i < 30; ++i) after.set("key" + std::to_string(i), i);
  const auto lines = changes_between(Value::object(), after, false);
  ASSERT_EQ(lines.size(), 17U);
  EXPECT_EQ(lines.back(), "and 14 more changes");
}

}  // namespace
}  // namespace shiplog::dispatcher
