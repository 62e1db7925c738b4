#pragma once

#include <string>
#include <vector>

#include "services/api/pod_security/levels.h"

namespace shiplog::api {

/// How a pod violates a standard.
struct PodViolation {
  std::string reason;  ///< "host namespaces"
  std::string detail;  ///< "hostNetwork=true"
};

/// The violations of a pod, or of a template of pods, in upstream's order and words. Pure.
/// Source: k8s.io/pod-security-admission/policy, 1.36.
std::vector<PodViolation> pod_violations(const PodSecurityStandard& standard, const Value& metadata, const Value& spec);

/// "host namespaces (hostNetwork=true), privileged (...)"
std::string with_details(const std::vector<PodViolation>& violations);
/// "host namespaces, privileged"
std::string reasons_of(const std::vector<PodViolation>& violations);

}  // namespace shiplog::api
