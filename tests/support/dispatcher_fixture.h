#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/dispatcher/role.h"
#include "tests/support/stage.h"

namespace shiplog::testing {

/// The dispatcher with two ready members, m1 and m2.
class Dispatcher : public ::testing::Test {
 protected:
  Dispatcher() {
    for (const char* name : {"m1", "m2"}) {
      stage.put(cluster_key(name), cluster_object(name));
      stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
      stage.members().member(name);
      ready(name, "True");
    }
    stage.add(make_dispatcher_role(stage.members()));
  }

  void ready(const std::string& cluster, const std::string& status) {
    stage.write({ClusterConditionChanged{cluster_key(cluster), "Ready", status, "ClusterReady", ""}});
  }
  void place(const std::string& type, const Value& object, const std::vector<Target>& targets) {
    stage.put({type, object["metadata"]["namespace"].str(), object["metadata"]["name"].str()}, object);
    const Value made = binding(object, targets);
    stage.put(testing::binding_key(made), made);
    stage.run(Millis{5000});
  }
  const Value& applied_condition(const std::string& cluster, const Value& object) {
    return condition_of(stage.state().value_of(work_key(cluster, object)), "Applied");
  }
  const Value& on_member(const std::string& cluster, const ObjectKey& key) {
    return stage.members().member(cluster).find(key);
  }

  Stage stage;
  const Value web = deployment("default", "web", 3);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
};

}  // namespace shiplog::testing
