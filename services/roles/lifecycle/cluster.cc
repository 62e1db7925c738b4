#include <algorithm>

#include "events/state/new_namespace.h"
#include "events/state/work.h"
#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

Value execution_space_object(const std::string& name) {
  Value space = new_namespace(name);
  space.edit("metadata").edit("labels").set(label::kSystem, "true");
  return space;
}

bool placed_on(const State& state, std::string_view binding_type, std::string_view cluster) {
  return std::ranges::any_of(state.objects(binding_type), [&](const auto& item) {
    return std::ranges::any_of(item.second.value["spec"]["clusters"].items(),
                               [&](const Value& target) { return target["name"].as_string() == cluster; });
  });
}

Decided take_in(const State& state, const ObjectKey& key, const Object& cluster, const ObjectKey& space) {
  const Value& ns = state.value_of(space);
  if (deleting(ns)) return Nothing{};  // of an earlier cluster of this name: wait until it is deleted
  DecisionBuilder decision;
  if (ns.is_null()) decision.add(ObjectCreated{space, execution_space_object(space.name.str())}, {space, Revision{}});
  if (!has_finalizer(cluster.value, finalizer::kCluster)) {
    Value with = cluster.value;
    with.edit("metadata").edit("finalizers").push_back(finalizer::kCluster);
    decision.add(ObjectUpdated{key, std::move(with)}, {key, cluster.revision});
  }
  return std::move(decision).build();
}

// The order is what users rely on (CL-13): works first, then bindings have moved on, then the Cluster object goes.
Decided let_go(const State& state, const ObjectKey& key, const Object& cluster, const ObjectKey& space) {
  if (!has_finalizer(cluster.value, finalizer::kCluster)) return Nothing{};
  if (const Object* ns = state.find(space)) {
    if (deleting(ns->value)) return Nothing{};
    return decide_one(deletion_because_of(state, space, key), {space, ns->revision});
  }
  if (placed_on(state, type::kResourceBinding, key.name) || placed_on(state, type::kClusterResourceBinding, key.name)) {
    return Nothing{};
  }
  if (cluster.value["metadata"]["finalizers"].size() == 1) {
    return decide_one(ClusterLeft{key, "its works are gone and no binding names it"}, {key, cluster.revision});
  }
  Value without = cluster.value;
  std::erase_if(without.edit("metadata").edit("finalizers").edit_items(),
                [](const Value& entry) { return entry.as_string() == finalizer::kCluster; });
  return decide_one(ObjectUpdated{key, std::move(without)}, {key, cluster.revision});
}

}  // namespace

Decided decide_cluster(const State& state, const ObjectKey& key, const Object& cluster) {
  const ObjectKey space{type::kNamespace, "", execution_space(key.name)};
  return deleting(cluster.value) ? let_go(state, key, cluster, space) : take_in(state, key, cluster, space);
}

}  // namespace shiplog::lifecycle
