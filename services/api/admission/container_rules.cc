#include "services/api/admission/container_rules.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>

#include "events/base/quantity.h"
#include "services/api/admission/container_restart_rules.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/pod_resource_rules.h"
#include "services/api/admission/pod_volume_rules.h"
#include "services/api/admission/security_rules.h"

// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation of Kubernetes 1.36. What only some of its
// versions refuse is accepted: members may have others.

namespace shiplog::api {
namespace {

using WordList = std::initializer_list<std::string_view>;

/// Fields of a pod that its containers' environment can show, and those that its volumes can show.
const WordList kEnvironmentFields = {
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
const WordList kVolumeFields = {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                                "metadata.uid"};

bool among(std::string_view text, WordList words) { return std::find(words.begin(), words.end(), text) != words.end(); }

void check_port_names(const Value& ports, const std::string& field, Causes& causes) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Value& name = ports[i]["name"];
    if (name.is_empty()) continue;
    if (const auto problem = port_name_problem(name.as_string())) {
      causes.invalid(at(field, i) + ".name", name, *problem);
    } else if (!names.insert(name.as_string()).second) {
      causes.duplicate(at(field, i) + ".name", name);
    }
  }
}

bool is_variable_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

/// An ObjectFieldSelector, of these fields.
void check_field_reference(const Value& reference, WordList fields, const std::string& field, Causes& causes) {
  if (reference.is_null()) return;
  const Value& path = reference["fieldPath"];
  const std::string_view text = path.as_string();
  const std::string here = field + ".fieldPath";
  const std::string cannot = "error converting fieldPath: ";
  if (path.is_empty()) return causes.required(here);
  if (const Value& version = reference["apiVersion"]; !version.is_empty() && version.as_string() != "v1") {
    return causes.invalid(here, path, cannot + "unsupported pod version: " + version.str());
  }
  const size_t bracket = text.find("['");
  if (text.ends_with("']") && bracket != 0 && bracket + 2 <= text.size() - 2) {
    std::string key{text.substr(bracket + 2, text.size() - bracket - 4)};
    const std::string_view list = text.substr(0, bracket);
    if (!among(list, {"metadata.annotations", "metadata.labels"})) {
      return causes.invalid(here, path, cannot + "field label does not support subscript: " + path.str());
    }
    if (list == "metadata.annotations") {  // their keys are compared without regard to case
      std::transform(key.begin(), key.end(), key.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    }
    if (const auto problem = qualified_name_problem(key)) causes.invalid(field, Value{key}, *problem);
    return;
  }
  if (among(text, fields) || (text == "spec.host" && among("spec.nodeName", fields))) return;  // an older name
  if (!among(text, kEnvironmentFields) && !among(text, kVolumeFields) &&
      !among(text, {"spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"})) {
    return causes.invalid(here, path, cannot + "field label not supported: " + path.str());
  }
  causes.not_supported(here, path, fields);
}

constexpr const char* kNoVariableName =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";

/// A variable in a file that another container of the pod has written.
void check_file_key(const Value& reference, const std::string& field, Causes& causes) {
  if (reference.is_null()) return;
  const Value& key = reference["key"];
  if (key.is_empty()) {
    causes.required(field + ".key");
  } else if (!is_variable_name(key.as_string())) {
    causes.invalid(field + ".key", key, kNoVariableName);
  }
  const Value& name = reference["volumeName"];
  const std::string here = field + ".volumeName";
  if (name.is_empty()) {
    causes.required(here);
  } else if (const auto problem = label_problem(name.as_string())) {
    causes.invalid(here, name, *problem);
  }
  if (reference["path"].is_empty()) {
    causes.required(field + ".path");
  } else {
    check_no_backsteps(reference["path"], field + ".path", causes);
  }
}

void check_variable_source(const Value& source, const std::string& field, Causes& causes) {
  if (source.size() == 0) {
    causes.invalid(
        field, Value{""},
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (source.size() > 1) {
    causes.invalid(field, Value{""}, "may not have more than one field specified at a time");
  }
  check_field_reference(source["fieldRef"], kEnvironmentFields, field + ".fieldRef", causes);
  if (!source["resourceFieldRef"].is_null()) {
    check_resource_field(source["resourceFieldRef"], field + ".resourceFieldRef", causes);
  }
  check_file_key(source["fileKeyRef"], field + ".fileKeyRef", causes);
  for (const char* name : {"configMapKeyRef", "secretKeyRef"}) {
    const Value& reference = source[name];
    if (reference.is_null()) continue;
    if (const auto problem = subdomain_problem(reference["name"].as_string())) {
      causes.invalid(field + "." + name + ".name", Value{reference["name"].as_string()}, *problem);
    }
    const Value& key = reference["key"];
    if (key.is_empty()) {
      causes.required(field + "." + name + ".key");
    } else if (const auto problem = config_key_problem(key.as_string())) {
      causes.invalid(field + "." + name + ".key", key, *problem);
    }
  }
}

void check_variable_name(const Value& name, const std::string& field, Causes& causes) {
  if (!is_variable_name(name.as_string())) causes.invalid(field, name, kNoVariableName);
}

void check_variables(const Value& variables, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < variables.size(); ++i) {
    const Value& variable = variables[i];
    check_variable_name(variable["name"], at(field, i) + ".name", causes);
    if (!variable["valueFrom"].is_null()) {
      check_variable_source(variable["valueFrom"], at(field, i) + ".valueFrom", causes);
    }
  }
}

/// envFrom: all keys of a ConfigMap or a Secret. Kubernetes names no item when their number is wrong.
void check_variable_sets(const Value& sets, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < sets.size(); ++i) {
    check_variable_name(sets[i]["prefix"], at(field, i) + ".prefix", causes);
    size_t sources = 0;
    for (const char* type : {"configMapRef", "secretRef"}) {
      const Value& reference = sets[i][type];
      if (reference.is_null()) continue;
      ++sources;
      const Value& name = reference["name"];
      const std::string here = at(field, i) + "." + type + ".name";
      if (name.is_empty()) {
        causes.required(here);
      } else if (const auto problem = subdomain_problem(name.as_string())) {
        causes.invalid(here, name, *problem);
      }
    }
    if (sources == 0) causes.invalid(field, Value{""}, "must specify one of: `configMapRef` or `secretRef`");
    if (sources > 1) causes.invalid(field, Value{""}, "may not have more than one field specified at a time");
  }
}

void check_propagation(const Value& mount, bool privileged, const std::string& field, Causes& causes) {
  const Value& propagation = mount["mountPropagation"];
  if (!propagation.is_empty()) {
    check_one_of(propagation, field + ".mountPropagation", {"Bidirectional", "HostToContainer", "None"}, causes);
    if (propagation.as_string() == "Bidirectional" && !privileged) {
      causes.forbidden(field + ".mountPropagation",
                       "Bidirectional mount propagation is available only to privileged containers");
    }
  }
  const Value& recursive = mount["recursiveReadOnly"];
  const std::string here = field + ".recursiveReadOnly";
  if (recursive.is_empty() || recursive.as_string() == "Disabled") return;
  check_one_of(recursive, here, {"Disabled", "Enabled", "IfPossible"}, causes);
  if (!mount["readOnly"].as_bool()) causes.forbidden(here, "may only be specified when readOnly is true");
  if (!propagation.is_empty() && propagation.as_string() != "None") {
    causes.forbidden(here, "may only be specified when mountPropagation is None or not specified");
  }
}

void check_mounts(const Value& container, const std::string& field, Causes& causes) {
  const Value& mounts = container["volumeMounts"];
  for (size_t i = 0; i < mounts.size(); ++i) {
    const Value& mount = mounts[i];
    if (!mount["subPath"].is_empty() && !mount["subPathExpr"].is_empty()) {
      causes.invalid(at(field, i) + ".subPathExpr", mount["subPathExpr"],
                     "subPathExpr and subPath are mutually exclusive");
    }
    // Kubernetes names these two without the mount's index.
    check_descending_path(mount["subPath"], field + ".subPath", causes);
    check_descending_path(mount["subPathExpr"], field + ".subPathExpr", causes);
    // As are these two.
    check_propagation(mount, container["securityContext"]["privileged"].as_bool(), field, causes);
  }
}

std::set<std::string_view> texts_in(const Value& list, const char* name) {
  std::set<std::string_view> texts;
  for (const Value& each : list.items()) texts.insert(each[name].as_string());
  return texts;
}

/// Block devices: volumes whose content has no file system.
void check_devices(const Value& container, const PodOfContainer& pod, const std::string& field, Causes& causes) {
  const Value& devices = container["volumeDevices"];
  if (devices.size() == 0) return;
  std::map<std::string_view, const Value*> volumes;
  for (const Value& volume : pod.spec["volumes"].items()) volumes.emplace(volume["name"].as_string(), &volume);
  const auto mounted_names = texts_in(container["volumeMounts"], "name");
  const auto mounted_paths = texts_in(container["volumeMounts"], "mountPath");
  std::set<std::string_view> names;
  std::set<std::string_view> paths;
  for (size_t i = 0; i < devices.size(); ++i) {
    const Value& name = devices[i]["name"];
    const Value& path = devices[i]["devicePath"];
    const std::string name_field = at(field, i) + ".name";
    const std::string path_field = at(field, i) + ".devicePath";
    const auto volume = volumes.find(name.as_string());
    if (volume == volumes.end()) {
      if (!pod.claims.contains(name.str())) {
        causes.add({name_field, "FieldValueNotFound", "Not found: \"" + name.str() + "\""});
      }
    } else if ((*volume->second)["persistentVolumeClaim"].is_null() && (*volume->second)["ephemeral"].is_null()) {
      causes.invalid(name_field, name,
                     "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (!names.insert(name.as_string()).second) causes.invalid(name_field, name, "must be unique");
    if (!paths.insert(path.as_string()).second) causes.invalid(path_field, path, "must be unique");
    Causes steps;
    check_no_backsteps(path, path_field, steps);
    if (!steps.empty()) causes.invalid(path_field, path, "can not contain backsteps ('..')");
    if (mounted_names.contains(name.as_string())) {
      causes.invalid(name_field, name, "must not already exist in volumeMounts");
    }
    if (mounted_paths.contains(path.as_string())) {
      causes.invalid(path_field, path, "must not already exist as a path in volumeMounts");
    }
  }
}

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void check_port_or_name(const Value& port, const std::string& field, Causes& causes) {
  if (!port.is_string()) return check_port(port, field, causes);
  if (const auto problem = port_name_problem(port.as_string())) causes.invalid(field, port, *problem);
}

void check_http(const Value& action, const std::string& field, Causes& causes) {
  check_port_or_name(action["port"], field + ".port", causes);
  const Value& scheme = action["scheme"];
  if (!scheme.is_empty() && !among(scheme.as_string(), {"HTTP", "HTTPS"})) {
    causes.not_supported(field + ".scheme", scheme, {"HTTP", "HTTPS"});
  }
  for (const Value& header : action["httpHeaders"].items()) {
    if (is_header_name(header["name"].as_string())) continue;
    causes.invalid(field + ".httpHeaders", header["name"],
                   "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
                   "used for validation is '[-A-Za-z0-9]+')");
  }
}

/// What a probe or a lifecycle handler does: exactly one thing.
void check_handler(const Value& handler, const Value& spec, const std::string& field, Causes& causes) {
  std::string_view first;
  for (const char* type : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value& action = handler[type];
    if (action.is_null()) continue;
    const std::string here = field + "." + type;
    if (!first.empty()) {
      causes.forbidden(here, "may not specify more than 1 handler type");
      continue;
    }
    first = type;
    if (first == "exec" && action["command"].size() == 0) causes.required(here + ".command");
    if (first == "httpGet") check_http(action, here, causes);
    if (first == "tcpSocket") check_port_or_name(action["port"], here + ".port", causes);
    if (first == "grpc") check_port(action["port"], here + ".port", causes);
    const Value& grace = spec["terminationGracePeriodSeconds"];
    const int64_t seconds = action["seconds"].as_int();
    if (first == "sleep" && grace.is_int() && (seconds < 0 || seconds > grace.as_int())) {
      causes.invalid(
          here, Value{seconds},
          "must be non-negative and less than terminationGracePeriodSeconds (" + std::to_string(grace.as_int()) + ")");
    }
  }
  if (first.empty()) causes.required(field, "must specify a handler type");
}

void check_probe(const Value& probe, std::string_view type, const Value& spec, const std::string& field,
                 Causes& causes) {
  check_handler(probe, spec, field, causes);
  for (const char* name :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    if (probe[name].as_int() < 0) {
      causes.invalid(field + "." + name, probe[name], "must be greater than or equal to 0");
    }
  }
  const Value& grace = probe["terminationGracePeriodSeconds"];
  if (!grace.is_null() && grace.as_int() <= 0) {
    causes.invalid(field + ".terminationGracePeriodSeconds", grace, "must be greater than 0");
  }
  if (type == "readinessProbe") {
    if (grace.is_null()) return;
    causes.invalid(field + ".terminationGracePeriodSeconds", grace, "must not be set for readinessProbes");
  } else if (const Value& threshold = probe["successThreshold"];
             !threshold.is_empty() && threshold.as_int() != 1) {  // 0 stands for the default
    causes.invalid(field + ".successThreshold", threshold, "must be 1");
  }
}

void check_life(const Value& container, const Value& spec, bool init, const std::string& field, Causes& causes) {
  const bool runs_once = init && container["restartPolicy"].as_string() != "Always";
  for (const char* type : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value& part = container[type];
    if (part.is_null()) continue;
    const std::string here = field + "." + type;
    if (runs_once) {
      causes.forbidden(here, "may not be set for init containers without restartPolicy=Always");
    } else if (std::string_view{type} != "lifecycle") {
      check_probe(part, type, spec, here, causes);
    } else {
      for (const char* moment : {"postStart", "preStop"}) {
        if (!part[moment].is_null()) check_handler(part[moment], spec, here + "." + moment, causes);
      }
      check_stop_signal(part["stopSignal"], spec["os"], here + ".stopSignal", causes);
    }
  }
}

const WordList kResourceFields = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                                  "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

/// What the amount of a resource is divided by.
void check_divisor(const Value& resource, const Value& divisor, const std::string& field, Causes& causes) {
  const std::string_view name = resource.as_string();
  const auto quantity = parse_quantity(divisor.as_string());
  if (!quantity || quantity.value().is_zero()) return;
  const std::string text = to_string(quantity.value(), quantity_format(divisor.as_string()));
  if (name == "limits.cpu" || name == "requests.cpu") {
    if (text == "1m" || text == "1") return;
    return causes.invalid(field, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
  }
  if (among(text, {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"})) return;
  const char* what = name.ends_with("memory")              ? "memory"
                     : name.ends_with("ephemeral-storage") ? "local ephemeral storage"
                                                           : "hugepages";
  causes.invalid(
      field, resource,
      "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the " +
          std::string{what} + " resource");
}

}  // namespace

void check_volume_field(const Value& reference, const std::string& field, Causes& causes) {
  check_field_reference(reference, kVolumeFields, field, causes);
}

void check_resource_field(const Value& reference, const std::string& field, Causes& causes) {
  const Value& resource = reference["resource"];
  const std::string_view name = resource.as_string();
  const bool pages = name.starts_with("limits.hugepages-") || name.starts_with("requests.hugepages-");
  if (name.empty()) return causes.required(field + ".resource");
  if (!pages && !among(name, kResourceFields)) {
    return causes.not_supported(field + ".resource", resource, kResourceFields);
  }
  check_divisor(resource, reference["divisor"], field + ".divisor", causes);
}

void check_file_volumes(const Value& spec, const std::string& field, Causes& causes) {
  std::map<std::string_view, bool> empty;  // by name: whether it begins empty
  for (const Value& volume : spec["volumes"].items()) {
    empty.insert_or_assign(volume["name"].as_string(), !volume["emptyDir"].is_null());
  }
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      const Value& variables = spec[list][i]["env"];
      for (size_t j = 0; j < variables.size(); ++j) {
        const Value& reference = variables[j]["valueFrom"]["fileKeyRef"];
        const Value& name = reference["volumeName"];
        if (reference.is_null() || name.is_empty()) continue;
        const std::string here = at(at(field + "." + list, i) + ".env", j) + ".valueFrom.fileKeyRef.volumeName";
        const auto volume = empty.find(name.as_string());
        if (volume == empty.end()) {
          causes.add({here, "FieldValueNotFound", "Not found: \"" + name.str() + "\""});
        } else if (!volume->second) {
          causes.invalid(here, name, "referenced volume must be of type emptyDir");
        }
      }
    }
  }
}

void check_host_ports(const Value& containers, const std::string& field, Causes& causes) {
  std::set<std::string> used;
  for (size_t i = 0; i < containers.size(); ++i) {
    const Value& ports = containers[i]["ports"];
    for (size_t j = 0; j < ports.size(); ++j) {
      const int64_t port = ports[j]["hostPort"].as_int();
      if (port == 0) continue;
      const std::string text = ports[j]["protocol"].str() + "/" + ports[j]["hostIP"].str() + "/" + std::to_string(port);
      if (used.insert(text).second) continue;
      causes.duplicate(at(at(field, i) + ".ports", j) + ".hostPort", Value{text});
    }
  }
}

void check_container_values(const Value& container, const PodOfContainer& pod, bool init, const std::string& field,
                            Causes& causes) {
  if (container["ports"].size() > 0) check_port_names(container["ports"], field + ".ports", causes);
  check_container_resources(container["resources"], field + ".resources", causes);
  check_resize_policies(container, pod.spec, field + ".resizePolicy", causes);
  check_variables(container["env"], field + ".env", causes);
  check_variable_sets(container["envFrom"], field + ".envFrom", causes);
  check_mounts(container, field + ".volumeMounts", causes);
  check_devices(container, pod, field + ".volumeDevices", causes);
  check_restart_policy(container, field, causes);
  check_life(container, pod.spec, init, field, causes);
  check_container_security(container["securityContext"], pod.spec["hostUsers"].as_bool(true),
                           field + ".securityContext", causes);
}

}  // namespace shiplog::api
