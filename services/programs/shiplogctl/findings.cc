#include "services/programs/shiplogctl/findings.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "events/base/ascii.h"
#include "events/state/claim.h"
#include "events/state/condition.h"
#include "services/programs/shiplogctl/bindings.h"
#include "services/programs/shiplogctl/control_plane_report.h"
#include "services/programs/shiplogctl/without_targets.h"

namespace shiplog::ctl {
namespace {

class Search {
 public:
  std::vector<Finding> run(const FleetObjects& fleet) {
    find_roles(fleet.control_plane["roles"]);
    find_clusters(fleet.clusters);
    for (const Value& binding : fleet.bindings.items()) find_in_binding(binding);
    find_templates(fleet.templates);
    const auto order = [](const Finding& finding) {
      return std::tuple{std::ranges::find(kFindingStates, finding.state) - kFindingStates.begin(), finding.ns,
                        finding.kind, finding.name, finding.cluster};
    };
    std::ranges::sort(found_, {}, order);
    return std::move(found_);
  }

 private:
  void find_roles(const Value& roles) {
    for (const Value& role : roles.items()) {
      if (role["led"].as_bool(true)) continue;  // absent: unknown to this process
      Finding finding{.state = "no-leader", .kind = "Role", .name = role["role"].str(), .time = role["since"]};
      finding.reason = "no process leads this role: its decisions are pending";
      std::vector<int64_t> unled;
      for (const Value& slot : role["slots"].items()) {
        if (!slot["led"].as_bool(true)) unled.push_back(slot["slot"].as_int());
      }
      if (!unled.empty() && unled.size() < role["slots"].size()) {
        finding.reason = "no process has the " + slots_text(unled) + " of this role: their decisions are pending";
      }
      if (const auto holder = role["holder"].as_string(); !holder.empty()) {
        finding.reason += "; its last leader, " + std::string{holder} + ", does not answer";
      }
      finding.next = "shiplogd serve --roles=" + finding.name + " ...";
      found_.push_back(std::move(finding));
    }
  }

  void find_clusters(const Value& clusters) {
    for (const Value& cluster : clusters.items()) {
      const Value& ready = condition_of(cluster, "Ready");
      if (ready["status"].as_string() == "True") continue;
      Finding finding{.state = "unreachable",
                      .api_version = "cluster.karmada.io/v1alpha1",
                      .kind = "Cluster",
                      .name = cluster["metadata"]["name"].str(),
                      .time = ready["lastTransitionTime"]};
      finding.reason = ready.is_null() ? "it has not been probed yet" : ready["message"].str();
      finding.next = "kubectl describe cluster " + finding.name;
      unreachable_.insert(finding.name);
      found_.push_back(std::move(finding));
    }
  }

  static Finding about(const Value& binding, std::string state, std::string reason) {
    const Value& resource = binding["spec"]["resource"];
    Finding finding{.state = std::move(state),
                    .api_version = resource["apiVersion"].str(),
                    .kind = resource["kind"].str(),
                    .ns = resource["namespace"].str(),
                    .name = resource["name"].str(),
                    .reason = std::move(reason)};
    finding.next =
        "why " + lower_case(finding.kind) + "/" + finding.name + (finding.ns.empty() ? "" : " -n " + finding.ns);
    return finding;
  }

  void find_in_binding(const Value& binding) {
    const Value& resource = binding["spec"]["resource"];
    bound_.insert({resource["kind"].str(), resource["namespace"].str(), resource["name"].str()});
    if (binding["metadata"]["deletionTimestamp"].is_string()) return;
    const Value& scheduled = condition_of(binding, "Scheduled");
    const bool placed = binding["spec"]["clusters"].size() > 0;
    const bool follows =
        binding["spec"]["requiredBy"].size() > 0;  // an attached binding: it follows others and has no placement
    const bool suspended = binding["spec"]["suspension"]["scheduling"].as_bool();
    if (suspended) {
      found_.push_back(about(binding, "pending", "scheduling is suspended"));
    } else if (!follows && scheduled["status"].as_string() == "False") {
      Finding finding = about(binding, "unscheduled", scheduled["message"].str());
      if (placed) finding.reason = "its former placement stays: " + finding.reason;
      finding.time = scheduled["lastTransitionTime"];
      found_.push_back(std::move(finding));
    } else if (const WithoutTargets without = without_targets(binding); !placed && !without.expected) {
      Finding finding = about(binding, "unscheduled", without.reason);
      finding.time = binding["metadata"]["creationTimestamp"];
      found_.push_back(std::move(finding));
    }
    if (const Value& synced = condition_of(binding, "WorksSynced"); synced["status"].as_string() == "False") {
      Finding finding = about(binding, "pending", synced["message"].str());
      finding.time = synced["lastTransitionTime"];
      found_.push_back(std::move(finding));
    }
    for (const BindingTarget& target : targets_of(binding)) find_in_target(binding, target);
  }

  void find_in_target(const Value& binding, const BindingTarget& target) {
    std::string state = "pending";
    std::string reason;
    if (!target.placed) {
      reason = !target.evicting  ? "being removed from the cluster"
               : target.purged   ? "deleted there: its eviction ends when it is healthy elsewhere"
               : !target.applied ? "being evicted; it is not applied there"
                                 : "runs there until its replacement is healthy elsewhere";
    } else if (target.suspended) {
      reason = "dispatching is suspended";
    } else if (unreachable_.contains(target.cluster)) {
      reason = "the cluster is not ready: the reported status may be outdated";
    } else if (!target.applied) {
      reason = target.applied_message.empty() ? "not applied yet" : target.applied_message;
    } else if (target.health == "Unhealthy") {
      state = "unhealthy";
      reason = "the cluster reports it as unhealthy";
      if (target.replicas >= 0 && target.ready >= 0 && target.ready < target.replicas) {
        reason = std::to_string(target.ready) + " of " + std::to_string(target.replicas) + " replicas are ready";
      }
    } else {
      return;
    }
    Finding finding = about(binding, std::move(state), std::move(reason));
    finding.cluster = target.cluster;
    finding.next += " --cluster " + target.cluster;
    found_.push_back(std::move(finding));
  }

  void find_templates(const Value& templates) {
    for (const Value& object : templates.items()) {
      const Value& metadata = object["metadata"];
      const std::tuple key{object["kind"].str(), metadata["namespace"].str(), metadata["name"].str()};
      if (bound_.contains(key) || metadata["deletionTimestamp"].is_string()) continue;
      Finding finding{.state = "unselected",
                      .api_version = object["apiVersion"].str(),
                      .kind = std::get<0>(key),
                      .ns = std::get<1>(key),
                      .name = std::get<2>(key),
                      .reason = "no policy selects it: it runs nowhere",
                      .time = metadata["creationTimestamp"]};
      if (const auto claim = claim_of(object)) {
        finding.state = "pending";
        finding.reason = (claim->policy.ns.empty() ? "ClusterPropagationPolicy "
                                                   : "PropagationPolicy " + claim->policy.ns.str() + "/") +
                         claim->policy.name.str() + " has it, but has not been applied to it yet: it runs nowhere";
      }
      finding.next = "why " + lower_case(finding.kind) + "/" + finding.name + " -n " + finding.ns;
      found_.push_back(std::move(finding));
    }
  }

  std::vector<Finding> found_;
  std::set<std::string> unreachable_;
  std::set<std::tuple<std::string, std::string, std::string>> bound_;
};

}  // namespace

std::vector<Finding> findings_of(const FleetObjects& fleet) { return Search{}.run(fleet); }

}  // namespace shiplog::ctl
