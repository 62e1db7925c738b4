#include "services/roles/apiservice_registration/decide.h"
#include "services/roles/apiservice_registration/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::apiservice_registration {
namespace {

using given::FakeTask;
using given::History;
using given::json;

const ObjectKey kThings{type::kCustomResourceDefinition, "", "things.example.com"};
const ObjectKey kThingsV1{kApiServices, "", "v1.example.com"};

Result<Decided> decided(const State& state, const ObjectKey&, UtcMillis now) {
  return decide(state, now, Kinds::compiled());
}

Value definition(const char* versions) {
  Value value =
      json(R"({"spec":{"group":"example.com","names":{"plural":"things","kind":"Thing"},"scope":"Namespaced"}})");
  value.edit("spec").set("versions", json(versions));
  return History::named(kThings, std::move(value));
}

TEST(ApiServiceRegistration, WhatIsServedIsRegisteredInOneDecision) {
  History history;
  EXPECT_EQ(history.settle(decided, {}), 1);
  const Value& core = history.state().value_of({kApiServices, "", "v1."});
  EXPECT_EQ(core["spec"]["groupPriorityMinimum"].as_int(), 18000);
  EXPECT_FALSE(core["spec"].contains("group"));
  const Value& policies = history.state().value_of({kApiServices, "", "v1alpha1.policy.karmada.io"});
  EXPECT_EQ(policies["status"]["conditions"][0]["type"].str(), "Available");
}

TEST(ApiServiceRegistration, AddedGroupsAreRegisteredFromTheirFoldVersionOn) {
  for (const auto& [group, version] :
       {std::pair{"audit.shiplog.io", 8U}, {"node.k8s.io", 10U}, {"resource.k8s.io", 11U}}) {
    const ObjectKey added{kApiServices, "", std::string{"v1."} + group};
    History history;
    history.accept({FoldVersionActivated{version - 1}});
    history.settle(decided, {});
    EXPECT_EQ(history.state().find(added), nullptr) << group;
    history.accept({FoldVersionActivated{version}});
    EXPECT_EQ(history.settle(decided, {}), 1) << group;
    EXPECT_EQ(history.state().value_of(added)["spec"]["group"].str(), group);
  }
}

TEST(ApiServiceRegistration, ADefinitionBringsItsVersionsAndTakesThemWithIt) {
  History history;
  history.settle(decided, {});
  const auto role = make_apiservice_registration_role(Kinds::compiled());
  const auto keys = given::woken(
      *role, history,
      {ObjectCreated{kThings, definition(R"([{"name":"v1","served":true},{"name":"v0","served":false}])")}});
  ASSERT_EQ(keys.size(), 1U);
  const auto task = std::make_shared<FakeTask>(history, keys.front());
  role->reconcile(task);
  EXPECT_EQ(task->folded.size(), 1U);
  EXPECT_NE(history.state().find(kThingsV1), nullptr);
  EXPECT_EQ(history.state().find({kApiServices, "", "v0.example.com"}), nullptr);
  EXPECT_EQ(given::woken(*role, history, {ObjectRemoved{kThings}}).size(), 1U);
  EXPECT_EQ(history.settle(decided, {}), 1);
  EXPECT_EQ(history.state().find(kThingsV1), nullptr);
}

TEST(ApiServiceRegistration, ADefinitionWhoseNamesAreInUseIsNotServed) {
  History history;
  Value taken = definition(R"([{"name":"v1","served":true}])");
  taken.set("status", json(R"({"conditions":[{"type":"Established","status":"False"}]})"));
  history.put(kThings, taken);
  history.settle(decided, {});
  EXPECT_EQ(history.state().find(kThingsV1), nullptr);
}

TEST(ApiServiceRegistration, AnAPIServiceOfAUserStaysAndADeletedOneIsCreatedAgain) {
  History history;
  history.settle(decided, {});
  const ObjectKey own{kApiServices, "", "v1.metrics.example.com"};
  history.object(own, "{}");
  EXPECT_EQ(history.settle(decided, {}), 0);
  const auto role = make_apiservice_registration_role(Kinds::compiled());
  EXPECT_EQ(given::woken(*role, history, {DeletionRequested{{kApiServices, "", "v1.apps"}}}).size(), 1U);
  EXPECT_EQ(history.settle(decided, {}), 1);
  EXPECT_NE(history.state().find({kApiServices, "", "v1.apps"}), nullptr);
}

}  // namespace
}  // namespace shiplog::apiservice_registration
