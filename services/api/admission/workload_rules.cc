#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "events/base/quantity.h"
#include "events/state/policy.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/pod_rules.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/view_label.h"
#include "services/cron/cron_schedule.h"

// Pods and what makes them. Source: CRU-8 to CRU-10.

namespace shiplog::api {
namespace {

constexpr const char* kNotNegative = "must be greater than or equal to 0";

/// The spec of the object's pod template, for writing; nullptr when there is none.
Value* template_spec(Value& spec) {
  if (!spec["template"]["spec"].is_object()) return nullptr;
  return &spec.edit("template").edit("spec");
}

void fill_template(Value& object, const Write&) {
  if (!object["spec"].is_object()) return;
  if (Value* spec = template_spec(object.edit("spec"))) fill_pod_spec(*spec);
}

void check_not_negative(const Value& owner, const std::string& field, const char* name, Causes& causes) {
  if (owner[name].as_int() < 0) causes.invalid(field + "." + name, owner[name], kNotNegative);
}

/// What the write replaces; null for a create.
const Value& replaced(const Write& write) {
  static const Value kNone;
  return write.old == nullptr ? kNone : *write.old;
}

/// `selector` and `template` of the apps kinds; `what`: "deployment".
void check_template(const Value& spec, const Write& write, const std::string& what, Causes& causes) {
  const Value& selector = spec["selector"];
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (selector.is_null()) {
    causes.required("spec.selector");
  } else {
    check_selector(selector, "spec.selector", causes);
    if (selector["matchLabels"].size() + selector["matchExpressions"].size() == 0) {
      causes.invalid("spec.selector", selector, "empty selector is invalid for " + what);
    } else if (const auto parsed = label_selector_from(selector); parsed.valid && !parsed.matches(labels)) {
      causes.invalid("spec.template.metadata.labels", labels.is_null() ? Value::object() : labels,
                     "`selector` does not match template `labels`");
    }
  }
  check_labels(labels, "spec.template.metadata.labels", causes);
  std::set<std::string> claims;
  for (const Value& claim : spec["volumeClaimTemplates"].items()) claims.insert(claim["metadata"]["name"].str());
  check_pod_spec(spec["template"]["spec"], replaced(write)["spec"]["template"]["spec"], "spec.template.spec", causes,
                 claims);
}

void check_always_restarts(const Value& spec, Causes& causes) {
  const Value& policy = spec["template"]["spec"]["restartPolicy"];
  if (policy.as_string() == "OnFailure" || policy.as_string() == "Never") {
    causes.not_supported("spec.template.spec.restartPolicy", policy, {"Always"});
  }
}

void check_immutable(const Value& object, const Write& write, const char* name, Causes& causes) {
  if (write.old == nullptr || (*write.old)["spec"][name] == object["spec"][name]) return;
  causes.invalid(std::string{"spec."} + name, object["spec"][name], "field is immutable");
}

void fill_deployment(Value& object, const Write& write) {
  fill_template(object, write);
  if (!object["spec"]["strategy"].is_object()) return;
  Value& strategy = object.edit("spec").edit("strategy");
  if (strategy["type"].is_empty()) strategy.set("type", "RollingUpdate");
  if (strategy["type"].as_string() != "RollingUpdate") return;
  Value& rolling = strategy.edit("rollingUpdate");
  if (!rolling.is_object()) rolling = Value::object();
  for (const char* name : {"maxSurge", "maxUnavailable"}) {
    if (rolling[name].is_null()) rolling.set(name, "25%");
  }
}

void check_deployment(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  for (const char* name : {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
    check_not_negative(spec, "spec", name, causes);
  }
  check_template(spec, write, "deployment", causes);
  check_always_restarts(spec, causes);
  check_immutable(object, write, "selector", causes);
  if (spec["progressDeadlineSeconds"].is_int() &&
      spec["progressDeadlineSeconds"].as_int() <= spec["minReadySeconds"].as_int()) {
    causes.invalid("spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"],
                   "must be greater than minReadySeconds");
  }
  const Value& strategy = spec["strategy"];
  const Value& rolling = strategy["rollingUpdate"];
  if (strategy["type"].as_string() == "Recreate") {
    if (!rolling.is_null()) {
      causes.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (strategy["type"].as_string() != "RollingUpdate") {
    causes.not_supported("spec.strategy.type", strategy["type"], {"Recreate", "RollingUpdate"});
  } else {
    check_amount(rolling, "spec.strategy.rollingUpdate", "maxSurge", causes);
    check_amount(rolling, "spec.strategy.rollingUpdate", "maxUnavailable", causes);
    if (amount_of(rolling["maxSurge"]) == 0 && amount_of(rolling["maxUnavailable"]) == 0) {
      causes.invalid("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"],
                     "may not be 0 when `maxSurge` is 0");
    }
  }
}

/// A copy of a view (`kubectl get rs -o yaml`, a backup) would be treated as a workload, and propagated.
void check_no_view(const Value& object, const Write&, Causes& causes) {
  if (object["metadata"]["labels"][kViewLabel].is_null()) return;
  causes.forbidden("metadata.labels[" + std::string{kViewLabel} + "]",
                   "this is a copy of a read-only view of a rollout history, which the server computes; remove the "
                   "label to store an object of its own");
}

void check_replica_set(const Value& object, const Write& write, Causes& causes) {
  check_no_view(object, write, causes);
  const Value& spec = object["spec"];
  check_not_negative(spec, "spec", "replicas", causes);
  check_not_negative(spec, "spec", "minReadySeconds", causes);
  check_template(spec, write, "deployment", causes);  // upstream's own word here
  check_always_restarts(spec, causes);
  check_immutable(object, write, "selector", causes);
}

void fill_stateful_set(Value& object, const Write& write) {
  fill_template(object, write);
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  Value& strategy = spec.edit("updateStrategy");
  if (!strategy.is_object()) strategy = Value::object();
  if (strategy["type"].is_empty()) strategy.set("type", "RollingUpdate");
  if (strategy["type"].as_string() == "RollingUpdate") {
    Value& rolling = strategy.edit("rollingUpdate");
    if (!rolling.is_object()) rolling = Value::object();
    if (rolling["partition"].is_null()) rolling.set("partition", 0);
  }
  if (spec["volumeClaimTemplates"].size() == 0) return;
  for (Value& claim : spec.edit("volumeClaimTemplates").edit_items()) {
    // As the type would be written on its own.
    if (claim["apiVersion"].is_empty()) claim.set("apiVersion", "v1");
    if (claim["kind"].is_empty()) claim.set("kind", "PersistentVolumeClaim");
  }
}

void check_stateful_set(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  for (const char* name : {"replicas", "minReadySeconds", "revisionHistoryLimit"}) {
    check_not_negative(spec, "spec", name, causes);
  }
  check_template(spec, write, "statefulset", causes);
  check_always_restarts(spec, causes);
  const std::string_view management = spec["podManagementPolicy"].as_string();
  if (management != "OrderedReady" && management != "Parallel") {
    causes.invalid("spec.podManagementPolicy", spec["podManagementPolicy"], "must be 'OrderedReady' or 'Parallel'");
  }
  const Value& strategy = spec["updateStrategy"];
  if (strategy["type"].as_string() == "OnDelete") {
    if (!strategy["rollingUpdate"].is_null()) {
      causes.invalid("spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"],
                     "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (strategy["type"].as_string() != "RollingUpdate") {
    causes.invalid("spec.updateStrategy", strategy["type"], "must be 'RollingUpdate' or 'OnDelete'");
  } else {
    check_not_negative(strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate", "partition", causes);
  }
  if (write.old == nullptr) return;
  Value allowed = (*write.old)["spec"];
  for (const char* name : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                           "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    allowed.erase(name);
    if (const Value* value = spec.find(name)) allowed.set(name, *value);
  }
  if (allowed != spec) {
    causes.forbidden("spec",
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                     "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                     "'minReadySeconds' are forbidden");
  }
}

void fill_daemon_set(Value& object, const Write& write) {
  fill_template(object, write);
  if (!object["spec"]["updateStrategy"].is_object()) return;
  Value& strategy = object.edit("spec").edit("updateStrategy");
  if (strategy["type"].is_empty()) strategy.set("type", "RollingUpdate");
  if (strategy["type"].as_string() != "RollingUpdate") return;
  Value& rolling = strategy.edit("rollingUpdate");
  if (!rolling.is_object()) rolling = Value::object();
  if (rolling["maxUnavailable"].is_null()) rolling.set("maxUnavailable", 1);
  if (rolling["maxSurge"].is_null()) rolling.set("maxSurge", 0);
}

void check_daemon_set(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_not_negative(spec, "spec", "minReadySeconds", causes);
  check_not_negative(spec, "spec", "revisionHistoryLimit", causes);
  check_template(spec, write, "daemonset", causes);
  check_always_restarts(spec, causes);
  check_immutable(object, write, "selector", causes);
  const std::string_view type = spec["updateStrategy"]["type"].as_string();
  if (type != "RollingUpdate" && type != "OnDelete") {
    causes.not_supported("spec.updateStrategy.type", spec["updateStrategy"]["type"], {"OnDelete", "RollingUpdate"});
  }
}

/// Defaults of a JobSpec. Its selector and the labels that go with it carry the job's uid: the cluster that runs the
/// job makes them, as the uid there is another one.
void fill_job_spec(Value& spec) {
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.set("completions", 1);
  if (spec["parallelism"].is_null()) spec.set("parallelism", 1);
  if (spec["podReplacementPolicy"].is_empty()) {
    spec.set("podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  }
  if (Value* pod = template_spec(spec)) fill_pod_spec(*pod);
}

void fill_job(Value& object, const Write&) {
  if (object["spec"].is_object()) fill_job_spec(object.edit("spec"));
}

/// The rules of a JobSpec that older builds did not have.
void check_job_values(const Value& spec, const std::string& field, Causes& causes) {
  const bool indexed = spec["completionMode"].as_string() == "Indexed";
  for (const char* name : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec[name].is_null()) continue;
    check_not_negative(spec, field, name, causes);
    if (!indexed) causes.invalid(field + "." + name, spec[name], "requires indexed completion mode");
  }
  if (!spec["maxFailedIndexes"].is_null() && spec["backoffLimitPerIndex"].is_null()) {
    causes.required(field + ".backoffLimitPerIndex", "when maxFailedIndexes is specified");
  }
  const Value& replacement = spec["podReplacementPolicy"];
  const std::string_view policy = replacement.as_string();
  if (spec["podFailurePolicy"].is_null()) {
    if (!policy.empty() && policy != "Failed" && policy != "TerminatingOrFailed") {
      causes.not_supported(field + ".podReplacementPolicy", replacement, {"Failed", "TerminatingOrFailed"});
    }
    return;
  }
  if (!policy.empty() && policy != "Failed") {
    causes.not_supported(field + ".podReplacementPolicy", replacement, {"Failed"});
  }
  if (const Value& restart = spec["template"]["spec"]["restartPolicy"]; restart.as_string() == "OnFailure") {
    causes.invalid(field + ".template.spec.restartPolicy", restart,
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

/// Whether a job can have these labels from the cluster that runs it: they carry its uid and name.
bool is_generated_label(std::string_view key) {
  return key == "controller-uid" || key == "job-name" || key == "batch.kubernetes.io/controller-uid" ||
         key == "batch.kubernetes.io/job-name";
}

/// The selector of a new job: its own, or one that would have to be generated.
void check_job_selector(const Value& spec, Causes& causes) {
  const Value& selector = spec["selector"];
  if (selector.is_null()) {
    if (spec["manualSelector"].as_bool()) causes.required("spec.selector");
    return;
  }
  check_selector(selector, "spec.selector", causes);
  const auto parsed = label_selector_from(selector);
  if (!parsed.valid) return;
  if (spec["manualSelector"].as_bool()) {
    const Value& labels = spec["template"]["metadata"]["labels"];
    if (parsed.matches(labels)) return;
    return causes.invalid("spec.template.metadata.labels", labels.is_null() ? Value::object() : labels,
                          "`selector` does not match template `labels`");
  }
  const bool generated = std::all_of(parsed.requirements.begin(), parsed.requirements.end(), [](const auto& each) {
    return is_generated_label(each.key) || each.op == "NotIn" || each.op == "DoesNotExist";
  });
  if (!generated) causes.invalid("spec.selector", selector, "`selector` not auto-generated");
}

void check_job_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes) {
  for (const char* name :
       {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}) {
    check_not_negative(spec, field, name, causes);
  }
  const std::string pod = field + ".template.spec";
  check_labels(spec["template"]["metadata"]["labels"], field + ".template.metadata.labels", causes);
  check_pod_spec(spec["template"]["spec"], old["template"]["spec"], pod, causes);
  const Value& restart = spec["template"]["spec"]["restartPolicy"];
  if (restart.as_string() == "Always") causes.not_supported(pod + ".restartPolicy", restart, {"OnFailure", "Never"});
  const std::string_view mode = spec["completionMode"].as_string();
  if (mode != "NonIndexed" && mode != "Indexed" && !mode.empty()) {
    causes.not_supported(field + ".completionMode", spec["completionMode"], {"Indexed", "NonIndexed"});
  }
  if (mode == "Indexed" && spec["completions"].is_null()) {
    causes.required(field + ".completions", "when completion mode is Indexed");
  }
  const auto check = [&](const Value& each, Causes& found) { check_job_values(each, field, found); };
  check_new(spec, old, check, causes);
}

void check_job(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_job_spec(spec, replaced(write)["spec"], "spec", causes);
  if (write.old == nullptr) {
    check_job_selector(spec, causes);
  } else if (spec["manualSelector"].as_bool() && spec["selector"].is_null()) {
    causes.required("spec.selector");
  }
  check_immutable(object, write, "selector", causes);
  check_immutable(object, write, "completionMode", causes);
  // An indexed job may grow and shrink, the scheduling of a suspended one may still change.
  if (spec["completionMode"].as_string() != "Indexed") check_immutable(object, write, "completions", causes);
  if (write.old != nullptr && !(*write.old)["spec"]["suspend"].as_bool()) {
    check_immutable(object, write, "template", causes);
  }
}

void fill_cron_job(Value& object, const Write&) {
  if (!object["spec"]["jobTemplate"]["spec"].is_object()) return;
  Value& job = object.edit("spec").edit("jobTemplate").edit("spec");
  if (Value* pod = template_spec(job)) fill_pod_spec(*pod);
}

void check_schedule(const Value& spec, const Value& before, Causes& causes) {
  const Value& schedule = spec["schedule"];
  const std::string_view text = schedule.as_string();
  if (text.empty()) {
    causes.required("spec.schedule");
  } else if (schedule != before["schedule"]) {
    constexpr std::string_view kZone = "TZ";
    if (const auto parsed = cron::CronSchedule::parse(text); !parsed) {
      causes.invalid("spec.schedule", schedule, parsed.error().message);
    }
    if (text.find(kZone) != std::string_view::npos &&
        before["schedule"].as_string().find(kZone) == std::string_view::npos) {
      causes.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    }
  }
  const Value& zone = spec["timeZone"];
  if (zone.is_null() || zone == before["timeZone"]) return;
  if (const auto problem = cron::time_zone_problem(zone.as_string())) causes.invalid("spec.timeZone", zone, *problem);
}

void check_cron_job(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& before = replaced(write)["spec"];
  check_schedule(spec, before, causes);
  const std::string_view policy = spec["concurrencyPolicy"].as_string();
  if (policy != "Allow" && policy != "Forbid" && policy != "Replace") {
    causes.not_supported("spec.concurrencyPolicy", spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"});
  }
  for (const char* name : {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    check_not_negative(spec, "spec", name, causes);
  }
  const Value& job = spec["jobTemplate"]["spec"];
  const Value& job_before = before["jobTemplate"]["spec"];
  check_job_spec(job, job_before, "spec.jobTemplate.spec", causes);
  if (!job["selector"].is_null() && job["selector"] != job_before["selector"]) {
    causes.invalid("spec.jobTemplate.spec.selector", job["selector"], "`selector` will be auto-generated");
  }
  if (job["manualSelector"].as_bool() && !job_before["manualSelector"].as_bool()) {
    causes.not_supported("spec.jobTemplate.spec.manualSelector", job["manualSelector"], {"nil", "false"});
  }
  if (object["metadata"]["name"].as_string().size() > 52) {
    causes.invalid("metadata.name", object["metadata"]["name"], "must be no more than 52 characters");
  }
}

/// The QoS class of the pod.
const char* quality_of_service(const Value& spec) {
  bool any = false;
  bool all = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      const Value& resources = container["resources"];
      for (const char* name : {"cpu", "memory"}) {
        const auto limit = parse_quantity(resources["limits"][name].as_string());
        const auto request = parse_quantity(resources["requests"][name].as_string());
        const bool limited = limit && !limit.value().is_zero();
        any = any || limited || (request && !request.value().is_zero());
        all = all && limited && request && limit.value() == request.value();
      }
    }
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

void fill_pod(Value& object, const Write& write) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  fill_pod_spec(spec);
  if (spec["enableServiceLinks"].is_null()) spec.set("enableServiceLinks", true);
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].size() == 0) continue;
    for (Value& container : spec.edit(list).edit_items()) {
      const Value limits = container["resources"]["limits"];
      for (const auto& limit : limits.members()) {  // limits are the default of requests
        if (container["resources"]["requests"].contains(limit.key())) continue;
        container.edit("resources").edit("requests").set(limit.key(), limit.value);
      }
    }
  }
  if (write.old != nullptr) return;  // the component that runs it updates the status
  object.set("status", Value::object({{"phase", "Pending"}, {"qosClass", quality_of_service(spec)}}));
}

/// A selector that is left out is the template's labels.
void fill_replication_controller(Value& object, const Write& write) {
  fill_template(object, write);
  if (!object["spec"].is_object()) return;
  const Value labels = object["spec"]["template"]["metadata"]["labels"];
  if (labels.size() == 0) return;
  if (object["spec"]["selector"].size() == 0) object.edit("spec").set("selector", labels);
  if (object["metadata"]["labels"].size() == 0) object.edit("metadata").set("labels", labels);
}

void check_replication_controller(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_not_negative(spec, "spec", "replicas", causes);
  check_not_negative(spec, "spec", "minReadySeconds", causes);
  const Value& selector = spec["selector"];
  if (selector.size() == 0) causes.required("spec.selector");
  if (spec["template"].is_null()) return causes.required("spec.template");
  const Value& labels = spec["template"]["metadata"]["labels"];
  for (const auto& wanted : selector.members()) {
    if (labels[wanted.key()] == wanted.value) continue;
    causes.invalid("spec.template.metadata.labels", labels.is_null() ? Value::object() : labels,
                   "`selector` does not match template `labels`");
    break;
  }
  check_labels(labels, "spec.template.metadata.labels", causes);
  check_pod_spec(spec["template"]["spec"], replaced(write)["spec"]["template"]["spec"], "spec.template.spec", causes);
  check_always_restarts(spec, causes);
}

void fill_pod_template(Value& object, const Write&) {
  if (object["template"]["spec"].is_object()) fill_pod_spec(object.edit("template").edit("spec"));
}

void check_pod_template(const Value& object, const Write& write, Causes& causes) {
  check_labels(object["template"]["metadata"]["labels"], "template.metadata.labels", causes);
  check_pod_spec(object["template"]["spec"], replaced(write)["template"]["spec"], "template.spec", causes);
}

void check_disruption_budget(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null()) {
    causes.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const char* name : {"minAvailable", "maxUnavailable"}) {
    check_amount(spec, "spec", name, causes);
    std::string_view percent = spec[name].as_string();
    if (!percent.ends_with('%')) continue;
    percent.remove_suffix(1);
    int64_t number = 0;
    std::from_chars(percent.data(), percent.data() + percent.size(), number);
    if (number > 100) causes.invalid(std::string{"spec."} + name, spec[name], "Must not be more than 100%");
  }
  check_selector(spec["selector"], "spec.selector", causes);
  if (const Value& policy = spec["unhealthyPodEvictionPolicy"]; !policy.is_null()) {
    check_one_of(policy, "spec.unhealthyPodEvictionPolicy", {"AlwaysAllow", "IfHealthyBudget"}, causes);
  }
}

void check_pod(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_pod_spec(spec, replaced(write)["spec"], "spec", causes);
  if (write.old == nullptr) return;
  Value allowed = (*write.old)["spec"];
  for (const char* name : {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"}) {
    allowed.erase(name);
    if (const Value* value = spec.find(name)) allowed.set(name, *value);
  }
  for (const char* list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < std::min(allowed[list].size(), spec[list].size()); ++i) {
      allowed.edit(list).edit_items()[i].set("image", spec[list][i]["image"]);
    }
  }
  // Binding a pod to a node is this update here: there is no scheduler beside this API that would use `binding`.
  if (allowed["nodeName"].is_empty() && !spec["nodeName"].is_empty()) allowed.set("nodeName", spec["nodeName"]);
  if (allowed != spec) {
    causes.forbidden("spec",
                     "pod updates may not change fields other than "
                     "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                     "`spec.tolerations` (only additions to existing tolerations),"
                     "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
                     "negative)");
  }
}

}  // namespace

const std::vector<Rules>& workload_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "deployments.apps", .fill = fill_deployment, .check = check_deployment},
      {.type = "replicasets.apps", .fill = fill_template, .check = check_replica_set},
      {.type = "controllerrevisions.apps", .check = check_no_view},
      {.type = "statefulsets.apps", .fill = fill_stateful_set, .check = check_stateful_set},
      {.type = "daemonsets.apps", .fill = fill_daemon_set, .check = check_daemon_set},
      {.type = "jobs.batch", .fill = fill_job, .check = check_job},
      {.type = "cronjobs.batch", .fill = fill_cron_job, .check = check_cron_job},
      {.type = "pods", .fill = fill_pod, .check = check_pod},
      {.type = "podtemplates", .fill = fill_pod_template, .check = check_pod_template},
      {.type = "replicationcontrollers", .fill = fill_replication_controller, .check = check_replication_controller},
      {.type = "poddisruptionbudgets.policy", .check = check_disruption_budget},
  };
  return kRules;
}

}  // namespace shiplog::api
