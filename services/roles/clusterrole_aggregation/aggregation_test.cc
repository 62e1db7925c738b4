#include "events/state/rbac.h"
#include "services/roles/clusterrole_aggregation/aggregate.h"
#include "services/roles/clusterrole_aggregation/decide.h"
#include "services/roles/clusterrole_aggregation/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::clusterrole_aggregation {
namespace {

using given::FakeTask;
using given::History;
using given::json;

State::Objects roles_of(std::initializer_list<std::pair<const char*, const char*>> roles) {
  State::Objects made;
  for (const auto& [name, text] : roles) {
    Value role = json(text);
    role.edit("metadata").set("name", name);
    made[{"", name}].value = role;
  }
  return made;
}

TEST(Aggregation, GathersRulesByLabelEachOnce) {  // AUTHZ-4
  const auto roles = roles_of(
      {{"all", R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"all"}},{"matchExpressions":
                   [{"key":"also","operator":"Exists"}]}]},"rules":[]})"},
       {"a", R"({"metadata":{"labels":{"to":"all"}},"rules":[{"verbs":["get"],"resources":["a"],"apiGroups":[""]}]})"},
       {"b", R"({"metadata":{"labels":{"also":"x"}},"rules":[{"verbs":["get"],"resources":["b"],"apiGroups":[""]},
                 {"verbs":["get"],"resources":["a"],"apiGroups":[""]}]})"},
       {"c", R"({"rules":[{"verbs":["get"],"resources":["c"],"apiGroups":[""]}]})"}});
  const auto outdated = outdated_aggregates(roles);
  ASSERT_EQ(outdated.size(), 1u);
  EXPECT_EQ(outdated[0].first.name, "all");
  EXPECT_EQ(
      to_json(outdated[0].second["rules"]),
      R"([{"apiGroups":[""],"resources":["a"],"verbs":["get"]},{"apiGroups":[""],"resources":["b"],"verbs":["get"]}])");
  auto updated = roles;
  updated[{"", "all"}].value = outdated[0].second;
  EXPECT_TRUE(outdated_aggregates(updated).empty());
}

ObjectKey role_key(const char* name) { return {rbac::kClusterRole, "", name}; }

constexpr const char* kAll =
    R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"all"}}]},"rules":[]})";
constexpr const char* kPart =
    R"({"metadata":{"labels":{"to":"all"}},"rules":[{"verbs":["get"],"resources":["a"],"apiGroups":[""]}]})";

TEST(Aggregation, ASelectedClusterRoleTriggersTheAggregatingOnes) {
  History history;
  history.object(role_key("all"), kAll);
  const auto role = make_clusterrole_aggregation_role();
  EXPECT_EQ(
      given::woken(*role, history, {ObjectCreated{role_key("part"), History::named(role_key("part"), json(kPart))}}),
      std::vector<ObjectKey>{role_key("all")});
  const auto task = std::make_shared<FakeTask>(history, role_key("all"));
  role->reconcile(task);
  EXPECT_EQ(task->folded.size(), 1U);
  EXPECT_EQ(history.state().value_of(role_key("all"))["rules"], json(kPart)["rules"]);
  EXPECT_EQ(history.settle(decide, role_key("all")), 0) << "it settles";
  EXPECT_EQ(given::woken(*role, history, {DeletionRequested{role_key("part")}}),
            std::vector<ObjectKey>{role_key("all")});
  EXPECT_EQ(history.settle(decide, role_key("all")), 1);
  EXPECT_EQ(history.state().value_of(role_key("all"))["rules"].size(), 0U);
}

TEST(Aggregation, RulesWrittenByHandAreReplaced) {
  History history;
  history.object(role_key("part"), kPart).object(role_key("all"), kAll);
  history.settle(decide, role_key("all"));
  history.edit(role_key("all"), [](Value& role) { role.set("rules", Value::array()); });
  EXPECT_EQ(history.settle(decide, role_key("all")), 1);
  EXPECT_EQ(history.settle(decide, role_key("part")), 0) << "what aggregates nothing keeps its rules";
}

}  // namespace
}  // namespace shiplog::clusterrole_aggregation
