#include "services/api/admission/pod_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>

#include "events/base/ip_range.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "services/api/admission/container_rules.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/pod_resource_rules.h"
#include "services/api/admission/pod_volume_rules.h"
#include "services/api/admission/scheduling_rules.h"
#include "services/api/admission/security_rules.h"

namespace shiplog::api {
namespace {

/// Always for tag latest or none, as for an image whose content changes under its name.
std::string_view pull_policy(std::string_view image) {
  if (image.empty() || image.find('@') != std::string_view::npos) return "IfNotPresent";
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

void check_container(const Value& container, const std::string& field, const std::set<std::string>& volumes,
                     Causes& causes) {
  check_filled(container["image"], field + ".image", causes);
  const std::string_view pull = container["imagePullPolicy"].as_string();
  if (pull != "Always" && pull != "IfNotPresent" && pull != "Never") {
    causes.not_supported(field + ".imagePullPolicy", container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"});
  }
  const std::string_view message = container["terminationMessagePolicy"].as_string();
  if (message != "File" && message != "FallbackToLogsOnError") {
    causes.not_supported(field + ".terminationMessagePolicy", container["terminationMessagePolicy"],
                         {"File", "FallbackToLogsOnError"});
  }
  check_ports(container["ports"], field + ".ports", causes);
  check_requested_amounts(container["resources"], field + ".resources", causes);
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

/// With underscores, as newer versions take them.
bool is_search_domain(std::string_view text) {
  if (text == ".") return true;
  if (text.ends_with('.')) text.remove_suffix(1);
  std::string plain{text};
  std::ranges::replace(plain, '_', 'a');
  return !subdomain_problem(plain);
}

void check_dns_config(const Value& config, const std::string& field, Causes& causes) {
  constexpr size_t kMostServers = 3;
  constexpr size_t kMostSearches = 32;
  const Value& servers = config["nameservers"];
  if (servers.size() > kMostServers) {
    causes.invalid(field + ".nameservers", servers, "must not have more than 3 nameservers");
  }
  for (size_t i = 0; i < servers.size(); ++i) check_ip(servers[i], at(field + ".nameservers", i), causes);
  const Value& searches = config["searches"];
  if (searches.size() > kMostSearches) {
    causes.invalid(field + ".searches", searches, "must not have more than 32 search paths");
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    if (is_search_domain(searches[i].as_string())) continue;
    causes.invalid(at(field + ".searches", i), searches[i],
                   subdomain_problem(searches[i].as_string()).value_or("must be a domain"));
  }
  for (size_t i = 0; i < config["options"].size(); ++i) {
    check_filled(config["options"][i]["name"], at(field + ".options", i), causes, "must not be empty");
  }
}

void check_host_aliases(const Value& aliases, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < aliases.size(); ++i) {
    check_ip(aliases[i]["ip"], at(field, i) + ".ip", causes);
    const Value& names = aliases[i]["hostnames"];
    for (size_t j = 0; j < names.size(); ++j) {
      if (const auto problem = subdomain_problem(names[j].as_string())) {
        causes.invalid(at(at(field, i) + ".hostnames", j), names[j], *problem);
      }
    }
  }
}

/// What must be true of a pod before it is ready, and before it is scheduled.
void check_gates(const Value& spec, const std::string& field, Causes& causes) {
  const Value& readiness = spec["readinessGates"];
  for (size_t i = 0; i < readiness.size(); ++i) {
    const std::string_view type = readiness[i]["conditionType"].as_string();
    if (const auto problem = qualified_name_problem(type)) {
      causes.invalid(at(field + ".readinessGates", i) + ".conditionType", Value{type}, *problem);
    }
  }
  const Value& scheduling = spec["schedulingGates"];
  std::set<std::string_view> names;
  for (size_t i = 0; i < scheduling.size(); ++i) {
    const std::string_view name = scheduling[i]["name"].as_string();
    const std::string here = at(field + ".schedulingGates", i);
    if (const auto problem = qualified_name_problem(name)) causes.invalid(here, Value{name}, *problem);
    if (!names.insert(name).second) causes.duplicate(here, Value{name});
  }
}

constexpr const char* kListsOfContainers[] = {"initContainers", "containers", "ephemeralContainers"};

/// Forbids fields of a pod that its operating system does not have. `of_pod` and `of_containers`: in securityContext.
void check_no_fields(const Value& spec, std::initializer_list<const char*> of_pod,
                     std::initializer_list<const char*> of_containers, std::string_view detail,
                     const std::string& field, Causes& causes) {
  for (const char* name : of_pod) {
    if (!spec["securityContext"][name].is_null()) causes.forbidden(field + ".securityContext." + name, detail);
  }
  for (const char* list : kListsOfContainers) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      for (const char* name : of_containers) {
        if (spec[list][i]["securityContext"][name].is_null()) continue;
        causes.forbidden(at(field + "." + list, i) + ".securityContext." + name, detail);
      }
    }
  }
}

void check_os(const Value& spec, const std::string& field, Causes& causes) {
  const Value& os = spec["os"];
  if (os.is_null()) return;
  const std::string_view name = os["name"].as_string();
  if (name.empty()) return causes.required(field + ".os.name");
  if (name == "linux") {
    constexpr const char* kNotLinux = "windows options cannot be set for a linux pod";
    check_no_fields(spec, {"windowsOptions"}, {"windowsOptions"}, kNotLinux, field, causes);
  } else if (name == "windows") {
    constexpr const char* kNotWindows = "cannot be set for a windows pod";
    for (const char* each : {"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"}) {
      if (!spec[each].is_null()) causes.forbidden(field + "." + each, kNotWindows);
    }
    check_no_fields(spec,
                    {"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
                     "runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy"},
                    {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
                     "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"},
                    kNotWindows, field, causes);
  } else {
    causes.not_supported(field + ".os", os["name"], {"linux", "windows"});
  }
}

/// A pod in the network of its node has the node's ports. A template may leave the host's port out.
void check_node_ports(const Value& spec, bool in_template, const std::string& field, Causes& causes) {
  if (!spec["hostNetwork"].as_bool()) return;
  for (size_t i = 0; i < spec["containers"].size(); ++i) {
    const Value& ports = spec["containers"][i]["ports"];
    for (size_t j = 0; j < ports.size(); ++j) {
      const int64_t port = ports[j]["hostPort"].as_int();
      if (port == ports[j]["containerPort"].as_int() || (in_template && port == 0)) continue;
      causes.invalid(at(at(field + ".containers", i) + ".ports", j) + ".hostPort", Value{port},
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

/// Users of their own go with no other namespace of the node: not its network, where only newer versions allow it.
void check_host_users(const Value& spec, const std::string& field, Causes& causes) {
  if (spec["hostUsers"].as_bool(true)) return;
  constexpr const char* kNotThen = "when `hostUsers` is false";
  if (spec["hostPID"].as_bool()) causes.forbidden(field + ".HostPID", kNotThen);  // Kubernetes writes it so
  if (spec["hostIPC"].as_bool()) causes.forbidden(field + ".HostIPC", kNotThen);
  for (const char* list : kListsOfContainers) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      if (spec[list][i]["volumeDevices"].size() == 0) continue;
      causes.forbidden(at(field + "." + list, i) + ".volumeDevices", kNotThen);
    }
  }
}

void check_host_name(const Value& spec, const std::string& field, Causes& causes) {
  constexpr size_t kLongest = 64;
  const Value& name = spec["hostnameOverride"];
  const std::string here = field + ".hostnameOverride";
  if (name.is_null()) return;
  if (spec["setHostnameAsFQDN"].as_bool()) {
    causes.forbidden(here, "may not be specified when setHostnameAsFQDN is true");
  }
  if (spec["hostNetwork"].as_bool()) causes.forbidden(here, "may not be specified when hostNetwork is true");
  if (name.as_string().size() > kLongest) causes.too_long(here, kLongest);
  if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(here, name, *problem);
}

/// The rules that older builds did not have.
void check_values(const Value& spec, const std::set<std::string>& claims, const std::string& field, Causes& causes) {
  check_volumes(spec["volumes"], field + ".volumes", causes);
  const PodOfContainer pod{spec, claims};
  for (const char* list : {"containers", "initContainers"}) {
    const bool init = std::string_view{list} == "initContainers";
    for (size_t i = 0; i < spec[list].size(); ++i) {
      check_container_values(spec[list][i], pod, init, at(field + "." + list, i), causes);
    }
  }
  check_host_ports(spec["containers"], field + ".containers", causes);
  check_node_ports(spec, true, field, causes);
  check_labels(spec["nodeSelector"], field + ".nodeSelector", causes);
  check_pod_security(spec, field, causes);
  check_name_servers(spec, field, causes);
  check_dns_config(spec["dnsConfig"], field + ".dnsConfig", causes);
  check_gates(spec, field, causes);
  check_host_aliases(spec["hostAliases"], field + ".hostAliases", causes);
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
  if (const Value& policy = spec["preemptionPolicy"]; !policy.is_null()) {
    check_one_of(policy, field + ".preemptionPolicy", {"PreemptLowerPriority", "Never"}, causes);
  }
  check_scheduling(spec, field, causes);
  check_os(spec, field, causes);
  check_pod_resources(spec, field, causes);
  check_file_volumes(spec, field, causes);
  check_host_users(spec, field, causes);
  check_host_name(spec, field, causes);
}

std::set<std::string_view> container_names(const Value& spec) {
  std::set<std::string_view> names;
  for (const char* list : kListsOfContainers) {
    for (const Value& container : spec[list].items()) names.insert(container["name"].as_string());
  }
  return names;
}

/// The older form of appArmorProfile.
void check_app_armor_annotation(std::string_view container, const Value& profile,
                                const std::set<std::string_view>& containers, const std::string& field,
                                Causes& causes) {
  if (!containers.contains(container)) causes.invalid(field, Value{container}, "container not found");
  const std::string_view text = profile.as_string();
  if (text.empty() || text == "runtime/default" || text == "unconfined" || text.starts_with("localhost/")) return;
  causes.invalid(field, profile, "invalid AppArmor profile name: " + quoted(text));
}

/// Annotations of a pod that are not only names. `pod`: a Pod or a template.
void check_pod_annotations(const Value& pod, const std::string& field, Causes& causes) {
  constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
  constexpr std::string_view kAppArmor = "container.apparmor.security.beta.kubernetes.io/";
  const Value& annotations = pod["metadata"]["annotations"];
  if (annotations.size() == 0) return;
  check_annotations(annotations, causes, field);
  const std::set<std::string_view> containers = container_names(pod["spec"]);
  for (const auto& annotation : annotations.members()) {
    const std::string here = field + "[" + std::string{annotation.key()} + "]";
    if (annotation.key().starts_with(kAppArmor)) {
      const std::string_view container = annotation.key().substr(kAppArmor.size());
      check_app_armor_annotation(container, annotation.value, containers, here, causes);
    } else if (annotation.key() == kDeletionCost) {
      const std::string_view text = annotation.value.as_string();
      int32_t number = 0;
      // As Go prints a number: no plus, no zero in front.
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool whole = error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
      if (!whole) causes.invalid(here, annotation.value, "must be a 32bit integer");
    }
  }
}

}  // namespace

void fill_pod_spec(Value& spec) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) fill_containers(spec, list);
  if (spec["volumes"].size() > 0) {
    for (Value& volume : spec.edit("volumes").edit_items()) {
      if (volume.is_object() && volume.size() == (volume.contains("name") ? 1U : 0U)) {
        volume.set("emptyDir", Value::object());
      }
      if (volume["image"].is_object() && volume["image"]["pullPolicy"].is_empty()) {
        volume.edit("image").set("pullPolicy", pull_policy(volume["image"]["reference"].as_string()));
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

Value* template_spec(Value& spec) {
  if (!spec["template"]["spec"].is_object()) return nullptr;
  return &spec.edit("template").edit("spec");
}

void check_pod_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes,
                    const std::set<std::string>& claims) {
  std::set<std::string> volumes;
  const Value& volume_list = spec["volumes"];
  for (size_t i = 0; i < volume_list.size(); ++i) {
    check_name(volume_list[i]["name"], at(field + ".volumes", i) + ".name", volumes, causes);
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
                         {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  }
  check_range(spec["activeDeadlineSeconds"], field + ".activeDeadlineSeconds", 1, std::numeric_limits<int32_t>::max(),
              "must be between 1 and 2147483647, inclusive", causes);
  const auto check = [&](const Value& each, Causes& found) { check_values(each, claims, field, found); };
  check_new(spec, old, check, causes);
}

void check_pod_template(const Value& pod, const Value& old, const std::string& field, Causes& causes,
                        const std::set<std::string>& claims) {
  check_labels(pod["metadata"]["labels"], field + ".labels", causes);  // without metadata, as Kubernetes names it
  const auto check = [&](const Value& each, Causes& found) {
    check_pod_annotations(each, field + ".annotations", found);
    if (each["spec"]["ephemeralContainers"].size() > 0) {
      found.forbidden(field + ".spec.ephemeralContainers", "ephemeral containers not allowed in pod template");
    }
  };
  check_new(pod, old, check, causes);
  check_pod_spec(pod["spec"], old["spec"], field + ".spec", causes, claims);
}

void check_whole_pod(const Value& pod, const Value& old, Causes& causes) {
  check_pod_spec(pod["spec"], old["spec"], "spec", causes);
  const auto check = [](const Value& each, Causes& found) {
    check_pod_annotations(each, "metadata.annotations", found);
    check_node_ports(each["spec"], false, "spec", found);
    for (size_t i = 0; i < each["spec"]["volumes"].size(); ++i) {
      const Value& source = each["spec"]["volumes"][i]["image"];
      if (!source.is_null()) check_filled(source["reference"], at("spec.volumes", i) + ".image.reference", found);
    }
    for (const char* list : kListsOfContainers) {
      for (size_t i = 0; i < each["spec"][list].size(); ++i) {
        const Value& image = each["spec"][list][i]["image"];
        const std::string_view text = image.as_string();
        if (text.empty() || !(is_blank(text.substr(0, 1)) || is_blank(text.substr(text.size() - 1)))) continue;
        found.invalid(at(std::string{"spec."} + list, i) + ".image", image,
                      "must not have leading or trailing whitespace");
      }
    }
  };
  check_new(pod, old, check, causes);
}

void check_pod_container(const Value& container, const Value& spec, const std::string& field,
                         std::set<std::string>& names, Causes& causes) {
  std::set<std::string> volumes;
  for (const Value& volume : spec["volumes"].items()) volumes.insert(volume["name"].str());
  check_name(container["name"], field + ".name", names, causes);
  check_container(container, field, volumes, causes);
  const std::set<std::string> no_claims;
  check_container_values(container, {spec, no_claims}, false, field, causes);
}

}  // namespace shiplog::api
