#include "services/roles/registry.h"

#include <algorithm>

#include "events/base/check.h"
#include "events/kinds/kinds.h"
#include "events/slots.h"
#include "services/roles/agent_csr_approving/role.h"
#include "services/roles/apiservice_availability/role.h"
#include "services/roles/apiservice_registration/decide.h"
#include "services/roles/apiservice_registration/role.h"
#include "services/roles/application_failover/decide.h"
#include "services/roles/application_failover/role.h"
#include "services/roles/binder/decide.h"
#include "services/roles/binder/role.h"
#include "services/roles/bootstrap_tokens/role.h"
#include "services/roles/cluster_monitor/role.h"
#include "services/roles/clusterrole_aggregation/decide.h"
#include "services/roles/clusterrole_aggregation/role.h"
#include "services/roles/collector/decide.h"
#include "services/roles/collector/role.h"
#include "services/roles/control/role.h"
#include "services/roles/cron_scaler/role.h"
#include "services/roles/descheduler/decide.h"
#include "services/roles/descheduler/role.h"
#include "services/roles/dispatcher/decide.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/distributor/decide.h"
#include "services/roles/distributor/role.h"
#include "services/roles/ephemera_gc/role.h"
#include "services/roles/federated_hpa/decide.h"
#include "services/roles/federated_hpa/role.h"
#include "services/roles/feeds/role.h"
#include "services/roles/kubernetes_service/role.h"
#include "services/roles/lifecycle/decide.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/role.h"
#include "services/roles/quota/decide.h"
#include "services/roles/quota/role.h"
#include "services/roles/rebalancer/decide.h"
#include "services/roles/rebalancer/role.h"
#include "services/roles/recorder/recorder.h"
#include "services/roles/remedy/decide.h"
#include "services/roles/remedy/role.h"
#include "services/roles/scaler/decide.h"
#include "services/roles/scaler/role.h"
#include "services/roles/scheduler/decide.h"
#include "services/roles/scheduler/role.h"
#include "services/roles/service_ip_repair/role.h"
#include "services/roles/serviceaccount_token/decide.h"
#include "services/roles/serviceaccount_token/role.h"
#include "services/roles/signer/role.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/role.h"
#include "services/roles/unified_auth/decide.h"
#include "services/roles/unified_auth/role.h"

namespace shiplog {
namespace {

Result<Decided> decide_api_services(const State& state, const ObjectKey& /*key*/, UtcMillis now) {
  return apiservice_registration::decide(state, now, Kinds::compiled());
}

template <class T>
T& present(T* given, const char* what) {
  SHIPLOG_CHECK(given != nullptr, what);
  return *given;
}

std::string url_of(const kubernetes_service::ServerAddress& server) {
  const bool v6 = server.ip.find(':') != std::string::npos;
  return "https://" + (v6 ? "[" + server.ip + "]" : server.ip) + ":" + std::to_string(server.port);
}

// One line for each role; what a role needs from the process is in its make.
const RoleEntry kRoles[] = {
    {"api", "",
     "serves the Kubernetes API, its past below `/at/`, and `/shiplog/v1/` (history, why, audit, ...) and `/feeds/`",
     nullptr, nullptr, "it decides nothing"},
    {"binder", "", "which policy claims a template; the binding that follows from both",
     [](const RoleContext& context) { return make_binder_role(context.interpreters); }, binder::decide, ""},
    {"scheduler", "", "clusters and replicas of a binding: filter, score, select, assign; checks quotas",
     [](const RoleContext& context) { return make_scheduler_role(context.estimators, context.estimators_have); },
     scheduler::decide, ""},
    {"dispatcher", "", "Works for each target; writes them to members, adopts, prunes, deletes",
     [](const RoleContext& context) {
       return make_dispatcher_role(present(context.members, "the dispatcher has members"), context.open_sealed,
                                   context.interpreters);
     },
     dispatcher::decide, "", true},
    {"distributor", "", "bindings of what templates with `propagateDeps` refer to: ConfigMaps, Secrets and the like",
     [](const RoleContext& context) {
       if (context.recorder == nullptr) return make_distributor_role(context.interpreters);
       const auto report = [recorder = context.recorder](const State& state, const ObjectKey& attached,
                                                         const DependencyPolicyConflict& conflict, UtcMillis now) {
         recorder->record_events(recorder::event_drafts_of_conflict(state, attached, conflict), now);
       };
       return make_distributor_role(context.interpreters, report);
     },
     distributor::decide, ""},
    {"collector", "", "probes members, watches their objects, aggregates Works into bindings and templates",
     [](const RoleContext& context) {
       return make_collector_role(
           present(context.members, "the collector has members"), context.interpreters, context.unread_status,
           CollectorSettings{.counts_resources = context.counts_resources, .summaries = context.summaries});
     },
     collector::decide, "", true},
    {"taint", "", "taints by condition and by ClusterTaintPolicy; evictions from clusters with NoExecute taints",
     [](const RoleContext&) { return make_taint_role(); }, taint::decide, ""},
    {"application-failover", "",
     "moves workloads off clusters where they stay unhealthy, if their policy has spec.failover.application",
     [](const RoleContext&) { return make_application_failover_role(); }, application_failover::decide, ""},
    {"quota", "", "the status of FederatedResourceQuotas", [](const RoleContext&) { return make_quota_role(); },
     quota::decide, ""},
    {"rebalancer", "", "fresh placements for WorkloadRebalancers; deletes those that are finished",
     [](const RoleContext&) { return make_rebalancer_role(); }, rebalancer::decide, ""},
    {"descheduler", "",
     "takes off a cluster the replicas that its estimator reports as unschedulable; off unless --controllers names it",
     [](const RoleContext& context) { return make_descheduler_role(context.estimators, context.estimators_have); },
     descheduler::decide, ""},
    {"scaler", "",
     "replicas that HorizontalPodAutoscalers of members set; both parts are off unless --controllers names them",
     [](const RoleContext&) { return make_scaler_role(); }, scaler::decide, ""},
    {"federated-hpa", "", "replicas that FederatedHPAs demand by what is measured in the members",
     [](const RoleContext& context) {
       return make_federated_hpa_role(present(context.members, "the federated-hpa has members"));
     },
     federated_hpa::decide, ""},
    {"cron-scaler", "", "replicas that CronFederatedHPAs set by the clock",
     [](const RoleContext& context) {
       SHIPLOG_CHECK(context.find_time_zone, "the cron-scaler has time zones");
       return make_cron_scaler_role(context.find_time_zone);
     },
     nullptr, "the tz database, which its decisions follow, is outside of the journal"},
    {"remedy", "", "the actions of the Remedies that match a cluster, in its status",
     [](const RoleContext&) { return make_remedy_role(); }, remedy::decide, ""},
    {"multi-cluster-service", "",
     "Services of MultiClusterServices and ServiceImports, and members' EndpointSlices for them in other members",
     [](const RoleContext&) { return make_multi_cluster_service_role(); }, multi_cluster_service::decide, ""},
    {"recorder", "", "Kubernetes Events of what entries of the record report",
     [](const RoleContext& context) { return make_recorder_role(present(context.recorder, "there is a recorder")); },
     nullptr, "it writes to the ephemera, and decides nothing of the journal"},
    {"lifecycle", "",
     "execution namespaces of members, finalizers, owner references, terminating namespaces and definitions, names "
     "that "
     "definitions wait for, Jobs whose time after their end is over",
     [](const RoleContext&) { return make_lifecycle_role(); }, lifecycle::decide, ""},
    {"unified-auth", "",
     "in each member, the right to act as those who may use its proxy: ClusterRole karmada-impersonator",
     [](const RoleContext&) { return make_unified_auth_role(); }, unified_auth::decide, ""},
    {"control", "", "records the state hash",
     [](const RoleContext& context) { return make_control_role(context.hash_every); }, nullptr,
     "it records what its replica folded to, which is an observation"},
    {"feeds", "", "publishes accepted events to topics of Kafka, if --feeds names families of events",
     [](const RoleContext& context) { return make_feeds_role(context.feed_publisher); }, nullptr, "it decides nothing"},
    {"signer", "api", "certificates for approved CertificateSigningRequests",
     [](const RoleContext& context) { return make_signer_role(context.authority); }, nullptr,
     "a certificate has a random serial number, and its key is outside of the journal"},
    {"agent-csr-approving", "api", "approves the requests of Pull clusters' agents for their certificates",
     [](const RoleContext&) { return make_agent_csr_approving_role(); }, agent_csr_approving::decide_request, ""},
    {"bootstrap-tokens", "api",
     "the ConfigMap `cluster-info` of kube-public, signed for each bootstrap token; deletes tokens that have expired",
     [](const RoleContext& context) {
       return make_bootstrap_tokens_role([server = context.server] { return url_of(server()); }, context.authority,
                                         context.open_sealed);
     },
     nullptr, "the address and the authority of the API server are outside of the journal, and tokens are sealed"},
    {"cluster-monitor", "api", "sets Pull clusters whose agents are silent to Ready=Unknown",
     [](const RoleContext& context) {
       return make_cluster_monitor_role(present(context.ephemera, "there are ephemera"), context.monitor_periods);
     },
     nullptr, "the Leases of agents are in the ephemera"},
    {"clusterrole-aggregation", "api", "the rules of ClusterRoles with an aggregationRule",
     [](const RoleContext&) { return make_clusterrole_aggregation_role(); }, clusterrole_aggregation::decide, ""},
    {"apiservice-registration", "api", "an APIService for each group and version that is served",
     [](const RoleContext& context) {
       return make_apiservice_registration_role(present(context.kinds, "the kinds are known"));
     },
     decide_api_services, ""},
    {"apiservice-availability", "api", "the condition Available of APIServices whose group another server answers for",
     [](const RoleContext& context) { return make_apiservice_availability_role(context.api_availability); }, nullptr,
     "whether a server answers is outside of the journal"},
    {"kubernetes-service", "api", "the Service `kubernetes` of namespace default, with its Endpoints and EndpointSlice",
     [](const RoleContext& context) { return make_kubernetes_service_role(context.server); }, nullptr,
     "the address of the API server is outside of the journal"},
    {"service-ip-repair", "api", "cluster IPs and node ports of Services that an older journal holds without",
     [](const RoleContext& context) { return make_service_ip_repair_role(context.allocate_addresses); }, nullptr,
     "addresses are drawn at random"},
    {"serviceaccount-token", "api", "deletes Secrets with tokens of ServiceAccounts that were deleted",
     [](const RoleContext&) { return make_serviceaccount_token_role(); }, serviceaccount_token::decide, ""},
    {"ephemera-gc", "api",
     "deletes Events after an hour, and objects whose Namespace or owners were deleted, from the ephemera",
     [](const RoleContext& context) {
       return make_ephemera_gc_role(present(context.ephemera, "there are ephemera"), context.user_agent);
     },
     nullptr, "it writes to the ephemera, and decides nothing of the journal"},
};

}  // namespace

std::span<const RoleEntry> all_roles() { return kRoles; }

const RoleEntry* find_role(std::string_view name) {
  const auto found = std::ranges::find(kRoles, role_of_lease(name), &RoleEntry::name);
  return found == std::end(kRoles) ? nullptr : &*found;
}

std::vector<std::string> selectable_roles() {
  std::vector<std::string> names;
  for (const RoleEntry& role : kRoles) {
    if (role.part_of.empty()) names.emplace_back(role.name);
  }
  return names;
}

std::vector<const RoleEntry*> roles_of_process(std::span<const std::string> selected) {
  std::vector<const RoleEntry*> roles;
  for (const RoleEntry& role : kRoles) {
    const std::string_view chosen_by = role.part_of.empty() ? role.name : role.part_of;
    if (role.make != nullptr && std::ranges::find(selected, chosen_by) != selected.end()) roles.push_back(&role);
  }
  return roles;
}

std::map<std::string, Decide> all_decides() {
  std::map<std::string, Decide> decides;
  for (const RoleEntry& role : kRoles) {
    if (role.decide != nullptr) decides.emplace(role.name, role.decide);
  }
  return decides;
}

}  // namespace shiplog
