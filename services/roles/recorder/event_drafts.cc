#include "services/roles/recorder/event_drafts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "events/explain/text.h"
#include "events/state/answers.h"
#include "events/state/claim.h"
#include "events/state/drift.h"
#include "events/state/impersonation.h"
#include "events/state/static_quota.h"
#include "events/state/work.h"
#include "services/adapters/estimators/operations.h"
#include "services/interpreter/interpreter.h"
#include "services/interpreter/native/native.h"
#include "services/roles/exported_slices.h"
#include "services/roles/recorder/dependencies_text.h"
#include "services/roles/recorder/failed_runs.h"
#include "services/roles/recorder/scaling_events.h"
#include "services/roles/recorder/service_events.h"
#include "services/roles/recorder/subjects.h"

namespace shiplog::recorder {
namespace {

constexpr const char* kQuotaStatus = "federated-resource-quota-status-controller";
constexpr const char* kQuotaEnforcement = "federated-resource-quota-enforcement-controller";
constexpr const char* kQuotaSync = "federated-resource-quota-sync-controller";
constexpr const char* kClusterController = "cluster-controller";
constexpr const char* kDescheduler = "karmada-descheduler";
constexpr const char* kDetector = "resource-detector";
constexpr const char* kDistributor = "dependencies-distributor";
constexpr const char* kExecution = "execution-controller";
constexpr const char* kOverrides = "override-manager";
constexpr const char* kUnifiedAuth = "unified-auth-controller";
constexpr const char* kTaintManagerComponent = "taint-manager";
constexpr const char* kWorkStatus = "work-status-controller";

/// Who has the template's claim, lives and still selects it, and is another than `policy` (D-46).
std::optional<State::Name> preempted_by(const State& state, const Value& object, const State::Name& policy) {
  const auto claim = claim_of(object);
  if (!claim || claim->policy == policy) return std::nullopt;
  const auto former = state.policies().find(claim->policy);
  if (former == state.policies().end() || former->second.deleting) return std::nullopt;
  if (match(former->second, object) == SelectorMatch::kNone) return std::nullopt;
  return claim->policy;
}

std::string taker(const State::Name& name) {
  return name.ns.empty() ? "Cluster propagation policy(" + name.name + ")"
                         : "Propagation policy(" + name.ns + "/" + name.name + ")";
}
std::string holder(const State::Name& name) {
  return name.ns.empty() ? "cluster propagation policy(" + name.name + ")"
                         : "propagation policy(" + name.ns + "/" + name.name + ")";
}

bool cluster_scoped(const Value& object) { return object["metadata"]["namespace"].is_empty(); }

/// "ResourceBinding(default/web-deployment)", "ClusterResourceBinding(role-clusterrole)".
std::string called(const Value& binding) {
  return std::string{cluster_scoped(binding) ? "ClusterResourceBinding(" : "ResourceBinding("} + place_of(binding) +
         ")";
}

const char* of_binding(const Value& binding, const char* namespaced, const char* wide) {
  return cluster_scoped(binding) ? wide : namespaced;
}

/// "{Key:a,Value:b,Effect:c},...": all that a cluster has now (TN-2).
std::string taints_of(const Value& cluster) {
  const Value& taints = cluster["spec"]["taints"];
  if (taints.size() == 0) return "cluster now does not have taints";
  std::string text = "cluster now has taints([";
  for (const Value& taint : taints.items()) {
    if (!text.ends_with('[')) text += ",";
    text += "{Key:" + taint["key"].str();
    if (!taint["value"].is_empty()) text += ",Value:" + taint["value"].str();
    text += ",Effect:" + taint["effect"].str() + "}";
  }
  return text + "])";
}

/// "Kind/namespace/name" of an item of status.manifestStatuses.
std::string identified(const Value& item) {
  const Value& id = item["identifier"];
  return id["kind"].str() + "/" + id["namespace"].str() + "/" + id["name"].str();
}

class EventDraftBuilder {
 public:
  EventDraftBuilder(const State& state, const Entry& entry, const Folded& folded)
      : state_{state}, entry_{entry}, folded_{folded} {}

  std::vector<EventDraft> all() {
    for (const Event& event : entry_.events) {
      std::visit([this](const auto& fact) { on(fact); }, static_cast<const EventVariant&>(event));
    }
    for (const Change& change : folded_.changes) on(change);
    for (const ObjectKey& key : synced_) on_synced(state_.value_of(key));
    for (const ObjectKey& key : tainted_) on_tainted(state_.value_of(key));
    for (const ObjectKey& key : assigned_) on_assigned(state_.value_of(key));
    for (const std::string& cluster : authorized_) {  // 1.17.3
      add(state_.value_of({type::kCluster, "", cluster}), kUnifiedAuth, "SyncImpersonationConfigSucceed",
          "Sync impersonation config succeed.");
    }
    return std::move(reports_);
  }

 private:
  void add(const Value& object, const char* component, const char* reason, std::string message, bool warning = false) {
    if (object.is_null()) return;
    reports_.push_back({object, component, warning, reason, std::move(message)});
  }
  void warn(const Value& object, const char* component, const char* reason, std::string message) {
    add(object, component, reason, std::move(message), true);
  }
  /// About a binding and its template.
  void tell_both(const Value& binding, const char* component, const char* reason, const std::string& message,
                 bool warning = false) {
    add(binding, component, reason, message, warning);
    add(template_of(state_, binding), component, reason, message, warning);
  }

  template <class Fact>
  void on(const Fact&) {}

  // D-27, D-28, D-32.
  void on(const BindingPut& put) {
    const Value& binding = state_.value_of(put.binding);
    const Value& object = template_of(state_, binding);
    if (binding["spec"]["components"].size() > 0) {
      add(object, kDetector, "GetComponentsSucceed", "Get components of resource template successfully.");
    } else if (step_of<ReplicasUnknown>(put.why) == nullptr) {
      add(object, kDetector, "GetReplicasSucceed", "Get replicas of resource template successfully.");
    }
    const auto claim = claim_of(binding);
    if (!claim) return;
    add(object, kDetector, "ApplyPolicySucceed",
        claim->policy.ns.empty() ? "Apply cluster policy(" + claim->policy.name + ") succeed"
                                 : "Apply policy(" + claim->policy.ns + "/" + claim->policy.name + ") succeed");
  }

  /// Whose events they are: the scheduler's name (S-78). Others than the default one are not this scheduler's.
  static constexpr const char* kScheduler = "default-scheduler";

  // S-25: terms that failed, before the one that is in force or the last.
  void on_failed_terms(const Value& binding, const Explanation& why) {
    for (const Fact& step : why.steps) {
      const auto* failed = std::get_if<AffinityFailed>(&step);
      if (failed == nullptr || failed->cause.empty()) continue;
      tell_both(binding, kScheduler, "ScheduleBindingFailed",
                "failed to schedule " + called(binding) + " with clusterAffiliates index(" +
                    std::to_string(failed->index) + "): " + text_of(failed->cause.front()),
                true);
    }
  }

  // S-78.
  void on(const PlacementDecided& placed) {
    const Value& binding = state_.value_of(placed.binding);
    on_failed_terms(binding, placed.why);
    std::string targets;
    for (const Target& target : placed.targets) {
      targets += (targets.empty() ? "" : ", ") + target.cluster + ":" + std::to_string(target.replicas);
    }
    tell_both(binding, kScheduler, "ScheduleBindingSucceed",
              std::string{"Binding has been scheduled successfully. Result"} + of_binding(binding, ": {", " {") +
                  targets + "}");
  }
  void on(const PlacementRefused& refused) {
    const Value& binding = state_.value_of(refused.binding);
    on_failed_terms(binding, refused.why);
    tell_both(binding, kScheduler, "ScheduleBindingFailed", refused.message, true);
  }
  void on(const QuotaRefused& refused) {
    tell_both(state_.value_of(refused.binding), kScheduler, "ScheduleBindingFailed", refused.message, true);
  }

  // 5.4.4.
  void on(const ReplicasDescheduled& taken) {
    tell_both(state_.value_of(taken.binding), kDescheduler, "DescheduleBindingSucceed", taken.message);
  }
  void on(const QuestionAnswered& answered) {
    if (answered.operation != estimators::kGetUnschedulableReplicas) return;
    std::string failures;
    for (const auto& entry : answered.answers.members()) {
      for (const auto& cluster : entry.value["answer"].members()) {
        const Value& failure = cluster.value["failure"];
        if (failure.is_null()) continue;
        failures += (failures.empty() ? "" : "; ") + std::string{"the estimator of cluster "} +
                    std::string{cluster.key()} + " gave no answer: " + failure.str();
      }
    }
    if (failures.empty()) return;
    tell_both(state_.value_of(answered.object), kDescheduler, "DescheduleBindingFailed", failures, true);
  }

  void on(const DependenciesResolved& resolved) {  // B-29
    add(template_of(state_, state_.value_of(resolved.binding)), kDistributor, "GetDependenciesSucceed",
        "Get dependencies(" + dependencies_text(resolved.dependencies) + ") succeed.");
  }
  void on(const AttachedBindingPut& put) {  // B-34, B-36
    if (const auto* conflict = step_of<DependencyPolicyConflict>(put.why)) {
      warn(state_.value_of(put.binding), kDistributor, "DependencyPolicyConflict", text_of(*conflict));
    }
    for (const ObjectKey& referrer : put.referrers) {
      add(state_.value_of(referrer), kDistributor, "SyncScheduleResultToDependenciesSucceed",
          "Sync schedule results to dependencies succeed.");
    }
  }

  void on(const WorkRendered& rendered) {
    const Value& work = state_.value_of(rendered.work);
    const std::string cluster = cluster_of_space(rendered.work.ns);
    if (owned_by_cluster(work, cluster)) authorized_.insert(cluster);
    const Value& object = template_of_work(state_, work);
    on_overridden(object, work, cluster, "policy.karmada.io/applied-cluster-overrides", true);
    on_overridden(object, work, cluster, "policy.karmada.io/applied-overrides", false);
    const Value& binding = binding_of_work(state_, work);
    if (binding.is_null()) return;
    const Value& meta = binding["metadata"];
    synced_.insert({cluster_scoped(binding) ? type::kClusterResourceBinding : type::kResourceBinding,
                    meta["namespace"].str(), meta["name"].str()});
  }
  // B-21, of one that was rendered: what was applied is noted on the Work.
  void on_overridden(const Value& object, const Value& work, const std::string& cluster, const char* annotation,
                     bool wide) {
    const auto text = annotation_of(work, annotation);
    if (text.empty()) return;
    const auto applied = parse_json(text);
    if (!applied) return;
    const std::string ns = object["metadata"]["namespace"].str();
    for (const Value& condition : applied.value().items()) {
      const std::string policy = wide ? "cluster override policy(" + condition["policyName"].str()
                                      : "override policy(" + ns + "/" + condition["policyName"].str();
      add(object, kOverrides, "ApplyOverridePolicySucceed",
          "Apply " + policy + ") for cluster(" + cluster + ") succeed.");
    }
  }
  // B-6: once for all targets of an entry, unless another condition of the binding still reports a failure.
  void on_synced(const Value& binding) {
    if (binding.is_null() || condition_of(binding, kWorksSyncedCondition)["status"].as_string() == "False") return;
    tell_both(binding, of_binding(binding, "binding-controller", "cluster-resource-binding-controller"),
              "SyncWorkSucceed", "Sync work of " + called(binding) + " successful.");
  }
  void on(const WorksSynced& synced) {
    const Value& object = state_.value_of(synced.object);
    if (!is_binding(synced.object.type)) return on_failed_overrides(object, synced);
    if (synced.succeeded) return void(synced_.insert(synced.object));
    on_failed_overrides(template_of(state_, object), synced);
    tell_both(object, of_binding(object, "binding-controller", "cluster-resource-binding-controller"), "SyncWorkFailed",
              synced.message, true);
  }
  // B-21: one for each target that failed.
  void on_failed_overrides(const Value& object, const WorksSynced& synced) {
    for (const ClusterExplanation& cluster : synced.why.clusters) {
      for (const Verdict& verdict : synced.why.judgement_of(cluster).verdicts) {
        const auto* failed = std::get_if<OverrideFailed>(&verdict.reason);
        if (failed == nullptr) continue;
        warn(object, kOverrides, "ApplyOverridePolicyFailed",
             "Apply " + override_policy_text(failed->policy_namespace, failed->policy) + " for cluster(" +
                 failed->cluster + ") failed.");
      }
    }
  }

  void on(const ClusterConditionChanged& changed) {
    if (changed.type != "WithinLimits" || changed.status != "False") return;
    warn(state_.value_of(changed.cluster), "cluster-status-controller", "LimitExceeded", changed.message);
  }

  // E-6.
  void on(const WorkApplied& applied) {
    const Value& work = state_.value_of(applied.work);
    const std::string cluster = cluster_of_space(applied.work.ns);
    add(work, kExecution, "SyncSucceed", "Sync work(" + place_of(work) + ") to cluster(" + cluster + ") successful.");
    const Value& object = template_of_work(state_, work);
    add(object, kExecution, "SyncSucceed",
        "Successfully applied resource(" + object["metadata"]["namespace"].str() + "/" +
            object["metadata"]["name"].str() + ") to cluster " + cluster);
  }
  void on(const WorkApplyFailed& failed) {
    const Value& work = state_.value_of(failed.work);
    const std::string cluster = cluster_of_space(failed.work.ns);
    warn(work, kExecution, "SyncFailed",
         "Failed to sync work(" + place_of(work) + ") to cluster(" + cluster + "), err: " + failed.message);
    const Value& object = template_of_work(state_, work);
    warn(object, kExecution, "SyncFailed",
         "Failed to create or update resource(" + place_of(object) + ") in member cluster(" + cluster +
             "): " + (failed.cause.empty() ? failed.message : failed.cause));
  }

  // T-3, T-4.
  void on(const WorkStatusObserved& observed) {
    const Value& work = state_.value_of(observed.work);
    if (work.is_null()) return;
    for (const Value& item : observed.manifest_statuses.items()) {
      const std::string object = "object(" + identified(item) + ")";
      add(work, kWorkStatus, "ReflectStatusSucceed", "Reflect status for " + object + " succeed.");
      const auto health = item["health"].as_string();
      // That of an object with drift is not known either (E-15); the role that evaluates a rule reports why it
      // failed.
      if (health == "Unknown") continue;
      if (health == "Unhealthy" || interpreter::native::health(work["spec"]["workload"]["manifests"][0])) {
        // A kind without health is Healthy, and gets no Event for that.
        add(work, kWorkStatus, "InterpretHealthSucceed",
            "Interpret health of " + object + (health == "Healthy" ? " as healthy." : " as unhealthy."));
      }
    }
  }

  // T-10, T-11: only of what the entry has changed.
  void on(const StatusAggregated& aggregated) {
    const Value& binding = state_.value_of(aggregated.binding);
    const char* component =
        of_binding(binding, "resource-binding-status-controller", "cluster-resource-binding-status-controller");
    if (changed(aggregated.binding)) {
      add(binding, component, "AggregateStatusSucceed",
          "Update " + called(binding) + " with AggregatedStatus successfully.");
    }
    if (!aggregated.template_object.empty() && changed(aggregated.template_object)) {
      add(state_.value_of(aggregated.template_object), component, "AggregateStatusSucceed",
          "Update Resource with AggregatedStatus successfully.");
    }
  }
  bool changed(const ObjectKey& key) const {
    return std::ranges::any_of(folded_.changes, [&](const Change& change) { return change.object == key; });
  }

  void on(const EvictionFinished& finished) {  // TN-30
    const Value& binding = state_.value_of(finished.binding);
    tell_both(binding,
              of_binding(binding, "resource-binding-graceful-eviction-controller",
                         "cluster-resource-binding-graceful-eviction-controller"),
              "EvictWorkloadFromClusterSucceed", "Evict from cluster " + finished.cluster + " succeed.");
  }
  void on(const EvictionsPaused& paused) {
    warn(state_.value_of(paused.cluster), kTaintManagerComponent, "EvictionsPaused",
         "Evictions from the cluster wait: " + paused.message + ".");
  }
  void on(const EvictionsResumed& resumed) {
    add(state_.value_of(resumed.cluster), kTaintManagerComponent, "EvictionsResumed",
        "Evictions from the cluster continue: " + resumed.message + ".");
  }
  void on(const TaintAdded& added) { on_taint(added.cluster, added.policy); }
  void on(const TaintRemoved& removed) { on_taint(removed.cluster, removed.policy); }
  void on_taint(const ObjectKey& cluster, const std::string& policy) {
    tainted_.insert(cluster);
    by_policy_ = by_policy_ || !policy.empty();
  }
  void on_tainted(const Value& cluster) {  // TN-2, TN-13
    const std::string taints = taints_of(cluster);
    if (by_policy_) {
      return add(cluster, "cluster-taint-policy-controller", "TaintClusterSucceed",
                 "Update Cluster(" + cluster["metadata"]["name"].str() + ") with taints(" + taints + ") succeed");
    }
    add(cluster, kClusterController, "TaintClusterSucceed", "Taint cluster succeed: " + taints + ".");
  }
  void on(const QuotaUsageChanged& usage) {
    const Value& quota = state_.value_of(usage.quota);
    if (!usage.aggregated.is_null() || !state_.gates().quota_enforcement) {
      return add(quota, kQuotaStatus, "AggregateStatusSucceed",
                 "Collect status of FederatedResourceQuota(" + place_of(quota) + ") succeed.");
    }
    add(quota, kQuotaEnforcement, "CollectOverallStatusSucceed",
        "Collect status of FederatedResourceQuota(" + place_of(quota) + ") succeed.");
  }

  void on(const Change& change) {
    if (change.object.type == type::kWork) return on_work(change);
    if (change.object.type == type::kNamespace) return on_space(change);
    if (is_binding(change.object.type)) return on_terminating(change);
    if (change.object.type == kCronFederatedHpa) return add_failed_runs(change, reports_);
    if (change.object.type == kFederatedHpa) return add_scaling_events(change, reports_);
    add_service_events(state_, change, reports_);
    if (entry_.actor.service == "binder" && !change.created() && !change.removed()) on_preempted(change);
  }
  // once for all Works of its assignments that the entry has written or begun to delete.
  void on_assigned(const Value& quota) {
    add(quota, kQuotaSync, "SyncWorkSucceed",
        "Sync works for FederatedResourceQuota(" + place_of(quota) + ") succeed.");
  }
  void on_work(const Change& change) {  // E-3
    if (change.removed()) return;
    // Others may have labelled the Work.
    const auto quota = entry_.actor.service == "dispatcher" ? quota_of_work(change.after) : std::nullopt;
    if (quota) {
      const bool rendered = change.before["spec"] != change.after["spec"];
      if (rendered || deleting(change.before) != deleting(change.after)) assigned_.insert(*quota);
    }
    if (reverts_limited(change.after) && !reverts_limited(change.before)) {
      const std::string message = condition_of(change.after, kRevertsLimited)["message"].str();
      warn(change.after, kExecution, kRevertsLimited, message);
      warn(template_of_work(state_, change.after), kExecution, kRevertsLimited, message);
    }
    const Value& condition = condition_of(change.after, "Dispatching");
    if (condition.is_null() || condition["status"] == condition_of(change.before, "Dispatching")["status"]) return;
    add(change.after, kExecution, "WorkDispatching", condition["message"].str());
  }
  void on_space(const Change& change) {
    const std::string name = cluster_of_space(change.object.name);
    if (name.empty() || (!change.created() && !change.removed())) return;
    add(state_.value_of({type::kCluster, "", name}), kClusterController,
        change.created() ? "CreateExecutionSpaceSucceed" : "RemoveExecutionSpaceSucceed",
        change.created() ? "Created execution space(" + change.object.name + ") for cluster(" + name + ")."
                         : "Removed execution space for cluster(" + name + ").");
  }
  void on_terminating(const Change& change) {  // S-9
    if (change.created() || change.removed() || deleting(change.before) || !deleting(change.after)) return;
    const std::string kind = cluster_scoped(change.after) ? "clusterResourceBinding: " : "resourceBinding: ";
    tell_both(change.after, kScheduler, "ScheduleBindingFailed",
              "skip schedule deleting " + kind + place_of(change.after), true);
  }
  // D-46: a policy has lost the claim that lives and still selects the template.
  void on_preempted(const Change& change) {
    const auto after = claim_of(change.after);
    if (!after) return;
    const auto former = preempted_by(state_, change.before, after->policy);
    if (!former) return;
    add(change.after, kDetector, "PreemptPolicySucceed",
        taker(after->policy) + " preempted " + holder(*former) + " successfully");
  }

  const State& state_;
  const Entry& entry_;
  const Folded& folded_;
  std::vector<EventDraft> reports_;
  std::set<ObjectKey> synced_, tainted_;
  std::set<ObjectKey> assigned_;      ///< quotas
  std::set<std::string> authorized_;  ///< clusters whose impersonator's rights were written
  bool by_policy_ = false;
};

/// The step failed because this could not be interpreted: it waits for the answer to the same question, or the error is
/// the same.
template <class T>
bool failed_at(const interpreter::Interpreted<T>& interpreted, const FailedStep& step) {
  if (interpreted) return false;
  const auto& questions = interpreted.error().questions;
  if (questions.empty()) return interpreted.error().message == step.error;
  return std::ranges::any_of(step.unanswered, [&](const QuestionPtr& unanswered) {
    return std::ranges::any_of(
        questions, [&](const QuestionPtr& question) { return question->operation == unanswered->operation; });
  });
}

std::vector<EventDraft> template_failure(const State& state, const Value& object, const FailedStep& step) {
  const State::Name& policy = step.policy;
  const Value& interpreted = step.interpreted.is_null() ? object : step.interpreted;
  const std::string& error = step.error;
  std::vector<EventDraft> reports;
  if (const auto former = preempted_by(state, object, policy)) {
    reports.push_back({object, kDetector, true, "PreemptPolicyFailed",
                       taker(policy) + " failed to preempt " + holder(*former) + ": " + error});
  }
  if (state.gates().multiple_pod_templates &&
      failed_at(interpreter::components(state, interpreted, state.time()), step)) {
    reports.push_back({object, kDetector, true, "GetComponentsFailed", error});
  } else if (failed_at(interpreter::replicas(state, interpreted, state.time()), step)) {
    reports.push_back({object, kDetector, true, "GetReplicasFailed", error});
  }
  const std::string named =
      policy.ns.empty() ? "cluster policy(" + policy.name : "policy(" + policy.ns + "/" + policy.name;
  reports.push_back({object, kDetector, true, "ApplyPolicyFailed", "Apply " + named + ") failed: " + error});
  return reports;
}

/// TN-24, TN-30: of a binding, about each cluster that it is leaving or has to leave.
std::vector<EventDraft> eviction_failure(const State& state, const Value& binding) {
  std::vector<std::pair<std::string, const char*>> left;
  for (const Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
    left.emplace_back(task["fromCluster"].str(), of_binding(binding, "resource-binding-graceful-eviction-controller",
                                                            "cluster-resource-binding-graceful-eviction-controller"));
  }
  for (const Value& target : binding["spec"]["clusters"].items()) {
    const Cluster* cluster = state.cluster(target["name"].as_string());
    if (cluster == nullptr) continue;
    const bool tainted =
        std::ranges::any_of(cluster->taints, [](const Taint& taint) { return taint.effect == "NoExecute"; });
    if (tainted) left.emplace_back(cluster->name, kTaintManagerComponent);
  }
  std::vector<EventDraft> reports;
  for (const auto& [cluster, component] : left) {
    const std::string message = "Evict from cluster " + cluster + " failed.";
    for (const Value& object : {binding, template_of(state, binding)}) {
      if (!object.is_null()) reports.push_back({object, component, true, "EvictWorkloadFromClusterFailed", message});
    }
  }
  return reports;
}

/// CL-12, CL-13: a Cluster that did not get its execution space, or could not be rid of it.
std::vector<EventDraft> execution_space_failure(const State& state, const Value& cluster, const FailedStep& step) {
  const bool exists = state.find({type::kNamespace, "", execution_space(step.key.name)}) != nullptr;
  if (deleting(cluster) != exists) return {};
  return {{cluster, kClusterController, true, exists ? "RemoveExecutionSpaceFailed" : "CreateExecutionSpaceFailed",
           step.error}};
}

}  // namespace

bool EventDraft::operator==(const EventDraft& other) const {
  return object == other.object && std::string_view{component} == other.component && warning == other.warning &&
         std::string_view{reason} == other.reason && message == other.message;
}

std::vector<EventDraft> event_drafts_of(const State& state, const Entry& entry, const Folded& folded) {
  if (folded.refusal) return {};
  return EventDraftBuilder{state, entry, folded}.all();
}

std::vector<EventDraft> event_drafts_of_failure(const State& state, const FailedStep& step) {
  if (step.role == "taint" && step.key.type == type::kCluster && !step.key.ns.empty()) {  // TN-15: of its policies
    const Value& cluster = state.value_of({type::kCluster, "", step.key.name});
    if (cluster.is_null()) return {};
    return {{cluster, "cluster-taint-policy-controller", true, "TaintClusterFailed", step.error}};
  }
  const Value& object = state.value_of(step.key);
  if (object.is_null()) return {};
  if (step.role == "binder" && !step.policy.name.empty()) return template_failure(state, object, step);
  if (step.role == "distributor" && is_binding(step.key.type)) {
    const Value& source = template_of(state, object);
    if (source.is_null()) return {};
    return {{source, kDistributor, true, "GetDependenciesFailed", step.error}};
  }
  // TN-24: state that cannot be preserved blocks an eviction (3.4.3).
  if (step.role == "application-failover" && is_binding(step.key.type)) {
    const char* component = of_binding(object, "resource-binding-application-failover-controller",
                                       "cluster-resource-binding-application-failover-controller");
    std::vector<EventDraft> reports{{object, component, true, "EvictWorkloadFromClusterFailed", step.error}};
    const Value& source = template_of(state, object);
    if (!source.is_null()) reports.push_back({source, component, true, "EvictWorkloadFromClusterFailed", step.error});
    return reports;
  }
  if (step.role == "taint" && is_binding(step.key.type)) return eviction_failure(state, object);
  if (step.role == "dispatcher" && step.key.type == type::kFederatedResourceQuota) {
    return {{object, kQuotaSync, true, "SyncWorkFailed", step.error}};
  }
  if (step.role == "quota" && step.key.type == type::kFederatedResourceQuota) {
    if (state.gates().quota_enforcement) {
      return {{object, kQuotaEnforcement, true, "CollectOverallStatusFailed", step.error}};
    }
    return {{object, kQuotaStatus, true, "AggregateStatusFailed", step.error}};
  }
  if (step.role == "lifecycle" && step.key.type == type::kCluster) return execution_space_failure(state, object, step);
  if (step.role == "multi-cluster-service" && step.key.type == type::kServiceImport) {
    return import_failure(object, step.error);
  }
  if (step.role == "unified-auth") return {{object, kUnifiedAuth, true, "SyncImpersonationConfigFailed", step.error}};
  if (step.role == "descheduler") {
    std::vector<EventDraft> reports{{object, kDescheduler, true, "DescheduleBindingFailed", step.error}};
    if (const Value& source = template_of(state, object); !source.is_null()) {
      reports.push_back({source, kDescheduler, true, "DescheduleBindingFailed", step.error});
    }
    return reports;
  }
  if (step.role == "collector" && is_binding(step.key.type)) {
    const char* component =
        of_binding(object, "resource-binding-status-controller", "cluster-resource-binding-status-controller");
    std::vector<EventDraft> reports{{object, component, true, "AggregateStatusFailed", step.error}};
    if (const Value& source = template_of(state, object); !source.is_null()) {  // T-11
      reports.push_back({source, component, true, "AggregateStatusFailed", step.error});
    }
    return reports;
  }
  return {};
}

std::vector<EventDraft> event_drafts_of_unread(const State& state, const ObjectKey& work,
                                               interpreter::InterpreterOperation operation, const std::string& error) {
  const Value& object = state.value_of(work);
  if (object.is_null()) return {};
  const bool health = operation == interpreter::InterpreterOperation::kHealth;
  return {{object, kWorkStatus, true, health ? "InterpretHealthFailed" : "ReflectStatusFailed", error + "."}};
}

std::vector<EventDraft> event_drafts_of_conflict(const State& state, const ObjectKey& attached,
                                                 const DependencyPolicyConflict& conflict) {
  const Value& object = state.value_of(attached);
  if (object.is_null()) return {};
  return {{object, kDistributor, true, "DependencyPolicyConflict", text_of(conflict)}};
}

}  // namespace shiplog::recorder
