#include <initializer_list>
#include <string>

#include "events/base/names.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/load_balancer.h"
#include "services/api/admission/rules.h"

// Ingresses; MultiClusterIngresses have the same spec. Source: CRU-9; pkg/apis/networking/validation of Kubernetes
// 1.36.

namespace shiplog::api {
namespace {

void check_resource_backend(const Value& resource, const std::string& field, Causes& causes) {
  if (const Value& group = resource["apiGroup"]; !group.is_null()) {
    if (const auto problem = subdomain_problem(group.as_string())) causes.invalid(field + ".apiGroup", group, *problem);
  }
  check_kind_and_name(resource, field, causes);
}

using NameProblem = Problem (*)(std::string_view name);

/// `problem_of`: names of Services.
void check_service_backend(const Value& service, NameProblem problem_of, const std::string& field, Causes& causes) {
  if (service["name"].is_empty()) {
    causes.required(field + ".service.name");
  } else if (const auto problem = problem_of(service["name"].as_string())) {
    causes.invalid(field + ".service.name", service["name"], *problem);
  }
  const Value& name = service["port"]["name"];
  const Value& number = service["port"]["number"];
  if (!name.is_empty() && !number.is_empty()) {
    causes.invalid(field, Value{""}, "cannot set both port name & port number");
  } else if (!name.is_empty()) {
    if (const auto problem = port_name_problem(name.as_string())) {
      causes.invalid(field + ".service.port.name", name, *problem);
    }
  } else if (!number.is_empty()) {
    check_port(number, field + ".service.port.number", causes);
  } else {
    causes.required(field, "port name or number is required");
  }
}

void check_backend(const Value& backend, NameProblem problem_of, const std::string& field, Causes& causes) {
  const Value& service = backend["service"];
  const Value& resource = backend["resource"];
  if (!service.is_null() && !resource.is_null()) {
    causes.invalid(field, Value{""}, "cannot set both resource and service backends");
  } else if (!resource.is_null()) {
    check_resource_backend(resource, field + ".resource", causes);
  } else if (!service.is_null()) {
    check_service_backend(service, problem_of, field, causes);
  } else {
    causes.invalid(field, Value{""}, "resource or service backend is required");
  }
}

/// What a client could have meant otherwise after its path was resolved.
void check_plain_path(const Value& path, const std::string& field, Causes& causes) {
  const std::string_view text = path.as_string();
  for (const char* sequence : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(sequence) == std::string_view::npos) continue;
    causes.invalid(field, path, "must not contain '" + std::string{sequence} + "'");
  }
  for (const char* end : {"/..", "/."}) {
    if (text.ends_with(end)) causes.invalid(field, path, "cannot end with '" + std::string{end} + "'");
  }
}

void check_path(const Value& path, NameProblem problem_of, const std::string& field, Causes& causes) {
  const std::string_view type = path["pathType"].as_string();
  if (type.empty()) return causes.required(field + ".pathType", "pathType must be specified");
  const bool literal = type == "Exact" || type == "Prefix";
  if (!literal && type != "ImplementationSpecific") {
    causes.not_supported(field + ".pathType", path["pathType"], {"Exact", "ImplementationSpecific", "Prefix"});
  } else if ((literal || !path["path"].is_empty()) && !path["path"].as_string().starts_with('/')) {
    causes.invalid(field + ".path", Value{path["path"].as_string()}, "must be an absolute path");
  }
  if (literal) check_plain_path(path["path"], field + ".path", causes);
  check_backend(path["backend"], problem_of, field + ".backend", causes);
}

void check_host(const Value& host, const std::string& field, Causes& causes) {
  const std::string_view text = host.as_string();
  if (text.find('*') == std::string_view::npos) {
    if (const auto problem = subdomain_problem(text)) causes.invalid(field, host, *problem);
  } else if (!text.starts_with("*.") || subdomain_problem(text.substr(2))) {
    causes.invalid(field, host,
                   "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
                   "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
                   "(e.g. '*.example.com', regex used for validation is "
                   "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
}

void check_ingress_rule(const Value& rule, NameProblem problem_of, const std::string& field, Causes& causes) {
  if (const Value& host = rule["host"]; !host.is_empty()) {
    if (parse_ip(host.as_string())) causes.invalid(field + ".host", host, "must be a DNS name, not an IP address");
    check_host(host, field + ".host", causes);
  }
  const Value& http = rule["http"];
  if (!http.is_null() && http["paths"].size() == 0) causes.required(field + ".http.paths");
  for (size_t i = 0; i < http["paths"].size(); ++i) {
    check_path(http["paths"][i], problem_of, at(field + ".http.paths", i), causes);
  }
}

void check_subdomain(const Value& name, const std::string& field, Causes& causes) {
  if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(field, name, *problem);
}

void check_ingress_spec(const Value& spec, NameProblem problem_of, Causes& causes) {
  if (spec["rules"].size() == 0 && spec["defaultBackend"].is_null()) {
    causes.invalid("spec", spec["rules"], "either `defaultBackend` or `rules` must be specified");
  }
  if (!spec["defaultBackend"].is_null())
    check_backend(spec["defaultBackend"], problem_of, "spec.defaultBackend", causes);
  for (size_t i = 0; i < spec["rules"].size(); ++i) {
    check_ingress_rule(spec["rules"][i], problem_of, at("spec.rules", i), causes);
  }
  for (size_t i = 0; i < spec["tls"].size(); ++i) {
    const std::string field = at("spec.tls", i);
    const Value& tls = spec["tls"][i];
    for (size_t j = 0; j < tls["hosts"].size(); ++j) check_host(tls["hosts"][j], at(field + ".hosts", j), causes);
    if (!tls["secretName"].is_empty()) check_subdomain(tls["secretName"], field + ".secretName", causes);
  }
  if (!spec["ingressClassName"].is_null()) check_subdomain(spec["ingressClassName"], "spec.ingressClassName", causes);
}

/// Older versions of Kubernetes refuse a class that is named twice, though it is the same; charts do name it twice.
void check_class_annotation(const Value& object, Causes& causes) {
  constexpr const char* kClass = "kubernetes.io/ingress.class";
  const Value& annotation = object["metadata"]["annotations"][kClass];
  const Value& name = object["spec"]["ingressClassName"];
  if (annotation.is_null() || name.is_null() || annotation == name) return;
  causes.invalid(std::string{"annotations."} + kClass, annotation,
                 "must match `ingressClassName` when both are specified");
}

void check_ingress_status(const Value& object, const Write& write, Causes& causes) {
  check_new(object["status"]["loadBalancer"]["ingress"], old_of(write)["status"]["loadBalancer"]["ingress"],
            check_load_balancer_ingress, causes);
}

void check_ingress(const Value& object, const Write& write, Causes& causes) {
  if (write.old == nullptr && write.kind.builtin) check_class_annotation(object, causes);
  // Names of Services may begin with a digit since Kubernetes 1.36; Karmada's webhook does not know of it.
  const NameProblem problem_of = write.kind.builtin ? label_problem : service_name_problem;
  const auto check = [&](const Value& spec, Causes& found) { check_ingress_spec(spec, problem_of, found); };
  check_new(object["spec"], old_of(write)["spec"], check, causes);
}

void warn_of_ingress_class(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  constexpr const char* kAnnotation = "kubernetes.io/ingress.class";
  if (write.old != nullptr || !object["spec"]["ingressClassName"].is_null()) return;
  if (!object["metadata"]["annotations"].contains(kAnnotation)) return;
  warnings.push_back("annotation \"" + std::string{kAnnotation} +
                     "\" is deprecated, please use 'spec.ingressClassName' instead");
}

}  // namespace

const std::vector<Rules>& ingress_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "ingresses.networking.k8s.io",
       .check = check_ingress,
       .warn = warn_of_ingress_class,
       .check_status = check_ingress_status},
      {.type = "multiclusteringresses.networking.karmada.io",
       .webhook = "multiclusteringress.karmada.io",
       .check = check_ingress},
  };
  return kRules;
}

}  // namespace shiplog::api
