#include "services/api/admission/container_rules.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <string_view>

#include "services/api/admission/field_checks.h"

// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation of Kubernetes 1.37. What only some of its
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

void check_resource_names(const Value& amounts, const std::string& field, Causes& causes) {
  for (const auto& amount : amounts.members()) {
    const std::string_view name = amount.key();
    if (among(name, {"cpu", "memory", "ephemeral-storage"})) continue;
    const Value shown{name};
    if (const auto problem = qualified_name_problem(name)) {
      causes.invalid(field + "[" + std::string{name} + "]", shown, *problem);
    } else if (name.find('/') == std::string_view::npos && !name.starts_with("hugepages-")) {
      causes.invalid(field + "[" + std::string{name} + "]", shown, "must be a standard resource for containers");
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

void check_variable_source(const Value& source, const std::string& field, Causes& causes) {
  if (source.size() == 0) {
    causes.invalid(field, Value{""},
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
  } else if (source.size() > 1) {
    causes.invalid(field, Value{""}, "may not have more than one field specified at a time");
  }
  check_field_reference(source["fieldRef"], kEnvironmentFields, field + ".fieldRef", causes);
  for (const char* name : {"configMapKeyRef", "secretKeyRef"}) {
    const Value& reference = source[name];
    if (reference.is_null()) continue;
    const Value& key = reference["key"];
    if (key.is_empty()) {
      causes.required(field + "." + name + ".key");
    } else if (const auto problem = config_key_problem(key.as_string())) {
      causes.invalid(field + "." + name + ".key", key, *problem);
    }
  }
}

void check_variables(const Value& variables, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < variables.size(); ++i) {
    const Value& variable = variables[i];
    if (!is_variable_name(variable["name"].as_string())) {
      causes.invalid(at(field, i) + ".name", variable["name"],
                     "a valid environment variable name must consist only of printable ASCII characters other than "
                     "'='");
    }
    if (!variable["valueFrom"].is_null()) {
      check_variable_source(variable["valueFrom"], at(field, i) + ".valueFrom", causes);
    }
  }
}

/// A path below the root of a volume.
void check_sub_path(const Value& path, const std::string& field, Causes& causes) {
  if (path.is_empty()) return;
  const std::string_view text = path.as_string();
  if (text.starts_with('/')) causes.invalid(field, path, "must be a relative path");
  if (("/" + std::string{text} + "/").find("/../") != std::string::npos) {
    causes.invalid(field, path, "must not contain '..'");
  }
}

void check_mounts(const Value& mounts, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < mounts.size(); ++i) {
    const Value& mount = mounts[i];
    if (!mount["subPath"].is_empty() && !mount["subPathExpr"].is_empty()) {
      causes.invalid(at(field, i) + ".subPathExpr", mount["subPathExpr"],
                     "subPathExpr and subPath are mutually exclusive");
    }
    // Kubernetes names these two without the mount's index.
    check_sub_path(mount["subPath"], field + ".subPath", causes);
    check_sub_path(mount["subPathExpr"], field + ".subPathExpr", causes);
    const Value& propagation = mount["mountPropagation"];
    if (!propagation.is_empty() && !among(propagation.as_string(), {"Bidirectional", "HostToContainer", "None"})) {
      causes.not_supported(field + ".mountPropagation", propagation, {"Bidirectional", "HostToContainer", "None"});
    }
  }
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
    }
  }
}

void check_security(const Value& security, const std::string& field, Causes& causes) {
  if (security.is_null()) return;
  check_user_number(security["runAsUser"], field + ".runAsUser", causes);
  check_user_number(security["runAsGroup"], field + ".runAsGroup", causes);
  const Value& escalation = security["allowPrivilegeEscalation"];
  if (!escalation.is_null() && !escalation.as_bool() && security["privileged"].as_bool()) {
    causes.invalid(field, security, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
}

}  // namespace

void check_volume_field(const Value& reference, const std::string& field, Causes& causes) {
  check_field_reference(reference, kVolumeFields, field, causes);
}

void check_user_number(const Value& number, const std::string& field, Causes& causes) {
  check_range(number, field, 0, std::numeric_limits<int32_t>::max(), "must be between 0 and 2147483647, inclusive",
              causes);
}

void check_container_values(const Value& container, const Value& spec, bool init, const std::string& field,
                            Causes& causes) {
  if (container["ports"].size() > 0) check_port_names(container["ports"], field + ".ports", causes);
  for (const char* list : {"limits", "requests"}) {
    if (container["resources"][list].size() == 0) continue;
    check_resource_names(container["resources"][list], field + ".resources." + list, causes);
  }
  if (container["env"].size() > 0) check_variables(container["env"], field + ".env", causes);
  if (container["volumeMounts"].size() > 0) check_mounts(container["volumeMounts"], field + ".volumeMounts", causes);
  check_life(container, spec, init, field, causes);
  check_security(container["securityContext"], field + ".securityContext", causes);
}

}  // namespace shiplog::api
