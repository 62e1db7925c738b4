#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "tests/support/protobuf_wire.h"

// One object of each cluster kind, with its protobuf form assembled by hand from the numbers in its generated.proto:
// the codec is compared with those, not with itself.

namespace shiplog {
namespace {

using wire::bytes;
using wire::varint;

std::string pair(std::string_view key, std::string_view value) { return bytes(1, key) + bytes(2, value); }
std::string named(std::string_view name) { return bytes(1, bytes(1, name)); }

struct WireSample {
  const char* api_version;
  const char* kind;
  std::string wire;
  const char* object;
};

std::vector<WireSample> samples() {
  const std::string app = bytes(1, pair("app", "a"));           // LabelSelector.matchLabels
  const std::string quantity = bytes(1, "100m");                // Quantity
  const std::string container = bytes(1, "c") + bytes(2, "i");  // Container
  const std::string pod = bytes(1, bytes(11, pair("app", "a"))) + bytes(2, bytes(2, container));
  const std::string hook =
      bytes(1, "a.b.c") + bytes(2, bytes(1, bytes(1, "ns") + bytes(2, "svc") + varint(4, 8443))) +
      bytes(3, bytes(1, "CREATE") + bytes(2, bytes(1, "") + bytes(2, "v1") + bytes(3, "pods") + bytes(4, "*"))) +
      bytes(4, "Ignore") + bytes(5, app) + bytes(6, "None") + varint(7, 5) + bytes(8, "v1");
  constexpr const char* kHook =
      "{metadata: {name: x}, webhooks: [{name: a.b.c, clientConfig: {service: {namespace: ns, name: svc, port: 8443}}, "
      "rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods], scope: '*'}], "
      "failurePolicy: Ignore, namespaceSelector: {matchLabels: {app: a}}, sideEffects: None, timeoutSeconds: 5, "
      "admissionReviewVersions: [v1]}]}";
  const std::string exactly = bytes(1, "c") + bytes(3, "ExactCount") + varint(4, 2) + varint(5, 1) +
                              bytes(7, bytes(1, pair("m", quantity)));  // ExactDeviceRequest
  const std::string allocated = bytes(1, "a") + bytes(2, "d.io") + bytes(3, "p") + bytes(4, "x") + bytes(9, "u") +
                                bytes(10, pair("m", quantity));  // DeviceRequestAllocationResult
  return {
      {"v1", "Endpoints",
       named("x") + bytes(2, bytes(1, bytes(1, "10.0.0.1") + bytes(3, "h") + bytes(4, "n1") +
                                          bytes(2, bytes(1, "Pod") + bytes(3, "p"))) +
                                 bytes(3, bytes(1, "http") + varint(2, 80) + bytes(3, "TCP"))),
       "{metadata: {name: x}, subsets: [{addresses: [{ip: 10.0.0.1, hostname: h, nodeName: n1, targetRef: {kind: Pod, "
       "name: p}}], ports: [{name: http, port: 80, protocol: TCP}]}]}"},
      {"v1", "PodTemplate", named("x") + bytes(2, pod),
       "{metadata: {name: x}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}}"},
      {"v1", "ReplicationController",
       named("x") + bytes(2, varint(1, 2) + bytes(2, pair("app", "a")) + bytes(3, pod) + varint(4, 5)) +
           bytes(3, varint(1, 2) + varint(3, 7) + varint(4, 1)),
       "{metadata: {name: x}, spec: {replicas: 2, selector: {app: a}, template: {metadata: {labels: {app: a}}, spec: "
       "{containers: [{name: c, image: i}]}}, minReadySeconds: 5}, status: {replicas: 2, observedGeneration: 7, "
       "readyReplicas: 1}}"},
      {"autoscaling/v2", "HorizontalPodAutoscaler",
       named("x") +
           bytes(2, bytes(1, bytes(1, "Deployment") + bytes(2, "web") + bytes(3, "apps/v1")) + varint(2, 0) +
                        varint(3, 9) +
                        bytes(4, bytes(1, "Resource") +
                                     bytes(4, bytes(1, "cpu") + bytes(2, bytes(1, "Utilization") + varint(4, 80)))) +
                        bytes(4, bytes(1, "External") +
                                     bytes(5, bytes(1, bytes(1, "q") + bytes(2, app)) +
                                                  bytes(2, bytes(1, "AverageValue") + bytes(3, quantity)))) +
                        bytes(5, bytes(2, bytes(1, "Min") + bytes(2, bytes(1, "Pods") + varint(2, 4) + varint(3, 60)) +
                                              varint(3, 0)))) +
           bytes(3, varint(3, 2) + varint(4, 3)),
       "{metadata: {name: x}, spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, minReplicas: "
       "0, maxReplicas: 9, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 80}}}, {type: External, external: {metric: {name: q, selector: {matchLabels: {app: a}}}, "
       "target: {type: AverageValue, averageValue: 100m}}}], behavior: {scaleDown: {selectPolicy: Min, policies: "
       "[{type: Pods, value: 4, periodSeconds: 60}], stabilizationWindowSeconds: 0}}}, status: {currentReplicas: 2, "
       "desiredReplicas: 3}}"},
      {"policy/v1", "PodDisruptionBudget",
       named("x") + bytes(2, bytes(1, varint(1, 1) + bytes(3, "50%")) + bytes(2, app) + bytes(4, "AlwaysAllow")) +
           bytes(3, varint(3, 1) + varint(4, 2) + varint(5, 3) + varint(6, 4)),
       "{metadata: {name: x}, spec: {minAvailable: 50%, selector: {matchLabels: {app: a}}, "
       "unhealthyPodEvictionPolicy: AlwaysAllow}, status: {disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: "
       "3, expectedPods: 4}}"},
      {"networking.k8s.io/v1", "IngressClass",
       named("x") + bytes(2, bytes(1, "a.io/c") + bytes(2, bytes(1, "a.io") + bytes(2, "P") + bytes(3, "p") +
                                                               bytes(4, "Namespace") + bytes(5, "ns"))),
       "{metadata: {name: x}, spec: {controller: a.io/c, parameters: {apiGroup: a.io, kind: P, name: p, scope: "
       "Namespace, namespace: ns}}}"},
      {"networking.k8s.io/v1", "NetworkPolicy",
       named("x") +
           bytes(2, bytes(1, app) +
                        bytes(2, bytes(1, bytes(1, "UDP") + bytes(2, varint(1, 0) + varint(2, 53)) + varint(3, 54)) +
                                     bytes(2, bytes(3, bytes(1, "10.0.0.0/8") + bytes(2, "10.1.0.0/16")))) +
                        bytes(3, bytes(2, bytes(2, app))) + bytes(4, "Egress")),
       "{metadata: {name: x}, spec: {podSelector: {matchLabels: {app: a}}, ingress: [{ports: [{protocol: UDP, port: "
       "53, "
       "endPort: 54}], from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}], egress: [{to: "
       "[{namespaceSelector: {matchLabels: {app: a}}}]}], policyTypes: [Egress]}}"},
      {"discovery.k8s.io/v1", "EndpointSlice",
       named("x") +
           bytes(2, bytes(1, "10.0.0.1") + bytes(2, varint(1, 1) + varint(3, 0)) + bytes(7, "z") +
                        bytes(8, bytes(1, bytes(1, "z")))) +
           bytes(3, bytes(1, "") + bytes(2, "TCP") + varint(3, 80)) + bytes(4, "IPv4"),
       "{metadata: {name: x}, endpoints: [{addresses: [10.0.0.1], conditions: {ready: true, terminating: false}, zone: "
       "z, hints: {forZones: [{name: z}]}}], ports: [{name: '', protocol: TCP, port: 80}], addressType: IPv4}"},
      {"storage.k8s.io/v1", "StorageClass",
       named("x") + bytes(2, "a.io/p") + bytes(3, pair("k", "v")) + bytes(4, "Retain") + bytes(5, "ro") + varint(6, 0) +
           bytes(7, "Immediate") + bytes(8, bytes(1, bytes(1, "zone") + bytes(2, "z"))),
       "{metadata: {name: x}, provisioner: a.io/p, parameters: {k: v}, reclaimPolicy: Retain, mountOptions: [ro], "
       "allowVolumeExpansion: false, volumeBindingMode: Immediate, allowedTopologies: [{matchLabelExpressions: [{key: "
       "zone, values: [z]}]}]}"},
      {"storage.k8s.io/v1", "CSIDriver",
       named("x") + bytes(2, varint(1, 0) + varint(2, 1) + bytes(3, "Ephemeral") + bytes(5, "File") +
                                 bytes(6, bytes(1, "a") + varint(2, 600)) + varint(7, 1)),
       "{metadata: {name: x}, spec: {attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral], "
       "fsGroupPolicy: File, tokenRequests: [{audience: a, expirationSeconds: 600}], requiresRepublish: true}}"},
      {"storage.k8s.io/v1", "CSINode",
       named("x") +
           bytes(2, bytes(1, bytes(1, "a.io") + bytes(2, "n1") + bytes(3, "a.io/zone") + bytes(4, varint(1, 0)))),
       "{metadata: {name: x}, spec: {drivers: [{name: a.io, nodeID: n1, topologyKeys: [a.io/zone], allocatable: "
       "{count: 0}}]}}"},
      {"storage.k8s.io/v1", "CSIStorageCapacity",
       named("x") + bytes(2, app) + bytes(3, "s") + bytes(4, quantity) + bytes(5, quantity),
       "{metadata: {name: x}, nodeTopology: {matchLabels: {app: a}}, storageClassName: s, capacity: 100m, "
       "maximumVolumeSize: 100m}"},
      {"node.k8s.io/v1", "RuntimeClass",
       named("x") + bytes(2, "runc") + bytes(3, bytes(1, pair("cpu", quantity))) +
           bytes(4, bytes(1, pair("app", "a")) + bytes(2, bytes(1, "k") + bytes(2, "Exists"))),
       "{metadata: {name: x}, handler: runc, overhead: {podFixed: {cpu: 100m}}, scheduling: {nodeSelector: {app: a}, "
       "tolerations: [{key: k, operator: Exists}]}}"},
      {"storage.k8s.io/v1", "VolumeAttributesClass", named("x") + bytes(2, "d.io") + bytes(3, pair("iops", "1")),
       "{metadata: {name: x}, driverName: d.io, parameters: {iops: '1'}}"},
      {"networking.k8s.io/v1", "ServiceCIDR",
       named("x") + bytes(2, bytes(1, "10.0.0.0/8")) +
           bytes(3, bytes(1, bytes(1, "Ready") + bytes(2, "True") + bytes(5, "r") + bytes(6, "m"))),
       "{metadata: {name: x}, spec: {cidrs: [10.0.0.0/8]}, status: {conditions: [{type: Ready, status: 'True', "
       "reason: r, message: m}]}}"},
      {"networking.k8s.io/v1", "IPAddress",
       named("10.0.0.1") +
           bytes(2, bytes(1, bytes(1, "g") + bytes(2, "services") + bytes(3, "default") + bytes(4, "s"))),
       "{metadata: {name: 10.0.0.1}, spec: {parentRef: {group: g, resource: services, namespace: default, name: s}}}"},
      {"resource.k8s.io/v1", "DeviceClass",
       named("x") + bytes(2, bytes(1, bytes(1, bytes(1, "true"))) +
                                 bytes(2, bytes(1, bytes(1, bytes(1, "d.io") + bytes(2, bytes(1, R"({"a":1})"))))) +
                                 bytes(4, "d.io/gpu")),
       "{metadata: {name: x}, spec: {selectors: [{cel: {expression: 'true'}}], config: [{opaque: {driver: d.io, "
       "parameters: {a: 1}}}], extendedResourceName: d.io/gpu}}"},
      {"resource.k8s.io/v1", "ResourceClaim",
       named("x") +
           bytes(2,
                 bytes(1, bytes(1, bytes(1, "a") + bytes(2, exactly)) + bytes(2, bytes(1, "a") + bytes(2, "d.io/n")))) +
           bytes(3, bytes(1, bytes(1, bytes(1, allocated))) +
                        bytes(2, bytes(3, "pods") + bytes(4, "p") + bytes(5, "u")) +
                        bytes(4, bytes(1, "d.io") + bytes(2, "p") + bytes(3, "x") + bytes(6, bytes(1, "eth0")) +
                                     bytes(7, "u"))),
       "{metadata: {name: x}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c, allocationMode: "
       "ExactCount, count: 2, adminAccess: true, capacity: {requests: {m: 100m}}}}], constraints: [{requests: [a], "
       "matchAttribute: d.io/n}]}}, status: {allocation: {devices: {results: [{request: a, driver: d.io, pool: p, "
       "device: x, shareID: u, consumedCapacity: {m: 100m}}]}}, reservedFor: [{resource: pods, name: p, uid: u}], "
       "devices: [{driver: d.io, pool: p, device: x, networkData: {interfaceName: eth0}, shareID: "
       "u}]}}"},
      {"resource.k8s.io/v1", "ResourceClaimTemplate",
       named("x") + bytes(2, bytes(1, bytes(11, pair("app", "a"))) +
                                 bytes(2, bytes(1, bytes(1, bytes(1, "a") + bytes(3, bytes(1, "b") + bytes(2, "c") +
                                                                                         varint(5, 1)))))),
       "{metadata: {name: x}, spec: {metadata: {labels: {app: a}}, spec: {devices: {requests: [{name: a, "
       "firstAvailable: [{name: b, deviceClassName: c, count: 1}]}]}}}}"},
      {"resource.k8s.io/v1", "ResourceSlice",
       named("x") + bytes(2, bytes(1, "d.io") + bytes(2, bytes(1, "p") + varint(2, 3) + varint(3, 1)) + bytes(3, "n1") +
                                 bytes(6, bytes(1, "a") + bytes(2, pair("v", bytes(5, "1.0.0"))) +
                                              bytes(3, pair("m", bytes(1, quantity))) +
                                              bytes(8, bytes(1, "k") + bytes(3, "NoSchedule")) + varint(12, 1))),
       "{metadata: {name: x}, spec: {driver: d.io, pool: {name: p, generation: 3, resourceSliceCount: 1}, nodeName: "
       "n1, "
       "devices: [{name: a, attributes: {v: {version: 1.0.0}}, capacity: {m: {value: 100m}}, taints: [{key: k, effect: "
       "NoSchedule}], allowMultipleAllocations: true}]}}"},
      {"storage.k8s.io/v1", "VolumeAttachment",
       named("x") + bytes(2, bytes(1, "d") + bytes(2, bytes(1, "pv")) + bytes(3, "n1")) +
           bytes(3, varint(1, 1) + bytes(2, pair("k", "v")) + bytes(3, bytes(2, "why") + varint(3, 5))),
       "{metadata: {name: x}, spec: {attacher: d, source: {persistentVolumeName: pv}, nodeName: n1}, status: "
       "{attached: "
       "true, attachmentMetadata: {k: v}, attachError: {message: why, errorCode: 5}}}"},
      {"certificates.k8s.io/v1", "CertificateSigningRequest",
       named("x") +
           bytes(2, bytes(1, "pem") + bytes(2, "u") + bytes(4, "g") + bytes(5, "client auth") +
                        bytes(6, pair("k", bytes(1, "a") + bytes(1, "b"))) + bytes(7, "a.io/s") + varint(8, 600)) +
           bytes(3, bytes(1, bytes(1, "Approved") + bytes(2, "R") + bytes(6, "True")) + bytes(2, "crt")),
       "{metadata: {name: x}, spec: {request: cGVt, username: u, groups: [g], usages: [client auth], extra: {k: [a, "
       "b]}, signerName: a.io/s, expirationSeconds: 600}, status: {conditions: [{type: Approved, reason: R, status: "
       "'True'}], certificate: Y3J0}}"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
       named("x") +
           bytes(2, hook + bytes(9, "Exact") + bytes(10, "Never") + bytes(11, app) + bytes(12, pair("m", "e"))),
       "{metadata: {name: x}, webhooks: [{name: a.b.c, clientConfig: {service: {namespace: ns, name: svc, port: "
       "8443}}, "
       "rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods], scope: '*'}], "
       "failurePolicy: Ignore, namespaceSelector: {matchLabels: {app: a}}, sideEffects: None, timeoutSeconds: 5, "
       "admissionReviewVersions: [v1], matchPolicy: Exact, reinvocationPolicy: Never, objectSelector: {matchLabels: "
       "{app: a}}, matchConditions: [{name: m, expression: e}]}]}"},
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", named("x") + bytes(2, hook), kHook},
      {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
       named("x") +
           bytes(2, bytes(1, bytes(1, "v1") + bytes(2, "ConfigMap")) +
                        bytes(2, bytes(3, bytes(1, "nm") +
                                              bytes(2, bytes(1, "CREATE") + bytes(2, bytes(1, "apps") + bytes(2, "v1") +
                                                                                         bytes(3, "deployments")))) +
                                     bytes(7, "Exact")) +
                        bytes(3, bytes(1, "e") + bytes(2, "m") + bytes(3, "Invalid") + bytes(4, "me")) +
                        bytes(4, "Ignore") + bytes(5, bytes(1, "k") + bytes(2, "v")) + bytes(6, pair("c", "e")) +
                        bytes(7, pair("w", "e"))),
       "{metadata: {name: x}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {resourceRules: "
       "[{resourceNames: [nm], operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}], "
       "matchPolicy: Exact}, validations: [{expression: e, message: m, reason: Invalid, messageExpression: me}], "
       "failurePolicy: Ignore, auditAnnotations: [{key: k, valueExpression: v}], matchConditions: [{name: c, "
       "expression: e}], variables: [{name: w, expression: e}]}}"},
      {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
       named("x") + bytes(2, bytes(1, "p") + bytes(2, bytes(1, "nm") + bytes(2, "ns") + bytes(4, "Deny")) +
                                 bytes(3, bytes(7, "Exact")) + bytes(4, "Deny") + bytes(4, "Audit")),
       "{metadata: {name: x}, spec: {policyName: p, paramRef: {name: nm, namespace: ns, parameterNotFoundAction: "
       "Deny}, "
       "matchResources: {matchPolicy: Exact}, validationActions: [Deny, Audit]}}"},
      {"apiregistration.k8s.io/v1", "APIService",
       named("x") +
           bytes(2, bytes(1, bytes(1, "ns") + bytes(2, "svc") + varint(3, 443)) + bytes(2, "a.io") + bytes(3, "v1") +
                        varint(4, 1) + bytes(5, "ca") + varint(7, 100) + varint(8, 15)) +
           bytes(3, bytes(1, bytes(1, "Available") + bytes(2, "True"))),
       "{metadata: {name: x}, spec: {service: {namespace: ns, name: svc, port: 443}, group: a.io, version: v1, "
       "insecureSkipTLSVerify: true, caBundle: Y2E=, groupPriorityMinimum: 100, versionPriority: 15}, status: "
       "{conditions: [{type: Available, status: 'True'}]}}"},
      {"flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
       named("x") +
           bytes(2, bytes(1, bytes(1, "global")) + varint(2, 500) + bytes(3, bytes(1, "ByUser")) +
                        bytes(4, bytes(1, bytes(1, "ServiceAccount") + bytes(4, bytes(1, "ns") + bytes(2, "sa"))) +
                                     bytes(2, bytes(1, "get") + bytes(2, "") + bytes(3, "pods") + varint(4, 1) +
                                                  bytes(5, "*")) +
                                     bytes(3, bytes(1, "get") + bytes(6, "/healthz")))),
       "{metadata: {name: x}, spec: {priorityLevelConfiguration: {name: global}, matchingPrecedence: 500, "
       "distinguisherMethod: {type: ByUser}, rules: [{subjects: [{kind: ServiceAccount, serviceAccount: {namespace: "
       "ns, "
       "name: sa}}], resourceRules: [{verbs: [get], apiGroups: [''], resources: [pods], clusterScope: true, "
       "namespaces: "
       "['*']}], nonResourceRules: [{verbs: [get], nonResourceURLs: [/healthz]}]}]}}"},
      {"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
       named("x") + bytes(2, bytes(1, "Limited") +
                                 bytes(2, varint(1, 30) +
                                              bytes(2, bytes(1, "Queue") +
                                                           bytes(2, varint(1, 64) + varint(2, 8) + varint(3, 50))) +
                                              varint(3, 0) + varint(4, 25))),
       "{metadata: {name: x}, spec: {type: Limited, limited: {nominalConcurrencyShares: 30, limitResponse: {type: "
       "Queue, "
       "queuing: {queues: 64, handSize: 8, queueLengthLimit: 50}}, lendablePercent: 0, borrowingLimitPercent: 25}}}"},
  };
}

TEST(BuiltinWire, EachClusterKindIsReadAndWrittenByItsNumbers) {
  for (const WireSample& sample : samples()) {
    const std::string body = wire::envelope(sample.api_version, sample.kind, sample.wire);
    auto wanted = parse_yaml(sample.object);
    ASSERT_TRUE(wanted.has_value()) << sample.kind << ": " << wanted.error().message;
    wanted.value().set("apiVersion", sample.api_version);
    wanted.value().set("kind", sample.kind);
    const auto read = decode_protobuf(Kinds::compiled(), body);
    ASSERT_TRUE(read.has_value()) << sample.kind << ": " << read.error().message;
    EXPECT_EQ(to_json(read.value()), to_json(wanted.value())) << sample.kind;
    const auto written = encode_protobuf(Kinds::compiled(), wanted.value());
    ASSERT_TRUE(written.has_value()) << sample.kind << ": " << written.error().message;
    const auto again = decode_protobuf(Kinds::compiled(), written.value());
    ASSERT_TRUE(again.has_value()) << sample.kind << ": " << again.error().message;
    EXPECT_EQ(again.value(), wanted.value()) << sample.kind;
    // Fields may be in another order, but none is missing or longer.
    EXPECT_EQ(written.value().size(), body.size()) << sample.kind;
    const Kind* kind = Kinds::compiled().find_kind(sample.api_version, sample.kind);
    EXPECT_TRUE(validate(*kind->schema, wanted.value()).empty()) << sample.kind;
  }
}

TEST(BuiltinWire, AListInAMapIsAMessage) {  // ExtraValue
  const Value request =
      parse_yaml("{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, spec: {extra: {k: [a, 3]}}}")
          .value();
  const auto written = encode_protobuf(Kinds::compiled(), request);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().causes.at(0).field, "spec.extra.k[1]");
}

}  // namespace
}  // namespace shiplog
