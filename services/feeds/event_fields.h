#pragma once

#include "events/event.h"

/// The fields of every kind of event in the feeds, with their meaning: facts_of() writes them and event_schema()
/// describes them, so that neither can differ from the other. A kind without its fields does not compile.
///
/// `out(name, value, description)` is called for each. Names never change their meaning; a field may be added.
/// Whole objects and parts of them are left out: what an event made of its object is in the CloudEvent's `change`.
namespace shiplog::feeds {

// api

template <class Out>
void fields(Out& out, const ObjectCreated& event) {
  out("object", event.object, "The object that was created.");
}
template <class Out>
void fields(Out& out, const ObjectUpdated& event) {
  out("object", event.object, "The object that was replaced.");
}
template <class Out>
void fields(Out& out, const StatusUpdated& event) {
  out("object", event.object, "The object whose status was replaced.");
}
template <class Out>
void fields(Out& out, const DeletionRequested& event) {
  out("object", event.object, "The object that is to be deleted. It remains while it has finalizers.");
  out("graceSeconds", event.grace_seconds, "How long the object may take to end.");
  out("propagation", event.propagation, "Background, Foreground or Orphan.");
  out("because", event.because, "The object whose deletion this one follows from; null: a client requested it.");
}
template <class Out>
void fields(Out& out, const ObjectRemoved& event) {
  out("object", event.object, "The object that was removed.");
}
template <class Out>
void fields(Out& out, const RequestDenied& event) {
  out("object", event.object, "What the request was about, as far as known.");
  out("status", event.status, "HTTP status of the answer.");
  out("reason", event.reason, "Kubernetes' reason, as Forbidden or Invalid.");
  out("message", event.message, "The message of the answer.");
}
template <class Out>
void fields(Out& out, const RequestsDenied& event) {
  out("object", event.object, "The type and namespace that the requests have in common; null: several.");
  out("verb", event.verb, "Kubernetes' verb; empty: several.");
  out("status", event.status, "HTTP status of the answers.");
  out("reason", event.reason, "Kubernetes' reason; empty: several.");
  out("message", event.message, "The message of the last answer.");
  out("count", event.count, "How many requests were denied.");
  out("first", event.first, "When the first of them was denied.");
  out("last", event.last, "When the last of them was denied.");
}

template <class Out>
void fields(Out& out, const MemberRequested& event) {
  out("cluster", event.cluster, "The member.");
  out("method", event.method, "HTTP method.");
  out("path", event.path, "Path in the member, without the query.");
  out("status", event.status, "HTTP status of the response.");
}

// scheduling

template <class Out>
void fields(Out& out, const Target& target) {
  out("cluster", target.cluster, "Name of the member cluster.");
  out("replicas", target.replicas, "Pods; 0 for what has no replicas.");
}
template <class Out>
void fields(Out& out, const ComponentReplicas& component) {
  out("name", component.name, "Name of the pod template.");
  out("replicas", component.replicas, "Pods of this template in each target.");
}
template <class Out>
void fields(Out& out, const BindingPut& event) {
  out("binding", event.binding, "The binding that follows from a template and its policy.");
  out("why", event.why, "Which policy claimed the template.");
}
template <class Out>
void fields(Out& out, const PlacementDecided& event) {
  out("binding", event.binding, "The binding that was scheduled.");
  out("targets", event.targets, "The whole new placement, sorted by cluster.");
  out("observedGeneration", event.observed_generation, "Generation of the binding that was scheduled.");
  out("appliedPlacement", event.applied_placement, "JSON text of the placement that was applied.");
  out("affinityName", event.affinity_name, "The cluster affinity that was used; empty: there are no named ones.");
  out("components", event.components, "Pod templates of a workload that has several.");
  out("why", event.why, "Verdicts and scores of each cluster, and the replica arithmetic.");
}
template <class Out>
void fields(Out& out, const PlacementRefused& event) {
  out("binding", event.binding, "The binding that could not be scheduled.");
  out("reason", event.reason, "Reason of the condition Scheduled, as NoClusterFit.");
  out("message", event.message, "Message of the condition Scheduled.");
  out("observedGeneration", event.observed_generation, "Generation of the binding that was scheduled.");
  out("appliedPlacement", event.applied_placement, "JSON text of the placement; set when the targets are cleared.");
  out("clearTargets", event.clear_targets, "The binding has no targets any more.");
  out("why", event.why, "Verdicts and scores of each cluster.");
}
template <class Out>
void fields(Out& out, const ReschedulingTriggered& event) {
  out("binding", event.binding, "The binding that is to be placed afresh.");
  out("reason", event.reason, "What requested it.");
  out("at", event.at, "When it was requested; null: at the time of the event.");
}
template <class Out>
void fields(Out& out, const DependenciesResolved& event) {
  out("binding", event.binding, "The binding of the template that refers to others.");
  out("dependencies", event.dependencies, "List of references: apiVersion, kind, namespace, name or labelSelector.");
  out("why", event.why, "Where the references stand.");
}
template <class Out>
void fields(Out& out, const AttachedBindingPut& event) {
  out("binding", event.binding, "The binding of a dependency.");
  out("referrers", event.referrers, "The bindings that it follows, sorted.");
  out("why", event.why, "Why it follows them.");
}
template <class Out>
void fields(Out& out, const QuestionAnswered& event) {
  out("object", event.object, "What the question was about.");
  out("operation", event.operation, "The question, as InterpretReplica or MaxAvailableReplicas.");
  out("asked", event.asked, "The service that answered.");
  out("basis", event.basis, "Digest of all that the answers follow from.");
  out("answers", event.answers, "By qualifier: an object with answer or failure.");
}

template <class Out>
void fields(Out& out, const ReplicasDescheduled& event) {
  out("binding", event.binding, "The binding that gives up replicas.");
  out("targets", event.targets, "All its targets with the replicas that remain, sorted by cluster.");
  out("message", event.message, "Which cluster cannot run how many.");
}

// dispatch

template <class Out>
void fields(Out& out, const WorkRendered& event) {
  out("work", event.work, "The Work for one member.");
  out("why", event.why, "What overrides and dispatching changed.");
}
template <class Out>
void fields(Out& out, const WorkRemoved& event) {
  out("work", event.work, "The Work that was removed.");
}
template <class Out>
void fields(Out& out, const WorkApplied& event) {
  out("work", event.work, "The Work that the member has applied.");
  out("generation", event.generation, "Generation of the Work.");
  out("message", event.message, "Message of the condition Applied.");
}
template <class Out>
void fields(Out& out, const WorkApplyFailed& event) {
  out("work", event.work, "The Work that could not be applied.");
  out("generation", event.generation, "Generation of the Work.");
  out("reason", event.reason, "Reason of the condition Applied.");
  out("message", event.message, "Message of the condition Applied.");
  out("cause", event.cause, "What the member answered; part of the message.");
}
template <class Out>
void fields(Out& out, const WorkStatusObserved& event) {
  out("work", event.work, "The Work whose objects have a new status in the member.");
  out("generation", event.generation, "Generation of the Work that the status belongs to; 0: unknown.");
}
template <class Out>
void fields(Out& out, const StatusAggregated& event) {
  out("binding", event.binding, "The binding whose Works were summed up.");
  out("fullyApplied", event.fully_applied, "Status of the condition FullyApplied.");
  out("reason", event.reason, "Reason of the condition FullyApplied.");
  out("message", event.message, "Message of the condition FullyApplied.");
  out("template", event.template_object, "The template that got the status, too; null: none did.");
}
template <class Out>
void fields(Out& out, const WorksSynced& event) {
  out("object", event.object, "The binding or namespace that was rendered.");
  out("succeeded", event.succeeded, "All targets could be rendered.");
  out("reason", event.reason, "Reason of the condition WorksSynced.");
  out("message", event.message, "What stopped each target.");
  out("generation", event.generation, "Generation of the binding; 0: unknown.");
  out("why", event.why, "What stopped each target.");
}

// taint

template <class Out>
void fields(Out& out, const Taint& taint) {
  out("key", taint.key, "Key of the taint.");
  out("value", taint.value, "Value of the taint.");
  out("effect", taint.effect, "NoSchedule, PreferNoSchedule or NoExecute.");
}
template <class Out>
void fields(Out& out, const TaintAdded& event) {
  out("cluster", event.cluster, "The cluster that got the taint.");
  out("taint", event.taint, "The taint.");
  out("reason", event.reason, "The policy or condition that requires it.");
  out("policy", event.policy, "Name of the ClusterTaintPolicy; empty: the cluster's condition requires it.");
}
template <class Out>
void fields(Out& out, const TaintRemoved& event) {
  out("cluster", event.cluster, "The cluster that lost the taint.");
  out("taint", event.taint, "The taint; key and effect identify it.");
  out("reason", event.reason, "The policy or condition that required it.");
  out("policy", event.policy, "Name of the ClusterTaintPolicy; empty: the cluster's condition required it.");
}
template <class Out>
void fields(Out& out, const EvictionStarted& event) {
  out("binding", event.binding, "The binding that leaves the cluster.");
  out("cluster", event.cluster, "Name of the cluster.");
  out("reason", event.reason, "As TaintUntolerated or ApplicationFailure.");
  out("message", event.message, "Text for people.");
  out("producer", event.producer, "What evicts, as TaintManager.");
  out("graceSeconds", event.grace_seconds, "How long the eviction may take.");
  out("purgeMode", event.purge_mode, "Directly, Gracefully or Never; empty: as Gracefully.");
  out("preservedLabels", event.preserved_labels, "Labels for the new copy, by name; null: none.");
  out("clustersBefore", event.clusters_before, "Targets before an application failover.");
  out("suppressDeletion", event.suppress_deletion, "The old copy stays until a user ends the task.");
}
template <class Out>
void fields(Out& out, const EvictionFinished& event) {
  out("binding", event.binding, "The binding that has left the cluster.");
  out("cluster", event.cluster, "Name of the cluster.");
  out("reason", event.reason, "What ended the eviction.");
}

template <class Out>
void fields(Out& out, const EvictionsPaused& event) {
  out("cluster", event.cluster, "The cluster that evictions wait in.");
  out("reason", event.reason, "The limit that is reached.");
  out("message", event.message, "Text for people.");
}
template <class Out>
void fields(Out& out, const EvictionsResumed& event) {
  out("cluster", event.cluster, "The cluster that evictions waited in.");
  out("reason", event.reason, "Why they continue.");
  out("message", event.message, "Text for people.");
}
template <class Out>
void fields(Out& out, const FailoverTimerStarted& event) {
  out("binding", event.binding, "The binding whose workload is unhealthy.");
  out("cluster", event.cluster, "Name of the cluster where it is unhealthy.");
  out("message", event.message, "Text for people.");
}
template <class Out>
void fields(Out& out, const FailoverTimerStopped& event) {
  out("binding", event.binding, "The binding whose workload was unhealthy.");
  out("cluster", event.cluster, "Name of the cluster.");
  out("reason", event.reason, "Why its failover no longer waits.");
}
template <class Out>
void fields(Out& out, const HandoverStepTaken& event) {
  out("binding", event.binding, "The binding whose workload moves.");
  out("cluster", event.cluster, "Name of the cluster that it leaves.");
  out("step", event.step, "Stop, Confirm or Start.");
  out("message", event.message, "Text for people.");
}

// quota

template <class Out>
void fields(Out& out, const QuotaUsageChanged& event) {
  out("quota", event.quota, "The FederatedResourceQuota.");
  out("overall", event.overall, "Its limits, by resource.");
  out("used", event.used, "What its namespace uses, by resource.");
  out("aggregated", event.aggregated, "Limits and use in each member; null: not collected.");
}
template <class Out>
void fields(Out& out, const QuotaRefused& event) {
  out("binding", event.binding, "The binding whose placement did not fit.");
  out("quota", event.quota, "The FederatedResourceQuota.");
  out("message", event.message, "Message of the condition Scheduled.");
  out("observedGeneration", event.observed_generation, "Generation of the binding that was scheduled.");
  out("why", event.why, "The arithmetic.");
}

// cluster

template <class Out>
void fields(Out& out, const ClusterJoined& event) {
  out("cluster", event.cluster, "The member that joined.");
  out("clusterId", event.cluster_id, "Uid of the member's namespace kube-system.");
}
template <class Out>
void fields(Out& out, const ClusterObserved& event) {
  out("cluster", event.cluster, "The member whose version, enablements, nodes or resources were observed.");
}
template <class Out>
void fields(Out& out, const ClusterConditionChanged& event) {
  out("cluster", event.cluster, "The member.");
  out("type", event.type, "Type of the condition, as Ready.");
  out("status", event.status, "True, False or Unknown.");
  out("reason", event.reason, "Reason of the condition.");
  out("message", event.message, "Message of the condition.");
}
template <class Out>
void fields(Out& out, const ClusterLeft& event) {
  out("cluster", event.cluster, "The member that left.");
  out("reason", event.reason, "Why it left.");
}

// control

template <class Out>
void fields(Out& out, const LeaseTaken& event) {
  out("service", event.service, "The role.");
  out("holder", event.holder, "The process that leads it now.");
  out("epoch", event.epoch, "Counts who held the lease.");
}
template <class Out>
void fields(Out& out, const FoldVersionActivated& event) {
  out("version", event.version, "Events have the meaning of this fold version from here on.");
}
template <class Out>
void fields(Out& out, const StateHashed& event) {
  out("revision", event.revision, "The revision that was hashed.");
  out("hash", event.hash, "The state hash at that revision.");
}
template <class Out>
void fields(Out& out, const SnapshotTaken& event) {
  out("revision", event.revision, "The snapshot covers everything up to this revision.");
  out("hash", event.hash, "The state hash at that revision.");
  out("location", event.location, "File name.");
}
template <class Out>
void fields(Out& out, const FeatureGatesSet& event) {
  out("on", event.on, "Feature gates that are on from here on; all others are off.");
}
template <class Out>
void fields(Out& out, const OptionSetting& setting) {
  out("name", setting.name, "Name of the option, without dashes in front.");
  out("values", setting.values, "Its values.");
}
template <class Out>
void fields(Out& out, const OptionsSet& event) {
  out("settings", event.settings, "Options that decisions read, sorted by name; all others are as by default.");
}

}  // namespace shiplog::feeds
