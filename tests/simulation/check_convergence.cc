#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "events/slots.h"
#include "events/state/condition.h"
#include "events/state/eviction.h"
#include "events/state/new_binding.h"
#include "events/state/placement.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/roles/registry.h"
#include "services/runtime/role.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/objects.h"

namespace shiplog::simulation {
namespace {

std::vector<std::string> leases_of(const State& state, const std::string& role) {
  if (!find_role(role)->divided || state.fold_version() < kSlotsFoldVersion) return {role};
  std::vector<std::string> leases;
  for (int slot = 0; slot < kSlots; ++slot) leases.push_back(slot_lease(role, slot));
  return leases;
}

/// The processes that have a divided role share its slots: at rest their shares differ by one at the most.
void check_shares(World& world) {
  const State& state = world.reference.state();
  for (const std::string& role : all_services()) {
    const auto leases = leases_of(state, role);
    if (leases.size() == 1) continue;
    size_t fewest = leases.size();
    size_t most = 0;
    for (const auto& process : world.processes) {
      if (!process->has(role)) continue;
      const auto has = static_cast<size_t>(
          std::ranges::count_if(leases, [&](const std::string& lease) { return process->roles().acting(lease); }));
      fewest = std::min(fewest, has);
      most = std::max(most, has);
    }
    if (most > fewest + 1) {
      world.trace.broken("idle", "a process has " + std::to_string(most) + " slots of " + role + ", another one " +
                                     std::to_string(fewest));
    }
  }
}

void check_replicas(World& world) {
  const State& state = world.reference.state();
  for (const auto& process : world.processes) {
    const std::string& who = process->identity();
    if (process->replica().state().hash() != state.hash()) world.trace.broken("idle", who + " is behind");
    if (process->replica().state().views() != state.views()) {
      world.trace.broken("views", who + " has other views of the same objects");
    }
    for (const auto& [write, owing] : world.open) {
      if (owing == who) world.trace.broken("idle", who + " never answers " + write);
    }
    // What looks again and again may be at it just now.
    for (int looks = 0; looks < 200 && process->roles().due_or_busy() > 0; ++looks) world.run_for(Millis{7});
    if (process->roles().due_or_busy() > 0) {
      world.trace.broken("idle", who + " still has work to do: " + process->roles().with_due_or_busy_keys());
    }
  }
  for (const std::string& service : all_services()) {
    for (const std::string& lease : leases_of(state, service)) {
      int acting = 0;
      for (const auto& process : world.processes) acting += process->roles().acting(lease) ? 1 : 0;
      if (acting != 1) {
        world.trace.broken("idle", std::to_string(acting) + " processes act as " + lease);
      }
    }
  }
  check_shares(world);
}

/// What of a binding's targets could not be rendered, as the binding reports (B-21).
bool override_failed(const Value& binding, const std::string& cluster) {
  const Value& condition = condition_of(binding, kWorksSyncedCondition);
  return condition["status"].as_string() == "False" &&
         condition["message"].as_string().find("cluster(" + cluster + ")") != std::string_view::npos;
}

bool suspended(const Value& work) { return work["spec"]["suspendDispatching"].as_bool(); }

/// The number of clusters in the message of a refusal depends on clusters that do not concern the binding, and trigger
/// nothing.
bool only_counts_anew(const State& state, const Decision& decision) {
  return std::ranges::all_of(decision.events, [&](const Event& event) {
    const auto* refused = std::get_if<PlacementRefused>(&event);
    if (refused == nullptr && !std::holds_alternative<QuotaRefused>(event)) return false;
    const std::string reason = refused == nullptr ? "QuotaExceeded" : refused->reason;
    const Value& condition = condition_of(state.value_of(subject_of(event)), "Scheduled");
    return condition["status"].as_string() == "False" && condition["reason"].as_string() == reason;
  });
}

/// D-47: a Lazy policy has claimed the template since; what that changed of it reaches Works with the user's next
/// change.
bool claimed_lazily(const State& state, const Value& binding) {
  const Value& resource = binding["spec"]["resource"];
  const auto served = served_kind(state, resource["apiVersion"].as_string(), resource["kind"].as_string());
  if (!served) return false;
  const Value& object = state.value_of(served->key(resource["namespace"].str(), resource["name"].str()));
  const std::string digest = template_digest(object);
  const std::string_view applied = annotation_of(binding, kTemplateDigestAnnotation);
  return applied != digest && user_digest(applied) == user_digest(digest);
}

/// All keys that a role would reconcile when it starts now are as desired: no change was missed.
void check_nothing_to_decide(World& world) {
  const State& state = world.reference.state();
  RoleContext context;
  context.members = &world.members;
  context.kinds = &Kinds::compiled();
  for (const RoleEntry& entry : all_roles()) {
    if (entry.decide == nullptr) continue;
    const std::string name{entry.name};
    const auto service = entry.make(context);
    std::vector<ObjectKey> keys;
    service->on_start(state, keys);
    for (const ObjectKey& key : keys) {
      // A policy's taint that a user removed stays off until the cluster's condition changes (TN-5).
      if (name == "taint" && key.ns == "taint-policies") continue;
      // D-39: what was rendered for a binding stays when its policy goes, whatever its template then becomes.
      if (name == "dispatcher" && unclaimed(state.value_of(key)) &&
          state.value_of(key)["spec"]["requiredBy"].size() == 0) {
        continue;
      }
      if (name == "dispatcher" && claimed_lazily(state, state.value_of(key))) continue;
      const auto decided = entry.decide(state, key, world.timeline.now());
      const auto* decision = decided ? std::get_if<Decision>(&decided.value()) : nullptr;
      if (decision == nullptr || only_counts_anew(state, *decision)) continue;
      std::string what;
      for (const Event& event : decision->events) {
        what += " " + std::string{name_of(event)} + " " + to_string(subject_of(event)) + " " + summary_of(event);
      }
      world.trace.line("object", to_json(state.value_of(key)));
      world.trace.broken("idle", name + " has not seen to " + to_string(key) + ":" + what);
    }
  }
}

/// Bindings belong to templates that a policy selects; their Works are where they aim at, and nowhere else.
void check_bindings(World& world) {
  const State& state = world.reference.state();
  for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
    for (const auto& [name, object] : state.objects(type)) {
      const std::string where = to_string(ObjectKey{type, name.ns, name.name});
      const Value& binding = object.value;
      if (deleting(binding)) {
        world.trace.broken("converge", where + " is being deleted for ever");
        continue;
      }
      std::set<std::string> targets;
      std::set<std::string> evicting;  // keeps the Work it has
      for (const Value& target : binding["spec"]["clusters"].items()) targets.insert(target["name"].str());
      for (const Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
        evicting.insert(task["fromCluster"].str());
      }
      for (const std::string& cluster : targets) {
        if (state.cluster(cluster) == nullptr) {
          world.trace.broken("converge", where + " aims at " + cluster + ", which is no member");
        }
      }
      for (const Value& required : binding["spec"]["requiredBy"].items()) {
        for (const Value& target : required["clusters"].items()) targets.insert(target["name"].str());
      }
      const bool cluster_scoped = name.ns.empty();
      const auto id = label_of(binding, cluster_scoped ? label::kClusterBindingId : label::kBindingId);
      std::set<std::string> works;
      for (const ObjectKey& key : state.labelled(cluster_scoped ? label::kClusterBindingId : label::kBindingId, id)) {
        if (key.type == type::kWork) works.insert(cluster_of_space(key.ns));
      }
      const Value& resource = binding["spec"]["resource"];
      const auto served = served_kind(state, resource["apiVersion"].as_string(), resource["kind"].as_string());
      const bool has_template = state.find(served->key(name.ns, resource["name"].as_string())) != nullptr;
      // A template that was deleted without its dependents leaves the binding behind, without an owner.
      if (!has_template && binding["metadata"]["ownerReferences"].size() > 0) {
        world.trace.broken("converge", where + " has no template");
      }
      std::string text = where + " has Works on";
      for (const std::string& one : works) text += " " + one;
      for (const std::string& one : targets) {
        const Cluster* cluster = state.cluster(one);
        if (has_template && !works.contains(one) && cluster != nullptr && !cluster->deleting &&
            !override_failed(binding, one)) {
          world.trace.broken("converge", text + ", and aims at " + one);
        }
      }
      for (const std::string& one : works) {
        if (!targets.contains(one) && !evicting.contains(one)) {
          world.trace.broken("converge", text + ", and does not aim at " + one);
        }
      }
      int64_t sum = 0;
      for (const Value& target : binding["spec"]["clusters"].items()) sum += target["replicas"].as_int();
      const bool scheduled = condition_of(binding, "Scheduled")["status"].as_string() == "True";
      const bool divided =
          binding["spec"]["placement"]["replicaScheduling"]["replicaSchedulingType"].as_string() == "Divided";
      const int64_t replicas = binding["spec"]["replicas"].as_int();
      // D-39: one whose policy was deleted is no longer scheduled, whatever its template requested just before.
      if (scheduled && divided && !unclaimed(binding) && replicas > 0 && !targets.empty() && sum != replicas) {
        world.trace.broken("converge", where + " places " + std::to_string(sum) + " of " + std::to_string(replicas));
      }
    }
  }
}

/// What policies require, computed here without the scheduler: never outside the affinity.
void check_placements(World& world) {
  const State& state = world.reference.state();
  for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
    if (condition_of(object.value, "Scheduled")["status"].as_string() != "True") continue;
    if (unclaimed(object.value)) continue;
    const Value& names = object.value["spec"]["placement"]["clusterAffinity"]["clusterNames"];
    for (const Value& target : object.value["spec"]["clusters"].items()) {
      bool named = names.size() == 0;
      for (const Value& one : names.items()) named = named || one == target["name"];
      if (!named) {
        world.trace.broken("converge", to_string(ObjectKey{type::kResourceBinding, name.ns, name.name}) + " is on " +
                                           target["name"].str() + ", which its policy does not name");
      }
    }
  }
}

/// A cluster does not leave under a binding; and one whose policy was deleted stays as it is, for ever (D-39).
void check_leaving(World& world, const std::string& cluster) {
  const State& state = world.reference.state();
  std::string held_by;
  for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
    for (const auto& [name, object] : state.objects(type)) {
      for (const Value& target : object.value["spec"]["clusters"].items()) {
        if (target["name"].as_string() != cluster) continue;
        if (unclaimed(object.value)) return;
        // The scheduler has reported that there is no other place, or no quota for one: that is for users to solve.
        if (condition_of(object.value, "Scheduled")["status"].as_string() == "False") return;
        held_by += " " + to_string(ObjectKey{type, name.ns, name.name});
        world.trace.line("object", to_json(object.value));
      }
    }
  }
  world.trace.broken("converge", "cluster " + cluster + " is leaving for ever, held by" + held_by);
}

void check_member(World& world, const std::string& cluster) {
  const State& state = world.reference.state();
  const auto& member = world.members.member(cluster);
  std::set<ObjectKey> wanted;
  for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster))) {
    const std::string where = to_string(ObjectKey{type::kWork, name.ns, name.name});
    bool kept_away = false;
    if (deleting(work.value)) world.trace.broken("converge", where + " is being deleted for ever");
    for (const Value& manifest : work.value["spec"]["workload"]["manifests"].items()) {
      const auto served = served_kind(state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
      const ObjectKey key =
          served->key(manifest["metadata"]["namespace"].as_string(), manifest["metadata"]["name"].as_string());
      wanted.insert(key);
      if (suspended(work.value)) continue;
      // It waits for its namespace, which an override keeps away.
      const Value& in = state.value_of({type::kNamespace, "", key.ns});
      if (!applied(work.value) && override_failed(in, cluster)) {
        kept_away = true;
        continue;
      }
      const Value& there = member.find(key);
      if (there.is_null()) {
        world.trace.broken("converge", cluster + " has no " + to_string(key) + " as " + where + " wants it");
      } else if (label_of(there, label::kManaged) == "true" && !holds(there, manifest)) {
        world.trace.broken("converge", cluster + " has another " + to_string(key) + " than " + where +
                                           " says: " + to_json(there) + " instead of " + to_json(manifest));
      }
    }
    if (!applied(work.value) && !suspended(work.value) && !kept_away) {
      world.trace.broken("converge",
                         where + " is not applied: " + condition_of(work.value, "Applied")["message"].str());
    }
  }
  for (const auto& [key, object] : member.objects()) {
    if (label_of(object, label::kManaged) != "true" || wanted.contains(key)) continue;
    if (world.left_behind.contains(std::string{uid_of(object)})) continue;
    world.trace.broken("converge", cluster + " still has " + to_string(key));
  }
}

/// In each member exactly those users may be impersonated who may use its proxy, computed here from the roles.
void check_impersonators(World& world, const std::string& cluster) {
  const State& state = world.reference.state();
  const auto permits = [&](const Value& role) {
    return std::ranges::any_of(role["rules"].items(), [&](const Value& rule) {
      const auto names = rule["resourceNames"].items();
      return rule["resources"][0].as_string() == "clusters/proxy" &&
             (names.empty() || std::ranges::find(names, Value{cluster}) != names.end());
    });
  };
  std::set<std::string> users;
  for (const auto& [name, binding] : state.objects(kClusterRoleBindings)) {
    if (!permits(state.value_of({kClusterRoles, "", binding.value["roleRef"]["name"].str()}))) continue;
    for (const Value& subject : binding.value["subjects"].items()) {
      if (subject["kind"].as_string() == "User") users.insert(subject["name"].str());
    }
  }
  std::set<std::string> impersonated;
  const Value& there = world.members.member(cluster).find({kClusterRoles, "", "karmada-impersonator"});
  for (const Value& rule : there["rules"].items()) {
    if (rule["resources"][0].as_string() != "users") continue;
    for (const Value& user : rule["resourceNames"].items()) impersonated.insert(user.str());
  }
  if (there.is_null() || users != impersonated) {
    world.trace.broken("converge", "the impersonator of " + cluster + " may act as " + to_json(there["rules"]) +
                                       ", and " + std::to_string(users.size()) + " users may use its proxy");
  }
}

/// What a window allows again has been evicted: none is as long as the rest that precedes this.
void check_evictions_resume(World& world) {
  for (const auto& [name, cluster] : world.reference.state().clusters()) {
    const Cluster::Condition* paused = cluster.condition(kEvictionsPausedCondition);
    if (paused == nullptr || paused->status != "True" || paused->reason == "ObservationLost") continue;
    world.trace.broken("budget", "evictions from " + name + " do not resume: " + paused->reason);
  }
}

/// What the members report has reached the templates.
void check_status(World& world) {
  const State& state = world.reference.state();
  for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
    const Value& resource = object.value["spec"]["resource"];
    if (resource["kind"].as_string() != "Deployment" || object.value["spec"]["clusters"].size() == 0) continue;
    int64_t ready = 0;
    bool unsettled = false;
    // Where it has a Work: also on clusters that it is only just leaving.
    for (const ObjectKey& key : state.labelled(label::kBindingId, label_of(object.value, label::kBindingId))) {
      if (key.type != type::kWork) continue;
      // Suspended before the member's answer was known: its status is not counted until that is (E-5).
      const Value& work = state.value_of(key);
      unsettled = unsettled || (suspended(work) && !applied(work));
      const auto& member = world.members.member(cluster_of_space(key.ns));
      ready += member.find({kDeployments, name.ns, resource["name"].str()})["status"]["readyReplicas"].as_int();
    }
    const Value& deployment = state.value_of({kDeployments, name.ns, resource["name"].str()});
    if (unsettled || deployment.is_null() || deployment["status"]["readyReplicas"].as_int() == ready) continue;
    world.trace.broken("converge", kDeployments + ("/" + name.ns) + "/" + resource["name"].str() + " says " +
                                       std::to_string(deployment["status"]["readyReplicas"].as_int()) +
                                       " ready, its members have " + std::to_string(ready));
  }
}

}  // namespace

void check_convergence(World& world) {
  check_replicas(world);
  check_nothing_to_decide(world);
  check_bindings(world);
  check_placements(world);
  check_overrides(world);
  for (const auto& [name, cluster] : world.reference.state().clusters()) {
    if (cluster.deleting) {
      check_leaving(world, name);
    } else if (!cluster.ready()) {
      world.trace.broken("converge", "cluster " + name + " is not Ready");
    } else {
      check_member(world, name);
      check_impersonators(world, name);
    }
  }
  check_status(world);
  check_evictions_resume(world);
}

}  // namespace shiplog::simulation
