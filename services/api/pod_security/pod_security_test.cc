#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/pod_security/levels.h"
#include "services/api/pod_security/pod_checks.h"

// Pod Security (ADM-5).

namespace shiplog::api {
namespace {

using Level = PodSecurityLevel;

std::string violated(const PodSecurityStandard& standard, const std::string& pod) {
  const Value value = parse_yaml("{" + pod + "}").value();
  return with_details(pod_violations(standard, value["metadata"], value["spec"]));
}
std::string baseline(const std::string& spec, int minor = PodSecurityStandard::kLatest) {
  return violated({Level::kBaseline, minor}, "spec: {" + spec + "}");
}
/// A pod that fulfils the restricted standard, with `more` in its specification and in its container.
std::string restricted(const std::string& spec, const std::string& container = "",
                       int minor = PodSecurityStandard::kLatest) {
  return violated(
      {Level::kRestricted, minor},
      "spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: "
      "a, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}" +
          (container.empty() ? "" : ", " + container) + "}}]" + (spec.empty() ? "" : ", " + spec) + "}");
}

TEST(PodSecurityLabels, NameAStandardForEachMode) {
  const auto read = [](const std::string& labels) { return pod_security_of(parse_yaml("{" + labels + "}").value()); };
  EXPECT_TRUE(read("a: b").first.is_privileged());
  const auto [policy, problems] = read(
      "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.30, "
      "pod-security.kubernetes.io/audit: restricted, pod-security.kubernetes.io/warn: privileged");
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(policy.enforce.text(), "baseline:v1.30");
  EXPECT_EQ(policy.audit.text(), "restricted:latest");
  EXPECT_EQ(policy.warn.text(), "privileged:latest");
}

TEST(PodSecurityLabels, WhatIsEnforcedIsWarnedAboutUnlessALabelSaysOtherwise) {
  const auto warn = [](const std::string& labels) {
    return pod_security_of(parse_yaml("{pod-security.kubernetes.io/enforce: " + labels + "}").value())
        .first.warn.text();
  };
  EXPECT_EQ(warn("restricted, pod-security.kubernetes.io/enforce-version: v1.28"), "restricted:v1.28");
  EXPECT_EQ(warn("restricted, pod-security.kubernetes.io/warn-version: v1.29"), "restricted:v1.29");
  EXPECT_EQ(warn("restricted, pod-security.kubernetes.io/warn: baseline"), "baseline:latest");
  EXPECT_EQ(warn("privileged"), "privileged:latest");
  EXPECT_EQ(warn("unknown"), "privileged:latest");
}

TEST(PodSecurityLabels, ThatCannotBeReadEnforceMostAndReportNothing) {
  const auto [policy, problems] = pod_security_of(
      parse_yaml("{pod-security.kubernetes.io/enforce: strict, pod-security.kubernetes.io/enforce-version: '1.30', "
                 "pod-security.kubernetes.io/audit: x, pod-security.kubernetes.io/warn-version: v1.03}")
          .value());
  EXPECT_EQ(policy.enforce.text(), "restricted:latest");
  EXPECT_EQ(policy.audit.text(), "privileged:latest");
  std::string all;
  for (const PodSecurityProblem& each : problems)
    all += each.label.substr(27) + "=" + each.value.str() + " " + each.message + "\n";
  EXPECT_EQ(all,
            "enforce=strict must be one of privileged, baseline, restricted\n"
            "enforce-version=1.30 must be \"latest\" or \"v1.x\"\n"
            "audit=x must be one of privileged, baseline, restricted\n"
            "warn-version=v1.03 must be \"latest\" or \"v1.x\"\n");
}

TEST(PodSecurityChecks, APrivilegedPodIsAllowedOnlyWithoutAStandard) {
  const std::string pod = "hostNetwork: true, containers: [{name: a, securityContext: {privileged: true}}]";
  EXPECT_EQ(violated({Level::kPrivileged}, "spec: {" + pod + "}"), "");
  EXPECT_EQ(baseline(pod),
            "host namespaces (hostNetwork=true), privileged (container \"a\" must not set "
            "securityContext.privileged=true)");
}

TEST(PodSecurityChecks, OfTheBaseline) {
  EXPECT_EQ(baseline("containers: [{name: a, image: i}]"), "");
  EXPECT_EQ(
      baseline("hostPID: true, hostIPC: true, volumes: [{name: v, hostPath: {path: /}}, {name: w, hostPath: {}}]"),
      "host namespaces (hostPID=true, hostIPC=true), hostPath volumes (volumes \"v\", \"w\")");
  EXPECT_EQ(
      baseline("initContainers: [{name: b, ports: [{hostPort: 81}, {hostPort: 80}]}], containers: [{name: a, ports: "
               "[{hostPort: 0}]}]"),
      "hostPort (container \"b\" uses hostPorts 80, 81)");
  EXPECT_EQ(baseline("containers: [{name: a, securityContext: {capabilities: {add: [NET_RAW, CHOWN, BPF]}}}]"),
            "non-default capabilities (container \"a\" must not include \"BPF\", \"NET_RAW\" in "
            "securityContext.capabilities.add)");
  EXPECT_EQ(
      baseline("securityContext: {appArmorProfile: {type: Unconfined}}, containers: [{name: a, securityContext: "
               "{appArmorProfile: {type: Unconfined}}}]"),
      "forbidden AppArmor profile (pod and container \"a\" must not set AppArmor profile type to \"Unconfined\")");
  EXPECT_EQ(
      baseline("securityContext: {seLinuxOptions: {type: spc_t, user: u}}, containers: [{name: a, securityContext: "
               "{seLinuxOptions: {role: r}}}]"),
      "seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: type \"spc_t\"; user may "
      "not be set; role may not be set)");
  EXPECT_EQ(baseline("securityContext: {seccompProfile: {type: Unconfined}}"),
            "seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")");
  EXPECT_EQ(baseline("securityContext: {sysctls: [{name: kernel.shm_rmid_forced}, {name: kernel.msgmax}]}"),
            "forbidden sysctls (kernel.msgmax)");
  EXPECT_EQ(baseline("ephemeralContainers: [{name: e, securityContext: {windowsOptions: {hostProcess: true}}}]"),
            "hostProcess (container \"e\" must not set securityContext.windowsOptions.hostProcess=true)");
}

TEST(PodSecurityChecks, FollowTheVersionOfTheStandard) {
  const std::string probe = "containers: [{name: a, livenessProbe: {httpGet: {host: h}}}]";
  EXPECT_EQ(baseline(probe, 33), "");
  EXPECT_EQ(baseline(probe, 34), "probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")");
  const std::string mount = "hostUsers: false, containers: [{name: a, securityContext: {procMount: Unmasked}}]";
  EXPECT_EQ(baseline(mount, 34), "procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")");
  EXPECT_EQ(baseline(mount, 35), "");
  const std::string sysctl = "securityContext: {sysctls: [{name: net.ipv4.tcp_rmem}]}";
  EXPECT_EQ(baseline(sysctl, 31), "forbidden sysctls (net.ipv4.tcp_rmem)");
  EXPECT_EQ(baseline(sysctl, 32), "");
  const std::string selinux = "securityContext: {seLinuxOptions: {type: container_engine_t}}";
  EXPECT_NE(baseline(selinux, 30), "");
  EXPECT_EQ(baseline(selinux, 31), "");
  EXPECT_EQ(violated({Level::kBaseline, 18},
                     "metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: unconfined}}, spec: {}"),
            "seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")");
  EXPECT_EQ(restricted("", "runAsUser: 0", 22), "");
  EXPECT_EQ(restricted("", "runAsUser: 0", 23), "runAsUser=0 (container \"a\" must not set runAsUser=0)");
  EXPECT_EQ(violated({Level::kRestricted, 7}, "spec: {containers: [{name: a}]}"),
            "runAsNonRoot != true (pod or container \"a\" must set securityContext.runAsNonRoot=true)");
}

TEST(PodSecurityChecks, OfTheRestrictedStandard) {
  EXPECT_EQ(restricted(""), "");
  EXPECT_EQ(
      violated({Level::kRestricted}, "spec: {containers: [{name: a}, {name: b}]}"),
      "allowPrivilegeEscalation != false (containers \"a\", \"b\" must set "
      "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers \"a\", \"b\" must set "
      "securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or containers \"a\", \"b\" must set "
      "securityContext.runAsNonRoot=true), seccompProfile (pod or containers \"a\", \"b\" must set "
      "securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")");
  EXPECT_EQ(restricted("volumes: [{name: v, hostPath: {}}, {name: w, nfs: {}}, {name: x, emptyDir: {}}, {name: z}]"),
            "restricted volume types (volumes \"v\", \"w\", \"z\" use restricted volume types \"hostPath\", \"nfs\", "
            "\"unknown\")");
  EXPECT_EQ(restricted("", "runAsNonRoot: false"),
            "runAsNonRoot != true (container \"a\" must not set securityContext.runAsNonRoot=false)");
  EXPECT_EQ(restricted("hostUsers: false", "runAsNonRoot: false, runAsUser: 0, procMount: Unmasked"),
            "procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")");
  EXPECT_EQ(restricted("", "seccompProfile: {type: Unconfined}"),
            "seccompProfile (container \"a\" must not set securityContext.seccompProfile.type to \"Unconfined\")");
}

TEST(PodSecurityChecks, SpareWindowsWhatItDoesNotHave) {
  const std::string pod = "spec: {os: {name: windows}, securityContext: {runAsNonRoot: true}, containers: [{name: a}]}";
  EXPECT_EQ(violated({Level::kRestricted, 25}, pod), "");
  EXPECT_NE(violated({Level::kRestricted, 24}, pod), "");
}

}  // namespace
}  // namespace shiplog::api
