#include "services/programs/shiplogctl/status.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <sstream>
#include <tuple>

#include "events/base/ascii.h"
#include "services/programs/shiplogctl/bindings.h"
#include "services/programs/shiplogctl/control_plane_report.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kLongestReason = 160;

struct WorkloadKind {
  const char *api_version, *kind, *path, *plural;
};
constexpr std::array<WorkloadKind, 5> kWorkloads = {{{"apps/v1", "Deployment", "/apis/apps/v1", "deployments"},
                                                     {"apps/v1", "StatefulSet", "/apis/apps/v1", "statefulsets"},
                                                     {"apps/v1", "DaemonSet", "/apis/apps/v1", "daemonsets"},
                                                     {"batch/v1", "Job", "/apis/batch/v1", "jobs"},
                                                     {"batch/v1", "CronJob", "/apis/batch/v1", "cronjobs"}}};

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
    SHIPLOG_TRY(Value bindings, read(path_of(kBindingGroup, "resourcebindings", options.ns), ""));
    if (bindings.is_null() && options.ns.empty() && !options.fallback.empty()) {
      options.ns = options.fallback;
      err_ << "notice: only namespace " << options.ns << " is shown: listing all namespaces is forbidden" << std::endl;
      SHIPLOG_TRY(bindings, plane_.get(path_of(kBindingGroup, "resourcebindings", options.ns)));
    } else if (bindings.is_null()) {
      SHIPLOG_TRY(bindings,
                  plane_.get(path_of(kBindingGroup, "resourcebindings", options.ns)));  // fails with the reason
    }
    fleet.bindings = bindings["items"];
    if (options.ns.empty()) {
      SHIPLOG_TRY(const Value wide,
                  read(path_of(kBindingGroup, "clusterresourcebindings", ""), "ClusterResourceBindings"));
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
    SHIPLOG_TRY(fleet.control_plane, read("/shiplog/v1/status", "the control plane and its roles"));
    return fleet;
  }

 private:
  static std::string path_of(const std::string& group, const std::string& plural, const std::string& ns) {
    return group + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + plural;
  }

  ServerConnection& plane_;
  std::ostream& err_;
};

Value document_of(const FleetObjects& fleet, const std::vector<Finding>& findings, const std::string& program) {
  Value items = Value::array();
  Value counts = Value::object();
  for (const std::string_view state : kFindingStates) {
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
  Value document = Value::object({{"kind", "FleetStatus"}, {"counts", std::move(counts)}, {"items", std::move(items)}});
  if (!fleet.control_plane.is_null()) document.set("controlPlane", fleet.control_plane);
  if (!fleet.clusters.is_null()) document.set("clusters", cluster_states(fleet.clusters));
  return document;
}

}  // namespace

Result<void> status(ServerConnection& plane, const StatusOptions& given, const std::string& program, UtcMillis now,
                    const Output& to) {
  std::ostream& out = to.out;
  StatusOptions options = given;
  StatusReader reader{plane, to.err};
  SHIPLOG_TRY(const FleetObjects fleet, reader.fleet(options));
  const auto findings = findings_of(fleet);
  const Value document = document_of(fleet, findings, program);
  if (options.output == "name") {
    print_names(document["items"], out);
    return ok();
  }
  if (print_document(document, options.output, out)) return ok();

  const size_t unreachable = static_cast<size_t>(std::ranges::count(findings, "unreachable", &Finding::state));
  out << control_plane_text(fleet.control_plane, now);
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
  if (fleet.control_plane["roles"].size() > 0) {
    const size_t roles = fleet.control_plane["roles"].size();
    const auto without = static_cast<size_t>(std::ranges::count(findings, "no-leader", &Finding::state));
    out << "roles:    " << roles - without << " of " << roles << " have a leader\n";
  }
  out << roles_text(fleet.control_plane, now, to.terminal);
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

Result<void> watch_status(ServerConnection& plane, const StatusOptions& options, const std::string& program,
                          const std::function<UtcMillis()>& now, const std::function<bool()>& wait, const Output& to) {
  do {
    // Composed first, so that the screen does not flicker.
    std::ostringstream text;
    const auto shown = status(plane, options, program, now(), {text, to.err, to.terminal});
    const bool away =
        !shown && (shown.error().code == ErrorCode::kUnavailable || shown.error().code == ErrorCode::kTimeout);
    if (!shown && !away) return shown.error();
    if (to.terminal.columns > 0) to.out << "\033[H\033[2J";
    to.out << (away ? rfc3339(now()) + "  " + shown.error().message + "\n" : text.str()) << std::flush;
  } while (to.out.good() && wait());
  return ok();
}

}  // namespace shiplog::ctl
