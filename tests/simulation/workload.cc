#include "tests/simulation/workload.h"

#include <algorithm>
#include <array>
#include <utility>

#include "events/state/new_namespace.h"
#include "tests/simulation/objects.h"

namespace shiplog::simulation {
namespace {

constexpr std::array kNamespaces = {"default", "team-a", "team-b"};
constexpr std::array kApps = {"red", "green", "blue"};

/// Any object of a type, or an empty key.
ObjectKey any_of(Chance& chance, const State& state, const char* type) {
  const auto& objects = state.objects(type);
  if (objects.empty()) return {};
  const auto at = std::next(objects.begin(), chance.between(0, static_cast<int64_t>(objects.size()) - 1));
  return {type, at->first.ns, at->first.name};
}

/// The Deployment needs a ConfigMap, and no other; an empty name: none.
void mount(Value& object, const std::string& config_map) {
  Value& pod = object.edit("spec").edit("template").edit("spec");
  if (config_map.empty()) return void(pod.erase("volumes"));
  pod.set("volumes",
          Value::array({Value::object({{"name", "settings"}, {"configMap", Value::object({{"name", config_map}})}})}));
}

}  // namespace

/// Windows are shorter than what a world waits for at rest.
std::vector<std::string> some_budget(Chance chance) {
  std::vector<std::string> words;
  if (chance.permille(400)) return words;
  if (chance.permille(800)) words.push_back("evictions=" + std::to_string(chance.between(1, 4)));
  if (chance.permille(300)) words.emplace_back("fraction=0.3");
  if (!words.empty()) words.emplace_back("window=30s");
  return words;
}

std::string SimulatedUsers::ns() { return chance_.one_of(kNamespaces); }
std::string SimulatedUsers::app() { return chance_.one_of(kApps); }

void SimulatedUsers::begin() {
  chance_ = world_.stream("users");
  SimulatedProcess& process = *world_.any_process(chance_);
  if (world_.shape.first_version > 1 || world_.shape.switched_on) switch_on(process);
  for (const char* name : {"default", "kube-system", "karmada-system", "karmada-cluster", "team-a"}) {
    create(process, {type::kNamespace, "", name}, new_namespace(name));
  }
  for (const std::string& name : world_.shape.clusters) {
    if (chance_.permille(800)) {
      create(process, {type::kCluster, "", name}, cluster_object(name, name < "m3" ? "north" : "south"));
    }
  }
}

/// What a process writes when it starts first, with the flags and gates of this fleet.
void SimulatedUsers::switch_on(SimulatedProcess& process) {
  std::vector<Event> events;
  if (world_.shape.first_version > 1) events.emplace_back(FoldVersionActivated{world_.shape.first_version});
  if (world_.shape.switched_on) {
    events.emplace_back(
        FeatureGatesSet{{"Failover", "FederatedQuotaEnforcement", "PropagationPolicyPreemption", "WorkloadAffinity"}});
    events.emplace_back(
        OptionsSet{{{"allow-no-execute-taint-policy", {"true"}},
                    {"enable-no-execute-taint-eviction", {"true"}},
                    {"graceful-eviction-timeout", {chance_.permille(500) ? "10m" : "20s"}},
                    {"no-execute-taint-eviction-purge-mode", {chance_.permille(300) ? "Directly" : "Gracefully"}},
                    {"resource-eviction-rate", {chance_.permille(300) ? "0.5" : "20"}},
                    {"eviction-budget", some_budget(world_.stream("budget"))}}});
  }
  world_.write(process, "start", std::move(events), {});
}

/// At once and through every process: what one namespace's quota has to permit or refuse, whatever comes first.
void SimulatedUsers::on_rush() {
  const std::string in = ns();
  for (int64_t number = chance_.between(4, 12); number > 0; --number) {
    SimulatedProcess* process = world_.any_process(chance_);
    if (process == nullptr) return;
    const ObjectKey key{kDeployments, in, "web-" + std::to_string(chance_.below(5))};
    const ObjectKey quota{type::kFederatedResourceQuota, in, "quota-" + std::to_string(chance_.below(2))};
    if (chance_.permille(200)) {
      put(*process, quota, federated_quota(quota.ns.str(), quota.name.str(), 100 * chance_.between(1, 30)));
    } else if (process->replica().state().find(key) == nullptr) {
      create(*process, key, deployment(in, key.name.str(), app(), chance_.between(1, 9), 100));
    } else {
      change(*process, key,
             [replicas = chance_.between(0, 14)](Value& object) { object.edit("spec").set("replicas", replicas); });
    }
  }
}

void SimulatedUsers::act(const std::string& about, uint64_t seed) {
  chance_ = Chance{seed};
  SimulatedProcess* process = world_.any_process(chance_);
  if (process == nullptr) return;
  world_.count("write " + about);
  if (about == "template") return on_template(*process);
  if (about == "policy") return on_policy(*process);
  if (about == "override") return on_override(*process);
  if (about == "quota") return on_quota(*process);
  if (about == "cluster") return on_cluster(*process);
  if (about == "work") return on_work(*process);
  if (about == "rush") return on_rush();
  on_namespace(*process);
}

void SimulatedUsers::create(SimulatedProcess& process, const ObjectKey& key, Value object) {
  world_.write(process, "create", {ObjectCreated{key, std::move(object)}}, {});
}

/// As a PATCH: computed from a linearizable read, and again when another writer was faster.
void SimulatedUsers::change(SimulatedProcess& process, const ObjectKey& key, const std::function<void(Value&)>& edit,
                            int tries) {
  world_.read(process, [this, &process, key, edit, tries](const State& state) {
    const Object* object = state.find(key);
    if (object == nullptr) return;
    Value value = object->value;
    edit(value);
    world_.write(process, "update", {ObjectUpdated{key, std::move(value)}}, {{key, object->revision}},
                 [this, &process, key, edit, tries](const Outcome& outcome) {
                   const bool again = outcome.refusal && outcome.refusal->code == ErrorCode::kConflict && tries > 1;
                   if (again) change(process, key, edit, tries - 1);
                 });
  });
}

void SimulatedUsers::remove(SimulatedProcess& process, const ObjectKey& key) {
  // Not Orphan: it leaves a binding behind without an owner, and that holds its name against the next template.
  const char* propagation = chance_.permille(850) ? "Background" : "Foreground";
  world_.write(process, "delete", {DeletionRequested{.object = key, .propagation = propagation}}, {});
}

void SimulatedUsers::put(SimulatedProcess& process, const ObjectKey& key, Value object) {
  if (process.replica().state().find(key) == nullptr) return create(process, key, std::move(object));
  change(process, key, [object](Value& present) { present.set("spec", object["spec"]); });
}

/// What is sent is changed back at once: maybe before any role has looked at it.
void SimulatedUsers::change_and_back(SimulatedProcess& process, const ObjectKey& key) {
  change(process, key, [](Value& object) { object.edit("metadata").edit("annotations").set("sim/note", "x"); });
  world_.timeline.after(Millis{chance_.between(1, 12)}, [this, &process, key, life = process.life()] {
    if (!process.alive() || process.life() != life) return;
    change(process, key, [](Value& object) { object.edit("metadata").edit("annotations").erase("sim/note"); });
  });
}

void SimulatedUsers::on_template(SimulatedProcess& process) {
  const std::string number = std::to_string(chance_.below(5));
  const ObjectKey deployments{kDeployments, ns(), "web-" + number};
  const ObjectKey config_maps{kConfigMaps, ns(), "settings-" + number};
  const ObjectKey roles{kClusterRoles, "", "role-" + number};
  const uint64_t which = chance_.below(10);
  const ObjectKey key = which < 6 ? deployments : which < 9 ? config_maps : roles;
  if (process.replica().state().find(key) == nullptr) {
    if (key == deployments) {
      Value made =
          deployment(key.ns.str(), key.name.str(), app(), chance_.between(0, 9), chance_.permille(600) ? 100 : 0);
      if (chance_.permille(500)) mount(made, "settings-" + std::to_string(chance_.below(5)));
      return create(process, key, std::move(made));
    }
    if (key == config_maps) return create(process, key, config_map(key.ns.str(), key.name.str(), app(), "first"));
    return create(process, key, cluster_role(key.name.str(), app()));
  }
  if (chance_.permille(200)) return remove(process, key);
  if (key == deployments && chance_.permille(150)) return change_and_back(process, key);
  if (chance_.permille(200)) {
    return change(process, key,
                  [app = app()](Value& object) { object.edit("metadata").edit("labels").set("app", app); });
  }
  if (key == deployments && chance_.permille(250)) {
    const std::string config = chance_.permille(700) ? "settings-" + std::to_string(chance_.below(5)) : "";
    return change(process, key, [config](Value& object) { mount(object, config); });
  }
  if (key == deployments) {
    return change(process, key, [replicas = chance_.between(0, 12), image = chance_.below(4)](Value& object) {
      object.edit("spec").set("replicas", replicas);
      Value& pod = object.edit("spec").edit("template").edit("spec");
      pod.edit("containers").edit_items()[0].set("image", "nginx:" + std::to_string(image));
    });
  }
  if (key == config_maps) {
    return change(process, key, [text = chance_.below(100)](Value& object) {
      object.edit("data").set("text", std::to_string(text));
    });
  }
}

void SimulatedUsers::on_policy(SimulatedProcess& process) {
  const bool cluster_scoped = chance_.permille(300);
  const std::string in = cluster_scoped ? "" : ns();
  const ObjectKey key{cluster_scoped ? type::kClusterPropagationPolicy : type::kPropagationPolicy, in,
                      "policy-" + std::to_string(chance_.below(3))};
  if (process.replica().state().find(key) != nullptr && chance_.permille(200)) return remove(process, key);
  Value selectors = Value::array();
  const std::string label = chance_.permille(500) ? app() : "";
  selectors.push_back(selector("apps/v1", "Deployment", in, "", label));
  if (chance_.permille(700)) selectors.push_back(selector("v1", "ConfigMap", in, "", label));
  if (cluster_scoped) selectors.push_back(selector("rbac.authorization.k8s.io/v1", "ClusterRole", "", "", label));
  Value wanted = policy(in, key.name.str(), std::move(selectors), random_placement(chance_, world_.shape.clusters));
  // What was preserved can only be adopted again by force.
  if (world_.shape.preserving) {
    wanted.edit("spec").set("conflictResolution", "Overwrite");
    if (chance_.permille(500)) wanted.edit("spec").set("preserveResourcesOnDeletion", true);
  }
  if (chance_.permille(500)) wanted.edit("spec").set("propagateDeps", true);
  if (chance_.permille(150)) {
    const Value where = Value::object({{"clusterNames", Value::array({chance_.one_of(world_.shape.clusters)})}});
    wanted.edit("spec").set("suspension", chance_.permille(300) ? Value::object({{"dispatching", true}})
                                                                : Value::object({{"dispatchingOnClusters", where}}));
  }
  if (chance_.permille(300)) {
    // Only what is named can be preempted.
    wanted.edit("spec")
        .edit("resourceSelectors")
        .push_back(selector("apps/v1", "Deployment", cluster_scoped ? ns() : in,
                            "web-" + std::to_string(chance_.below(5)), ""));
    wanted.edit("spec").set("preemption", "Always");
    wanted.edit("spec").set("priority", chance_.between(0, 3));
  }
  if (chance_.permille(200)) wanted.edit("spec").set("activationPreference", "Lazy");
  put(process, key, std::move(wanted));
}

void SimulatedUsers::on_override(SimulatedProcess& process) {
  const bool cluster_scoped = chance_.permille(400);
  const std::string in = cluster_scoped ? "" : ns();
  const ObjectKey key{cluster_scoped ? type::kClusterOverridePolicy : type::kOverridePolicy, in,
                      "override-" + std::to_string(chance_.below(3))};
  if (process.replica().state().find(key) != nullptr && chance_.permille(300)) return remove(process, key);
  put(process, key, override_policy(chance_, in, key.name.str(), world_.shape.clusters));
}

void SimulatedUsers::on_quota(SimulatedProcess& process) {
  const ObjectKey key{type::kFederatedResourceQuota, ns(), "quota-" + std::to_string(chance_.below(2))};
  if (process.replica().state().find(key) != nullptr && chance_.permille(250)) return remove(process, key);
  put(process, key, federated_quota(key.ns.str(), key.name.str(), 100 * chance_.between(1, 40)));
}

void SimulatedUsers::on_cluster(SimulatedProcess& process) {
  if (chance_.permille(250)) {
    const ObjectKey key{"clustertaintpolicies.policy.karmada.io", "", "away-" + std::to_string(chance_.below(2))};
    if (process.replica().state().find(key) != nullptr && chance_.permille(400)) return remove(process, key);
    return put(process, key, taint_policy(key.name.str(), chance_.permille(500)));
  }
  if (chance_.permille(250)) return on_grant(process);
  const std::string name = chance_.one_of(world_.shape.clusters);
  const ObjectKey key{type::kCluster, "", name};
  if (process.replica().state().find(key) == nullptr) {
    return create(process, key, cluster_object(name, name < "m3" ? "north" : "south"));
  }
  if (chance_.permille(150)) return remove(process, key);
  if (chance_.permille(400)) {
    return change(process, key, [tier = chance_.permille(500) ? "gold" : "silver"](Value& cluster) {
      cluster.edit("metadata").edit("labels").set("tier", tier);
    });
  }
  change(process, key,
         [add = chance_.permille(500), evict = chance_.permille(600), now = process.executor().now()](Value& cluster) {
           if (!add) return void(cluster.edit("spec").erase("taints"));
           Value taint = Value::object({{"key", "sim/user"}, {"effect", evict ? "NoExecute" : "NoSchedule"}});
           if (evict) taint.set("timeAdded", rfc3339(now));
           cluster.edit("spec").set("taints", Value::array({taint}));
         });
}

/// Who may use the proxies of which clusters.
void SimulatedUsers::on_grant(SimulatedProcess& process) {
  const auto any_name = [&] { return "proxy-" + std::to_string(chance_.below(2)); };
  const bool of_role = chance_.permille(500);
  const ObjectKey key{of_role ? kClusterRoles : kClusterRoleBindings, "", any_name()};
  Value wanted = of_role
                     ? proxy_role(key.name.str(), chance_.permille(400) ? "" : chance_.one_of(world_.shape.clusters))
                     : proxy_binding(key.name.str(), any_name(), "user-" + std::to_string(chance_.below(3)));
  if (process.replica().state().find(key) == nullptr) return create(process, key, std::move(wanted));
  if (chance_.permille(300)) return remove(process, key);
  const char* field = of_role ? "rules" : "subjects";
  change(process, key, [field, wanted](Value& object) { object.set(field, wanted[field]); });
}

void SimulatedUsers::on_namespace(SimulatedProcess& process) {
  const ObjectKey key{type::kNamespace, "", chance_.permille(500) ? "team-a" : "team-b"};
  if (process.replica().state().find(key) == nullptr) return create(process, key, new_namespace(key.name.str()));
  if (chance_.permille(300)) remove(process, key);
}

/// A user removes what only roles write. It has to be restored.
void SimulatedUsers::on_work(SimulatedProcess& process) {
  const ObjectKey key = any_of(chance_, process.replica().state(), type::kWork);
  if (!key.empty()) world_.write(process, "delete", {DeletionRequested{.object = key}}, {});
}

}  // namespace shiplog::simulation
