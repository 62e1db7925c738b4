#include "services/api/admission/pod_rules.h"

#include <algorithm>
#include <set>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "services/api/admission/container_rules.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/scheduling_rules.h"

namespace shiplog::api {
namespace {

/// Always for tag latest or none, as for an image whose content changes under its name.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  const bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void fill_containers(Value& spec, const char* list) {
  if (spec[list].size() == 0) return;
  for (Value& container : spec.edit(list).edit_items()) {
    if (container["imagePullPolicy"].is_empty()) {
      container.set("imagePullPolicy", pull_policy(container["image"].as_string()));
    }
  }
}

void check_ports(const Value& ports, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string here = at(field, i);
    const Value& port = ports[i];
    const Value& number = port["containerPort"];
    if (number.as_int() == 0) {
      causes.required(here + ".containerPort");
    } else if (number.as_int() < 1 || number.as_int() > 65535) {
      causes.invalid(here + ".containerPort", number, "must be between 1 and 65535, inclusive");
    }
    const Value& host = port["hostPort"];
    if (host.as_int() != 0 && (host.as_int() < 1 || host.as_int() > 65535)) {
      causes.invalid(here + ".hostPort", host, "must be between 1 and 65535, inclusive");
    }
    const std::string_view protocol = port["protocol"].as_string();
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      causes.not_supported(here + ".protocol", port["protocol"], {"SCTP", "TCP", "UDP"});
    }
  }
}

void check_resources(const Value& resources, const std::string& field, Causes& causes) {
  for (const char* list : {"limits", "requests"}) {
    for (const auto& amount : resources[list].members()) {
      const auto quantity = parse_quantity(amount.value.as_string());
      if (quantity && quantity.value().negative()) {
        causes.invalid(field + "." + list + "[" + std::string{amount.key()} + "]", amount.value,
                       "must be greater than or equal to 0");
      }
    }
  }
  for (const auto& amount : resources["requests"].members()) {
    const Value& limit = resources["limits"][amount.key()];
    if (limit.is_null()) continue;
    const auto wanted = parse_quantity(amount.value.as_string());
    const auto most = parse_quantity(limit.as_string());
    if (wanted && most && wanted.value() > most.value()) {
      causes.invalid(field + ".requests", amount.value,
                     "must be less than or equal to " + std::string{amount.key()} + " limit of " + limit.str());
    }
  }
}

void check_container(const Value& container, const std::string& field, const std::set<std::string>& volumes,
                     Causes& causes) {
  const Value& image = container["image"];
  if (image.is_empty()) {
    causes.required(field + ".image");
  } else if (image.as_string().front() == ' ' || image.as_string().back() == ' ') {
    causes.invalid(field + ".image", image, "must not have leading or trailing whitespace");
  }
  const std::string_view pull = container["imagePullPolicy"].as_string();
  if (pull != "Always" && pull != "IfNotPresent" && pull != "Never") {
    causes.not_supported(field + ".imagePullPolicy", container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"});
  }
  const std::string_view message = container["terminationMessagePolicy"].as_string();
  if (message != "File" && message != "FallbackToLogsOnError") {
    causes.not_supported(field + ".terminationMessagePolicy", container["terminationMessagePolicy"],
                         {"FallbackToLogsOnError", "File"});
  }
  check_ports(container["ports"], field + ".ports", causes);
  check_resources(container["resources"], field + ".resources", causes);
  const Value& env = container["env"];
  for (size_t i = 0; i < env.size(); ++i) {
    if (env[i]["name"].is_empty()) causes.required(at(field + ".env", i) + ".name");
    if (!env[i]["value"].is_empty() && env[i]["valueFrom"].size() > 0) {
      causes.invalid(at(field + ".env", i) + ".valueFrom", Value{""}, "may not be specified when `value` is not empty");
    }
  }
  std::set<std::string> paths;
  const Value& mounts = container["volumeMounts"];
  for (size_t i = 0; i < mounts.size(); ++i) {
    const std::string here = at(field + ".volumeMounts", i);
    if (mounts[i]["name"].is_empty()) {
      causes.required(here + ".name");
    } else if (!volumes.contains(mounts[i]["name"].str())) {
      causes.add({here + ".name", "FieldValueNotFound", "Not found: \"" + mounts[i]["name"].str() + "\""});
    }
    if (mounts[i]["mountPath"].is_empty()) {
      causes.required(here + ".mountPath");
    } else if (!paths.insert(mounts[i]["mountPath"].str()).second) {
      causes.invalid(here + ".mountPath", mounts[i]["mountPath"], "must be unique");
    }
  }
}

void check_name(const Value& name, const std::string& field, std::set<std::string>& names, Causes& causes) {
  if (name.is_empty()) {
    causes.required(field);
  } else if (const auto problem = label_problem(name.as_string())) {
    causes.invalid(field, name, *problem);
  } else if (!names.insert(name.str()).second) {
    causes.duplicate(field, name);
  }
}

void check_volume_fields(const Value& volume, const std::string& field, Causes& causes) {
  const auto check_files = [&](const Value& files, const std::string& here) {
    for (size_t i = 0; i < files.size(); ++i) {
      check_volume_field(files[i]["fieldRef"], at(here, i) + ".fieldRef", causes);
    }
  };
  check_files(volume["downwardAPI"]["items"], field + ".downwardAPI.items");
  const Value& sources = volume["projected"]["sources"];
  for (size_t i = 0; i < sources.size(); ++i) {
    check_files(sources[i]["downwardAPI"]["items"], at(field + ".projected.sources", i) + ".downwardAPI.items");
  }
}

void check_name_servers(const Value& spec, const std::string& field, Causes& causes) {
  if (spec["dnsPolicy"].as_string() != "None") return;
  const Value& config = spec["dnsConfig"];
  if (config.is_null()) {
    causes.required(field + ".dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None");
  } else if (config["nameservers"].size() == 0) {
    causes.required(field + ".dnsConfig.nameservers",
                    "must provide at least one DNS nameserver when `dnsPolicy` is None");
  }
}

void check_pod_users(const Value& security, const std::string& field, Causes& causes) {
  for (const char* name : {"fsGroup", "runAsGroup", "runAsUser"}) {
    check_user_number(security[name], field + "." + name, causes);
  }
  const Value& groups = security["supplementalGroups"];
  for (size_t i = 0; i < groups.size(); ++i) {
    check_user_number(groups[i], at(field + ".supplementalGroups", i), causes);
  }
}

/// The rules that older builds did not have.
void check_values(const Value& spec, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < spec["volumes"].size(); ++i) {
    check_volume_fields(spec["volumes"][i], at(field + ".volumes", i), causes);
  }
  for (const char* list : {"containers", "initContainers"}) {
    const bool init = std::string_view{list} == "initContainers";
    for (size_t i = 0; i < spec[list].size(); ++i) {
      check_container_values(spec[list][i], spec, init, at(field + "." + list, i), causes);
    }
  }
  check_labels(spec["nodeSelector"], field + ".nodeSelector", causes);
  check_pod_users(spec["securityContext"], field + ".securityContext", causes);
  check_name_servers(spec, field, causes);
  for (const char* name : {"hostname", "subdomain"}) {
    if (spec[name].is_empty()) continue;
    if (const auto problem = label_problem(spec[name].as_string())) {
      causes.invalid(field + "." + name, spec[name], *problem);
    }
  }
  for (const char* name : {"nodeName", "priorityClassName", "runtimeClassName", "serviceAccountName"}) {
    if (spec[name].is_empty()) continue;
    if (const auto problem = subdomain_problem(spec[name].as_string())) {
      causes.invalid(field + "." + name, spec[name], *problem);
    }
  }
  check_scheduling(spec, field, causes);
}

}  // namespace

void fill_pod_spec(Value& spec) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) fill_containers(spec, list);
  if (spec["volumes"].size() > 0) {
    for (Value& volume : spec.edit("volumes").edit_items()) {
      if (volume.is_object() && volume.size() == (volume.contains("name") ? 1U : 0U)) {
        volume.set("emptyDir", Value::object());
      }
    }
  }
  // The older name of the field is served beside the newer one.
  if (spec["serviceAccountName"].is_empty() && !spec["serviceAccount"].is_empty()) {
    spec.set("serviceAccountName", spec["serviceAccount"]);
  } else if (!spec["serviceAccountName"].is_empty()) {
    spec.set("serviceAccount", spec["serviceAccountName"]);
  }
}

void check_pod_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes,
                    const std::set<std::string>& claims) {
  std::set<std::string> volumes;
  const Value& volume_list = spec["volumes"];
  for (size_t i = 0; i < volume_list.size(); ++i) {
    check_name(volume_list[i]["name"], at(field + ".volumes", i) + ".name", volumes, causes);
    if (volume_list[i].size() > 2) {
      causes.forbidden(at(field + ".volumes", i), "may not specify more than 1 volume type");
    }
  }
  volumes.insert(claims.begin(), claims.end());  // a claim takes the place of a volume with its name
  if (spec["containers"].size() == 0) causes.required(field + ".containers");
  std::set<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      const std::string here = at(field + "." + list, i);
      check_name(spec[list][i]["name"], here + ".name", names, causes);
      check_container(spec[list][i], here, volumes, causes);
    }
  }
  const std::string_view restart = spec["restartPolicy"].as_string();
  if (!restart.empty() && restart != "Always" && restart != "OnFailure" && restart != "Never") {
    causes.not_supported(field + ".restartPolicy", spec["restartPolicy"], {"Always", "OnFailure", "Never"});
  }
  const std::string_view dns = spec["dnsPolicy"].as_string();
  if (!dns.empty() && dns != "ClusterFirst" && dns != "ClusterFirstWithHostNet" && dns != "Default" && dns != "None") {
    causes.not_supported(field + ".dnsPolicy", spec["dnsPolicy"],
                         {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"});
  }
  if (spec["terminationGracePeriodSeconds"].as_int() < 0) {
    causes.invalid(field + ".terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"],
                   "must be greater than or equal to 0");
  }
  if (const Value& deadline = spec["activeDeadlineSeconds"]; !deadline.is_null() && deadline.as_int() < 1) {
    causes.invalid(field + ".activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive");
  }
  const auto check = [&](const Value& each, Causes& found) { check_values(each, field, found); };
  check_new(spec, old, check, causes);
}

}  // namespace shiplog::api
