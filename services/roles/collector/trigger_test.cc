// What makes the collector aggregate a binding's status.
#include <algorithm>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

TEST(CollectorTriggers, WhatRequiresADependencyTriggersItThoughItWasNeverScheduled_T_6) {
  Stage stage;
  given::History history;
  const auto service = make_collector_role(stage.members());
  const Value map = config_map("default", "settings", "x");
  Value made = binding(map, {});
  made.edit("spec").set("requiredBy", Value::array({Value::object({{"namespace", "default"}, {"name", "web"}})}));
  const ObjectKey key = testing::binding_key(made);
  const ObjectKey work = work_key("m1", map);
  history.put({type::kNamespace, "", work.ns}, namespace_object(work.ns.str())).put(key, made);
  const Value labels = Value::object({{label::kBindingId, label_of(made, label::kBindingId)}});
  history.put(
      work,
      Value::object({{"metadata", Value::object({{"name", work.name}, {"namespace", work.ns}, {"labels", labels}})}}));
  const auto wakes = [&](const Value& value) {
    const auto keys = given::woken(*service, history, {ObjectUpdated{key, value}});
    return std::ranges::find(keys, key) != keys.end();
  };
  Value moved = history.state().value_of(key);
  moved.edit("spec").edit("requiredBy").edit_items()[0].set("clusters", Value::array());
  EXPECT_TRUE(wakes(moved)) << "it may be applied everywhere it should be now";
  Value labelled = history.state().value_of(key);
  labelled.edit("metadata").edit("labels").set("a", "b");
  EXPECT_FALSE(wakes(labelled));
}

}  // namespace
}  // namespace shiplog
