#include "services/programs/shiplogctl/workloads.h"

#include <ostream>

#include "services/programs/shiplogctl/bindings.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/table.h"
#include "services/programs/shiplogctl/without_targets.h"

namespace shiplog::ctl {
namespace {

Value workload(const Value& binding, const BindingTarget& target) {
  const Value& resource = binding["spec"]["resource"];
  Value item = Value::object({{"apiVersion", resource["apiVersion"]},
                              {"kind", resource["kind"]},
                              {"namespace", resource["namespace"]},
                              {"name", resource["name"]},
                              {"binding", binding["metadata"]["name"]},
                              {"cluster", target.cluster}});
  if (const Value& time = binding["status"]["lastScheduledTime"]; time.is_string()) item.set("since", time);
  if (target.cluster.empty()) {
    const WithoutTargets without = without_targets(binding);
    item.set("note", without.note);
    item.set("message", without.reason);
    return item;
  }
  if (const int64_t wanted = target.desired >= 0 ? target.desired : target.replicas; wanted >= 0) {
    item.set("replicas", wanted);
  }
  if (target.ready >= 0) item.set("ready", target.ready);
  item.set("applied", target.applied);
  item.set("health", target.health);
  item.set("message", target.applied_message);
  if (target.evicting) {
    item.set("note", "evicting");
  } else if (!target.placed) {
    item.set("note", "removing");
  } else if (target.suspended) {
    item.set("note", "suspended");
  }
  return item;
}

std::string ready_text(const Value& item) {
  const Value& wanted = item["replicas"];
  const Value& ready = item["ready"];
  if (wanted.is_null() && ready.is_null()) return "-";
  return (ready.is_null() ? "?" : std::to_string(ready.as_int())) + "/" +
         (wanted.is_null() ? "?" : std::to_string(wanted.as_int()));
}

}  // namespace

Value workloads_of(const Value& bindings, const WorkloadsOptions& options) {
  Value items = Value::array();
  for (const Value& binding : bindings.items()) {
    if (!options.all_kinds && !is_workload(binding)) continue;
    const auto targets = targets_of(binding);
    for (const BindingTarget& target : targets) {
      if (options.cluster.empty() || target.cluster == options.cluster) items.push_back(workload(binding, target));
    }
    if (targets.empty() && options.cluster.empty()) items.push_back(workload(binding, {}));
  }
  return items;
}

Result<void> get_workloads(ServerConnection& plane, const WorkloadsOptions& options, UtcMillis now, const Output& to) {
  SHIPLOG_TRY(const auto at, reads_at(plane, options.at));
  if (!options.cluster.empty() && options.at.empty()) {
    // A mistyped name must not look like a cluster without workloads. Without permission to read Clusters the list is
    // still shown.
    const auto cluster = plane.get("/apis/cluster.karmada.io/v1alpha1/clusters/" + options.cluster);
    if (!cluster && cluster.error().code == ErrorCode::kNotFound) return cluster.error();
  }
  const std::string scope = options.ns.empty() ? "" : "/namespaces/" + options.ns;
  SHIPLOG_TRY(const Value bound, plane.get(kBindingGroup + scope + "/resourcebindings", at));
  Value items = workloads_of(bound["items"], options);
  if (options.all_kinds && options.ns.empty()) {
    SHIPLOG_TRY(const Value wide, plane.get(std::string{kBindingGroup} + "/clusterresourcebindings", at));
    const Value of_cluster_scope = workloads_of(wide["items"], options);
    for (const Value& item : of_cluster_scope.items()) items.push_back(item);
  }
  if (options.output == "name") {
    print_names(items, to.out);
    return ok();
  }
  if (print_document(Value::object({{"kind", "WorkloadList"}, {"items", items}}), options.output, to.out)) return ok();
  if (items.size() == 0) {
    to.err << "No workloads found" << (options.ns.empty() ? "" : " in namespace " + options.ns)
           << (options.cluster.empty() ? "" : " on cluster " + options.cluster) << std::endl;
    return ok();
  }
  const bool wide = options.output == "wide";
  std::vector<std::string> header;
  if (options.ns.empty()) header.emplace_back("NAMESPACE");
  for (const char* name : {"KIND", "NAME", "CLUSTER", "READY", "APPLIED", "HEALTH", "NOTE", "SINCE"}) {
    header.emplace_back(name);
  }
  if (wide) header.insert(header.end(), {"BINDING", "MESSAGE"});
  Table table{header};
  for (const Value& item : items.items()) {
    const bool placed = !item["cluster"].str().empty();
    std::vector<std::string> cells;
    if (options.ns.empty()) cells.push_back(item["namespace"].str());
    cells.insert(cells.end(), {item["kind"].str(), item["name"].str(), placed ? item["cluster"].str() : "<none>",
                               ready_text(item), placed ? (item["applied"].as_bool() ? "True" : "False") : "-",
                               placed ? item["health"].str() : "-", item["note"].str(), since(item["since"], now)});
    if (wide) cells.insert(cells.end(), {item["binding"].str(), item["message"].str()});
    table.add(std::move(cells));
  }
  to.out << table.text(!options.no_headers, to.terminal) << std::flush;
  return ok();
}

}  // namespace shiplog::ctl
