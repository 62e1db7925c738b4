#include "services/programs/member/member.h"

#include "services/programs/member/bounds.h"
#include "services/programs/member/controller.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/endpoint_slice.h"
#include "services/programs/member/fault_switches.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/kubelet.h"
#include "services/programs/member/resource_quota.h"
#include "services/programs/member/scheduling.h"

namespace shiplog {
namespace {

using member::Controller;

Controller make_kubelet(const MemberOptions& options) {
  const auto times = [options] {
    const Millis ready = options.switches == nullptr ? options.ready_delay : options.switches->ready_delay();
    return member::PodTimes{ready, options.completion_delay};
  };
  Controller kubelet{
      .name = "kubelet", .types = {member::kPods}, .owner_kind = "", .decide = {}, .look_again = {}, .also_wake = {}};
  kubelet.decide = [times](const State& state, const ObjectKey& key, UtcMillis now) {
    return member::decide_pod(state, key, now, times());
  };
  kubelet.look_again = [times](const State& state, const ObjectKey& key, UtcMillis now) {
    // The delay may be reduced while it is waited for.
    constexpr Millis kLongest{1000};
    return std::min(kLongest, member::look_again_pod(state, key, now, times()));
  };
  kubelet.also_wake = [](const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.object.type != member::kNodes || !change.removed()) return;
    for (const auto& [name, pod] : state.objects(member::kPods)) {
      if (pod.value["spec"]["nodeName"].as_string() == change.object.name) {
        wake.push_back({member::kPods, name.ns, name.name});
      }
    }
  };
  return kubelet;
}

Controller make_daemon_set() {
  Controller daemons{.name = "daemonset",
                     .types = {member::kDaemonSets},
                     .owner_kind = "DaemonSet",
                     .decide = member::decide_daemon_set,
                     .look_again = member::look_again_pods,
                     .also_wake = {}};
  daemons.also_wake = [](const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.object.type != member::kNodes) return;
    for (const auto& [name, set] : state.objects(member::kDaemonSets)) {
      wake.push_back({member::kDaemonSets, name.ns, name.name});
    }
  };
  return daemons;
}

Controller make_resource_quota() {
  return {.name = "resourcequota",
          .types = {member::kResourceQuotas},
          .owner_kind = "",
          .decide = member::decide_resource_quota,
          .look_again = {},
          .also_wake = member::wake_quotas};
}

/// A controller that creates pods, which quotas may refuse until there is room again.
Controller limited(Controller controller) {
  controller.also_wake = [type = controller.types.front(), also = controller.also_wake](
                             const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (also) also(state, change, wake);
    member::wake_limited(state, change, type.c_str(), wake);
  };
  return controller;
}

Controller make_service_account() {
  Controller accounts{.name = "service-account",
                      .types = {type::kNamespace},
                      .owner_kind = "",
                      .decide = member::decide_service_account,
                      .look_again = {},
                      .also_wake = {}};
  accounts.also_wake = [](const State&, const Change& change, std::vector<ObjectKey>& wake) {
    const bool ours = change.object.type == member::kServiceAccounts && change.object.name == "default";
    if (ours && change.removed()) wake.push_back({type::kNamespace, "", change.object.ns});
  };
  return accounts;
}

}  // namespace

std::vector<std::unique_ptr<Role>> make_member_services(const MemberOptions& options) {
  std::vector<std::unique_ptr<Role>> services;
  const auto add = [&](Controller controller) { services.push_back(member::run_controller(std::move(controller))); };
  add({"deployment",
       {member::kDeployments},
       "Deployment",
       member::decide_deployment,
       member::look_again_deployment,
       {}});
  add(limited(
      {"replicaset", {member::kReplicaSets}, "ReplicaSet", member::decide_replica_set, member::look_again_pods, {}}));
  add(limited({"statefulset",
               {member::kStatefulSets},
               "StatefulSet",
               member::decide_stateful_set,
               member::look_again_pods,
               {}}));
  add(limited(make_daemon_set()));
  add(limited({"job", {member::kJobs}, "Job", member::decide_job, member::look_again_job, {}}));
  add(make_resource_quota());
  add({"cronjob", {member::kCronJobs}, "CronJob", member::decide_cron_job, member::look_again_cron_job, {}});
  add({"address", {member::kServices, member::kIngresses}, "", member::decide_address, {}, {}});
  add({"claim", {member::kClaims}, "", member::decide_claim, {}, {}});
  add({"endpointslice", {member::kServices}, "Service", member::decide_endpoint_slices, {}, member::wake_services});
  add({"autoscaler", {member::kAutoscalers}, "", member::decide_autoscaler, {}, member::wake_autoscalers});
  add({"disruption",
       {member::kDisruptionBudgets},
       "",
       member::decide_disruption_budget,
       member::look_again_disruption_budget,
       member::wake_disruption_budgets});
  add(make_service_account());
  services.push_back(member::make_pod_scheduler());
  add(make_kubelet(options));
  return services;
}

}  // namespace shiplog
