#include <algorithm>

#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

std::string pod_warnings(const std::string& of_spec, const std::string& of_container = "{}",
                         const std::string& metadata = R"({"name":"p"})") {
  Value object = json(R"({"metadata":)" + metadata + R"(,"spec":)" + of_spec + "}");
  Value container = json(R"({"name":"c","image":"i:1"})");
  const Value members = json(of_container);
  for (const auto& member : members.members()) container.set(member.key(), member.value);
  object.edit("spec").set("containers", Value::array({container}));
  return warnings_of("pods", object);
}

TEST(PodWarnings, WhatItsAuthorHardlyWantsIsReported) {
  EXPECT_EQ(pod_warnings("{}"), "");
  EXPECT_EQ(pod_warnings("{}", R"({"env":[{"name":"A","value":"1"},{"name":"A","value":"2"},{"name":"A","value":
                "$(A)/3"}]})"),
            R"(spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply)");
  EXPECT_EQ(pod_warnings("{}", R"({"ports":[{"containerPort":80},{"containerPort":80,"name":"b"}]})"),
            "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]");
  EXPECT_EQ(pod_warnings("{}", R"({"ports":[{"containerPort":80},{"containerPort":80,"hostPort":8}]})"),
            "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]");
  EXPECT_EQ(pod_warnings("{}", R"({"ports":[{"containerPort":80,"hostIP":"1.2.3.4"}]})"),
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 "
            "Protocol:TCP HostIP:1.2.3.4}");
  EXPECT_EQ(
      pod_warnings("{}", R"({"resources":{"limits":{"memory":"1500m"},"requests":{"memory":"1"}}})"),
      R"(spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer)");
  EXPECT_EQ(pod_warnings(R"({"nodeSelector":{"beta.kubernetes.io/os":"linux"}})"),
            "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead");
  EXPECT_EQ(pod_warnings(R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[{"matchExpressions":[{"key":"beta.kubernetes.io/arch","operator":"Exists"}]}]}}}})"),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
            "matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use \"kubernetes.io/arch\" "
            "instead");
  EXPECT_EQ(pod_warnings(R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":
                "DoNotSchedule"}]})"),
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod");
  EXPECT_EQ(pod_warnings(R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                {"topologyKey":"a"}]}}})"),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null "
            "labelSelector results in matching no pod");
  EXPECT_EQ(pod_warnings(R"({"terminationGracePeriodSeconds":-1})"),
            "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1");
  EXPECT_EQ(pod_warnings(R"({"volumes":[{"name":"v","gitRepo":{"repository":"r"}}]})"),
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+");
  EXPECT_EQ(pod_warnings(R"({"hostAliases":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}],"imagePullSecrets":[{}]})"),
            "spec.hostAliases[1].ip: duplicate ip \"1.2.3.4\"\n"
            "spec.imagePullSecrets[0].name: invalid empty name \"\"");
  EXPECT_EQ(pod_warnings("{}", "{}", R"({"name":"p","annotations":{"scheduler.alpha.kubernetes.io/critical-pod":""}})"),
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "
            "\"priorityClassName\" field instead");
  EXPECT_EQ(pod_warnings("{}", "{}", R"({"name":"a.b"})"),
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label "
            "is recommended: [must not contain dots]");
}

TEST(PodWarnings, NewerVersionsReportMore) {
  EXPECT_EQ(pod_warnings(R"({"initContainers":[{"name":"i","image":"i:1","ports":[{"name":"a","containerPort":1}]}]})",
                         R"({"ports":[{"name":"a","containerPort":2}]})"),
            "spec.containers[0].ports[0]: duplicate port name \"a\" with spec.initContainers[0].ports[0], services and "
            "probes that select ports by name will use spec.initContainers[0].ports[0]");
  EXPECT_EQ(
      pod_warnings(R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
                "preference":{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}}]}}})")
          .substr(0, 152),
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0]."
      "values[0]: b c is invalid, a valid label mu");
  EXPECT_EQ(pod_warnings(R"({"dnsConfig":{"nameservers":["010.0.0.1"]},"hostAliases":[{"ip":"FD00::1"}]})"),
            "spec.dnsConfig.nameservers[0]: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"\n"
            "spec.hostAliases[0].ip: IPv6 address \"FD00::1\" should be in RFC 5952 canonical format (\"fd00::1\")");
  EXPECT_EQ(pod_warnings(R"({"volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{"signerName":"a.io/b",
                "keyType":"ED25519","keyPath":"t"}},{"serviceAccountToken":{"path":"t/u"}}]}}]})"),
            "volume \"v\" (Projected ServiceAccountToken): overlapping paths: \"t/u\" with \"t\"");
}

TEST(PodWarnings, AProfileOfThePodTakesThePlaceOfTheSameAnnotation) {
  const auto warnings = [](const char* profile) {
    return warnings_of("podtemplates", json(R"({"metadata":{"name":"t"},"template":{"metadata":{"annotations":
        {"container.apparmor.security.beta.kubernetes.io/c":"localhost/a"}},"spec":{"securityContext":
        {"appArmorProfile":)" + std::string{profile} +
                                            R"(},"containers":[{"name":"c","image":"i:1"}]}}})"));
  };
  EXPECT_EQ(warnings(R"({"type":"Localhost","localhostProfile":"a"})"), "");
  EXPECT_EQ(warnings(R"({"type":"RuntimeDefault"})"),
            "template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; "
            "use the \"appArmorProfile\" field instead");
}

TEST(PodWarnings, OverlappingPathsInOneVolumeAreReported) {
  EXPECT_EQ(pod_warnings(R"({"volumes":[{"name":"v","configMap":{"name":"m","items":[{"key":"a","path":"p"},{"key":"b",
                "path":"p/q"},{"key":"c","path":"pq"}]}}]})"),
            R"(volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p")");
  EXPECT_EQ(pod_warnings(R"({"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},
                {"secret":{"name":"s","items":[{"key":"a","path":"t/u"}]}},{}]}}]})"),
            "volume \"v\" (Projected Secret \"s\"): overlapping paths: \"t/u\" with \"t\"\n"
            "volume \"v\" (Projected) has no sources provided");
}

TEST(PodWarnings, AreBoundedByTheirNumber) {
  std::string ports;
  for (int i = 0; i < 2000; ++i) ports += R"({"containerPort":80},)";
  ports.pop_back();
  const std::string all = pod_warnings("{}", R"({"ports":[)" + ports + "]}");
  EXPECT_EQ(std::ranges::count(all, '\n') + 1, 100) << "each port is like all before it";
}

TEST(PodWarnings, TemplatesHaveThemToo) {
  const char* kSpec = R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"%s","nodeSelector":
      {"beta.kubernetes.io/os":"linux"},"containers":[{"name":"c","image":"i:1"}]}})";
  const auto spec = [&](const char* restart) {
    std::string text = kSpec;
    return text.replace(text.find("%s"), 2, restart);
  };
  const std::string label = "[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead";
  const std::string name =
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is "
      "recommended: [must not contain dots]\n";
  const auto object = [&](const std::string& of_spec) {
    return json(R"({"metadata":{"name":"a.b"},"spec":{)" + of_spec + "}}");
  };
  const std::string selected = R"("selector":{"matchLabels":{"a":"b"}},)" + spec("Always");
  for (const char* type : {"deployments.apps", "replicasets.apps"}) {
    EXPECT_EQ(warnings_of(type, object(selected)), name + "spec.template.spec.nodeSelector" + label) << type;
  }
  EXPECT_EQ(warnings_of("daemonsets.apps", object(selected)), "spec.template.spec.nodeSelector" + label);
  EXPECT_EQ(warnings_of("jobs.batch", object(spec("Never"))), name + "spec.template.spec.nodeSelector" + label);
  EXPECT_EQ(
      warnings_of("cronjobs.batch", object(R"("schedule":"@daily","jobTemplate":{"spec":{)" + spec("Never") + "}}")),
      name + "spec.jobTemplate.spec.template.spec.nodeSelector" + label);
  const Value old = stored("deployments.apps", object(selected));
  Value labelled = old;
  labelled.edit("metadata").set("labels", json(R"({"a":"b"})"));
  Admission admission = admission_for("deployments.apps", "a.b");
  EXPECT_TRUE(admit_update(admission, old, labelled).has_value());
  EXPECT_TRUE(admission.warnings.empty()) << "only what changes the spec";
  labelled.edit("spec").set("replicas", 3);
  EXPECT_TRUE(admit_update(admission, old, labelled).has_value());
  EXPECT_EQ(admission.warnings, std::vector<std::string>{"spec.template.spec.nodeSelector" + label});
}

TEST(PodWarnings, IngressesNameTheirClassInAField) {
  EXPECT_EQ(warnings_of("ingresses.networking.k8s.io", json(R"({"metadata":{"name":"i","annotations":
                {"kubernetes.io/ingress.class":"x"}},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":
                80}}}}})")),
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead");
}

}  // namespace
}  // namespace shiplog::api
