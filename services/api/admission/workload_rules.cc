#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "events/base/names.h"
#include "events/state/policy.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/pod_rules.h"
#include "services/api/admission/pod_warnings.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/view_label.h"

// What makes pods, except for Jobs. Source: CRU-8 to CRU-10; pkg/apis/apps/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

void fill_template(Value& object, const Write&) {
  if (!object["spec"].is_object()) return;
  if (Value* spec = template_spec(object.edit("spec"))) fill_pod_spec(*spec);
}

/// The controller of StatefulSets gives its pods these names.
Value without_names(Value pod) {
  for (const char* name : {"hostname", "subdomain"}) {
    if (!pod["spec"][name].is_null()) pod.edit("spec").erase(name);
  }
  return pod;
}

/// `selector` and `template` of the apps kinds; `what`: "deployment".
void check_template(const Value& spec, const Write& write, const std::string& what, Causes& causes) {
  const Value& selector = spec["selector"];
  const Value& labels = spec["template"]["metadata"]["labels"];
  constexpr const char* kNoMatch = "`selector` does not match template `labels`";
  if (selector.is_null()) {
    causes.required("spec.selector");
    causes.invalid("spec.template.metadata.labels", labels, kNoMatch);  // as a selector of nothing
  } else {
    check_selector(selector, "spec.selector", causes);
    if (selector["matchLabels"].size() + selector["matchExpressions"].size() == 0) {
      causes.invalid("spec.selector", selector, "empty selector is invalid for " + what);
    } else if (const auto parsed = label_selector_from(selector); parsed.valid && !parsed.matches(labels)) {
      causes.invalid("spec.template.metadata.labels", labels, kNoMatch);
    }
  }
  std::set<std::string> claims;
  for (const Value& claim : spec["volumeClaimTemplates"].items()) claims.insert(claim["metadata"]["name"].str());
  const Value& before = old_of(write)["spec"]["template"];
  if (what != "statefulset") return check_pod_template(spec["template"], before, "spec.template", causes, claims);
  check_pod_template(without_names(spec["template"]), without_names(before), "spec.template", causes, claims);
}

/// Its pods run until they are taken away. `kind`: how Kubernetes calls what has the template.
void check_always_runs(const Value& spec, const Write& write, const std::string& kind, Causes& causes) {
  const Value& policy = spec["template"]["spec"]["restartPolicy"];
  if (policy.as_string() == "OnFailure" || policy.as_string() == "Never") {
    causes.not_supported("spec.template.spec.restartPolicy", policy, {"Always"});
  }
  const auto check = [&](const Value& each, Causes& found) {
    if (each["template"]["spec"]["activeDeadlineSeconds"].is_null()) return;
    found.forbidden("spec.template.spec.activeDeadlineSeconds",
                    "activeDeadlineSeconds in " + kind + " is not Supported");
  };
  check_new(spec, old_of(write)["spec"], check, causes);
}

/// A percentage of pods that is more than all of them.
void check_part(const Value& owner, const std::string& field, const char* name, Causes& causes) {
  if (!owner[name].is_string() || amount_of(owner[name]).value_or(0) <= 100) return;
  causes.invalid(field + "." + name, owner[name], "must not be greater than 100%");
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
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"},
                     causes);
  check_template(spec, write, "deployment", causes);
  check_always_runs(spec, write, "ReplicaSet", causes);
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
    const auto check = [](const Value& each, Causes& found) {
      check_part(each["strategy"]["rollingUpdate"], "spec.strategy.rollingUpdate", "maxUnavailable", found);
    };
    check_new(spec, old_of(write)["spec"], check, causes);
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
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, causes);
  check_template(spec, write, "deployment", causes);  // upstream's own word here
  check_always_runs(spec, write, "ReplicaSet", causes);
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

void check_most_unavailable(const Value& strategy, Causes& causes) {
  const Value& rolling = strategy["rollingUpdate"];
  const std::string field = "spec.updateStrategy.rollingUpdate";
  if (strategy["type"].as_string() != "RollingUpdate" || rolling["maxUnavailable"].is_null()) return;
  check_amount(rolling, field, "maxUnavailable", causes);
  if (amount_of(rolling["maxUnavailable"]) == 0) {
    causes.invalid(field + ".maxUnavailable", rolling["maxUnavailable"], "cannot be 0");
  }
  check_part(rolling, field, "maxUnavailable", causes);
}

/// What does not change after a StatefulSet was made, and would keep its controller from making pods and claims.
void check_new_stateful_set(const Value& spec, Causes& causes) {
  if (const Value& name = spec["serviceName"]; !name.is_empty()) {
    if (const auto problem = label_problem(name.as_string())) causes.invalid("spec.serviceName", name, *problem);
  }
  const Value& claims = spec["volumeClaimTemplates"];
  for (size_t i = 0; i < claims.size(); ++i) {
    check_claim_template(claims[i]["spec"], at("spec.volumeClaimTemplates", i) + ".spec", causes);
  }
}

void check_stateful_set(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, causes);
  const auto check = [](const Value& each, Causes& found) {
    check_not_negative(each["ordinals"], "spec.ordinals", {"start"}, found);
    check_most_unavailable(each["updateStrategy"], found);
    for (const auto& policy : each["persistentVolumeClaimRetentionPolicy"].members()) {
      check_one_of(policy.value, "spec.persistentVolumeClaimRetentionPolicy." + std::string{policy.key()},
                   {"Retain", "Delete"}, found);
    }
  };
  check_new(spec, old_of(write)["spec"], check, causes);
  check_template(spec, write, "statefulset", causes);
  check_always_runs(spec, write, "StatefulSet", causes);
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
    check_not_negative(strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate", {"partition"}, causes);
  }
  if (write.old == nullptr) return check_new_stateful_set(spec, causes);
  Value allowed = defaulted_old(write)["spec"];
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

void check_daemon_update(const Value& spec, Causes& causes) {
  const Value& strategy = spec["updateStrategy"];
  if (strategy["type"].as_string() != "RollingUpdate") return;
  const Value& rolling = strategy["rollingUpdate"];
  const std::string field = "spec.updateStrategy.rollingUpdate";
  for (const char* name : {"maxUnavailable", "maxSurge"}) {
    check_amount(rolling, field, name, causes);
    check_part(rolling, field, name, causes);
  }
  const bool fewer = amount_of(rolling["maxUnavailable"]).value_or(0) != 0;
  const bool more = amount_of(rolling["maxSurge"]).value_or(0) != 0;
  if (fewer && more) {
    causes.invalid(field + ".maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero");
  } else if (!fewer && !more) {
    causes.required(field + ".maxUnavailable", "cannot be 0 when maxSurge is 0");
  }
}

void check_daemon_set(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_not_negative(spec, "spec", {"minReadySeconds", "revisionHistoryLimit"}, causes);
  check_new(spec, old_of(write)["spec"], check_daemon_update, causes);
  check_template(spec, write, "daemonset", causes);
  check_always_runs(spec, write, "DaemonSet", causes);
  check_immutable(object, write, "selector", causes);
  const std::string_view type = spec["updateStrategy"]["type"].as_string();
  if (type != "RollingUpdate" && type != "OnDelete") {
    causes.not_supported("spec.updateStrategy.type", spec["updateStrategy"]["type"], {"OnDelete", "RollingUpdate"});
  }
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
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, causes);
  const Value& selector = spec["selector"];
  if (selector.size() == 0) causes.required("spec.selector");
  if (spec["template"].is_null()) return causes.required("spec.template");
  const Value& labels = spec["template"]["metadata"]["labels"];
  for (const auto& wanted : selector.members()) {
    if (labels[wanted.key()] == wanted.value) continue;
    causes.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
    break;
  }
  check_pod_template(spec["template"], old_of(write)["spec"]["template"], "spec.template", causes);
  check_always_runs(spec, write, "ReplicationController", causes);
}

void fill_pod_template(Value& object, const Write&) {
  if (object["template"]["spec"].is_object()) fill_pod_spec(object.edit("template").edit("spec"));
}

void check_template_object(const Value& object, const Write& write, Causes& causes) {
  check_pod_template(object["template"], old_of(write)["template"], "template", causes);
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

void check_disruption_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(status, "status", {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"},
                       found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
}

void check_revision(const Value& object, const Write& write, Causes& causes) {
  check_no_view(object, write, causes);
  const auto check = [](const Value& each, Causes& found) {
    if (each["data"].is_null()) found.required("data", "data is mandatory");
    if (each["revision"].as_int() < 0) {
      found.invalid("revision", each["revision"], "must be greater than or equal to 0");
    }
  };
  check_new(object, old_of(write), check, causes);
  if (write.old != nullptr && object["data"] != old_of(write)["data"]) {
    causes.invalid("data", object["data"], "field is immutable");
  }
}

/// `of_all`: counts of some of the replicas. `ready`: how Kubernetes names readyReplicas here.
void check_replica_counts(const Value& status, std::initializer_list<const char*> of_all, std::string_view ready,
                          Causes& causes) {
  const Value& replicas = status["replicas"];
  for (const char* name : of_all) {
    if (status[name].as_int() <= replicas.as_int()) continue;
    causes.invalid(std::string{"status."} + name, status[name], "cannot be greater than status.replicas");
  }
  if (status["availableReplicas"].as_int() > status["readyReplicas"].as_int()) {
    causes.invalid("status.availableReplicas", status["availableReplicas"],
                   "cannot be greater than " + std::string{ready});
  }
}

void check_collisions(const Value& object, const Write& write, Causes& causes) {
  const Value& now = object["status"]["collisionCount"];
  const Value& before = old_of(write)["status"]["collisionCount"];
  if (before.is_null() || now.as_int(-1) >= before.as_int()) return;
  causes.invalid("status.collisionCount", now.is_null() ? Value{0} : now, "cannot be decremented");
}

void check_deployment_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(status, "status",
                       {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                        "unavailableReplicas", "terminatingReplicas", "collisionCount"},
                       found);
    check_replica_counts(status, {"updatedReplicas", "readyReplicas", "availableReplicas"}, "readyReplicas", found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
  check_collisions(object, write, causes);
}

void check_stateful_set_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(status, "status",
                       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                        "observedGeneration", "collisionCount"},
                       found);
    check_replica_counts(status, {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
                         "status.readyReplicas", found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
  check_collisions(object, write, causes);
}

void check_daemon_set_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(
        status, "status",
        {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
         "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"},
        found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
  check_collisions(object, write, causes);
}

/// Of a ReplicaSet or a ReplicationController.
void check_replica_set_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(status, "status",
                       {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas",
                        "observedGeneration"},
                       found);
    check_replica_counts(status, {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}, "readyReplicas",
                         found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
}

void warn_of_template(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  if (object["spec"] == old_of(write)["spec"]) return;
  warn_of_pod_template(object["spec"]["template"], "spec.template", warnings);
}

/// The names of its pods begin with that of the object.
void warn_of_named_template(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  if (write.old == nullptr) warn_of_pod_names(object, warnings);
  warn_of_template(object, write, warnings);
}

void warn_of_stateful_set(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  warn_of_template(object, write, warnings);
  if (object["spec"]["revisionHistoryLimit"].as_int() >= 0) return;
  warnings.emplace_back(
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended");
}

void warn_of_template_object(const Value& object, const Write&, std::vector<std::string>& warnings) {
  warn_of_pod_template(object["template"], "template", warnings);
}

}  // namespace

const std::vector<Rules>& workload_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "deployments.apps",
       .fill = fill_deployment,
       .check = check_deployment,
       .warn = warn_of_named_template,
       .check_status = check_deployment_status},
      {.type = "replicasets.apps",
       .fill = fill_template,
       .check = check_replica_set,
       .warn = warn_of_named_template,
       .check_status = check_replica_set_status},
      {.type = "controllerrevisions.apps", .check = check_revision},
      {.type = "statefulsets.apps",
       .fill = fill_stateful_set,
       .check = check_stateful_set,
       .warn = warn_of_stateful_set,
       .check_status = check_stateful_set_status},
      {.type = "daemonsets.apps",
       .fill = fill_daemon_set,
       .check = check_daemon_set,
       .warn = warn_of_template,
       .check_status = check_daemon_set_status},
      {.type = "podtemplates",
       .fill = fill_pod_template,
       .check = check_template_object,
       .warn = warn_of_template_object},
      {.type = "replicationcontrollers",
       .fill = fill_replication_controller,
       .check = check_replication_controller,
       .warn = warn_of_named_template,
       .check_status = check_replica_set_status},
      {.type = "poddisruptionbudgets.policy",
       .check = check_disruption_budget,
       .check_status = check_disruption_status},
  };
  return kRules;
}

}  // namespace shiplog::api
