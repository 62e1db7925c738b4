#include "services/api/insight/diff.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

using ChangeKind = FieldChange::Kind;

std::vector<FieldChange> changed(const char* before, const char* after) {
  return diff(parse_json(before).value(), parse_json(after).value());
}

TEST(InsightDiff, ReportsAddedRemovedAndChangedFieldsByPath) {
  EXPECT_EQ(changed(R"({"spec": {"replicas": 2, "paused": true}})",
                    R"({"spec": {"replicas": 3, "selector": {"app": "web"}}})"),
            (std::vector<FieldChange>{{"spec.paused", ChangeKind::kRemoved, "true", ""},
                                      {"spec.replicas", ChangeKind::kChanged, "2", "3"},
                                      {"spec.selector", ChangeKind::kAdded, "", R"({"app":"web"})"}}));
}

TEST(InsightDiff, MatchesListItemsByNameAndNotByPosition) {
  EXPECT_EQ(changed(R"({"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]})",
                    R"({"containers": [{"name": "b", "image": "y:2"}, {"name": "c", "image": "z:1"}]})"),
            (std::vector<FieldChange>{{"containers[a]", ChangeKind::kRemoved, R"({"image":"x:1","name":"a"})", ""},
                                      {"containers[b].image", ChangeKind::kChanged, R"("y:1")", R"("y:2")"},
                                      {"containers[c]", ChangeKind::kAdded, "", R"({"image":"z:1","name":"c"})"}}));
  EXPECT_EQ(changed(R"([{"clusterName": "m1", "applied": false}])", R"([{"clusterName": "m1", "applied": true}])"),
            (std::vector<FieldChange>{{"[m1].applied", ChangeKind::kChanged, "false", "true"}}));
}

TEST(InsightDiff, ComparesOtherListsByPosition) {
  EXPECT_EQ(changed(R"({"args": ["a", "b"]})", R"({"args": ["a", "c", "d"]})"),
            (std::vector<FieldChange>{{"args[1]", ChangeKind::kChanged, R"("b")", R"("c")"},
                                      {"args[2]", ChangeKind::kAdded, "", R"("d")"}}));
}

TEST(InsightDiff, AnotherOrderOfNamedItemsIsAChange) {
  const auto changes =
      changed(R"({"env": [{"name": "a"}, {"name": "b"}]})", R"({"env": [{"name": "b"}, {"name": "a"}]})");
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, "env");
}

TEST(InsightDiff, LeavesOutWhatEveryWriteTouches) {
  EXPECT_TRUE(changed(R"({"metadata": {"annotations": {}, "resourceVersion": "1", "generation": 1},
                          "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": "a"}]}})",
                      R"({"metadata": {"resourceVersion": "2", "generation": 2, "managedFields": [],
                                       "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
                          "status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": "b"}]}})")
                  .empty());
}

TEST(InsightDiff, QuotesKeysWithDotsAndCutsLongValues) {
  const std::string long_text(500, 'x');
  Value before = Value::object({{"labels", Value::object({{"app.io/name", "a"}})}});
  Value after = Value::object({{"labels", Value::object({{"app.io/name", long_text}})}});
  const auto changes = diff(before, after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, R"(labels["app.io/name"])");
  EXPECT_EQ(changes[0].after.size(), kLongestValue + 3);
}

TEST(InsightDiff, LeavesHaveTheSamePaths) {
  const Value object = parse_json(R"({"metadata": {"resourceVersion": "1", "labels": {"app.io/name": "a"}}, "spec":
      {"args": [], "containers": [{"name": "a", "ports": [80, 81]}]}})")
                           .value();
  EXPECT_EQ(leaves(object), (std::map<std::string, std::string>{{R"(metadata.labels["app.io/name"])", R"("a")"},
                                                                {"spec.args", "[]"},
                                                                {"spec.containers[a].name", R"("a")"},
                                                                {"spec.containers[a].ports[0]", "80"},
                                                                {"spec.containers[a].ports[1]", "81"}}));
}

TEST(InsightDiff, AnotherTypeOfValueIsOneChange) {
  EXPECT_EQ(changed(R"({"port": 80})", R"({"port": "http"})"),
            (std::vector<FieldChange>{{"port", ChangeKind::kChanged, "80", R"("http")"}}));
  EXPECT_TRUE(changed(R"({"a": [1, {"b": null}]})", R"({"a": [1, {"b": null}]})").empty());
}

}  // namespace
}  // namespace shiplog::api
