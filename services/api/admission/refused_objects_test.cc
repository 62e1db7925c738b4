#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/admit.h"

// Objects of the built-in kinds that every cluster refuses, in the words of Kubernetes, and their counterparts (CRU-8,
// CRU-9, CRU-10). Pods and what makes them have tests of their own.

namespace shiplog::api {
namespace {

constexpr const char* kServices = "services";
constexpr const char* kIngresses = "ingresses.networking.k8s.io";
constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kVolumes = "persistentvolumes";
constexpr const char* kQuotas = "resourcequotas";
constexpr const char* kLimits = "limitranges";
constexpr const char* kSlices = "endpointslices.discovery.k8s.io";
constexpr const char* kAutoscalers = "horizontalpodautoscalers.autoscaling";
constexpr const char* kPriorities = "priorityclasses.scheduling.k8s.io";
constexpr const char* kBindings = "rolebindings.rbac.authorization.k8s.io";
constexpr const char* kRoles = "clusterroles.rbac.authorization.k8s.io";

struct RefusedObject {
  const char* type;
  std::string content;
  const char* fields;
  const char* message;
};

Value named(std::string_view content) {
  Value object = json(content);
  object.edit("metadata").set("name", "a");
  return object;
}

std::string with_spec(const std::string& spec) { return R"({"spec":{)" + spec + "}}"; }
std::string service(const std::string& more) { return with_spec(R"("ports":[{"port":1}],)" + more); }
std::string balancer(const std::string& more) { return service(R"("type":"LoadBalancer",)" + more); }
std::string service_port(const std::string& more) { return with_spec(R"("ports":[{"port":1,)" + more + "}]"); }
std::string ingress_path(const std::string& path) {
  return with_spec(R"("rules":[{"http":{"paths":[{"pathType":"Prefix","path":")" + path +
                   R"(","backend":{"service":{"name":"s","port":{"number":80}}}}]}}])");
}
std::string ingress_backend(const std::string& backend) { return with_spec(R"("defaultBackend":)" + backend); }
std::string ingress(const std::string& more) {
  return with_spec(R"("defaultBackend":{"service":{"name":"s","port":{"number":80}}},)" + more);
}
std::string claim(const std::string& more, const std::string& size = "1Gi") {
  return with_spec(R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" + size + "\"}}" +
                   (more.empty() ? "" : ",") + more);
}
std::string volume(const std::string& more) {
  return with_spec(R"("accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"})" +
                   std::string{more.empty() ? "" : ","} + more);
}
std::string host_path(const std::string& more) { return volume(R"("hostPath":{"path":"/tmp"},)" + more); }
std::string limits(const std::string& item) { return with_spec(R"("limits":[{"type":"Container",)" + item + "}]"); }
std::string autoscaler(const std::string& metric) {
  return with_spec(
      R"("maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},"metrics":[)" +
      metric + "]");
}
std::string slice(const std::string& endpoint, const std::string& port = "") {
  return R"({"addressType":"IPv4","endpoints":[{"addresses":["1.2.3.4"])" + std::string{endpoint.empty() ? "" : ","} +
         endpoint + R"(}],"ports":[{"port":80)" + (port.empty() ? "" : ",") + port + "}]}";
}
std::string subject(const std::string& fields) {
  return R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount",)" + fields + "}]}";
}

std::vector<RefusedObject> refused_services() {
  return {
      {kServices, with_spec(R"("type":"ExternalName","externalName":"A B")"), "spec.externalName",
       R"(Invalid value: "A B": a lowercase RFC 1123 subdomain)"},
      {kServices, with_spec(R"("type":"ExternalName","externalName":"a","clusterIP":"10.0.0.1")"), "spec.clusterIPs",
       "Forbidden: may not be set for ExternalName services"},
      {kServices, balancer(R"("loadBalancerSourceRanges":["x"])"), "spec.LoadBalancerSourceRanges[0]",
       "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
      {kServices, service(R"("loadBalancerSourceRanges":["10.0.0.0/8"])"), "spec.LoadBalancerSourceRanges",
       "may only be used when `type` is 'LoadBalancer'"},
      {kServices, service(R"("externalTrafficPolicy":"Local")"), "spec.externalTrafficPolicy",
       "may only be set for externally-accessible services"},
      {kServices, service(R"("type":"NodePort","externalTrafficPolicy":"X")"), "spec.externalTrafficPolicy",
       R"(Unsupported value: "X": supported values: "Cluster", "Local")"},
      {kServices, service(R"("internalTrafficPolicy":"X")"), "spec.internalTrafficPolicy",
       R"(Unsupported value: "X": supported values: "Cluster", "Local")"},
      {kServices, service(R"("trafficDistribution":"X")"), "spec.trafficDistribution", R"(Unsupported value: "X")"},
      {kServices, service(R"("type":"NodePort","clusterIP":"None")"), "spec.clusterIPs[0]",
       "may not be set to 'None' for NodePort services"},
      {kServices, balancer(R"("clusterIP":"None")"), "spec.clusterIPs[0]",
       R"(Invalid value: "None": may not be set to 'None' for LoadBalancer services)"},
      {kServices, service(R"("clusterIP":"10.0.0.1","clusterIPs":["10.0.0.2"])"), "spec.clusterIPs",
       R"(Invalid value: ["10.0.0.2"]: first value must match `clusterIP`)"},
      {kServices, service_port(R"("targetPort":"Http_1")"), "spec.ports[0].targetPort",
       R"(Invalid value: "Http_1": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-))"},
      {kServices, service_port(R"("appProtocol":"a/b/c")"), "spec.ports[0].appProtocol",
       R"(Invalid value: "a/b/c": a qualified name)"},
      {kServices, service(R"("externalIPs":["1.2.3","127.0.0.1","0.0.0.0"])"),
       "spec.externalIPs[0],spec.externalIPs[1],spec.externalIPs[2]",
       R"([spec.externalIPs[0]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or )"
       R"(2001:db8::ffff), spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range )"
       R"((127.0.0.0/8, ::1/128), spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)])"},
      {kServices, service(R"("loadBalancerClass":"a/b","allocateLoadBalancerNodePorts":true)"),
       "spec.allocateLoadBalancerNodePorts,spec.loadBalancerClass",
       "Forbidden: may only be used when `type` is 'LoadBalancer'"},
      {kServices, balancer(R"("loadBalancerClass":"a b")"), "spec.loadBalancerClass", "name part must consist of"},
      {kServices,
       service(R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86401}})"),
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
       "Invalid value: 86401: must be greater than 0 and less than 86400"},
  };
}

std::vector<RefusedObject> refused_ingresses() {
  return {
      {kIngresses, with_spec(R"("rules":[{"host":"A_b"}])"), "spec.rules[0].host",
       R"(Invalid value: "A_b": a lowercase RFC 1123 subdomain)"},
      {kIngresses, with_spec(R"("rules":[{"host":"10.0.0.1"}])"), "spec.rules[0].host",
       "must be a DNS name, not an IP address"},
      {kIngresses, with_spec(R"("rules":[{"host":"a.*.b"}],"tls":[{"hosts":["*"]}])"),
       "spec.rules[0].host,spec.tls[0].hosts[0]", "a wildcard DNS-1123 subdomain must start with '*.'"},
      {kIngresses, ingress_path("/a//b"), "spec.rules[0].http.paths[0].path",
       R"(Invalid value: "/a//b": must not contain '//')"},
      {kIngresses, ingress_path("/a/../b"), "spec.rules[0].http.paths[0].path", "must not contain '/../'"},
      {kIngresses, ingress_path("/%2f"), "spec.rules[0].http.paths[0].path", "must not contain '%2f'"},
      {kIngresses, ingress_path("/a/.."), "spec.rules[0].http.paths[0].path", "cannot end with '/..'"},
      {kIngresses, ingress_backend("{}"), "spec.defaultBackend",
       R"(Invalid value: "": resource or service backend is required)"},
      {kIngresses, ingress_backend(R"({"service":{"name":"s"}})"), "spec.defaultBackend",
       "Required value: port name or number is required"},
      {kIngresses, ingress_backend(R"({"service":{"name":"s","port":{"number":99999}}})"),
       "spec.defaultBackend.service.port.number", "Invalid value: 99999: must be between 1 and 65535, inclusive"},
      {kIngresses, ingress_backend(R"({"resource":{"kind":"","name":"a/b"}})"),
       "spec.defaultBackend.resource.kind,spec.defaultBackend.resource.name", "may not contain '/'"},
      {kIngresses, ingress(R"("ingressClassName":"A_B","tls":[{"secretName":"A_"}])"),
       "spec.tls[0].secretName,spec.ingressClassName", R"(Invalid value: "A_B": a lowercase RFC 1123 subdomain)"},
  };
}

std::vector<RefusedObject> refused_storage() {
  return {
      {kClaims, with_spec(R"("accessModes":["X"],"resources":{"requests":{"storage":"1"}})"), "spec.accessModes",
       R"(Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany")"},
      {kClaims,
       with_spec(R"("accessModes":["ReadWriteOncePod","ReadWriteOnce"],"resources":{"requests":{"storage":"1"}})"),
       "spec.accessModes", "Forbidden: may not use ReadWriteOncePod with other access modes"},
      {kClaims, claim("", "0"), "spec.resources[storage]", R"(Invalid value: "0": must be greater than zero)"},
      {kClaims, claim("", "-1Gi"), "spec.resources[storage]", "must be greater than zero"},
      {kClaims, claim(R"("storageClassName":"A_","volumeMode":"X","selector":{"matchLabels":{"a b":"c"}})"),
       "spec.storageClassName,spec.volumeMode,spec.selector.matchLabels",
       R"(Unsupported value: "X": supported values: "Block", "Filesystem")"},
      {kClaims, claim(R"("dataSource":{"kind":"X","name":"x"})"), "spec.dataSource",
       "must be 'PersistentVolumeClaim' when referencing the default apiGroup"},
      {kVolumes, volume(""), "spec", "Required value: must specify a volume type"},
      {kVolumes, host_path(R"("nfs":{"server":"a","path":"/b"})"), "spec.nfs",
       "Forbidden: may not specify more than 1 volume type"},
      {kVolumes, volume(R"("hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Recycle")"),
       "spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'"},
      {kVolumes, volume(R"("hostPath":{"path":"/a/../b"})"), "spec.hostPath.path", "must not contain '..'"},
      {kVolumes, volume(R"("csi":{})"), "spec.csi.driver,spec.csi.volumeHandle", "Required value"},
      {kVolumes, volume(R"("local":{"path":"/a"})"), "spec.nodeAffinity",
       "Required value: Local volume requires node affinity"},
      {kVolumes,
       with_spec(R"("accessModes":["ReadWriteOnce"],"capacity":{"storage":"0"},"nfs":{"server":"a","path":"b"})"),
       "spec.capacity[storage],spec.nfs.path", R"(Invalid value: "b": must be an absolute path)"},
      {kVolumes, host_path(R"("nodeAffinity":{"required":{"nodeSelectorTerms":[]}})"),
       "spec.nodeAffinity.required.nodeSelectorTerms", "must have at least one node selector term"},
  };
}

std::vector<RefusedObject> refused_limits() {
  return {
      {kQuotas, with_spec(R"("hard":{"foo":"1"})"), "spec.hard[foo],spec.hard[foo]",
       R"(spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified, )"
       R"(spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota)"},
      {kQuotas, with_spec(R"("hard":{"pods":"1.5"})"), "spec.hard[pods]",
       R"(Invalid value: "1500m": must be an integer)"},
      {kQuotas, with_spec(R"("hard":{"pods":"-1"})"), "spec.hard[pods]", "must be greater than or equal to 0"},
      {kQuotas, with_spec(R"("hard":{"pods":"1"},"scopes":["Foo"])"), "spec.scopes",
       R"(Invalid value: ["Foo"]: unsupported scope)"},
      {kQuotas, with_spec(R"("hard":{"services":"1"},"scopes":["BestEffort"])"), "spec.scopes",
       "unsupported scope applied to resource"},
      {kQuotas, with_spec(R"("hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"])"), "spec.scopes",
       "conflicting scopes"},
      {kQuotas, with_spec(R"("hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[
           {"scopeName":"PriorityClass","operator":"In"},{"scopeName":"Terminating","operator":"In","values":["a"]}]})"),
       "spec.scopeSelector.matchExpressions.values,spec.scopeSelector.matchExpressions.operator",
       "Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"},
      {kLimits, limits(R"("min":{"cpu":"2"},"max":{"cpu":"1"},"defaultRequest":{"cpu":"2"},"default":{"cpu":"2"})"),
       "spec.limits[0].min[cpu],spec.limits[0].defaultRequest[cpu],spec.limits[0].default[cpu]",
       R"(Invalid value: "2": min value 2 is greater than max value 1)"},
      {kLimits, limits(R"("max":{"cpu":"1"},"default":{"cpu":"1500m"},"defaultRequest":{"cpu":"1"})"),
       "spec.limits[0].default[cpu]", "default value 1500m is greater than max value 1"},
      {kLimits, with_spec(R"("limits":[{"type":"Pod","default":{"cpu":"1"}},{"type":"Pod"}])"),
       "spec.limits[0].default,spec.limits[1].type", "may not be specified when `type` is 'Pod'"},
      {kLimits, with_spec(R"("limits":[{"type":"Foo"},{"type":"PersistentVolumeClaim"}])"),
       "spec.limits[0].type,spec.limits[1].limits", "must be a standard limit type or fully qualified"},
      {kLimits, limits(R"("maxLimitRequestRatio":{"cpu":"0"})"), "spec.limits[0].maxLimitRequestRatio[cpu]",
       R"(Invalid value: "0": ratio 0 is less than 1)"},
      {kLimits, limits(R"("maxLimitRequestRatio":{"cpu":"4"},"min":{"cpu":"1"},"max":{"cpu":"2"})"),
       "spec.limits[0].maxLimitRequestRatio[cpu]", R"("4": ratio 4 is greater than max/min = 2.000000)"},
      {kLimits, with_spec(R"("limits":[{"type":"Pod","max":{"storage":"1"}}])"), "spec.limits[0].max[storage]",
       R"(Invalid value: "storage": must be a standard resource for containers)"},
      {kLimits, limits(R"("default":{"a.io/gpu":"2"},"defaultRequest":{"a.io/gpu":"1"})"),
       "spec.limits[0].defaultRequest[a.io/gpu]", "default value 2 must equal to defaultRequest value 1 in a.io/gpu"},
  };
}

std::vector<RefusedObject> refused_others() {
  return {
      {"secrets", R"({"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"pass"}})",
       "data[.dockerconfigjson]", R"(Invalid value: "<secret contents redacted>": must be a JSON object)"},
      {"secrets", R"({"type":"kubernetes.io/dockercfg","stringData":{".dockercfg":"[]"}})", "data[.dockercfg]",
       "must be a JSON object"},
      {"namespaces", R"({"spec":{"finalizers":["foo"]}})", "spec.finalizers",
       R"("foo": name is neither a standard finalizer name nor is it fully qualified)"},
      {kAutoscalers, autoscaler(R"({"type":"Foo"})"), "spec.metrics[0].type",
       R"(supported values: "ContainerResource", "External", "Object", "Pods", "Resource")"},
      {kAutoscalers, autoscaler(R"({"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue"}}})"),
       "spec.metrics[0].pods.target.averageValue", "Required value: must specify a positive target averageValue"},
      {kAutoscalers,
       autoscaler(R"({"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1",
           "averageValue":"2"}}})"),
       "spec.metrics[0].external.target.value",
       "Forbidden: may not set both a target value for metric and a per-pod target"},
      {"federatedhpas.autoscaling.karmada.io", autoscaler(R"({"type":"Foo"})"), "spec.metrics[0].type",
       R"(supported values: "ContainerResource", "Object", "Pods", "Resource")"},
      {kSlices, slice(R"("nodeName":"A_")"), "endpoints[0].nodeName", "a lowercase RFC 1123 subdomain"},
      {kSlices, slice(R"("hints":{"forZones":[{"name":"a b"},{"name":"c"},{"name":"c"}]})"),
       "endpoints[0].hints.forZones[0].name,endpoints[0].hints.forZones[2].name", R"(Duplicate value: "c")"},
      {kSlices, slice("", R"("appProtocol":"a/b/c")"), "ports[0].appProtocol", "a qualified name"},
      {kBindings, subject(R"("name":"A_","apiGroup":"x")"), "subjects[0].name,subjects[0].apiGroup",
       R"(Unsupported value: "x": supported values: "")"},
      {kRoles, R"({"aggregationRule":{}})", "aggregationRule.clusterRoleSelectors",
       "Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"},
      {kRoles, R"({"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"X"}]}]}})",
       "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator", "not a valid selector operator"},
      {kPriorities, R"({"value":1,"preemptionPolicy":"Foo"})", "preemptionPolicy",
       R"(Unsupported value: "Foo": supported values: "PreemptLowerPriority", "Never")"},
      {kPriorities, R"({"value":1000000001})", "value",
       "Forbidden: maximum allowed value of a user defined priority is 1000000000"},
      {"nodes", R"({"spec":{"podCIDR":"x","taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"},
          {"key":"b","effect":"X"}]}})",
       "metadata.taints[2].effect,metadata.taints[1],spec.podCIDRs[0]",
       R"(Duplicate value: {"effect":"NoSchedule","key":"a"}: taints must be unique by key and effect pair)"},
      {"nodes", R"({"status":{"capacity":{"cpu":"-1"},"allocatable":{"pods":"1500m"}}})",
       "status.capacity.cpu,status.allocatable.pods", R"(Invalid value: "-1": must be greater than or equal to 0)"},
      {"events", R"({"involvedObject":{"namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z","action":"a",
          "reason":"r","reportingComponent":"a b","reportingInstance":"i"})",
       "reportingComponent", R"(Invalid value: "a b": name part must consist of)"},
      {"certificatesigningrequests.certificates.k8s.io",
       R"({"spec":{"request":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=","signerName":"a.io/b",
          "usages":["bogus"]}})",
       "spec.usages[0]", R"(Unsupported value: "bogus": supported values: "any", "cert sign", "client auth")"},
  };
}

void expect_refused(const std::vector<RefusedObject>& objects) {
  for (const RefusedObject& each : objects) {
    const auto refused = create(each.type, named(each.content));
    EXPECT_EQ(fields_of(refused), each.fields) << each.content;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
    EXPECT_EQ(message_of(refused).find("pass"), std::string::npos) << "a secret's text";
  }
}

TEST(RefusedObjects, Services) { expect_refused(refused_services()); }              // CRU-9
TEST(RefusedObjects, Ingresses) { expect_refused(refused_ingresses()); }            // CRU-9
TEST(RefusedObjects, VolumesAndTheirClaims) { expect_refused(refused_storage()); }  // CRU-9
TEST(RefusedObjects, QuotasAndLimitRanges) { expect_refused(refused_limits()); }    // CRU-9
TEST(RefusedObjects, OtherKindsOfTheCore) { expect_refused(refused_others()); }     // CRU-9

TEST(RefusedObjects, WhatKubernetesAcceptsIsAccepted) {
  for (const auto& [type, accepted] : std::vector<std::pair<const char*, std::string>>{
           {kIngresses, with_spec(R"("rules":[{"host":"*.a.example"},{"host":"b.example"},{}],
               "tls":[{"hosts":["*.a.example"]},{}])")},
           {kIngresses, ingress_backend(R"({"resource":{"apiGroup":"a.io","kind":"Bucket","name":"x"}})")},
           {kServices, with_spec(R"("type":"ExternalName","externalName":"a.example.")")},
           {kServices, balancer(R"("loadBalancerSourceRanges":[" 010.0.0.0/8 ","fd00::1/8","0.0.0.0/0"],
               "externalTrafficPolicy":"Local","loadBalancerClass":"a.io/b")")},
           {kServices, service(R"("externalIPs":["1.1.1.1","010.1.2.3"],"externalTrafficPolicy":"Local")")},
           {kServices, with_spec(R"("ports":[{"port":80,"targetPort":"http","appProtocol":"kubernetes.io/h2c"}],
               "trafficDistribution":"PreferClose","internalTrafficPolicy":"Local")")},
           {"secrets",
            R"({"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{\"auths\":{}}"}})"},
           {kLimits, with_spec(R"("limits":[{"type":"Container","min":{"cpu":"1"},"max":{"cpu":"1000m"},"default":
               {"memory":"1Gi"}},{"type":"a.io/b"},{"type":"PersistentVolumeClaim","min":{"storage":"1"}}])")},
           {kQuotas, with_spec(R"("hard":{"count/jobs.batch":"1","requests.a.io/gpu":"1500m","limits.cpu":"1",
               "gold.storageclass.storage.k8s.io/requests.storage":"1Gi","hugepages-2Mi":"1"})")},
           {kQuotas, with_spec(R"("hard":{"pods":"1","cpu":"1"},"scopes":["NotBestEffort","Terminating"])")},
           {kQuotas, with_spec(R"("hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",
               "operator":"NotIn","values":["a"]}]})")},
           {kClaims, claim(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"},"storageClassName":"")")},
           {kVolumes, volume(R"("local":{"path":"/a"},"nodeAffinity":{"required":{"nodeSelectorTerms":[
               {"matchExpressions":[{"key":"a","operator":"Exists"}]}]}})")},
           {kVolumes, volume(R"("csi":{"driver":"A.io","volumeHandle":"h"},"volumeMode":"Block")")},
           {kBindings, subject(R"("name":"a")")},
           {kPriorities, R"({})"},
       }) {
    EXPECT_EQ(message_of(create(type, named(accepted))), "no error") << accepted;
  }
}

TEST(RefusedObjects, WhatAnOlderBuildStoredCanStillBeUpdated) {
  for (const auto& [type, good, path, bad] :
       std::vector<std::tuple<const char*, std::string, const char*, const char*>>{
           {kIngresses, with_spec(R"("rules":[{}])"), "rules", R"([{"host":"A_b"}])"},
           {kIngresses, ingress(R"("ingressClassName":"a")"), "ingressClassName", R"("A_")"},
           {kServices, with_spec(R"("type":"ExternalName","externalName":"a")"), "externalName", R"("A B")"},
           {kServices, service(R"("trafficDistribution":"PreferClose")"), "trafficDistribution", R"("X")"},
           {kLimits, with_spec(R"("limits":[])"), "limits", R"([{"type":"Foo"}])"},
           {kLimits, with_spec(R"("limits":[])"), "limits", R"([{"type":"Container","max":{"foo":"1"}}])"},
           {kQuotas, with_spec(R"("hard":{"pods":"1"})"), "hard", R"({"foo":"1"})"},
           {kClaims, claim(""), "volumeMode", R"("Foo")"},
           {kVolumes, host_path(R"("storageClassName":"a")"), "nfs", R"({"server":"a","path":"/b"})"},
       }) {
    Value old = stored(type, named(good));
    old.edit("spec").set(path, json(bad));
    Value labelled = old;
    labelled.edit("metadata").set("labels", json(R"({"a":"b"})"));
    EXPECT_EQ(message_of(update(type, old, labelled)), "no error") << type << " " << bad;
  }
}

/// An object of another kind that this build would not store, and an update of it.
struct StoredBefore {
  const char* type;
  std::string stored;
  std::string updated;
};

TEST(RefusedObjects, WhatStandsMayMoveOrStayBesideWhatChanges) {  // CRU-9
  const auto paths = [](const char* list) {
    return R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"a","namespace":"default"},)"
           R"("spec":{"rules":[{"http":{"paths":[)" +
           std::string{list} + "]}}]}}";
  };
  const auto path = [](const char* text) {
    return R"({"path":")" + std::string{text} +
           R"(","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}})";
  };
  const std::string volume =
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],)"
      R"("persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem","hostPath":{"path":"/a","type":""},)"
      R"("capacity":{"x":"1","storage":)";
  const std::string node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"LABELS},"spec":{"podCIDR":"x",)"
                           R"("podCIDRs":["y","z"]}})";
  const std::string external =
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"default"LABELS},)"
      R"("spec":{"type":"ExternalName","externalName":"b","sessionAffinity":"None",)"
      R"("ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}})";
  const auto with = [](std::string text, const char* labels) { return text.replace(text.find("LABELS"), 6, labels); };
  constexpr const char* kLabels = R"(,"labels":{"a":"b"})";
  for (const auto& [type, stored, updated] : std::vector<StoredBefore>{
           {kIngresses, paths((path("/x//1") + "," + path("/x//2")).c_str()), paths(path("/x//2").c_str())},
           {kVolumes, volume + R"("1Gi"}}})", volume + R"("2Gi"}}})"},
           {"nodes", with(node, ""), with(node, kLabels)},
           {kServices, with(external, ""), with(external, kLabels)},
       }) {
    EXPECT_EQ(message_of(update(type, json(stored), json(updated))), "no error") << stored;
    EXPECT_NE(message_of(create(type, json(updated))), "no error") << updated;
  }
}

TEST(RefusedObjects, LimitRangesOfContainersGetTheirDefaults) {  // CRU-10
  const Value made = stored(kLimits, named(limits(R"("max":{"cpu":"2","memory":"1Gi"},"min":{"cpu":"100m",
      "ephemeral-storage":"1Gi"},"default":{"cpu":"1"})")));
  const Value& item = made["spec"]["limits"][0];
  EXPECT_EQ(to_json(item["default"]), R"({"cpu":"1","memory":"1Gi"})");
  EXPECT_EQ(to_json(item["defaultRequest"]), R"({"cpu":"1","ephemeral-storage":"1Gi","memory":"1Gi"})");
  const Value pods = stored(kLimits, named(with_spec(R"("limits":[{"type":"Pod","max":{"cpu":"2"}}])")));
  EXPECT_EQ(to_json(pods["spec"]["limits"]), R"([{"max":{"cpu":"2"},"type":"Pod"}])");
}

TEST(RefusedObjects, PriorityClassesHaveAValue) {  // CRU-10
  EXPECT_EQ(to_json(stored(kPriorities, named("{}"))["value"]), "0");
}

struct RefusedUpdate {
  const char* type;
  std::string before;
  std::string after;  // the whole object
  const char* message;
};

TEST(RefusedObjects, WhatMustNotChangeDoesNot) {  // CRU-8
  const auto with_node = [](const char* key) {
    return host_path(R"("nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":")" +
                     std::string{key} + R"(","operator":"Exists"}]}]}})");
  };
  const std::string kept_claim =
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for "
      "bound claims";
  for (const RefusedUpdate& each : std::vector<RefusedUpdate>{
           {kVolumes, host_path(R"("storageClassName":"a")"), volume(R"("nfs":{"server":"a","path":"/b"})"),
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"},
           {kVolumes, volume(R"("csi":{"driver":"a","volumeHandle":"h"})"),
            volume(
                R"("csi":{"driver":"a","volumeHandle":"h","controllerExpandSecretRef":{"name":"a","namespace":"b"}})"),
            "no error"},
           {kVolumes, host_path(R"("volumeMode":"Block")"), host_path(R"("volumeMode":"Filesystem")"),
            R"(volumeMode: Invalid value: "Filesystem": field is immutable)"},
           {kVolumes, with_node("a"), with_node("b"), "except for updating from beta label to GA"},
           {kVolumes, with_node("beta.kubernetes.io/os"), with_node("kubernetes.io/os"), "no error"},
           {kVolumes, host_path(R"("storageClassName":"a")"), with_node("a"), "no error"},
           {kClaims, claim("", "1Gi"), claim("", "2Gi"), kept_claim.c_str()},
           {kClaims, claim("", "1Gi"), claim("", "1024Mi"), "no error"},
           {kClaims, claim(""), claim(R"("volumeName":"a")"), "no error"},
           {kClaims, claim(R"("volumeName":"a")"), claim(R"("volumeName":"b")"), kept_claim.c_str()},
           {kClaims, claim(""), claim(R"("storageClassName":"a")"), "no error"},
           {kQuotas, with_spec(R"("hard":{"pods":"1"})"), with_spec(R"("hard":{"pods":"1"},"scopes":["BestEffort"])"),
            R"(spec.scopes: Invalid value: ["BestEffort"]: field is immutable)"},
           {kServices, balancer(R"("loadBalancerClass":"a")"), balancer(R"("loadBalancerClass":"b")"),
            R"(spec.loadBalancerClass: Invalid value: "b": may not change once set)"},
           {"nodes", with_spec(R"("providerID":"a")"), with_spec(R"("providerID":"b")"),
            "spec.providerID: Invalid value: \"null\": field cannot be modified once set"},
           {"nodes", with_spec(R"("podCIDR":"10.0.0.0/24")"), with_spec(R"("podCIDR":"10.1.0.0/24")"),
            R"(spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid)"},
           {"nodes", with_spec(R"("unschedulable":true)"), with_spec(R"("podCIDR":"10.1.0.0/24","providerID":"a")"),
            "no error"},
       }) {
    const auto updated = update(each.type, stored(each.type, named(each.before)), named(each.after));
    EXPECT_NE(message_of(updated).find(each.message), std::string::npos) << each.after << ": " << message_of(updated);
  }
}

TEST(RefusedObjects, BoundClaimsGrow) {  // CRU-8
  Value bound = stored(kClaims, named(claim("", "2Gi")));
  bound.set("status", json(R"({"phase":"Bound","capacity":{"storage":"1Gi"}})"));
  const auto resized = [&](const char* size) { return message_of(update(kClaims, bound, named(claim("", size)))); };
  EXPECT_EQ(resized("3Gi"), "no error");
  EXPECT_EQ(resized("1500Mi"), "no error") << "it has not grown that far yet";
  EXPECT_NE(
      resized("1Gi").find("spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"),
      std::string::npos);
}

TEST(RefusedObjects, NodesAreCreatedWithTheirStatus) {  // CRU-1
  const Value made =
      stored("nodes", named(R"({"spec":{"podCIDRs":["10.0.0.0/24"]},"status":{"capacity":{"cpu":"2"}}})"));
  EXPECT_EQ(to_json(made["status"]["allocatable"]), R"({"cpu":"2"})");
  EXPECT_EQ(made["spec"]["podCIDR"].as_string(), "10.0.0.0/24");
  Value later = made;
  later.edit("status").edit("capacity").set("cpu", "3");
  const auto updated = update("nodes", made, later);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(updated.value()["status"], made["status"]) << "an update has the stored one";
  EXPECT_TRUE(stored(kServices, named(service(R"("selector":{})")))["status"]["loadBalancer"].is_empty());
}

struct RefusedStatusUpdate {
  const char* type;
  std::string content;
  const char* status;
  const char* message;
};

TEST(RefusedObjects, StatusesAreChecked) {  // CRU-9
  const std::string web = balancer(R"("selector":{})");
  for (const RefusedStatusUpdate& each : std::vector<RefusedStatusUpdate>{
           {kServices, web, R"({"loadBalancer":{"ingress":[{"ip":"foo"}]}})",
            R"(status.loadBalancer.ingress[0].ip: Invalid value: "foo": must be a valid IP address)"},
           {kServices, web, R"({"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"Foo"}]}})",
            R"(status.loadBalancer.ingress[0].ipMode: Unsupported value: "Foo": supported values: "Proxy", "VIP")"},
           {kServices, web, R"({"loadBalancer":{"ingress":[{"hostname":"1.2.3.4"}]}})",
            "must be a DNS name, not an IP address"},
           {kServices, service(R"("selector":{})"), R"({"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}})",
            "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"},
           {kServices, web, R"({"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"a.b"}]}})", "no error"},
           {kIngresses, ingress(R"("tls":[])"), R"({"loadBalancer":{"ingress":[{"ip":"foo"}]}})",
            R"(status.loadBalancer.ingress[0].ip: Invalid value: "foo")"},
           {kAutoscalers,
            with_spec(R"("maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"})"),
            R"({"currentReplicas":-2,"desiredReplicas":0})",
            "status.currentReplicas: Invalid value: -2: must be greater than or equal to 0"},
           {kClaims, claim(""), R"({"capacity":{"storage":"-1"}})",
            "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"},
           {kQuotas, with_spec(R"("hard":{"pods":"1"})"), R"({"used":{"pods":"-1"}})",
            R"(status.used[pods]: Invalid value: "-1": must be greater than or equal to 0)"},
           {"poddisruptionbudgets.policy", with_spec(R"("minAvailable":1)"), R"({"disruptionsAllowed":-1})",
            "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"},
           {"nodes", "{}", R"({"capacity":{"cpu":"-1"}})", "status.capacity.cpu: Invalid value"},
           {"nodes", "{}", R"({"addresses":[{"type":"Hostname","address":"a"},{"type":"Hostname","address":"a"}]})",
            "status.addresses[1]: Duplicate value"},
       }) {
    const Value old = stored(each.type, named(each.content));
    Value object = old;
    object.set("status", json(each.status));
    Admission admission = admission_for(each.type, "a");
    admission.subresource = "status";
    const auto written = admit_status_update(admission, old, object);
    EXPECT_NE(message_of(written).find(each.message), std::string::npos) << each.status << ": " << message_of(written);
    if (std::string_view{each.message} != "no error" || std::string_view{each.type} != kServices) continue;
    EXPECT_EQ(written.value()["status"]["loadBalancer"]["ingress"][0]["ipMode"].as_string(), "VIP");
  }
}

}  // namespace
}  // namespace shiplog::api
