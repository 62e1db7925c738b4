#include <algorithm>
#include <set>

#include "events/base/base64.h"
#include "events/base/names.h"
#include "events/state/object.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"
#include "services/cron/cron_schedule.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/webhooks.h"
#include "services/roles/service_clusters.h"

// Karmada's kinds around the core pipeline: CronFederatedHPA (KIND-12), MultiClusterService (KIND-13), interpreter
// webhooks (KIND-10).

namespace shiplog::api {
namespace {

// --- CronFederatedHPA

// A CronFederatedHPA does not write more often than a schedule of cron can; each run reads all rules.
constexpr Millis kLeastInterval{60'000};
constexpr size_t kMostRules = 256;

void check_cron_rule(const Value& rule, const std::string& field, bool scales_autoscaler, Causes& causes) {
  const Value& schedule = rule["schedule"];
  if (const auto parsed = cron::CronSchedule::parse(schedule.as_string()); !parsed) {
    causes.invalid(field + ".schedule", schedule, "invalid cron format: " + parsed.error().message);
  } else if (schedule.as_string().find("TZ=") != std::string_view::npos) {
    causes.invalid(field + ".schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (const Millis every = parsed.value().every(); every.value > 0 && every < kLeastInterval) {
    causes.invalid(field + ".schedule", schedule, "must be at least @every 1m");
  }
  if (const Value& zone = rule["timeZone"]; !zone.is_empty()) {
    if (const auto problem = cron::time_zone_problem(zone.as_string())) {
      causes.invalid(field + ".timeZone", zone, *problem);
    }
  }
  const Value& least = rule["targetMinReplicas"];
  const Value& most = rule["targetMaxReplicas"];
  if (!scales_autoscaler) {
    const Value& replicas = rule["targetReplicas"];
    if (replicas.is_null()) {
      causes.invalid(field, Value{""}, "targetReplicas cannot be nil if you want to scale a workload");
    } else if (replicas.as_int() < 0) {
      causes.invalid(field + ".targetReplicas", replicas, "targetReplicas should be larger than or equal to 0");
    }
    return;
  }
  if (least.is_null() && most.is_null()) {
    causes.invalid(field, Value{""},
                   "targetMinReplicas and targetMaxReplicas cannot be nil at the same time if you want to scale "
                   "FederatedHPA");
  }
  if (!least.is_null() && least.as_int() <= 0) {
    causes.invalid(field + ".targetMinReplicas", least, "targetMinReplicas should be larger than 0");
  }
  if (!most.is_null() && most.as_int() <= 0) {
    causes.invalid(field + ".targetMaxReplicas", most, "targetMaxReplicas should be larger than 0");
  }
  if (!least.is_null() && !most.is_null() && least.as_int() > most.as_int()) {
    causes.invalid(field + ".targetMinReplicas", least,
                   "targetMaxReplicas should be larger than or equal to targetMinReplicas");
  }
}

void check_cron_autoscaler(const Value& object, const Write&, Causes& causes) {
  const Value& target = object["spec"]["scaleTargetRef"];
  check_kind_and_name(target, "spec.scaleTargetRef", causes);
  const bool scales_autoscaler = target["apiVersion"].as_string() == "autoscaling.karmada.io/v1alpha1";
  if (scales_autoscaler && target["kind"].as_string() != "FederatedHPA") {
    causes.invalid("spec.scaleTargetRef.kind", target["kind"],
                   "invalid scaleTargetRef kind, only support FederatedHPA in autoscaling.karmada.io/v1alpha1");
  }
  std::set<std::string> names;
  const Value& rules = object["spec"]["rules"];
  if (rules.size() > kMostRules) {
    return causes.too_many("spec.rules", rules.size(), kMostRules);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string field = at("spec.rules", i);
    if (!names.insert(rules[i]["name"].str()).second) causes.duplicate(field + ".name", rules[i]["name"]);
    check_cron_rule(rules[i], field, scales_autoscaler, causes);
  }
}

// --- MultiClusterService

void check_multi_cluster_service(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (const auto problem = service_name_problem(object["metadata"]["name"].as_string())) {
    causes.invalid("metadata.name", object["metadata"]["name"], *problem);
  }
  std::set<std::string> types;
  for (size_t i = 0; i < spec["types"].size(); ++i) {
    const Value& type = spec["types"][i];
    if (type.as_string() != "CrossCluster" && type.as_string() != "LoadBalancer") {
      causes.not_supported(at("spec.types", i), type, {"CrossCluster", "LoadBalancer"});
    }
    types.insert(type.str());
  }
  if (types.size() > 1)
    causes.invalid("spec.types", spec["types"], "MultiClusterService types should not contain more than one type");
  if (write.old != nullptr && (*write.old)["spec"]["types"] != spec["types"]) {
    causes.invalid("spec.types", spec["types"], "MultiClusterService types are immutable");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec["ports"].size(); ++i) {
    const std::string field = at("spec.ports", i);
    const Value& port = spec["ports"][i];
    if (port["port"].as_int() < 1 || port["port"].as_int() > 65535) {
      causes.invalid(field + ".port", port["port"], "must be between 1 and 65535, inclusive");
    }
    if (port["name"].is_empty()) continue;
    if (const auto problem = label_problem(port["name"].as_string())) {
      causes.invalid(field + ".name", port["name"], *problem);
    } else if (!names.insert(port["name"].str()).second) {
      causes.duplicate(field + ".name", port["name"]);
    }
  }
  for (const char* list : {"providerClusters", "consumerClusters"}) {
    if (spec[list].size() > kMostNamedClusters) {
      causes.too_many(std::string{"spec."} + list, spec[list].size(), kMostNamedClusters);
      continue;
    }
    for (size_t i = 0; i < spec[list].size(); ++i) {
      const Value& name = spec[list][i]["name"];
      if (name.as_string().size() > 48 || label_problem(name.as_string())) {
        causes.invalid(at(std::string{"spec.range."} + list, i), name, "must be the name of a cluster");
      }
    }
  }
}

// --- ResourceInterpreterCustomization

void check_customization(const Value& object, const Write&, Causes& causes) {
  const Value& target = object["spec"]["target"];
  if (target["kind"].as_string() == "Secret" && target["apiVersion"].as_string() == "v1") {
    causes.forbidden("spec.target.kind",
                     "no script is run on Secrets: what it makes of their data would be stored in clear text");
  }
  for (const auto& bad : interpreter::bad_scripts(object)) causes.invalid(bad.field, Value{"<script>"}, bad.why);
}

// --- ResourceInterpreterWebhookConfiguration

void check_interpreter_rule(const Value& rule, const std::string& field, Causes& causes) {
  for (const char* list : {"operations", "apiGroups", "apiVersions", "kinds"}) {
    const Value& items = rule[list];
    if (items.size() == 0) causes.required(field + "." + list);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].as_string() == "*" && items.size() > 1) {
        causes.invalid(field + "." + list, items, "if '*' is present, must not specify other " + std::string{list});
      }
      if (items[i].is_empty() && std::string_view{list} != "apiGroups") causes.required(at(field + "." + list, i));
    }
  }
  static constexpr std::string_view kOperations[] = {
      "*",      "InterpretReplica", "InterpretComponent", "InterpretDependency", "ReviseReplica",
      "Retain", "AggregateStatus",  "InterpretStatus",    "InterpretHealth"};
  for (size_t i = 0; i < rule["operations"].size(); ++i) {
    const Value& operation = rule["operations"][i];
    if (std::find(std::begin(kOperations), std::end(kOperations), operation.as_string()) == std::end(kOperations)) {
      causes.not_supported(at(field + ".operations", i), operation,
                           {"*", "AggregateStatus", "InterpretComponent", "InterpretDependency", "InterpretHealth",
                            "InterpretReplica", "InterpretStatus", "Retain", "ReviseReplica"});
    }
  }
}

void check_interpreter_client(const Value& client, const std::string& field, Causes& causes) {
  const Value& url = client["url"];
  const Value& service = client["service"];
  if (url.is_null() == service.is_null()) {
    causes.required(field, "exactly one of url or service is required");
  } else if (!url.is_null()) {
    constexpr std::string_view kScheme = "https://";
    const std::string_view text = url.as_string();
    const std::string_view rest = text.starts_with(kScheme) ? text.substr(kScheme.size()) : "";
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!text.starts_with(kScheme)) {
      causes.invalid(field + ".url", url, "'https' is the only allowed URL scheme");
    } else if (host.empty() || host.front() == ':') {
      causes.invalid(field + ".url", url, "host must be specified");
    } else if (host.find('@') != std::string_view::npos) {
      causes.invalid(field + ".url", url, "user information is not permitted in the URL");
    } else if (rest.find_first_of("?#") != std::string_view::npos) {
      causes.invalid(field + ".url", url, "query parameters and fragments are not permitted in the URL");
    }
  } else {
    for (const char* name : {"namespace", "name"}) {
      if (service[name].is_empty()) causes.required(field + ".service." + name);
    }
    const Value& port = service["port"];
    if (!port.is_null() && (port.as_int() < 1 || port.as_int() > 65535)) {
      causes.invalid(field + ".service.port", port, "port is not valid: must be between 1 and 65535, inclusive");
    }
    check_service_path(service["path"], field + ".service.path", causes);
  }
  if (!client["caBundle"].is_empty() && !base64_decode(client["caBundle"].as_string())) {
    causes.invalid(field + ".caBundle", Value{"<bytes>"}, "must be base64");
  }
}

void check_context_versions(const Value& versions, const std::string& field, Causes& causes) {
  if (versions.size() == 0) return causes.required(field);
  bool known = false;
  std::set<std::string> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string version = versions[i].str();
    if (!seen.insert(version).second) causes.duplicate(at(field, i), versions[i]);
    if (const auto problem = service_name_problem(version)) causes.invalid(at(field, i), versions[i], *problem);
    known = known || version == "v1alpha1";
  }
  if (!known) causes.invalid(field, versions, "must include at least one of v1alpha1");
}

void check_interpreter_webhooks(const Value& object, const Write&, Causes& causes) {
  std::set<std::string> names;
  for (size_t i = 0; i < object["webhooks"].size(); ++i) {
    const Value& hook = object["webhooks"][i];
    const std::string field = at("webhooks", i);
    const std::string name = hook["name"].str();
    if (subdomain_problem(name) || std::count(name.begin(), name.end(), '.') < 1) {
      causes.invalid(field + ".name", hook["name"], "should be a domain with at least two segments separated by dots");
    } else if (!names.insert(name).second) {
      causes.duplicate(field + ".name", hook["name"]);
    }
    check_interpreter_client(hook["clientConfig"], field + ".clientConfig", causes);
    for (size_t j = 0; j < hook["rules"].size(); ++j) {
      check_interpreter_rule(hook["rules"][j], at(field + ".rules", j), causes);
      if (interpreter::names_secrets(Value::object(
              {{"webhooks", Value::array({Value::object({{"rules", Value::array({hook["rules"][j]})}})})}}))) {
        causes.forbidden(at(field + ".rules", j) + ".kinds",
                         "no webhook is called for Secrets: their content does not leave the vault");
      }
    }
    const Value& timeout = hook["timeoutSeconds"];
    if (!timeout.is_null() && (timeout.as_int() < 1 || timeout.as_int() > 30)) {
      causes.invalid(field + ".timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds");
    }
    check_context_versions(hook["interpreterContextVersions"], field + ".interpreterContextVersions", causes);
  }
}

}  // namespace

const std::vector<Rules>& extension_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "cronfederatedhpas.autoscaling.karmada.io",
       .webhook = "cronfederatedhpa.karmada.io",
       .check = check_cron_autoscaler},
      {.type = "multiclusterservices.networking.karmada.io",
       .webhook = "multiclusterservice.karmada.io",
       .check = check_multi_cluster_service},
      {.type = interpreter::kCustomizationType,
       .webhook = "resourceinterpretercustomization.karmada.io",
       .check = check_customization},
      {.type = "resourceinterpreterwebhookconfigurations.config.karmada.io",
       .webhook = "config.karmada.io",
       .check = check_interpreter_webhooks},
  };
  return kRules;
}

}  // namespace shiplog::api
