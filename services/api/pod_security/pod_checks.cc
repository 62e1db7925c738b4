#include "services/api/pod_security/pod_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

using Names = std::vector<std::string>;
using Sorted = std::set<std::string>;
using Found = std::optional<PodViolation>;

/// A pod, as the checks see it.
struct CheckedPod {
  const Value& metadata;
  const Value& spec;

  template <class Visit>
  void each_container(const Visit& visit) const {
    for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
      for (const Value& container : spec[list].items()) visit(container);
    }
  }
  /// The names of the containers that fulfil a condition.
  template <class Condition>
  Names containers_with(const Condition& condition) const {
    Names names;
    each_container([&](const Value& container) {
      if (condition(container)) names.push_back(container["name"].str());
    });
    return names;
  }
  bool is_windows() const { return spec["os"]["name"].as_string() == "windows"; }
  /// In a user namespace of its own, root is not the node's.
  bool has_user_namespace() const { return spec["hostUsers"].is_bool() && !spec["hostUsers"].as_bool(); }
};

template <class Texts>
std::string quoted(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "\"" : "\", \"") + text;
  return all.empty() ? all : all + "\"";
}

template <class Texts>
std::string listed(const Texts& texts, const char* between = ", ") {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

std::string counted(const char* noun, size_t count) { return std::string{noun} + (count == 1 ? "" : "s"); }
const char* verb(size_t count) { return count == 1 ? "uses" : "use"; }

std::string containers(const Names& names) { return counted("container", names.size()) + " " + quoted(names); }

/// Who sets something: "pod", "containers ...", or both.
Names setters(bool pod, const Names& names) {
  Names all;
  if (pod) all.emplace_back("pod");
  if (!names.empty()) all.push_back(containers(names));
  return all;
}

bool is_true(const Value& value) { return value.is_bool() && value.as_bool(); }

// --- baseline

Found app_armor(const CheckedPod& pod) {
  constexpr std::string_view kAnnotation = "container.apparmor.security.beta.kubernetes.io/";
  Sorted values;
  const auto is_wrong = [&](const Value& holder) {
    const Value& profile = holder["securityContext"]["appArmorProfile"];
    const std::string type = profile["type"].str();
    if (profile.is_null() || type == "RuntimeDefault" || type == "Localhost") return false;
    values.insert(type);
    return true;
  };
  const bool by_pod = is_wrong(pod.spec);
  Names by = setters(by_pod, pod.containers_with(is_wrong));
  Sorted annotations;
  for (const auto& annotation : pod.metadata["annotations"].members()) {
    const std::string_view value = annotation.value.as_string();
    const bool allowed = value.empty() || value == "runtime/default" || value.starts_with("localhost/");
    if (!annotation.key().starts_with(kAnnotation) || allowed) continue;
    annotations.insert(std::string{annotation.key()} + "=" + to_json(annotation.value));
  }
  Names all{values.begin(), values.end()};
  all.insert(all.end(), annotations.begin(), annotations.end());
  if (!annotations.empty()) by.push_back(counted("annotation", annotations.size()));
  if (by.empty()) return std::nullopt;
  return PodViolation{counted("forbidden AppArmor profile", all.size()),
                      listed(by, " and ") + " must not set AppArmor profile type to " + quoted(all)};
}

Found default_capabilities(const CheckedPod& pod) {
  static const std::set<std::string, std::less<>> kAllowed = {
      "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
      "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};
  Sorted added;
  const Names names = pod.containers_with([&](const Value& container) {
    bool wrong = false;
    for (const Value& capability : container["securityContext"]["capabilities"]["add"].items()) {
      if (kAllowed.contains(capability.as_string())) continue;
      wrong = true;
      added.insert(capability.str());
    }
    return wrong;
  });
  if (names.empty()) return std::nullopt;
  return PodViolation{"non-default capabilities", containers(names) + " must not include " + quoted(added) +
                                                      " in securityContext.capabilities.add"};
}

Found host_namespaces(const CheckedPod& pod) {
  Names shared;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (is_true(pod.spec[field])) shared.push_back(std::string{field} + "=true");
  }
  if (shared.empty()) return std::nullopt;
  return PodViolation{"host namespaces", listed(shared)};
}

Found host_paths(const CheckedPod& pod) {
  Names volumes;
  for (const Value& volume : pod.spec["volumes"].items()) {
    if (!volume["hostPath"].is_null()) volumes.push_back(volume["name"].str());
  }
  if (volumes.empty()) return std::nullopt;
  return PodViolation{"hostPath volumes", counted("volume", volumes.size()) + " " + quoted(volumes)};
}

Found host_ports(const CheckedPod& pod) {
  Sorted ports;
  const Names names = pod.containers_with([&](const Value& container) {
    bool wrong = false;
    for (const Value& port : container["ports"].items()) {
      const int64_t on_host = port["hostPort"].as_int();
      if (on_host == 0) continue;
      wrong = true;
      ports.insert(std::to_string(on_host));
    }
    return wrong;
  });
  if (names.empty()) return std::nullopt;
  return PodViolation{"hostPort", containers(names) + " " + verb(names.size()) + " " +
                                      counted("hostPort", ports.size()) + " " + listed(ports)};
}

Found host_probes(const CheckedPod& pod) {
  Sorted hosts;
  Sorted names;
  pod.each_container([&](const Value& container) {
    const auto look = [&](const Value& handler) {
      for (const char* action : {"httpGet", "tcpSocket"}) {
        const std::string host = handler[action]["host"].str();
        if (host.empty()) continue;
        hosts.insert(host);
        names.insert(container["name"].str());
      }
    };
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) look(container[probe]);
    for (const char* hook : {"postStart", "preStop"}) look(container["lifecycle"][hook]);
  });
  if (names.empty()) return std::nullopt;
  return PodViolation{"probe or lifecycle host",
                      counted("container", names.size()) + " " + quoted(names) + " " + verb(names.size()) + " " +
                          counted("probe or lifecycle host", hosts.size()) + " " + quoted(hosts)};
}

Found privileged(const CheckedPod& pod) {
  const Names names =
      pod.containers_with([](const Value& container) { return is_true(container["securityContext"]["privileged"]); });
  if (names.empty()) return std::nullopt;
  return PodViolation{"privileged", containers(names) + " must not set securityContext.privileged=true"};
}

Found proc_mount(const CheckedPod& pod) {
  Sorted types;
  const Names names = pod.containers_with([&](const Value& container) {
    const Value& type = container["securityContext"]["procMount"];
    if (type.is_null() || type.as_string() == "Default") return false;
    types.insert(type.str());
    return true;
  });
  if (names.empty()) return std::nullopt;
  return PodViolation{"procMount", containers(names) + " must not set securityContext.procMount to " + quoted(types)};
}

Found proc_mount_in_node(const CheckedPod& pod) { return pod.has_user_namespace() ? std::nullopt : proc_mount(pod); }

Found selinux_options(const CheckedPod& pod, std::initializer_list<std::string_view> allowed) {
  Sorted types;
  bool user = false;
  bool role = false;
  const auto is_wrong = [&](const Value& holder) {
    const Value& options = holder["securityContext"]["seLinuxOptions"];
    if (options.is_null()) return false;
    const std::string type = options["type"].str();
    const bool typed = !type.empty() && std::ranges::find(allowed, type) == allowed.end();
    if (typed) types.insert(type);
    user = user || !options["user"].is_empty();
    role = role || !options["role"].is_empty();
    return typed || !options["user"].is_empty() || !options["role"].is_empty();
  };
  const bool by_pod = is_wrong(pod.spec);
  const Names by = setters(by_pod, pod.containers_with(is_wrong));
  if (by.empty()) return std::nullopt;
  Names what;
  if (!types.empty()) what.push_back(counted("type", types.size()) + " " + quoted(types));
  if (user) what.emplace_back("user may not be set");
  if (role) what.emplace_back("role may not be set");
  return PodViolation{"seLinuxOptions",
                      listed(by, " and ") + " set forbidden securityContext.seLinuxOptions: " + listed(what, "; ")};
}

Found selinux_1_0(const CheckedPod& pod) {
  return selinux_options(pod, {"container_t", "container_init_t", "container_kvm_t"});
}
Found selinux_1_31(const CheckedPod& pod) {
  return selinux_options(pod, {"container_t", "container_init_t", "container_kvm_t", "container_engine_t"});
}

Found seccomp_annotations(const CheckedPod& pod) {
  const Value& annotations = pod.metadata["annotations"];
  Sorted forbidden;
  const auto look = [&](const std::string& name) {
    const Value* value = annotations.find(name);
    if (value == nullptr) return;
    const std::string_view profile = value->as_string();
    if (profile == "runtime/default" || profile == "docker/default" || profile.starts_with("localhost/")) return;
    forbidden.insert(name + "=" + to_json(*value));
  };
  look("seccomp.security.alpha.kubernetes.io/pod");
  pod.each_container([&](const Value& container) {
    look("container.seccomp.security.alpha.kubernetes.io/" + container["name"].str());
  });
  if (forbidden.empty()) return std::nullopt;
  return PodViolation{"seccompProfile",
                      "forbidden " + counted("annotation", forbidden.size()) + " " + listed(forbidden)};
}

bool is_seccomp_allowed(const Value& profile) {
  return profile["type"].as_string() == "RuntimeDefault" || profile["type"].as_string() == "Localhost";
}

Found seccomp_profile(const CheckedPod& pod) {
  Sorted types;
  const auto is_wrong = [&](const Value& holder) {
    const Value& profile = holder["securityContext"]["seccompProfile"];
    if (profile.is_null() || is_seccomp_allowed(profile)) return false;
    types.insert(profile["type"].str());
    return true;
  };
  const bool by_pod = is_wrong(pod.spec);
  const Names by = setters(by_pod, pod.containers_with(is_wrong));
  if (by.empty()) return std::nullopt;
  return PodViolation{"seccompProfile",
                      listed(by, " and ") + " must not set securityContext.seccompProfile.type to " + quoted(types)};
}

Found sysctls(const CheckedPod& pod, int minor) {
  struct Sysctl {
    std::string_view name;
    int since;
  };
  static constexpr std::array<Sysctl, 12> kAllowed = {{{"kernel.shm_rmid_forced", 0},
                                                       {"net.ipv4.ip_local_port_range", 0},
                                                       {"net.ipv4.tcp_syncookies", 0},
                                                       {"net.ipv4.ping_group_range", 0},
                                                       {"net.ipv4.ip_unprivileged_port_start", 0},
                                                       {"net.ipv4.ip_local_reserved_ports", 27},
                                                       {"net.ipv4.tcp_keepalive_time", 29},
                                                       {"net.ipv4.tcp_fin_timeout", 29},
                                                       {"net.ipv4.tcp_keepalive_intvl", 29},
                                                       {"net.ipv4.tcp_keepalive_probes", 29},
                                                       {"net.ipv4.tcp_rmem", 32},
                                                       {"net.ipv4.tcp_wmem", 32}}};
  Names forbidden;
  for (const Value& sysctl : pod.spec["securityContext"]["sysctls"].items()) {
    const std::string_view name = sysctl["name"].as_string();
    const bool allowed =
        std::ranges::any_of(kAllowed, [&](const Sysctl& each) { return each.name == name && each.since <= minor; });
    if (!allowed) forbidden.emplace_back(name);
  }
  if (forbidden.empty()) return std::nullopt;
  return PodViolation{"forbidden sysctls", listed(forbidden)};
}

Found sysctls_1_0(const CheckedPod& pod) { return sysctls(pod, 0); }
Found sysctls_1_27(const CheckedPod& pod) { return sysctls(pod, 27); }
Found sysctls_1_29(const CheckedPod& pod) { return sysctls(pod, 29); }
Found sysctls_1_32(const CheckedPod& pod) { return sysctls(pod, 32); }

Found host_process(const CheckedPod& pod) {
  const auto is_wrong = [](const Value& holder) {
    return is_true(holder["securityContext"]["windowsOptions"]["hostProcess"]);
  };
  const Names by = setters(is_wrong(pod.spec), pod.containers_with(is_wrong));
  if (by.empty()) return std::nullopt;
  return PodViolation{"hostProcess",
                      listed(by, " and ") + " must not set securityContext.windowsOptions.hostProcess=true"};
}

// --- restricted

Found escalation(const CheckedPod& pod) {
  const Names names = pod.containers_with([](const Value& container) {
    const Value& allowed = container["securityContext"]["allowPrivilegeEscalation"];
    return allowed.is_null() || is_true(allowed);
  });
  if (names.empty()) return std::nullopt;
  return PodViolation{"allowPrivilegeEscalation != false",
                      containers(names) + " must set securityContext.allowPrivilegeEscalation=false"};
}

Found dropped_capabilities(const CheckedPod& pod) {
  const Names keep_some = pod.containers_with([](const Value& container) {
    return std::ranges::none_of(container["securityContext"]["capabilities"]["drop"].items(),
                                [](const Value& each) { return each.as_string() == "ALL"; });
  });
  Sorted added;
  const Names add_some = pod.containers_with([&](const Value& container) {
    bool wrong = false;
    for (const Value& each : container["securityContext"]["capabilities"]["add"].items()) {
      if (each.as_string() == "NET_BIND_SERVICE") continue;
      wrong = true;
      added.insert(each.str());
    }
    return wrong;
  });
  Names details;
  if (!keep_some.empty()) {
    details.push_back(containers(keep_some) + R"( must set securityContext.capabilities.drop=["ALL"])");
  }
  if (!add_some.empty()) {
    details.push_back(containers(add_some) + " must not include " + quoted(added) +
                      " in securityContext.capabilities.add");
  }
  if (details.empty()) return std::nullopt;
  return PodViolation{"unrestricted capabilities", listed(details, "; ")};
}

Found volume_types(const CheckedPod& pod) {
  static constexpr std::array kAllowed = {"configMap", "csi",    "downwardAPI",           "emptyDir", "ephemeral",
                                          "image",     "secret", "persistentVolumeClaim", "projected"};
  static constexpr std::array kOthers = {"hostPath",
                                         "gcePersistentDisk",
                                         "awsElasticBlockStore",
                                         "gitRepo",
                                         "nfs",
                                         "iscsi",
                                         "glusterfs",
                                         "rbd",
                                         "flexVolume",
                                         "cinder",
                                         "cephfs",
                                         "flocker",
                                         "fc",
                                         "azureFile",
                                         "vsphereVolume",
                                         "quobyte",
                                         "azureDisk",
                                         "photonPersistentDisk",
                                         "portworxVolume",
                                         "scaleIO",
                                         "storageos"};
  Names volumes;
  Sorted types;
  for (const Value& volume : pod.spec["volumes"].items()) {
    const auto has = [&](const char* type) { return !volume[type].is_null(); };
    if (std::ranges::any_of(kAllowed, has)) continue;
    volumes.push_back(volume["name"].str());
    const auto* type = std::ranges::find_if(kOthers, has);
    types.insert(type == kOthers.end() ? "unknown" : *type);
  }
  if (volumes.empty()) return std::nullopt;
  return PodViolation{"restricted volume types",
                      counted("volume", volumes.size()) + " " + quoted(volumes) + " " + verb(volumes.size()) + " " +
                          counted("restricted volume type", types.size()) + " " + quoted(types)};
}

Found non_root(const CheckedPod& pod) {
  const auto setting = [](const Value& holder) -> const Value& { return holder["securityContext"]["runAsNonRoot"]; };
  const auto is_wrong = [&](const Value& holder) { return setting(holder).is_bool() && !setting(holder).as_bool(); };
  const Names by = setters(is_wrong(pod.spec), pod.containers_with(is_wrong));
  if (!by.empty()) {
    return PodViolation{"runAsNonRoot != true",
                        listed(by, " and ") + " must not set securityContext.runAsNonRoot=false"};
  }
  if (is_true(setting(pod.spec))) return std::nullopt;
  const Names without = pod.containers_with([&](const Value& container) { return setting(container).is_null(); });
  if (without.empty()) return std::nullopt;
  return PodViolation{"runAsNonRoot != true",
                      "pod or " + containers(without) + " must set securityContext.runAsNonRoot=true"};
}

Found non_root_1_35(const CheckedPod& pod) { return pod.has_user_namespace() ? std::nullopt : non_root(pod); }

Found root_user(const CheckedPod& pod) {
  const auto is_wrong = [](const Value& holder) {
    const Value& user = holder["securityContext"]["runAsUser"];
    return user.is_number() && user.as_int() == 0;
  };
  const Names by = setters(is_wrong(pod.spec), pod.containers_with(is_wrong));
  if (by.empty()) return std::nullopt;
  return PodViolation{"runAsUser=0", listed(by, " and ") + " must not set runAsUser=0"};
}

Found root_user_1_35(const CheckedPod& pod) { return pod.has_user_namespace() ? std::nullopt : root_user(pod); }

Found required_seccomp_profile(const CheckedPod& pod) {
  if (auto found = seccomp_profile(pod)) return found;
  if (!pod.spec["securityContext"]["seccompProfile"].is_null()) return std::nullopt;
  const Names without = pod.containers_with(
      [](const Value& container) { return container["securityContext"]["seccompProfile"].is_null(); });
  if (without.empty()) return std::nullopt;
  return PodViolation{"seccompProfile", "pod or " + containers(without) +
                                            R"( must set securityContext.seccompProfile.type to "RuntimeDefault" or )"
                                            R"("Localhost")"};
}

template <Found (*Check)(const CheckedPod&)>
Found unless_windows(const CheckedPod& pod) {
  return pod.is_windows() ? std::nullopt : Check(pod);
}

struct PodCheck {
  Found (*find)(const CheckedPod&);
  int since;           ///< minor version
  int until = 10'000;  ///< first one without it
};

// Upstream sorts them by their identifiers. The restricted standard has those of the first table, too.
constexpr std::array<PodCheck, 18> kBaseline = {{{app_armor, 0},
                                                 {default_capabilities, 0},
                                                 {host_namespaces, 0},
                                                 {host_paths, 0},
                                                 {host_ports, 0},
                                                 {host_probes, 34},
                                                 {privileged, 0},
                                                 {proc_mount, 0, 35},
                                                 {proc_mount_in_node, 35},
                                                 {selinux_1_0, 0, 31},
                                                 {selinux_1_31, 31},
                                                 {seccomp_annotations, 0, 19},
                                                 {seccomp_profile, 19},
                                                 {sysctls_1_0, 0, 27},
                                                 {sysctls_1_27, 27, 29},
                                                 {sysctls_1_29, 29, 32},
                                                 {sysctls_1_32, 32},
                                                 {host_process, 0}}};
constexpr std::array<PodCheck, 12> kRestricted = {{{escalation, 8, 25},
                                                   {unless_windows<escalation>, 25},
                                                   {dropped_capabilities, 22, 25},
                                                   {unless_windows<dropped_capabilities>, 25},
                                                   {proc_mount, 35},
                                                   {volume_types, 0},
                                                   {non_root, 0, 35},
                                                   {non_root_1_35, 35},
                                                   {root_user, 23, 35},
                                                   {root_user_1_35, 35},
                                                   {required_seccomp_profile, 19, 25},
                                                   {unless_windows<required_seccomp_profile>, 25}}};

/// Whether a stricter check of the restricted standard takes the place of that of the baseline.
bool is_replaced(const PodCheck& check, int minor) {
  return check.find == host_paths || (check.find == default_capabilities && minor >= 22) ||
         check.find == seccomp_profile || check.find == proc_mount_in_node;
}

}  // namespace

std::vector<PodViolation> pod_violations(const PodSecurityStandard& standard, const Value& metadata,
                                         const Value& spec) {
  std::vector<PodViolation> violations;
  if (standard.level == PodSecurityLevel::kPrivileged) return violations;
  constexpr int kNewest = 36;
  const int minor = std::min(standard.minor, kNewest);
  const CheckedPod pod{metadata, spec};
  const auto apply = [&](const PodCheck& check) {
    if (minor < check.since || minor >= check.until) return;
    if (auto found = check.find(pod)) violations.push_back(*std::move(found));
  };
  const bool restricted = standard.level == PodSecurityLevel::kRestricted;
  for (const PodCheck& check : kBaseline) {
    if (!restricted || !is_replaced(check, minor)) apply(check);
  }
  for (const PodCheck& check : kRestricted) {
    if (restricted) apply(check);
  }
  return violations;
}

std::string with_details(const std::vector<PodViolation>& violations) {
  std::string all;
  for (const PodViolation& each : violations) {
    all += (all.empty() ? "" : ", ") + each.reason + (each.detail.empty() ? "" : " (" + each.detail + ")");
  }
  return all;
}

std::string reasons_of(const std::vector<PodViolation>& violations) {
  std::string all;
  for (const PodViolation& each : violations) all += (all.empty() ? "" : ", ") + each.reason;
  return all;
}

}  // namespace shiplog::api
