// An object of each built-in kind with all fields that the server accepts together: it does not change when it is
// written, read, and written back in each way.
#include <map>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "tests/contract/contract.h"
#include "tests/contract/filled_object.h"

namespace shiplog::e2e {
namespace {

constexpr const char* kTemplate =
    "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: "
    "'i:1'}], volumes: [{name: v, emptyDir: {}}]}}";
constexpr const char* kHooks =
    "webhooks: [{name: a.b.c, clientConfig: {service: {namespace: ns, name: s}}, sideEffects: None, rules: "
    "[{apiGroups: "
    "[none.example], apiVersions: [v1], resources: [nothing], operations: [CREATE]}], admissionReviewVersions: [v1]}]";
constexpr const char* kRequest =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIbU1JR05BZ0VBTUNzeEREQUtCZ05WQkFvTUEyUmxkakVN"
    "TUFvR0ExVUVDZ3dEYjNCek1RMHdDd1lEVlFRRApEQVJxWVc1bE1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdB"
    "RTdlZjljNm1wVThTcnBLc2FKWDg1CjRGWWpFQUJPYVNtY3B0cTN3Q05MNXY2NWc4bVZmTGRteVJybjVZTUMveFJFSDhtTSs0"
    "RXJMT0ZEcWw5WWduWTQKZnFBQU1Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRQ0tWZko3UUtYbnBmOXdldDExWW1kMk9QOEhZ"
    "SlBoS3V4aApTUWhZT1c4bFpnSWdGcm5teTcvbkxGUFpnK2RTcjhFeTNKL3N4cjd5M0JuVWJqZ2NLOFlIYmRzPQotLS0tLUVO"
    "RCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

/// Minimal objects, by type; with one of those that exclude each other, and with words that no schema lists.
std::map<std::string, std::string> samples() {
  const std::string pod =
      "metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: 'i:1', livenessProbe: {httpGet: {port: 80}}, "
      "readinessProbe: {grpc: {port: 80}}, startupProbe: {tcpSocket: {port: 80}}, lifecycle: {preStop: {exec: "
      "{command: "
      "[a]}}}, env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}], tolerations: [{key: a, operator: "
      "Exists}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}], "
      "affinity: "
      "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "
      "a, "
      "operator: Exists}]}]}}}}";
  const std::string job =
      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1'}], volumes: [{name: v, emptyDir: "
      "{}}]}}";
  const std::string claim = "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}";
  const std::string role = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}";
  return {
      {"namespaces", ""},
      {"configmaps", "data: {a: b}"},
      {"secrets", "data: {a: YQ==}"},
      {"services", "spec: {selector: {a: b}, ports: [{port: 80, name: http}]}"},
      {"serviceaccounts", ""},
      {"endpoints", "subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]"},
      {"pods", pod},
      {"podtemplates", "template: {" + pod + "}"},
      {"replicationcontrollers", "spec: {template: {" + pod + "}}"},
      {"nodes", "spec: {taints: [{key: a, effect: NoSchedule}]}"},
      {"events", "involvedObject: {kind: Pod, namespace: default, name: p}"},
      {"persistentvolumeclaims", "spec: " + claim},
      {"persistentvolumes",
       "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}, claimRef: {name: c, "
       "namespace: default}}"},
      {"resourcequotas", "spec: {hard: {pods: '1'}}"},
      {"limitranges", "spec: {limits: [{type: Container, max: {cpu: '2'}}]}"},
      {"deployments.apps", std::string{"spec: {"} + kTemplate + "}"},
      {"replicasets.apps", std::string{"spec: {"} + kTemplate + "}"},
      {"daemonsets.apps", std::string{"spec: {"} + kTemplate + "}"},
      {"statefulsets.apps", std::string{"spec: {"} + kTemplate +
                                ", serviceName: s, volumeClaimTemplates: [{apiVersion: "
                                "v1, kind: PersistentVolumeClaim, metadata: {name: v}, spec: " +
                                claim + ", status: {phase: Pending}}]}"},
      {"jobs.batch", "spec: {" + job + "}"},
      {"cronjobs.batch", "spec: {schedule: '* * * * *', jobTemplate: {spec: {" + job + "}}}"},
      {"horizontalpodautoscalers.autoscaling",
       "spec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: "
       "Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}"},
      {"poddisruptionbudgets.policy", "spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}"},
      {"leases.coordination.k8s.io", "spec: {holderIdentity: a, leaseDurationSeconds: 15}"},
      {"ingresses.networking.k8s.io",
       "spec: {ingressClassName: c, rules: [{host: a.io, http: {paths: [{path: /, pathType: Prefix, backend: {service: "
       "{name: s, port: {number: 80}}}}]}}]}"},
      {"ingressclasses.networking.k8s.io", "spec: {controller: a.io/c, parameters: {kind: P, name: p}}"},
      {"networkpolicies.networking.k8s.io",
       "spec: {podSelector: {matchLabels: {a: b}}, ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}], "
       "egress: "
       "[{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}"},
      {"endpointslices.discovery.k8s.io",
       "addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}], ports: [{port: 80}]"},
      {"storageclasses.storage.k8s.io", "provisioner: a.io/p"},
      {"csidrivers.storage.k8s.io", ""},
      {"volumeattributesclasses.storage.k8s.io", "driverName: d.io, parameters: {iops: '1'}"},
      {"servicecidrs.networking.k8s.io", "spec: {cidrs: [10.0.0.0/8]}"},
      {"ipaddresses.networking.k8s.io", "spec: {parentRef: {resource: services, namespace: default, name: s}}"},
      {"deviceclasses.resource.k8s.io",
       "spec: {selectors: [{cel: {expression: 'true'}}], config: [{opaque: {driver: d.io, parameters: {a: b}}}]}"},
      {"resourceclaims.resource.k8s.io", "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}"},
      {"resourceclaimtemplates.resource.k8s.io",
       "spec: {spec: {devices: {requests: [{name: a, firstAvailable: [{name: b, deviceClassName: c}]}]}}}"},
      {"resourceslices.resource.k8s.io",
       "spec: {driver: d.io, pool: {name: p, generation: 1, resourceSliceCount: 1}, nodeName: n1, devices: [{name: a, "
       "attributes: {model: {string: x}}, capacity: {memory: {value: 1Gi}}}]}"},
      {"csinodes.storage.k8s.io", "spec: {drivers: [{name: a.io, nodeID: n1, topologyKeys: [a.io/zone]}]}"},
      {"csistoragecapacities.storage.k8s.io",
       "storageClassName: s, capacity: 1Gi, nodeTopology: {matchLabels: {a: b}}"},
      {"runtimeclasses.node.k8s.io",
       "handler: runc, overhead: {podFixed: {cpu: 100m}}, scheduling: {nodeSelector: {a: b}, tolerations: [{key: a, "
       "operator: Exists}]}"},
      {"volumeattachments.storage.k8s.io", "spec: {attacher: d, nodeName: n1, source: {persistentVolumeName: pv}}"},
      {"certificatesigningrequests.certificates.k8s.io",
       std::string{"spec: {signerName: a.io/s, usages: [client auth], request: "} + kRequest + "}"},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", kHooks},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", kHooks},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io",
       "spec: {reinvocationPolicy: Never, matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], "
       "apiVersions: [v1], resources: [pods]}]}, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "
       "'[JSONPatch{op: \"remove\", path: \"/a\"}]'}}, {patchType: ApplyConfiguration, applyConfiguration: "
       "{expression: 'Object{}'}}]}"},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
       "spec: {policyName: none, paramRef: {name: p, parameterNotFoundAction: Allow}}"},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       "spec: {matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], "
       "resources: "
       "[pods]}]}, validations: [{expression: 'true'}]}"},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       "spec: {policyName: none, validationActions: [Deny]}"},
      {"apiservices.apiregistration.k8s.io",
       "spec: {group: a.example, version: v1, groupPriorityMinimum: 100, versionPriority: 15}"},
      {"flowschemas.flowcontrol.apiserver.k8s.io", "spec: {priorityLevelConfiguration: {name: p}}"},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       "spec: {type: Limited, limited: {limitResponse: {type: Reject}}}"},
      {"roles.rbac.authorization.k8s.io", "rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]"},
      {"clusterroles.rbac.authorization.k8s.io", "rules: [{verbs: [get], nonResourceURLs: [/a]}]"},
      {"rolebindings.rbac.authorization.k8s.io",
       role + ", subjects: [{kind: ServiceAccount, name: a, namespace: default}]"},
      {"clusterrolebindings.rbac.authorization.k8s.io", role + ", subjects: [{kind: User, name: a}]"},
      {"priorityclasses.scheduling.k8s.io", "value: 7"},
      {"customresourcedefinitions.apiextensions.k8s.io",
       "spec: {group: rounds.example, scope: Namespaced, names: {plural: trips, singular: trip, kind: Trip}, versions: "
       "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: "
       "object}}}}}]}"},
  };
}

/// Fields that the server sets regardless of the client, and stringData, which is never returned.
const std::set<std::string> kServerFields = {"aggregationRule", "spec.extra",    "spec.groups",
                                             "spec.uid",        "spec.username", "stringData"};

/// Adds all metadata that a client can write.
void fill_metadata(Value& object, const Value& owner) {
  Value& metadata = object.edit("metadata");
  if (!metadata["labels"].is_object()) metadata.set("labels", Value::object({{"a.io/b", "c"}}));
  metadata.set("annotations", Value::object({{"A.io/b", "c\n\"d\""}}));
  metadata.set("finalizers", Value::array({"a.io/b", "c.io/d"}));
  Value reference = Value::object({{"controller", true}, {"blockOwnerDeletion", true}});
  for (const char* field : {"apiVersion", "kind"}) reference.set(field, owner[field]);
  for (const char* field : {"name", "uid"}) reference.set(field, owner["metadata"][field]);
  metadata.set("ownerReferences", Value::array({reference}));
}

std::string collection_of(const Kind& kind) {
  const std::string root = kind.group.empty() ? "/api/" : "/apis/";
  return root + kind.api_version() + (kind.namespaced ? "/namespaces/default/" : "/") + kind.plural;
}

/// The part that must not change: everything except the version and the managed fields.
Value content(Value object) {
  for (const char* field : {"resourceVersion", "managedFields"}) object.edit("metadata").erase(field);
  // Written at any time, when the server that it names is probed.
  if (object["kind"].as_string() == "APIService") object.erase("status");
  return object;
}

/// The part that a client applies: without fields that the server sets.
Value applied(Value object) {
  object = content(std::move(object));
  for (const char* field : {"uid", "creationTimestamp", "generation"}) object.edit("metadata").erase(field);
  object.erase("status");
  return object;
}

/// Expects that `whole` contains all values of `part`; empty values may be missing.
void expect_within(const Value& part, const Value& whole, const std::string& where) {
  for (const auto& member : part.members()) {
    expect_within(member.value, whole[member.key()], where + "." + std::string{member.key()});
  }
  for (size_t i = 0; part.is_array() && i < part.size(); ++i) {
    expect_within(part[i], whole[i], where + "[" + std::to_string(i) + "]");
  }
  if (!part.is_object() && !part.is_array() && !part.is_empty()) {
    EXPECT_EQ(part, whole) << where;
  }
}

void expect_unchanged(const Value& before, const Answer& answer, const std::string& operation) {
  ASSERT_EQ(answer.status, 200) << operation << ": " << answer.message();
  EXPECT_EQ(to_json(content(answer.json)), to_json(before)) << operation;
}

const HttpHeaders kStrategicPatch{{"Content-Type", "application/strategic-merge-patch+json"}};
const HttpHeaders kApplyPatch{{"Content-Type", "application/apply-patch+yaml"}};
const HttpHeaders kJson{{"Content-Type", "application/json"}};
const HttpHeaders kProtobuf{{"Content-Type", "application/vnd.kubernetes.protobuf"}};

TEST(RoundTrip, EveryBuiltInKindIsReadAsItWasWrittenAndCanBeWrittenBack) {
  const auto all_samples = samples();
  // The owner must exist, or its dependents would be deleted. It is cluster-scoped, so that it can own all objects.
  const Answer owner = api().post("/apis/scheduling.k8s.io/v1/priorityclasses",
                                  json(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                                           "metadata":{"name":"owner"},"value":1})"));
  ASSERT_EQ(owner.status, 201) << owner;
  for (const auto& kind : Kinds::compiled().all()) {
    const bool asked_only = kind->group == "authentication.k8s.io" || kind->group == "authorization.k8s.io";
    const bool computed = kind->type() == "controllerrevisions.apps" || kind->type() == "componentstatuses";
    if (!kind->builtin || kind->is_view() || asked_only || computed) continue;
    const auto sample = all_samples.find(kind->type());
    ASSERT_NE(sample, all_samples.end()) << "no sample of " << kind->type();
    Value object = parse_yaml("{" + sample->second + "}").value();
    object.set("apiVersion", kind->api_version());
    object.set("kind", kind->kind);
    std::string name = kind->kind == "APIService"                 ? "v1.a.example"
                       : kind->kind == "CustomResourceDefinition" ? "trips.rounds.example"
                       : kind->kind == "IPAddress"                ? "10.9.8.7"
                                                                  : "round-trip";
    object.edit("metadata").set("name", name);
    fill_metadata(object, owner.json);

    const std::string all = collection_of(*kind);
    const std::string path = all + "/" + name;
    object = filled(
        *kind->schema, object, kServerFields,
        [&](const Value& tried) {
          const Answer answer = api().call("POST", all + "?fieldValidation=Strict&dryRun=All", to_json(tried), kJson);
          return answer.status == 201 ? std::string{} : answer.message() + " ";
        },
        3000);
    if (kind->kind == "Pod") {
      EXPECT_FALSE(object["spec"]["containers"][0]["livenessProbe"]["httpGet"]["httpHeaders"][0]["name"].is_empty())
          << "the fields were not filled: " << to_json(object);
    }
    const Answer made = api().call("POST", all + "?fieldValidation=Strict", to_json(object), kJson);
    ASSERT_EQ(made.status, 201) << path << made.message() << to_json(object);
    expect_within(object, made.json, kind->kind);
    const Answer read = api().get(path);
    ASSERT_EQ(read.status, 200) << path;
    const Value before = content(read.json);
    EXPECT_EQ(to_json(content(made.json)), to_json(before)) << path;

    const std::string strict = path + "?fieldValidation=Strict";
    // The server may write the status of an APIService between a read and a write: then both are repeated.
    const auto replace = [&](Value written, const auto& encode, const HttpHeaders& type) {
      Answer answer;
      EXPECT_TRUE(eventually([&] {
        written.edit("metadata").set("resourceVersion", api().get(path).json["metadata"]["resourceVersion"]);
        answer = api().call("PUT", strict, encode(written), type);
        return answer.status != 409;
      })) << path;
      return answer;
    };
    const auto as_json = [](const Value& value) { return to_json(value); };
    const auto as_protobuf = [](const Value& value) { return encode_protobuf(Kinds::compiled(), value).value(); };
    expect_unchanged(before, replace(read.json, as_json, kJson), path + ": replaced");
    expect_unchanged(before, api().call("PATCH", strict, to_json(applied(read.json)), kStrategicPatch),
                     path + ": patched, as kubectl apply does");
    expect_unchanged(
        before,
        api().call("PATCH", strict + "&fieldManager=other&force=true", to_json(applied(read.json)), kApplyPatch),
        path + ": applied by the server");
    const auto encoded = encode_protobuf(Kinds::compiled(), read.json);
    ASSERT_TRUE(encoded.has_value()) << path << encoded.error().message;
    expect_unchanged(before, replace(read.json, as_protobuf, kProtobuf), path + ": replaced in protobuf");
  }
}

}  // namespace
}  // namespace shiplog::e2e
