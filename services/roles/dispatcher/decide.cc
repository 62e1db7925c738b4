#include "services/roles/dispatcher/decide.h"

#include <algorithm>
#include <set>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/bound_template.h"
#include "events/state/impersonation.h"
#include "events/state/propagation_skips.h"
#include "events/state/served_kind.h"
#include "events/state/static_quota.h"
#include "events/state/work.h"
#include "services/roles/dispatcher/authority.h"
#include "services/roles/dispatcher/handover.h"
#include "services/roles/dispatcher/overrides/overrides.h"
#include "services/roles/dispatcher/preserved_state.h"
#include "services/roles/dispatcher/put_work.h"
#include "services/roles/dispatcher/render.h"
#include "services/roles/dispatcher/render_outcome.h"
#include "services/roles/dispatcher/static_quota.h"

namespace shiplog::dispatcher {
namespace {

std::vector<ObjectKey> works_of(const State& state, const Binding& binding) {
  std::vector<ObjectKey> works;
  if (binding.permanent_id.empty()) return works;
  const char* key = binding.cluster_scoped() ? label::kClusterBindingId : label::kBindingId;
  for (const ObjectKey& labelled : state.labelled(key, binding.permanent_id)) {
    if (labelled.type == type::kWork && rendered_for(state.value_of(labelled), binding.key)) works.push_back(labelled);
  }
  return works;
}

/// B-5: spec.clusters, then clusters that appear only in requiredBy.
std::vector<Target> targets_of(const Value& spec) {
  std::vector<Target> targets;
  const auto add = [&](const Value& clusters) {
    for (const Value& item : clusters.items()) {
      const std::string name = item["name"].str();
      if (std::ranges::find(targets, name, &Target::cluster) == targets.end()) {
        targets.push_back({name, item["replicas"].as_int()});
      }
    }
  };
  add(spec["clusters"]);
  for (const Value& required : spec["requiredBy"].items()) add(required["clusters"]);
  return targets;
}

bool directly_purged(const Value& task) { return task["purgeMode"].as_string() == "Directly"; }

/// B-24.
bool suspended_on(const Value& suspension, const std::string& cluster) {
  if (suspension["dispatching"].as_bool()) return true;
  return std::ranges::any_of(suspension["dispatchingOnClusters"]["clusterNames"].items(),
                             [&](const Value& name) { return name.as_string() == cluster; });
}

/// B-7: the Works are deleted; the binding does not wait for them.
Decided take_back(const State& state, const ObjectKey& key, const Object& object, const Binding& binding,
                  UtcMillis now) {
  DecisionBuilder decision;
  for (const ObjectKey& work : works_of(state, binding)) {
    if (!delete_work(state, work, decision)) return std::move(decision).build_and_look_again(now);
  }
  const char* own = binding.cluster_scoped() ? finalizer::kClusterBinding : finalizer::kBinding;
  if (!has_finalizer(object.value, own)) return std::move(decision).build();
  Value released = object.value;
  std::erase_if(released.edit("metadata").edit("finalizers").edit_items(),
                [&](const Value& finalizer) { return finalizer.as_string() == own; });
  const bool whole = decision.try_add(ObjectUpdated{key, std::move(released)}, {key, object.revision});
  return whole ? std::move(decision).build() : std::move(decision).build_and_look_again(now);
}

/// What overriding the manifest of one target explains.
struct Explained {
  std::vector<Fact> steps;
  Fact failure;  ///< of an override; empty: none has failed
};

/// The manifest of one target, made from the template `object`, with the record of its overrides for the Work.
Result<Value> overridden(const Overrides& overrides, const Value& object, Value manifest, const Cluster& cluster,
                         Source& source, Explained& explained) {
  SHIPLOG_TRY(Overrides::Overridden result, overrides.apply(std::move(manifest), cluster, explained.failure));
  if (!result.applied_cluster.is_null()) source.applied_cluster_overrides = to_json(result.applied_cluster);
  if (!result.applied_namespaced.is_null()) source.applied_overrides = to_json(result.applied_namespaced);
  explained.steps = std::move(result.steps);
  SHIPLOG_TRY(check_authority(object, result.manifest));  // interpreters make manifests too
  return pruned(std::move(result.manifest));
}

/// What the manifest is called names its Work (B-26).
ObjectKey work_of(const Value& manifest, const std::string& cluster) {
  return {type::kWork, execution_space(cluster),
          work_name(manifest["kind"].as_string(), manifest["metadata"]["namespace"].as_string(),
                    manifest["metadata"]["name"].as_string())};
}

/// Names of Works are hashes: one that another binding rendered is not replaced. One that is not rendered any more by
/// the binding that it names is free.
bool belongs_to_another(const State& state, const Value& work, const Binding& binding) {
  if (work.is_null() || rendered_for(work, binding.key)) return false;
  if (quota_of_work(work)) return true;  // else a tenant's own ResourceQuota of that name would replace its limits
  // Else a propagated ClusterRole of that name would decide whom the control plane can act as in the member.
  if (owned_by_cluster(work, cluster_of_space(work["metadata"]["namespace"].as_string()))) return true;
  for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
    const auto id = label_of(work, label);
    if (id.empty()) continue;
    for (const ObjectKey& labelled : state.labelled(label, id)) {
      if (labelled.type != type::kWork && labelled != binding.key && rendered_for(work, labelled)) return true;
    }
  }
  return false;
}

/// A Work of an earlier build, which let overrides rename the manifest. Here a binding has one Work a cluster.
bool delete_former(const State& state, const std::vector<ObjectKey>& present, const ObjectKey& work,
                   DecisionBuilder& decision) {
  return std::ranges::all_of(present, [&](const ObjectKey& former) {
    return former.ns != work.ns || former.name == work.name || delete_work(state, former, decision);
  });
}

/// False: the decision is full, and some targets are left.
bool render_targets(const State& state, const Object& object, const Binding& binding, const ObjectKey& source_key,
                    const std::vector<ObjectKey>& present, UtcMillis now, DecisionBuilder& decision,
                    RenderOutcome& outcome) {
  const std::vector<Target> targets = targets_of(object.value["spec"]);
  const Value& source_object = state.value_of(source_key);
  const Overrides overrides{state, source_key, source_object};
  Source shared = source_of(binding);
  NewWorkStatus new_status{now};
  for (const Target& target : targets) {
    const Cluster* cluster = state.cluster(target.cluster);
    if (cluster == nullptr) continue;
    Source source = shared;
    Explained explained;
    const auto rendered = [&]() -> interpreter::Interpreted<Value> {
      SHIPLOG_TRY(Value scaled, revised(state, source_object, binding, targets, target, now));
      auto made = overridden(overrides, source_object, std::move(scaled), *cluster, source, explained);
      if (!made) return made.error();
      return interpreter::interpreted(
          with_preserved_state(state, object.value["spec"], target.cluster, source_object, std::move(made).value()));
    };
    auto manifest = rendered();
    if (!manifest) {
      outcome.failed(target.cluster, manifest.error(), std::move(explained.failure));
      continue;
    }
    source.conflict_resolution = conflict_resolution(manifest.value(), binding);
    const ObjectKey work = work_of(manifest.value(), target.cluster);
    if (belongs_to_another(state, state.value_of(work), binding)) {
      outcome.failed(target.cluster, Error{ErrorCode::kConflict, to_string(work) + " belongs to another binding"});
      continue;
    }
    if (state.find(work) == nullptr && !open_for_works(state, target.cluster)) continue;
    ManifestRendered summary{binding.kind, binding.name, target.cluster, binding.divisible(), target.replicas};
    if (!summary.divisible) summary.replicas = 0;
    const auto render = [&](const Value& before) {
      Value made = make_work(std::move(manifest).value(), work, source_object, source,
                             suspended_on(binding.suspension, target.cluster), binding.preserve_on_deletion, before);
      SHIPLOG_CHECK(rendered_for(made, binding.key), "a Work names the binding that it is rendered for");
      shared.like = made["spec"]["workload"]["manifests"][0];
      return made;
    };
    if (!put_work(state, work, std::move(summary), std::move(explained.steps), render, new_status, decision) ||
        !delete_former(state, present, work, decision)) {
      return false;
    }
  }
  return true;
}

/// How the steps of a binding's hand-overs ended in one decision.
struct HandoverSteps {
  bool full = false;                   ///< the decision is
  bool waiting = false;                ///< an old copy may still run
  std::vector<std::string> confirmed;  ///< clusters whose copy has stopped, and that are not started elsewhere yet
};

/// Stop and Confirm of a binding's hand-overs (handover.h). `present`: its Works.
HandoverSteps take_steps(const State& state, const ObjectKey& key, const Value& object,
                         const std::vector<Handover>& handovers, const std::vector<ObjectKey>& present, UtcMillis now,
                         DecisionBuilder& decision, RenderOutcome& outcome) {
  HandoverSteps steps;
  const auto note = [&](const Handover& handover, const char* step, const char* message) {
    steps.full = !decision.try_add(HandoverStepTaken{key, handover.cluster, step, message});
  };
  for (const Handover& handover : handovers) {
    if (steps.full) return steps;
    if (handover.step == "Start") continue;
    if (handover.step == "Confirm") {
      steps.confirmed.push_back(handover.cluster);
      continue;
    }
    const auto work = std::ranges::find(present, execution_space(handover.cluster), &ObjectKey::ns);
    if (work == present.end()) {
      if (handover.step.empty()) continue;  // there was no copy
      note(handover, "Confirm", "its Work is removed");
      steps.confirmed.push_back(handover.cluster);
      continue;
    }
    const Value& before = state.value_of(*work);
    if (handover.step.empty()) note(handover, "Stop", "the copy in the cluster is to stop");
    if (!steps.full && !deleting(before)) {
      auto stopped = stopped_work(state, before, now);
      if (!stopped) {
        outcome.failed(handover.cluster, stopped.error());
      } else if (!stopped.value()) {
        steps.full = !delete_work(state, *work, decision);
      } else if (*stopped.value() != before) {
        Explanation why;
        why.summary = ManifestRendered{object["spec"]["resource"]["kind"].str(),
                                       object["spec"]["resource"]["name"].str(), handover.cluster, true, 0};
        why.inputs_digest = to_string(siphash128(to_json((*stopped.value())["spec"])));
        steps.full = !decision.try_add(WorkRendered{*work, std::move(*stopped.value()), std::move(why)},
                                       {*work, state.revision_of(*work)});
      } else if (handover.step == "Stop" && nothing_runs(before, object["spec"]["resource"])) {
        note(handover, "Confirm", "the member reports that no replica is left");
        steps.confirmed.push_back(handover.cluster);
        continue;
      }
    }
    steps.waiting = true;
  }
  return steps;
}

Decided decide_binding(const State& state, const ObjectKey& key, const Object& object, UtcMillis now) {
  const Binding binding = binding_from(key, object.value);
  if (binding.deleting) return take_back(state, key, object, binding, now);
  // Works are found by this label (B-3); the API gives it to every binding.
  if (binding.permanent_id.empty()) return Nothing{};

  // B-4: an evicting cluster keeps its Work, unless it is purged directly.
  const Value& spec = object.value["spec"];
  std::set<std::string> wanted;
  std::set<std::string> purged;
  for (const Target& target : targets_of(spec)) wanted.insert(target.cluster);
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    (directly_purged(task) ? purged : wanted).insert(task["fromCluster"].str());
  }
  const std::vector<Handover> handovers = handovers_of(state, key, object.value);
  for (const Handover& handover : handovers) {
    purged.erase(handover.cluster);
    wanted.insert(handover.cluster);
  }
  // Where other bindings require it, the Work stays, and waiting for it to go would have no end.
  if (state.fold_version() >= 7)
    std::erase_if(purged, [&](const std::string& cluster) { return wanted.contains(cluster); });
  DecisionBuilder decision;
  bool purging = false;
  const std::vector<ObjectKey> present = works_of(state, binding);
  for (const ObjectKey& work : present) {
    const std::string cluster = cluster_of_space(work.ns);
    if (!wanted.contains(cluster) && !delete_work(state, work, decision)) {
      return std::move(decision).build_and_look_again(now);
    }
    purging = purging || purged.contains(cluster);
  }
  if (purging) return std::move(decision).build();  // B-2: nothing new anywhere before the old cluster is clean

  RenderOutcome outcome{key};
  const HandoverSteps steps = take_steps(state, key, object.value, handovers, present, now, decision, outcome);
  if (steps.full) return std::move(decision).build_and_look_again(now);
  if (steps.waiting) return outcome.concluded(std::move(decision), true, now);
  const auto bound = bound_template(state, key, spec["resource"]);
  if (!bound) {
    for (const Target& target : targets_of(spec)) outcome.failed(target.cluster, bound.error());
    outcome.report(object, decision);
    return std::move(decision).build();
  }
  const ObjectKey source_key = bound.value().value_or(ObjectKey{});
  const Value& source_object = state.value_of(source_key);
  // A binding of an object that was deleted and created again is being deleted, too (D-30).
  const bool another = !binding.resource_uid.empty() && binding.resource_uid != uid_of(source_object);
  if (source_object.is_null() || another) return std::move(decision).build();
  if (!targets_of(spec).empty()) {
    for (const std::string& cluster : steps.confirmed) {
      decision.add(HandoverStepTaken{key, cluster, "Start", "the copies elsewhere may be created"});
    }
  }
  if (!render_targets(state, object, binding, source_key, present, now, decision, outcome)) {
    return outcome.concluded(std::move(decision), false, now);
  }
  // An eviction waits until the remaining targets are what the placement wants: others need no change.
  const bool evicting = spec["gracefulEvictionTasks"].size() > 0 && state.fold_version() >= 4;
  outcome.report(object, decision, evicting ? binding.generation : 0);
  return outcome.concluded(std::move(decision), true, now);
}

Decided decide_synced_namespace(const State& state, const ObjectKey& key, const Object& object, UtcMillis now) {
  if (deleting(object.value) || !synced_namespace(state.options(), object.value)) return Nothing{};
  const Overrides overrides{state, key, object.value};
  DecisionBuilder decision;
  RenderOutcome outcome{key};
  NewWorkStatus new_status{now};
  for (const auto& [name, cluster] : state.clusters()) {
    Source source;
    Explained explained;
    auto manifest = overridden(overrides, object.value, object.value, cluster, source, explained);
    if (!manifest) {
      outcome.failed(name, manifest.error(), std::move(explained.failure));
      continue;
    }
    // No policy selects a Namespace here, so only its own annotation can let it take over one that exists.
    source.conflict_resolution = conflict_resolution(manifest.value(), Binding{});
    const ObjectKey work{type::kWork, execution_space(name), work_name("Namespace", "", key.name)};
    if (state.find(work) == nullptr && !open_for_works(state, name)) continue;
    const auto render = [&](const Value& before) {
      Value rendered = make_work(std::move(manifest).value(), work, object.value, source, false, false, before);
      const Value owner = Value::object({{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"name", key.name},
                                         {"uid", uid_of(object.value)},
                                         {"controller", true},
                                         {"blockOwnerDeletion", true}});
      rendered.edit("metadata").set("ownerReferences", Value::array({owner}));
      return rendered;
    };
    if (!put_work(state, work, {"Namespace", key.name.str(), name}, std::move(explained.steps), render, new_status,
                  decision)) {
      return std::move(decision).build_and_look_again(now);
    }
  }
  outcome.report(object, decision);
  return std::move(decision).build();
}

}  // namespace

bool synced_namespace(const FleetOptions& options, const Value& ns) { return not_synced_because(options, ns).empty(); }

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  if (key.type == type::kFederatedResourceQuota) return decide_static_quota(state, key, now);
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  if (is_binding(key.type)) {
    return decide_binding(state, key, *object, now);
  }
  if (key.type == type::kNamespace) return decide_synced_namespace(state, key, *object, now);
  return Nothing{};
}

}  // namespace shiplog::dispatcher
