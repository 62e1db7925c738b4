#include "services/programs/shiplogctl/status.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <tuple>

#include "events/base/ascii.h"
#include "events/state/condition.h"
#include "services/programs/shiplogctl/bindings.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
constexpr const char* kWork = "/apis/work.karmada.io/v1alpha2";
constexpr size_t kLongestReason = 160;

/// In the order in which they are shown.
constexpr std::array<std::string_view, 6> kStates = {"no-leader", "unreachable", "unscheduled",
                                                     "unhealthy", "pending",     "unselected"};

struct WorkloadKind {
  const char *api_version, *kind, *path, *plural;
};
constexpr std::array<WorkloadKind, 5> kWorkloads = {{{"apps/v1", "Deployment", "/apis/apps/v1", "deployments"},
                                                     {"apps/v1", "StatefulSet", "/apis/apps/v1", "statefulsets"},
                                                     {"apps/v1", "DaemonSet", "/apis/apps/v1", "daemonsets"},
                                                     {"batch/v1", "Job", "/apis/batch/v1", "jobs"},
                                                     {"batch/v1", "CronJob", "/apis/batch/v1", "cronjobs"}}};

class Search {
 public:
  std::vector<Finding> run(const FleetObjects& fleet) {
    look_at_roles(fleet.roles);
    look_at_clusters(fleet.clusters);
    for (const Value& binding : fleet.bindings.items()) look_at_binding(binding);
    look_at_templates(fleet.templates);
    const auto order = [](const Finding& finding) {
      return std::tuple{std::ranges::find(kStates, finding.state) - kStates.begin(), finding.ns, finding.kind,
                        finding.name, finding.cluster};
    };
    std::ranges::sort(found_, {}, order);
    return std::move(found_);
  }

 private:
  void look_at_roles(const Value& roles) {
    for (const Value& role : roles.items()) {
      if (role["led"].as_bool()) continue;
      Finding finding{.state = "no-leader", .kind = "Role", .name = role["role"].str(), .time = role["since"]};
      finding.reason = "no process leads this role: its decisions are pending";
      finding.next = "shiplogd serve --roles=" + finding.name + " ...";
      found_.push_back(std::move(finding));
    }
  }

  void look_at_clusters(const Value& clusters) {
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

  void look_at_binding(const Value& binding) {
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
    } else if (!follows && !placed) {
      Finding finding = about(binding, "unscheduled", "no cluster has been chosen yet");
      finding.time = binding["metadata"]["creationTimestamp"];
      found_.push_back(std::move(finding));
    }
    if (const Value& synced = condition_of(binding, "WorksSynced"); synced["status"].as_string() == "False") {
      Finding finding = about(binding, "pending", synced["message"].str());
      finding.time = synced["lastTransitionTime"];
      found_.push_back(std::move(finding));
    }
    for (const BindingTarget& target : targets_of(binding)) look_at_target(binding, target);
  }

  void look_at_target(const Value& binding, const BindingTarget& target) {
    std::string state = "pending";
    std::string reason;
    if (!target.placed) {
      reason =
          target.evicting ? "runs there until its replacement is healthy elsewhere" : "being removed from the cluster";
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

  void look_at_templates(const Value& templates) {
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
      finding.next = "why " + lower_case(finding.kind) + "/" + finding.name + " -n " + finding.ns;
      found_.push_back(std::move(finding));
    }
  }

  std::vector<Finding> found_;
  std::set<std::string> unreachable_;
  std::set<std::tuple<std::string, std::string, std::string>> bound_;
};

/// Reads objects; those that the user must not read remain null and are reported.
class StatusReader {
 public:
  StatusReader(ServerConnection& plane, std::ostream& err) : plane_{plane}, err_{err} {}

  Result<Value> read(const std::string& path, const std::string& what, const std::string& accept = {}) {
    auto answer = plane_.get(path, {}, accept);
    if (answer) return std::move(answer).value();
    if (answer.error().code != ErrorCode::kForbidden) return answer.error();
    if (!what.empty()) err_ << "notice: " << what << " are left out: " << answer.error().message << std::endl;
    return Value{};
  }

  Result<FleetObjects> fleet(StatusOptions& options) {
    FleetObjects fleet;
    SHIPLOG_TRY(Value bindings, read(path_of(kWork, "resourcebindings", options.ns), ""));
    if (bindings.is_null() && options.ns.empty() && !options.fallback.empty()) {
      options.ns = options.fallback;
      err_ << "notice: only namespace " << options.ns << " is shown: listing all namespaces is forbidden" << std::endl;
      SHIPLOG_TRY(bindings, plane_.get(path_of(kWork, "resourcebindings", options.ns)));
    } else if (bindings.is_null()) {
      SHIPLOG_TRY(bindings, plane_.get(path_of(kWork, "resourcebindings", options.ns)));  // fails with the reason
    }
    fleet.bindings = bindings["items"];
    if (options.ns.empty()) {
      SHIPLOG_TRY(const Value wide, read(path_of(kWork, "clusterresourcebindings", ""), "ClusterResourceBindings"));
      for (const Value& item : wide["items"].items()) fleet.bindings.push_back(item);
    }
    SHIPLOG_TRY(const Value clusters, read(kClusters, "Clusters"));
    fleet.clusters = clusters["items"];
    fleet.templates = Value::array();
    for (const WorkloadKind& kind : kWorkloads) {
      SHIPLOG_TRY(const Value list, read(path_of(kind.path, kind.plural, options.ns), kind.plural,
                                         "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"));
      for (Value object : list["items"].items()) {
        object.set("apiVersion", kind.api_version);
        object.set("kind", kind.kind);
        fleet.templates.push_back(std::move(object));
      }
    }
    SHIPLOG_TRY(const Value state, read("/shiplog/v1/state", "roles"));
    fleet.roles = state["roles"];
    return fleet;
  }

 private:
  static std::string path_of(const std::string& group, const std::string& plural, const std::string& ns) {
    return group + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + plural;
  }

  ServerConnection& plane_;
  std::ostream& err_;
};

Value document_of(const std::vector<Finding>& findings, const std::string& program) {
  Value items = Value::array();
  Value counts = Value::object();
  for (const std::string_view state : kStates) {
    counts.set(std::string{state}, static_cast<int64_t>(std::ranges::count(findings, state, &Finding::state)));
  }
  for (const Finding& finding : findings) {
    Value item = Value::object(
        {{"state", finding.state}, {"kind", finding.kind}, {"name", finding.name}, {"reason", finding.reason}});
    if (!finding.api_version.empty()) item.set("apiVersion", finding.api_version);
    if (!finding.ns.empty()) item.set("namespace", finding.ns);
    if (!finding.cluster.empty()) item.set("cluster", finding.cluster);
    if (finding.time.is_string()) item.set("since", finding.time);
    item.set("next", (finding.next.starts_with("why ") ? program + " " : "") + finding.next);
    items.push_back(std::move(item));
  }
  return Value::object({{"kind", "FleetStatus"}, {"counts", std::move(counts)}, {"items", std::move(items)}});
}

}  // namespace

std::vector<Finding> findings_of(const FleetObjects& fleet) { return Search{}.run(fleet); }

Result<void> status(ServerConnection& plane, const StatusOptions& asked, const std::string& program, UtcMillis now,
                    const Output& to) {
  std::ostream& out = to.out;
  StatusOptions options = asked;
  StatusReader reader{plane, to.err};
  SHIPLOG_TRY(const FleetObjects fleet, reader.fleet(options));
  const auto findings = findings_of(fleet);
  const Value document = document_of(findings, program);
  if (options.output == "name") {
    print_names(document["items"], out);
    return ok();
  }
  if (print_document(document, options.output, out)) return ok();

  const size_t unreachable = static_cast<size_t>(std::ranges::count(findings, "unreachable", &Finding::state));
  if (!fleet.clusters.is_null()) {
    out << "clusters: " << fleet.clusters.size() - unreachable << " of " << fleet.clusters.size() << " are ready\n";
  }
  out << "bindings: " << fleet.bindings.size();
  for (const char* state : {"unscheduled", "unhealthy", "pending"}) {
    std::set<std::tuple<std::string, std::string, std::string>> objects;
    for (const Finding& finding : findings) {
      if (finding.state == state) objects.insert({finding.kind, finding.ns, finding.name});
    }
    out << ", " << objects.size() << " " << state;
  }
  const auto unselected = std::ranges::count(findings, "unselected", &Finding::state);
  if (unselected > 0)
    out << "; " << unselected << (unselected == 1 ? " workload" : " workloads") << " without a policy";
  out << "\n";
  if (fleet.roles.size() > 0) {
    const auto without = static_cast<size_t>(std::ranges::count(findings, "no-leader", &Finding::state));
    out << "roles:    " << fleet.roles.size() - without << " of " << fleet.roles.size() << " have a leader\n";
  }
  if (findings.empty()) {
    out << "nothing needs attention" << std::endl;
    return ok();
  }
  Table table{{"STATE", "OBJECT", "CLUSTER", "SINCE", "REASON", "NEXT"}};
  for (const Finding& finding : findings) {
    const std::string object =
        lower_case(finding.kind) + "/" + (finding.ns.empty() ? "" : finding.ns + "/") + finding.name;
    table.add({finding.state, object, finding.cluster, since(finding.time, now), cut(finding.reason, kLongestReason),
               (finding.next.starts_with("why ") ? program + " " : "") + finding.next});
  }
  out << "\n" << table.text(true, to.terminal) << std::flush;
  return ok();
}

}  // namespace shiplog::ctl
