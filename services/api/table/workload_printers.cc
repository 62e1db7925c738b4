#include <algorithm>
#include <utility>

#include "events/base/api_version.h"
#include "events/base/ascii.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/api/table/cells.h"

namespace shiplog::api {
namespace {

const Value& template_containers(const Value& object) { return object["spec"]["template"]["spec"]["containers"]; }

std::string ratio(int64_t part, int64_t whole) { return std::to_string(part) + "/" + std::to_string(whole); }

void print_deployment(const Value& object, UtcMillis now, TableRow& row) {
  const Value& status = object["status"];
  row.cells = Value::array({object["metadata"]["name"],
                            ratio(status["readyReplicas"].as_int(), object["spec"]["replicas"].as_int(1)),
                            status["updatedReplicas"].as_int(), status["availableReplicas"].as_int(),
                            age_of(object, now), names_of(template_containers(object)),
                            images_of(template_containers(object)), selector_text(object["spec"]["selector"])});
}

void print_replicated(const Value& object, std::string selector, UtcMillis now, TableRow& row) {
  const Value& status = object["status"];
  row.cells =
      Value::array({object["metadata"]["name"], object["spec"]["replicas"].as_int(1), status["replicas"].as_int(),
                    status["readyReplicas"].as_int(), age_of(object, now), names_of(template_containers(object)),
                    images_of(template_containers(object)), std::move(selector)});
}

void print_replica_set(const Value& object, UtcMillis now, TableRow& row) {
  print_replicated(object, selector_text(object["spec"]["selector"]), now, row);
}

void print_replication_controller(const Value& object, UtcMillis now, TableRow& row) {
  print_replicated(object, labels_text(object["spec"]["selector"]), now, row);
}

void print_stateful_set(const Value& object, UtcMillis now, TableRow& row) {
  row.cells = Value::array({object["metadata"]["name"],
                            ratio(object["status"]["readyReplicas"].as_int(), object["spec"]["replicas"].as_int(1)),
                            age_of(object, now), names_of(template_containers(object)),
                            images_of(template_containers(object))});
}

void print_daemon_set(const Value& object, UtcMillis now, TableRow& row) {
  const Value& status = object["status"];
  row.cells = Value::array({object["metadata"]["name"], status["desiredNumberScheduled"].as_int(),
                            status["currentNumberScheduled"].as_int(), status["numberReady"].as_int(),
                            status["updatedNumberScheduled"].as_int(), status["numberAvailable"].as_int(),
                            labels_text(object["spec"]["template"]["spec"]["nodeSelector"]), age_of(object, now),
                            names_of(template_containers(object)), images_of(template_containers(object)),
                            selector_text(object["spec"]["selector"])});
}

void print_controller_revision(const Value& object, UtcMillis now, TableRow& row) {
  std::string controller = "<none>";
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].as_bool()) continue;
    const std::string group{split_api_version(owner["apiVersion"].as_string()).group};
    controller = lower_case(owner["kind"].as_string()) + (group.empty() ? "" : "." + group) + "/" + owner["name"].str();
  }
  row.cells = Value::array({object["metadata"]["name"], controller, object["revision"].as_int(), age_of(object, now)});
}

const char* job_status(const Value& job) {
  if (condition_holds(job, "Complete")) return "Complete";
  if (condition_holds(job, "Failed")) return "Failed";
  if (deleting(job)) return "Terminating";
  if (condition_holds(job, "Suspended")) return "Suspended";
  if (condition_holds(job, "FailureTarget")) return "FailureTarget";
  return "Running";
}

void print_job(const Value& job, UtcMillis now, TableRow& row) {
  const Value& spec = job["spec"];
  const int64_t succeeded = job["status"]["succeeded"].as_int();
  std::string completions = ratio(succeeded, spec["completions"].as_int(1));
  if (spec["completions"].is_null() && spec["parallelism"].as_int() > 1) {
    completions += " of " + std::to_string(spec["parallelism"].as_int());
  }
  std::string duration;
  if (const auto start = parse_rfc3339(job["status"]["startTime"].as_string())) {
    const auto end = parse_rfc3339(job["status"]["completionTime"].as_string());
    duration = human_duration((end ? end.value() : now) - start.value());
  }
  row.cells = Value::array({job["metadata"]["name"], job_status(job), completions, duration, age_of(job, now),
                            names_of(template_containers(job)), images_of(template_containers(job)),
                            selector_text(spec["selector"])});
}

void print_cron_job(const Value& object, UtcMillis now, TableRow& row) {
  const Value& spec = object["spec"];
  const Value& containers = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"];
  const Value& last = object["status"]["lastScheduleTime"];
  row.cells = Value::array({object["metadata"]["name"], spec["schedule"].str(), or_none(spec["timeZone"].as_string()),
                            spec["suspend"].as_bool() ? "True" : "False", object["status"]["active"].size(),
                            last.is_empty() ? "<none>" : age(last, now), age_of(object, now), names_of(containers),
                            images_of(containers), selector_text(spec["jobTemplate"]["spec"]["selector"])});
}

void print_pod_template(const Value& object, UtcMillis, TableRow& row) {
  const Value& containers = object["template"]["spec"]["containers"];
  row.cells = Value::array({object["metadata"]["name"], names_of(containers), images_of(containers),
                            labels_text(object["template"]["metadata"]["labels"])});
}

/// What a metric is and what it should be: "cpu: 12%/80%".
std::string metric_text(const Value& metric, const Value& current) {
  static constexpr std::pair<std::string_view, const char*> kSources[] = {{"Object", "object"},
                                                                          {"Pods", "pods"},
                                                                          {"Resource", "resource"},
                                                                          {"ContainerResource", "containerResource"},
                                                                          {"External", "external"}};
  const std::string_view type = metric["type"].as_string();
  const auto* source =
      std::find_if(std::begin(kSources), std::end(kSources), [&](const auto& each) { return each.first == type; });
  if (source == std::end(kSources)) return "<unknown type>";
  const Value& wanted = metric[source->second];
  const Value& target = wanted["target"];
  const Value& now = current[source->second]["current"];
  const bool resource = type == "Resource" || type == "ContainerResource";
  const bool average = type == "Pods" || !target["averageValue"].is_null();
  const auto percent = [](const Value& value, const char* none) {
    return value.is_null() ? std::string{none} : std::to_string(value.as_int()) + "%";
  };
  std::string text = resource ? wanted["name"].str() + ": " : "";
  if (resource && !average) {
    return text + percent(now["averageUtilization"], "<unknown>") + "/" +
           percent(target["averageUtilization"], "<auto>");
  }
  const char* field = average ? "averageValue" : "value";
  text += (now[field].is_null() ? "<unknown>" : now[field].str()) + "/" + target[field].str();
  return average && (type == "Object" || type == "External") ? text + " (avg)" : text;
}

void print_autoscaler(const Value& object, UtcMillis now, TableRow& row) {
  constexpr size_t kShown = 2;
  const Value& spec = object["spec"];
  const Value& metrics = spec["metrics"];
  std::vector<std::string> targets;
  for (size_t i = 0; i < std::min(metrics.size(), kShown); ++i) {
    targets.push_back(metric_text(metrics[i], object["status"]["currentMetrics"][i]));
  }
  std::string shown = or_none(joined(targets, ", "));
  if (metrics.size() > kShown) shown += " + " + std::to_string(metrics.size() - kShown) + " more...";
  const Value& target = spec["scaleTargetRef"];
  row.cells = Value::array({object["metadata"]["name"], target["kind"].str() + "/" + target["name"].str(), shown,
                            spec["minReplicas"].is_null() ? "<unset>" : std::to_string(spec["minReplicas"].as_int()),
                            std::to_string(spec["maxReplicas"].as_int()),
                            std::to_string(object["status"]["currentReplicas"].as_int()), age_of(object, now)});
}

void print_disruption_budget(const Value& object, UtcMillis now, TableRow& row) {
  const auto amount = [](const Value& value) {
    if (value.is_null()) return std::string{"N/A"};
    return value.is_string() ? value.str() : std::to_string(value.as_int());
  };
  const Value& spec = object["spec"];
  row.cells = Value::array({object["metadata"]["name"], amount(spec["minAvailable"]), amount(spec["maxUnavailable"]),
                            object["status"]["disruptionsAllowed"].as_int(), age_of(object, now)});
}

constexpr Column kContainers{"Containers", "string", 1};
constexpr Column kImages{"Images", "string", 1};
constexpr Column kSelector{"Selector", "string", 1};

std::vector<Column> pod_columns() {
  return {kName,
          {"Ready"},
          {"Status"},
          {"Restarts"},
          kAge,
          {"IP", "string", 1},
          {"Node", "string", 1},
          {"Nominated Node", "string", 1},
          {"Readiness Gates", "string", 1}};
}

std::vector<Column> daemon_set_columns() {
  return {kName,
          {"Desired", "integer"},
          {"Current", "integer"},
          {"Ready", "integer"},
          {"Up-to-date", "integer"},
          {"Available", "integer"},
          {"Node Selector"},
          kAge,
          kContainers,
          kImages,
          kSelector};
}

std::vector<Column> cron_job_columns() {
  return {
      kName,       {"Schedule"}, {"Timezone"}, {"Suspend", "boolean"}, {"Active", "integer"}, {"Last Schedule"}, kAge,
      kContainers, kImages,      kSelector};
}

void print_scale(const Value& scale, UtcMillis now, TableRow& row) {
  for (const Value& cell : {scale["metadata"]["name"], Value{scale["spec"]["replicas"].as_int()},
                            Value{scale["status"]["replicas"].as_int()}, Value{age_of(scale, now)}}) {
    row.cells.push_back(cell);
  }
}

}  // namespace

const std::vector<Printer>& workload_printers() {
  static const std::vector<Column> kReplicated = {
      kName,    {"Desired", "integer"}, {"Current", "integer"}, {"Ready", "integer"}, kAge, kContainers, kImages,
      kSelector};
  static const std::vector<Printer> kPrinters = {
      {"pods", pod_columns(), print_pod},
      {"deployments.apps",
       {kName, {"Ready"}, {"Up-to-date", "integer"}, {"Available", "integer"}, kAge, kContainers, kImages, kSelector},
       print_deployment},
      {"replicasets.apps", kReplicated, print_replica_set},
      {"controllerrevisions.apps", {kName, {"Controller"}, {"Revision", "integer"}, kAge}, print_controller_revision},
      {"statefulsets.apps", {kName, {"Ready"}, kAge, kContainers, kImages}, print_stateful_set},
      {"daemonsets.apps", daemon_set_columns(), print_daemon_set},
      {"jobs.batch",
       {kName, {"Status"}, {"Completions"}, {"Duration"}, kAge, kContainers, kImages, kSelector},
       print_job},
      {"replicationcontrollers", kReplicated, print_replication_controller},
      {"podtemplates", {kName, {"Containers"}, {"Images"}, {"Pod Labels"}}, print_pod_template},
      {"horizontalpodautoscalers.autoscaling",
       {kName, {"Reference"}, {"Targets"}, {"MinPods"}, {"MaxPods"}, {"Replicas"}, kAge},
       print_autoscaler},
      {"poddisruptionbudgets.policy",
       {kName, {"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", "integer"}, kAge},
       print_disruption_budget},
      {"cronjobs.batch", cron_job_columns(), print_cron_job},
      {"scales.autoscaling", {kName, {"Desired", "integer"}, {"Available", "integer"}, kAge}, print_scale},
  };
  return kPrinters;
}

}  // namespace shiplog::api
