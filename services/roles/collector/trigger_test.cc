// What makes the collector aggregate a binding's status (T-6).
#include <algorithm>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

/// A binding of a ConfigMap and its Work in m1, which no role has looked at.
class CollectorTriggers : public ::testing::Test {
 protected:
  void begin(const Value& binding) {
    const Value labels = Value::object({{label::kBindingId, label_of(binding, label::kBindingId)}});
    history.put({type::kNamespace, "", work.ns}, namespace_object(work.ns.str())).put(key, binding);
    history.put(
        work,
        Value::object({{"metadata", Value::object({{"name", work.name}, {"namespace", work.ns}, {"labels", labels}})},
                       {"spec", Value::object({{"suspendDispatching", false}})}}));
  }
  bool wakes(Event event) {
    const auto keys = given::woken(*collector, history, {std::move(event)});
    return std::ranges::find(keys, key) != keys.end();
  }

  Stage stage;
  given::History history;
  const std::unique_ptr<Role> collector = make_collector_role(stage.members());
  const Value map = config_map("default", "settings", "x");
  const ObjectKey key = binding_key(binding(map, {}));
  const ObjectKey work = work_key("m1", map);
};

TEST_F(CollectorTriggers, AreTheStatusAndTheRemovalOfItsWorks_T_6) {
  begin(binding(map, {{"m1", 0}}));
  EXPECT_TRUE(wakes(WorkApplied{work, 1, "ok"}));
  Value edited = history.state().value_of(work);
  edited.edit("spec").set("preserveResourcesOnDeletion", true);
  EXPECT_FALSE(wakes(ObjectUpdated{work, edited})) << "that says nothing of a status";
  EXPECT_TRUE(wakes(DeletionRequested{work}));
}

TEST_F(CollectorTriggers, IncludeTheTargetsOfADependencyThatWasNeverScheduled_T_6) {
  Value required = binding(map, {});
  required.edit("status").erase("lastScheduledTime");
  required.edit("spec").set("requiredBy", Value::array({Value::object({{"namespace", "default"}, {"name", "web"}})}));
  begin(required);
  Value moved = history.state().value_of(key);
  moved.edit("spec").edit("requiredBy").edit_items()[0].set("clusters", Value::array());
  EXPECT_TRUE(wakes(ObjectUpdated{key, moved})) << "it may be applied everywhere it should be now";
  Value labelled = history.state().value_of(key);
  labelled.edit("metadata").edit("labels").set("a", "b");
  EXPECT_FALSE(wakes(ObjectUpdated{key, labelled}));
}

}  // namespace
}  // namespace shiplog
