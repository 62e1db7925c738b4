#include "events/codec/samples.h"

#include <type_traits>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/codec/fact_samples.h"

namespace shiplog::samples {
namespace {

Value json(const char* text) {
  auto parsed = parse_json(text);
  SHIPLOG_CHECK(parsed, "a sample is valid JSON");
  return std::move(parsed).value();
}

const ObjectKey kDeployment{"deployments.apps", "default", "nginx"};
const ObjectKey kBinding{"resourcebindings.work.karmada.io", "default", "nginx-deployment"};
const ObjectKey kWork{"works.work.karmada.io", "karmada-es-m1", "nginx-687f7fb96f"};
const ObjectKey kCluster{"clusters.cluster.karmada.io", "", "m1"};
const ObjectKey kQuota{"federatedresourcequotas.policy.karmada.io", "default", "team"};

// Only kinds of these; and a number of each kind that JSON knows.
Value object() {
  return json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app":"nginx"},"name":"nginx",)"
              R"("namespace":"default"},"spec":{"paused":false,"ratio":0.5,"replicas":3,"selector":null,)"
              R"("template":{"spec":{"containers":[{"image":"nginx:1.27","name":"größe \"ü\"\n"}]}}}})");
}

Value status() { return json(R"({"availableReplicas":3,"conditions":[{"status":"True","type":"Available"}]})"); }

// Of a build before typed facts.
Explanation why_in_words() {
  Explanation why{Text{"2 of 3 clusters fit"},
                  "00112233445566778899aabbccddeeff",
                  {},
                  {Text{"weights m1=2 m2=1"}, Text{"3 replicas: m1 gets 2, m2 gets 1"}},
                  {}};
  why.add({"m1", 0, 40, 2}, {{{"ClusterAffinity", true, Text{"named"}}, {"TaintToleration", true, {}}},
                             {{"ClusterLocality", 100}, {"ClusterAffinity", -3}}});
  why.add({"m3", 0, -1, -1}, {{{"TaintToleration", false, Text{"cluster has untolerated taint {dedicated}"}}}, {}});
  return why;
}

Explanation why(int generation) {
  if (generation < 6) return why_in_words();
  Explanation why{PlacementMade{},
                  "00112233445566778899aabbccddeeff",
                  {},
                  {Triggered{PlacementTrigger::kRefusedBefore}, Duplicated{2}},
                  {}};
  why.add({"m1", 0, 40, 2}, {{{"ClusterAffinity", true, {}}, {"TaintToleration", true, {}}},
                             {{"ClusterLocality", 100}, {"ClusterAffinity", -3}}});
  why.add({"m3", 0, -1, -1}, {{{"TaintToleration", false, TaintNotTolerated{"dedicated", "", "NoSchedule"}}}, {}});
  return why;
}

template <class Kind>
using Of = std::type_identity<Kind>;

Event sample(Of<ObjectCreated>, int) { return ObjectCreated{kDeployment, object()}; }
Event sample(Of<ObjectUpdated>, int) { return ObjectUpdated{kDeployment, object()}; }
Event sample(Of<StatusUpdated>, int) { return StatusUpdated{kDeployment, object()}; }
Event sample(Of<DeletionRequested>, int generation) {
  DeletionRequested event{.object = kDeployment, .grace_seconds = 30, .propagation = "Foreground"};
  if (generation >= 5) event.because = {"namespaces", "", "default"};
  return event;
}
Event sample(Of<ObjectRemoved>, int) { return ObjectRemoved{kDeployment}; }
Event sample(Of<RequestDenied>, int) {
  return RequestDenied{.object = kDeployment, .status = 422, .reason = "Invalid", .message = "spec.replicas: negative"};
}
Event sample(Of<RequestsDenied>, int) {
  return RequestsDenied{.object = {"configmaps", "default", ""},
                        .verb = "create",
                        .status = 409,
                        .reason = "Conflict",
                        .message = "configmaps/default/a already exists",
                        .count = 2990,
                        .first = UtcMillis{1'700'000'000'000},
                        .last = UtcMillis{1'700'000'060'000}};
}

Event sample(Of<MemberRequested>, int) {
  return MemberRequested{
      .cluster = kCluster, .method = "POST", .path = "/api/v1/namespaces/default/configmaps", .status = 201};
}

Event sample(Of<BindingPut>, int generation) {
  return BindingPut{.binding = kBinding,
                    .value = json(R"({"metadata":{"name":"nginx-deployment","namespace":"default"},"spec":{)"
                                  R"("replicas":3,"resource":{"apiVersion":"apps/v1","kind":"Deployment",)"
                                  R"("name":"nginx","namespace":"default"}}})"),
                    .why = why(generation)};
}
Event sample(Of<PlacementDecided>, int generation) {
  PlacementDecided event{.binding = kBinding,
                         .targets = {{"m1", 2}, {"m2", 1}},
                         .observed_generation = 4,
                         .applied_placement = R"({"clusterAffinity":{"clusterNames":["m1","m2"]}})",
                         .affinity_name = "primary",
                         .why = why(generation)};
  if (generation >= 3) event.components = {{"jobmanager", 1}, {"taskmanager", 2}};
  if (generation >= 6) event.why.steps = every_fact();
  if (generation >= 4) {  // judged like m1: the bytes have the common judgement once
    event.why.clusters.push_back(event.why.clusters[0]);
    event.why.clusters.back().cluster = "m4";
  }
  return event;
}
Event sample(Of<PlacementRefused>, int generation) {
  return PlacementRefused{.binding = kBinding,
                          .reason = "NoClusterFit",
                          .message = "0/3 clusters are available",
                          .observed_generation = 4,
                          .applied_placement = R"({"clusterAffinity":{}})",
                          .clear_targets = true,
                          .why = why(generation)};
}
Event sample(Of<ReschedulingTriggered>, int generation) {
  return ReschedulingTriggered{.binding = kBinding,
                               .reason = "WorkloadRebalancer spread-again",
                               .at = UtcMillis{generation >= 2 ? 1'704'110'400'000 : 0}};
}

Event sample(Of<DependenciesResolved>, int generation) {
  return DependenciesResolved{.binding = kBinding,
                              .dependencies = json(R"([{"apiVersion":"v1","kind":"ConfigMap","name":"nginx-config",)"
                                                   R"("namespace":"default"}])"),
                              .why = why(generation)};
}
Event sample(Of<AttachedBindingPut>, int generation) {
  return AttachedBindingPut{
      .binding = {"resourcebindings.work.karmada.io", "default", "nginx-config-configmap"},
      .referrers = {kBinding},
      .value =
          json(R"({"metadata":{"name":"nginx-config-configmap","namespace":"default"},"spec":{"requiredBy":[)"
               R"({"clusters":[{"name":"m1","replicas":2}],"name":"nginx-deployment","namespace":"default"}],)"
               R"("resource":{"apiVersion":"v1","kind":"ConfigMap","name":"nginx-config","namespace":"default"}}})"),
      .why = why(generation)};
}

Event sample(Of<QuestionAnswered>, int) {
  return QuestionAnswered{.object = {"deployments.apps", "default", "nginx"},
                          .operation = "InterpretReplica",
                          .asked = "games/replicas.example.com",
                          .basis = "0123456789abcdef0123456789abcdef",
                          .answers = json(R"({"-":{"failure":"the webhook said no"}})")};
}

Event sample(Of<ReplicasDescheduled>, int) {
  return ReplicasDescheduled{
      .binding = kBinding, .targets = {{"m1", 1}, {"m2", 2}}, .message = "m1 cannot run 2 of 3 replicas"};
}
Event sample(Of<WorkRendered>, int generation) {
  return WorkRendered{.work = kWork,
                      .value = json(R"({"metadata":{"name":"nginx-687f7fb96f"},"spec":{"workload":{"manifests":[)"
                                    R"({"kind":"Deployment","metadata":{"name":"nginx","namespace":"default"}}]}}})"),
                      .why = why(generation)};
}
Event sample(Of<WorkRemoved>, int) { return WorkRemoved{kWork}; }
Event sample(Of<WorkApplied>, int) {
  return WorkApplied{.work = kWork, .generation = 2, .message = "Manifest has been successfully applied"};
}
Event sample(Of<WorkApplyFailed>, int generation) {
  WorkApplyFailed event{.work = kWork, .generation = 2, .reason = "AppliedFailed", .message = "m1: refused"};
  if (generation >= 6) event.cause = "refused";
  return event;
}
Event sample(Of<WorkStatusObserved>, int generation) {
  WorkStatusObserved event{
      .work = kWork,
      .manifest_statuses = json(R"([{"health":"Healthy","identifier":{"kind":"Deployment","name":"nginx",)"
                                R"("namespace":"default","ordinal":0},"status":{"readyReplicas":2}}])")};
  if (generation >= 5) event.generation = 2;
  return event;
}
Event sample(Of<StatusAggregated>, int) {
  return StatusAggregated{.binding = kBinding,
                          .aggregated_status = json(R"([{"applied":true,"clusterName":"m1","health":"Healthy"}])"),
                          .fully_applied = true,
                          .reason = "FullyAppliedSuccess",
                          .message = "All works have been successfully applied",
                          .template_object = kDeployment,
                          .template_status = status()};
}

Event sample(Of<WorksSynced>, int generation) {
  WorksSynced event{.object = kBinding,
                    .succeeded = true,
                    .reason = "SyncWorkSucceed",
                    .message = "Sync work of ResourceBinding(default/nginx-deployment) successful.",
                    .why = why(generation)};
  if (generation >= 5) event.generation = 2;
  return event;
}

Event sample(Of<TaintAdded>, int generation) {
  TaintAdded event{.cluster = kCluster, .taint = {"not-ready", "yes", "NoExecute"}, .reason = "Ready=False"};
  if (generation >= 6) event.policy = "not-ready";
  return event;
}
Event sample(Of<TaintRemoved>, int generation) {
  TaintRemoved event{.cluster = kCluster, .taint = {"not-ready", "yes", "NoExecute"}, .reason = "Ready=True"};
  if (generation >= 6) event.policy = "not-ready";
  return event;
}
Event sample(Of<EvictionStarted>, int generation) {
  EvictionStarted event{.binding = kBinding,
                        .cluster = "m1",
                        .reason = "TaintUntolerated",
                        .message = "does not tolerate not-ready",
                        .producer = "TaintManager",
                        .grace_seconds = 600};
  if (generation >= 8) {
    event.purge_mode = "Directly";
    event.preserved_labels = Value::object({{"job-id", "42"}});
    event.clusters_before = {"m1", "m2"};
    event.suppress_deletion = true;
  }
  return event;
}
Event sample(Of<EvictionFinished>, int) {
  return EvictionFinished{.binding = kBinding, .cluster = "m1", .reason = "replacement is healthy"};
}

Event sample(Of<EvictionsPaused>, int) {
  return EvictionsPaused{.cluster = kCluster, .reason = "BudgetExhausted", .message = "3 of 3 evictions in 10m"};
}
Event sample(Of<EvictionsResumed>, int) {
  return EvictionsResumed{.cluster = kCluster, .reason = "BudgetAvailable", .message = "2 of 3 evictions in 10m"};
}
Event sample(Of<FailoverTimerStarted>, int) {
  return FailoverTimerStarted{.binding = kBinding, .cluster = "m1", .message = "the workload is Unhealthy"};
}
Event sample(Of<FailoverTimerStopped>, int) {
  return FailoverTimerStopped{.binding = kBinding, .cluster = "m1", .reason = "the workload is Healthy"};
}
Event sample(Of<HandoverStepTaken>, int) {
  return HandoverStepTaken{.binding = kBinding, .cluster = "m1", .step = "Confirm", .message = "the Work is gone"};
}
Event sample(Of<QuotaUsageChanged>, int generation) {
  QuotaUsageChanged event{.quota = kQuota,
                          .overall = json(R"({"cpu":"10","memory":"2Gi"})"),
                          .used = json(R"({"cpu":"3","memory":"1Gi"})")};
  if (generation >= 8) {
    event.aggregated = json(R"([{"clusterName":"m1","hard":{"cpu":"5"},"used":{"cpu":"3"}}])");
  }
  return event;
}
Event sample(Of<QuotaRefused>, int generation) {
  QuotaRefused event{.binding = kBinding, .quota = kQuota, .message = "cpu: 12 of 10", .observed_generation = 4};
  if (generation >= 6) event.why.summary = QuotaExceeded{"default", "team", "cpu", "12", "10"};
  return event;
}

Event sample(Of<ClusterJoined>, int) {
  return ClusterJoined{.cluster = kCluster, .cluster_id = "6f1b4a52-0d3c-4d5e-8f60-718293a4b5c6"};
}
Event sample(Of<ClusterObserved>, int generation) {
  return ClusterObserved{.cluster = kCluster,
                         .status = json(R"({"kubernetesVersion":"v1.31.0","nodeSummary":{"readyNum":2,"totalNum":3}})"),
                         .patch = generation >= 9};
}
Event sample(Of<ClusterConditionChanged>, int) {
  return ClusterConditionChanged{.cluster = kCluster,
                                 .type = "Ready",
                                 .status = "False",
                                 .reason = "ClusterNotReachable",
                                 .message = "cluster is not reachable"};
}
Event sample(Of<ClusterLeft>, int) { return ClusterLeft{.cluster = kCluster, .reason = "unjoined"}; }

Event sample(Of<LeaseTaken>, int) {
  return LeaseTaken{.service = "scheduler", .holder = "host-1/4711/ab12", .epoch = 3};
}
Event sample(Of<FoldVersionActivated>, int) { return FoldVersionActivated{.version = 2}; }
Event sample(Of<StateHashed>, int) {
  return StateHashed{.revision = {1000}, .hash = {0x0123456789abcdefULL, 0xfedcba9876543210ULL}};
}
Event sample(Of<SnapshotTaken>, int) {
  return SnapshotTaken{
      .revision = {1000}, .hash = {0x0123456789abcdefULL, 0xfedcba9876543210ULL}, .location = "snapshot-1000.db"};
}

Event sample(Of<FeatureGatesSet>, int) {
  return FeatureGatesSet{.on = {"MultiplePodTemplatesScheduling", "SchedulingOvercommitProtection"}};
}

Event sample(Of<OptionsSet>, int) {
  return OptionsSet{.settings = {{"plugins", {"*", "-TaintToleration"}},
                                 {"skipped-propagating-namespaces", {"kube-.*", "team-[0-9]+"}}}};
}

template <size_t... Index>
std::vector<Event> all(int generation, std::index_sequence<Index...>) {
  return {sample(Of<std::variant_alternative_t<Index, EventVariant>>{}, generation)...};
}

}  // namespace

std::vector<Event> every_kind(int generation) {
  return all(generation, std::make_index_sequence<std::variant_size_v<EventVariant>>{});
}

Entry entry_of(std::vector<Event> events, int /*generation*/) {
  return {.id = {{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01}},
          .time = {1767225600123},
          .actor = {.user = "kubernetes-admin",
                    .groups = {"system:masters", "system:authenticated"},
                    .service = "api",
                    .source_ip = "192.0.2.7",
                    .user_agent = "kubectl/v1.31.0"},
          .request = {"update", "/apis/apps/v1/namespaces/default/deployments/nginx"},
          .cause = {.revision = {998},
                    .entry_id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
                    .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"},
          .as_of = {999},
          .fence = {"scheduler", 3},
          .fold_version = 2,
          .expects = {{kDeployment, {997}}, {kBinding, {0}}},
          .events = std::move(events),
          .source = {}};
}

Entry produced_entry() {
  Entry entry = entry_of({ObjectCreated{kDeployment, Value::object({{"kind", "Deployment"}})}});
  entry.source = {.id = "order-4711", .topic = "demo.requests", .partition = 3, .offset = 1027, .done_before = 1024};
  return entry;
}

}  // namespace shiplog::samples
