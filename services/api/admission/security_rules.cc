#include "services/api/admission/security_rules.h"

#include <algorithm>
#include <limits>
#include <set>

#include "events/base/ascii.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/pod_volume_rules.h"

// Source: ValidateSecurityContext and validatePodSpecSecurityContext in pkg/apis/core/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

void check_user_number(const Value& number, const std::string& field, Causes& causes) {
  check_range(number, field, 0, std::numeric_limits<int32_t>::max(), "must be between 0 and 2147483647, inclusive",
              causes);
}

void check_profile_type(const Value& type, const std::string& field, std::string_view owner, Causes& causes) {
  if (type.is_empty()) return causes.required(field, "type is required when " + std::string{owner} + " is set");
  check_one_of(type, field, {"Localhost", "RuntimeDefault", "Unconfined"}, causes);
}

void check_seccomp(const Value& profile, const std::string& field, Causes& causes) {
  if (profile.is_null()) return;
  check_profile_type(profile["type"], field + ".type", "seccompProfile", causes);
  const Value& file = profile["localhostProfile"];
  const std::string here = field + ".localhostProfile";
  if (profile["type"].as_string() != "Localhost") {
    if (!file.is_null()) causes.invalid(here, profile, "can only be set when seccomp type is Localhost");
  } else if (file.is_null()) {
    causes.required(here, "must be set when seccomp type is Localhost");
  } else {
    check_descending_path(file, here, causes);
  }
}

void check_app_armor(const Value& profile, const std::string& field, Causes& causes) {
  if (profile.is_null()) return;
  check_profile_type(profile["type"], field + ".type", "appArmorProfile", causes);
  const Value& name = profile["localhostProfile"];
  const std::string_view text = name.as_string();
  const std::string here = field + ".localhostProfile";
  if (profile["type"].as_string() != "Localhost") {
    if (!name.is_null()) causes.invalid(here, name, "can only be set when AppArmor type is Localhost");
  } else if (text.empty()) {
    causes.required(here, "must be set when AppArmor type is Localhost");
  } else if (is_blank(text.substr(0, 1)) || is_blank(text.substr(text.size() - 1))) {
    causes.invalid(here, name, "must not be padded with whitespace");
  }
}

/// Segments of lower-case letters, digits, '-' and '_', with a dot or a slash between them.
bool is_sysctl_name(std::string_view text) {
  const auto edge = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c); };
  bool begins = true;  // a segment
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends = i + 1 == text.size() || text[i + 1] == '.' || text[i + 1] == '/';
    if (text[i] == '.' || text[i] == '/') {
      if (begins) return false;
      begins = true;
      continue;
    }
    const bool inner = !begins && !ends && (text[i] == '-' || text[i] == '_');
    if (!edge(text[i]) && !inner) return false;
    begins = false;
  }
  return !begins && text.size() <= 253;
}

void check_sysctls(const Value& sysctls, const std::string& field, Causes& causes) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < sysctls.size(); ++i) {
    const Value& name = sysctls[i]["name"];
    const std::string here = at(field, i) + ".name";
    if (name.is_empty()) {
      causes.required(here);
    } else if (!is_sysctl_name(name.as_string())) {
      causes.invalid(here, name,
                     "must have at most 253 characters and match regex "
                     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (!names.insert(name.as_string()).second) {
      causes.duplicate(here, name);
    }
  }
}

}  // namespace

void check_pod_security(const Value& spec, const std::string& field, Causes& causes) {
  const Value& security = spec["securityContext"];
  const std::string here = field + ".securityContext";
  if (spec["hostPID"].as_bool() && spec["shareProcessNamespace"].as_bool()) {
    causes.invalid(here + ".shareProcessNamespace", spec["shareProcessNamespace"],
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (security.size() == 0) return;
  for (const char* name : {"fsGroup", "runAsGroup", "runAsUser"}) {
    check_user_number(security[name], here + "." + name, causes);
  }
  const Value& groups = security["supplementalGroups"];
  for (size_t i = 0; i < groups.size(); ++i) {
    check_user_number(groups[i], at(here + ".supplementalGroups", i), causes);
  }
  check_sysctls(security["sysctls"], here + ".sysctls", causes);
  if (const Value& policy = security["fsGroupChangePolicy"]; !policy.is_null()) {
    check_one_of(policy, here + ".fsGroupChangePolicy", {"Always", "OnRootMismatch"}, causes);
  }
  if (const Value& policy = security["supplementalGroupsPolicy"]; !policy.is_null()) {
    check_one_of(policy, here + ".supplementalGroupsPolicy", {"Merge", "Strict"}, causes);
  }
  if (const Value& policy = security["seLinuxChangePolicy"]; !policy.is_null()) {
    check_one_of(policy, here + ".seLinuxChangePolicy", {"MountOption", "Recursive"}, causes);
  }
  check_seccomp(security["seccompProfile"], here + ".seccompProfile", causes);
  check_app_armor(security["appArmorProfile"], here + ".appArmorProfile", causes);
}

void check_container_security(const Value& security, bool host_users, const std::string& field, Causes& causes) {
  if (security.is_null()) return;
  check_user_number(security["runAsUser"], field + ".runAsUser", causes);
  check_user_number(security["runAsGroup"], field + ".runAsGroup", causes);
  if (const Value& mount = security["procMount"]; !mount.is_null()) {
    check_one_of(mount, field + ".procMount", {"Default", "Unmasked"}, causes);
    if (host_users && mount.as_string() == "Unmasked") {
      causes.invalid(field + ".procMount", mount, "`hostUsers` must be false to use `Unmasked`");
    }
  }
  check_seccomp(security["seccompProfile"], field + ".seccompProfile", causes);
  check_app_armor(security["appArmorProfile"], field + ".appArmorProfile", causes);
  const Value& escalation = security["allowPrivilegeEscalation"];
  if (escalation.is_null() || escalation.as_bool()) return;
  if (security["privileged"].as_bool()) {
    causes.invalid(field, security, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  for (const Value& capability : security["capabilities"]["add"].items()) {
    if (capability.as_string() != "CAP_SYS_ADMIN") continue;
    return causes.invalid(field, security,
                          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
  }
}

}  // namespace shiplog::api
