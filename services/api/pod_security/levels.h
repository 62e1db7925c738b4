#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "events/base/value.h"

// The Pod Security Standards that the labels of a namespace ask for.
// Source: k8s.io/pod-security-admission/api, 1.36.
namespace shiplog::api {

enum class PodSecurityLevel : uint8_t { kPrivileged, kBaseline, kRestricted };  // each is stricter than the one before

/// A level, as it was in a version of Kubernetes.
struct PodSecurityStandard {
  static constexpr int kLatest = std::numeric_limits<int>::max();
  PodSecurityLevel level = PodSecurityLevel::kPrivileged;
  int minor = kLatest;

  std::string text() const;  ///< "restricted:latest", "baseline:v1.30"
  bool operator==(const PodSecurityStandard&) const = default;
};

/// What the pods of a namespace have to fulfil; what violates `audit` and `warn` is only reported.
struct PodSecurityPolicy {
  PodSecurityStandard enforce, audit, warn;

  bool is_privileged() const { return enforce.level == PodSecurityLevel::kPrivileged && only_enforces(); }
  bool only_enforces() const {
    return audit.level == PodSecurityLevel::kPrivileged && warn.level == PodSecurityLevel::kPrivileged;
  }
  bool operator==(const PodSecurityPolicy&) const = default;
};

/// A label that cannot be read.
struct PodSecurityProblem {
  std::string label;
  Value value;
  std::string message;
  bool operator==(const PodSecurityProblem&) const = default;
};

/// The policy of a namespace. A level to enforce that cannot be read is restricted, others are privileged; a version
/// that cannot be read is the latest one.
std::pair<PodSecurityPolicy, std::vector<PodSecurityProblem>> pod_security_of(const Value& labels);

}  // namespace shiplog::api
