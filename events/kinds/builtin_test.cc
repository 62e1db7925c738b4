#include <array>
#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/builtin_kinds.h"
#include "events/kinds/builtin_schema.h"
#include "events/kinds/canonical_quantity.h"
#include "events/kinds/kinds.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::json;
using test::yaml;

const Kind& kind_of(const char* type) {
  const Kind* kind = Kinds::compiled().find_type(type);
  EXPECT_NE(kind, nullptr) << type;
  static const Kind none;
  return kind == nullptr ? none : *kind;
}

// "spec.template.spec.containers[].ports" in the schema of a kind.
const Schema& at(const char* type, std::string_view path) {
  const Schema* schema = kind_of(type).schema.get();
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    std::string_view name = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    const bool item = name.ends_with("[]");
    if (item) name.remove_suffix(2);
    const auto found = schema->properties.find(name);
    if (found == schema->properties.end()) {
      ADD_FAILURE() << type << " has no " << name;
      return *schema;
    }
    schema = item ? found->second->items.get() : found->second.get();
  }
  return *schema;
}

TEST(BuiltinKinds, HaveDescriptions) {
  EXPECT_FALSE(kind_of("deployments.apps").schema->description.empty());
  EXPECT_FALSE(at("deployments.apps", "spec.template.spec.containers[].image").description.empty());
  EXPECT_FALSE(at("configmaps", "metadata.labels").description.empty());
  EXPECT_EQ(at("pods", "spec").description, "What is to run, and how.")
      << "the description of the field, not of its message";
}

TEST(BuiltinKinds, AreServedAsSpecified) {  // KIND-1
  struct Row {
    const char* type;
    const char* kind;
    bool namespaced;
    bool has_status;
    bool has_generation;
    std::vector<std::string> short_names;
    bool in_all;
  };
  const std::vector<Row> rows = {
      {"namespaces", "Namespace", false, true, false, {"ns"}, false},
      {"configmaps", "ConfigMap", true, false, false, {"cm"}, false},
      {"secrets", "Secret", true, false, false, {}, false},
      {"services", "Service", true, true, false, {"svc"}, true},
      {"serviceaccounts", "ServiceAccount", true, false, false, {"sa"}, false},
      {"pods", "Pod", true, true, true, {"po"}, true},
      {"nodes", "Node", false, true, false, {"no"}, false},
      {"events", "Event", true, false, false, {"ev"}, false},
      {"persistentvolumeclaims", "PersistentVolumeClaim", true, true, false, {"pvc"}, false},
      {"persistentvolumes", "PersistentVolume", false, true, false, {"pv"}, false},
      {"resourcequotas", "ResourceQuota", true, true, false, {"quota"}, false},
      {"limitranges", "LimitRange", true, false, false, {"limits"}, false},
      {"deployments.apps", "Deployment", true, true, true, {"deploy"}, true},
      {"statefulsets.apps", "StatefulSet", true, true, true, {"sts"}, true},
      {"daemonsets.apps", "DaemonSet", true, true, true, {"ds"}, true},
      {"replicasets.apps", "ReplicaSet", true, true, true, {"rs"}, true},
      {"controllerrevisions.apps", "ControllerRevision", true, false, false, {}, false},
      {"jobs.batch", "Job", true, true, true, {}, true},
      {"cronjobs.batch", "CronJob", true, true, true, {"cj"}, true},
      {"leases.coordination.k8s.io", "Lease", true, false, false, {}, false},
      {"ingresses.networking.k8s.io", "Ingress", true, true, true, {"ing"}, false},
      {"roles.rbac.authorization.k8s.io", "Role", true, false, false, {}, false},
      {"rolebindings.rbac.authorization.k8s.io", "RoleBinding", true, false, false, {}, false},
      {"clusterroles.rbac.authorization.k8s.io", "ClusterRole", false, false, false, {}, false},
      {"clusterrolebindings.rbac.authorization.k8s.io", "ClusterRoleBinding", false, false, false, {}, false},
      {"tokenreviews.authentication.k8s.io", "TokenReview", false, false, false, {}, false},
      {"selfsubjectreviews.authentication.k8s.io", "SelfSubjectReview", false, false, false, {}, false},
      {"subjectaccessreviews.authorization.k8s.io", "SubjectAccessReview", false, false, false, {}, false},
      {"localsubjectaccessreviews.authorization.k8s.io", "LocalSubjectAccessReview", true, false, false, {}, false},
      {"selfsubjectaccessreviews.authorization.k8s.io", "SelfSubjectAccessReview", false, false, false, {}, false},
      {"selfsubjectrulesreviews.authorization.k8s.io", "SelfSubjectRulesReview", false, false, false, {}, false},
      {"priorityclasses.scheduling.k8s.io", "PriorityClass", false, false, true, {"pc"}, false},
      {"endpoints", "Endpoints", true, false, false, {"ep"}, false},
      {"podtemplates", "PodTemplate", true, false, true, {}, false},
      {"replicationcontrollers", "ReplicationController", true, true, true, {"rc"}, true},
      {"horizontalpodautoscalers.autoscaling", "HorizontalPodAutoscaler", true, true, false, {"hpa"}, true},
      {"poddisruptionbudgets.policy", "PodDisruptionBudget", true, true, true, {"pdb"}, false},
      {"ingressclasses.networking.k8s.io", "IngressClass", false, false, true, {}, false},
      {"networkpolicies.networking.k8s.io", "NetworkPolicy", true, false, true, {"netpol"}, false},
      {"endpointslices.discovery.k8s.io", "EndpointSlice", true, false, true, {}, false},
      {"storageclasses.storage.k8s.io", "StorageClass", false, false, false, {"sc"}, false},
      {"csidrivers.storage.k8s.io", "CSIDriver", false, false, false, {}, false},
      {"componentstatuses", "ComponentStatus", false, false, false, {"cs"}, false},
      {"csinodes.storage.k8s.io", "CSINode", false, false, false, {}, false},
      {"csistoragecapacities.storage.k8s.io", "CSIStorageCapacity", true, false, false, {}, false},
      {"runtimeclasses.node.k8s.io", "RuntimeClass", false, false, false, {}, false},
      {"volumeattachments.storage.k8s.io", "VolumeAttachment", false, true, false, {}, false},
      {"volumeattributesclasses.storage.k8s.io", "VolumeAttributesClass", false, false, false, {"vac"}, false},
      {"servicecidrs.networking.k8s.io", "ServiceCIDR", false, true, false, {}, false},
      {"ipaddresses.networking.k8s.io", "IPAddress", false, false, false, {"ip"}, false},
      {"deviceclasses.resource.k8s.io", "DeviceClass", false, false, true, {}, false},
      {"resourceclaims.resource.k8s.io", "ResourceClaim", true, true, false, {}, false},
      {"resourceclaimtemplates.resource.k8s.io", "ResourceClaimTemplate", true, false, false, {}, false},
      {"resourceslices.resource.k8s.io", "ResourceSlice", false, false, true, {}, false},
      {"certificatesigningrequests.certificates.k8s.io",
       "CertificateSigningRequest",
       false,
       true,
       false,
       {"csr"},
       false},
      {"flowschemas.flowcontrol.apiserver.k8s.io", "FlowSchema", false, true, true, {}, false},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       "PriorityLevelConfiguration",
       false,
       true,
       true,
       {},
       false},
      {"customresourcedefinitions.apiextensions.k8s.io",
       "CustomResourceDefinition",
       false,
       true,
       true,
       {"crd", "crds"},
       false},
  };
  for (const Row& row : rows) {
    const Kind& kind = kind_of(row.type);
    EXPECT_EQ(kind.kind, row.kind);
    EXPECT_EQ(kind.list_kind, std::string{row.kind} + "List");
    EXPECT_EQ(kind.namespaced, row.namespaced) << row.type;
    EXPECT_EQ(kind.has_status, row.has_status) << row.type;
    EXPECT_EQ(kind.has_generation, row.has_generation) << row.type;
    EXPECT_EQ(kind.short_names, row.short_names) << row.type;
    EXPECT_EQ(kind.categories, row.in_all ? std::vector<std::string>{"all"} : std::vector<std::string>{}) << row.type;
    EXPECT_EQ(kind.ephemeral, kind.kind == "Lease" || kind.kind == "Event");
    const bool scales =
        kind.group == "apps" ? kind.has_status && kind.kind != "DaemonSet" : kind.kind == "ReplicationController";
    EXPECT_EQ(kind.scale.has_value(), scales) << row.type;
    EXPECT_TRUE(kind.builtin);
    EXPECT_TRUE(kind.storage);
  }
  // These have a category of their own.
  const std::vector<std::pair<const char*, bool>> extensions = {
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", false},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", false},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", false},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", true},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io", false},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", false},
      {"apiservices.apiregistration.k8s.io", true}};
  for (const auto& [type, has_status] : extensions) {
    EXPECT_EQ(kind_of(type).categories, std::vector<std::string>{"api-extensions"}) << type;
    EXPECT_EQ(kind_of(type).has_status, has_status) << type;
    EXPECT_FALSE(kind_of(type).namespaced) << type;
  }
  // Kinds that are stored in another form.
  const std::vector<std::array<const char*, 3>> views = {
      {"autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers.autoscaling"},
      {"events.k8s.io/v1", "Event", "events"}};
  for (const auto& [api_version, name, type] : views) {
    const Kind* view = Kinds::compiled().find_kind(api_version, name);
    ASSERT_NE(view, nullptr) << api_version;
    EXPECT_TRUE(view->is_view()) << api_version;
    EXPECT_EQ(view->type(), type);
    EXPECT_EQ(view->ephemeral, kind_of(type).ephemeral) << api_version;
    EXPECT_EQ(view->namespaced, kind_of(type).namespaced) << api_version;
    EXPECT_FALSE(kind_of(type).is_view()) << type;
  }
  EXPECT_EQ(builtin_kinds().size(), rows.size() + extensions.size() + views.size());
}

/// All messages that a schema consists of, by the addresses of their properties: copies of a message share its fields.
void collect(const Schema& schema, std::set<const Schema*>& seen) {
  for (const auto& [name, property] : schema.properties) {
    if (seen.insert(property.get()).second) collect(*property, seen);
  }
  for (const auto& inner : {schema.additional, schema.items}) {
    if (inner != nullptr && seen.insert(inner.get()).second) collect(*inner, seen);
  }
}

TEST(BuiltinSchema, EveryMessageIsPartOfSomethingServed) {
  std::set<const Schema*> seen;
  for (const Kind& kind : builtin_kinds()) collect(*kind.schema, seen);
  for (const char* body :
       {"authentication.TokenRequest", "autoscaling.Scale", "core.Binding", "meta.DeleteOptions", "policy.Eviction"}) {
    collect(*message_schemas().find(body)->second, seen);
  }
  std::set<std::string> unreached;
  for (const auto& [name, schema] : message_schemas()) {
    if (schema->properties.empty()) continue;
    // An inline message was copied field by field.
    const Schema& field = *schema->properties.begin()->second;
    if (!seen.contains(&field)) unreached.insert(name);
  }
  const std::set<std::string> inlined = {"admissionregistration.Rule",  "core.EphemeralContainerCommon",
                                         "core.LocalObjectReference",   "core.PersistentVolumeSource",
                                         "core.ProbeHandler",           "core.VolumeSource",
                                         "networking.IngressRuleValue", "resource.DeviceConfiguration"};
  for (const std::string& name : unreached) EXPECT_TRUE(inlined.contains(name)) << name << " is defined but not used";
}

TEST(BuiltinSchema, NumbersAreThoseOfTheWire) {
  EXPECT_EQ(at("deployments.apps", "metadata").proto_number, 1);
  EXPECT_EQ(at("deployments.apps", "spec").proto_number, 2);
  EXPECT_EQ(at("deployments.apps", "spec.progressDeadlineSeconds").proto_number, 9);
  EXPECT_EQ(at("deployments.apps", "spec.replicas").format, "int32");
  EXPECT_TRUE(at("deployments.apps", "spec.replicas").proto_pointer);
  EXPECT_FALSE(at("deployments.apps", "spec.paused").proto_pointer);
  EXPECT_EQ(at("deployments.apps", "status.conditions[].lastUpdateTime").proto_number, 6);
  EXPECT_EQ(at("deployments.apps", "metadata.managedFields").proto_number, 17);
  EXPECT_EQ(at("deployments.apps", "metadata.creationTimestamp").format, "date-time");
  EXPECT_EQ(at("secrets", "data").additional->format, "byte");
  EXPECT_EQ(at("leases.coordination.k8s.io", "spec.renewTime").format, "micro-time");
  EXPECT_EQ(at("resourcequotas", "spec.hard").additional->format, "quantity");
  EXPECT_EQ(at("services", "spec.ports[].targetPort").format, "int-or-string");
  EXPECT_EQ(at("customresourcedefinitions.apiextensions.k8s.io", "spec.preserveUnknownFields").proto_number, 10);
}

TEST(BuiltinSchema, NumbersThatDoNotFollowTheOrderOfTheFields) {
  EXPECT_EQ(at("endpointslices.discovery.k8s.io", "addressType").proto_number, 4);
  EXPECT_EQ(at("certificatesigningrequests.certificates.k8s.io", "spec.signerName").proto_number, 7);
  EXPECT_EQ(at("certificatesigningrequests.certificates.k8s.io", "status.conditions[].status").proto_number, 6);
  EXPECT_EQ(at("apiservices.apiregistration.k8s.io", "spec.groupPriorityMinimum").proto_number, 7);
  EXPECT_EQ(at("replicationcontrollers", "spec.minReadySeconds").proto_number, 4);
  EXPECT_EQ(at("horizontalpodautoscalers.autoscaling", "spec.metrics[].containerResource").proto_number, 7);
  EXPECT_EQ(at("poddisruptionbudgets.policy", "status.disruptedPods").additional->format, "date-time");
  const char* webhooks = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
  EXPECT_EQ(at(webhooks, "webhooks[].objectSelector").proto_number, 11);
  EXPECT_EQ(at(webhooks, "webhooks[].rules[].resources").proto_wrapper, 2);
  const char* policies = "validatingadmissionpolicies.admissionregistration.k8s.io";
  EXPECT_EQ(at(policies, "spec.matchConstraints.matchPolicy").proto_number, 7);
  EXPECT_EQ(at(policies, "spec.matchConstraints.resourceRules[].operations").proto_wrapper, 2);
  EXPECT_EQ(at(policies, "spec.matchConstraints.resourceRules[].resources").proto_wrapper, (2 << 16) + 2);
  EXPECT_EQ(at(webhooks, "webhooks").patch_key, "name");
  EXPECT_EQ(at("flowschemas.flowcontrol.apiserver.k8s.io", "spec.rules[].resourceRules[].verbs").list_type,
            Schema::ListType::kSet);
}

TEST(BuiltinSchema, InlineMessagesArePartOfTheirParent) {
  const Schema& secret = at("pods", "spec.volumes[].secret");
  EXPECT_EQ(secret.proto_number, 6);
  EXPECT_EQ(secret.proto_wrapper, 2);
  EXPECT_EQ(at("pods", "spec.volumes[].secret.items[].mode").proto_number, 3);
  EXPECT_EQ(at("pods", "spec.volumes[].name").proto_wrapper, 0);
  EXPECT_EQ(at("pods", "spec.containers[].livenessProbe.httpGet.port").type, Schema::Type::kIntOrString);
  EXPECT_EQ(at("pods", "spec.ephemeralContainers[].image").proto_wrapper, 1);
  EXPECT_EQ(at("ingresses.networking.k8s.io", "spec.rules[].http").proto_wrapper, 2);
}

TEST(BuiltinSchema, ListsMergeAsSpecified) {  // SMP and SSA-13 tables
  const Schema& containers = at("deployments.apps", "spec.template.spec.containers");
  EXPECT_TRUE(containers.patch_merge);
  EXPECT_EQ(containers.patch_key, "name");
  EXPECT_EQ(containers.list_type, Schema::ListType::kMap);
  EXPECT_EQ(containers.list_keys, std::vector<std::string>{"name"});
  const Schema& ports = at("deployments.apps", "spec.template.spec.containers[].ports");
  EXPECT_EQ(ports.patch_key, "containerPort");
  EXPECT_EQ(ports.list_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(at("deployments.apps", "spec.template.spec.containers[].volumeMounts").patch_key, "mountPath");
  const Schema& volumes = at("deployments.apps", "spec.template.spec.volumes");
  EXPECT_TRUE(volumes.patch_merge && volumes.patch_retain_keys);
  EXPECT_EQ(volumes.patch_key, "name");
  EXPECT_TRUE(at("deployments.apps", "spec.strategy").patch_retain_keys);
  EXPECT_FALSE(at("deployments.apps", "spec.strategy").patch_merge);
  EXPECT_FALSE(at("deployments.apps", "spec.template.spec.tolerations").patch_merge);
  const Schema& finalizers = at("deployments.apps", "metadata.finalizers");
  EXPECT_TRUE(finalizers.patch_merge);
  EXPECT_EQ(finalizers.patch_key, "");
  EXPECT_EQ(finalizers.list_type, Schema::ListType::kSet);
  EXPECT_TRUE(at("deployments.apps", "spec.selector").atomic_map);
  EXPECT_TRUE(at("services", "spec.selector").atomic_map);
  EXPECT_FALSE(at("configmaps", "data").atomic_map);
}

TEST(BuiltinSchema, RecursiveSchemasPruneAsDeepAsTheValueGoes) {
  const Schema& schema = *kind_of("customresourcedefinitions.apiextensions.k8s.io").schema;
  std::vector<std::string> dropped;
  const Value crd = yaml(R"(
spec:
  versions:
    - schema:
        openAPIV3Schema:
          type: object
          tipe: object
          properties: {a: {items: {not: {type: string, tipe: x}}, additionalProperties: true, default: {any: thing}}}
)");
  const Value pruned = prune(schema, crd, &dropped);
  const std::string root = "spec.versions[0].schema.openAPIV3Schema.";
  EXPECT_EQ(dropped, (std::vector<std::string>{root + "properties.a.items.not.tipe", root + "tipe"}));
  const Value& inner = pruned["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"];
  EXPECT_EQ(inner["default"], yaml("any: thing"));
  EXPECT_TRUE(to_openapi(schema).is_object()) << "ends although the schema does not";
}

TEST(BuiltinSchema, ADeploymentIsFilledInAndChecked) {  // CRU-10
  const Schema& schema = *kind_of("deployments.apps").schema;
  const Value given = yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, creationTimestamp: null}
spec:
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}, creationTimestamp: null}
    spec:
      containers:
        - name: nginx
          image: nginx
          ports: [{containerPort: 80}]
          resources: {limits: {cpu: 1, memory: 1Gi}}
status: {}
)");
  EXPECT_TRUE(validate(schema, given).empty());
  const Value filled = with_defaults(schema, prune(schema, given));
  EXPECT_TRUE(validate(schema, filled).empty());
  const Value& spec = filled["spec"];
  EXPECT_EQ(spec["replicas"], Value{1});
  EXPECT_EQ(spec["strategy"]["rollingUpdate"]["maxSurge"], Value{"25%"});
  EXPECT_EQ(spec["revisionHistoryLimit"], Value{10});
  EXPECT_FALSE(spec["template"]["metadata"].contains("creationTimestamp"));
  const Value& pod = spec["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], Value{"Always"});
  EXPECT_EQ(pod["securityContext"], Value::object());
  EXPECT_EQ(pod["containers"][0]["ports"][0]["protocol"], Value{"TCP"});
  EXPECT_EQ(pod["containers"][0]["terminationMessagePath"], Value{"/dev/termination-log"});
  EXPECT_EQ(with_defaults(schema, filled), filled);

  const auto causes = validate(schema, yaml("spec: {replicas: '3', template: {spec: {containers: [{image: a}]}}}"));
  std::set<std::string> fields;
  for (const FieldCause& cause : causes) fields.insert(cause.field);
  EXPECT_EQ(fields, (std::set<std::string>{"spec.selector", "spec.replicas", "spec.template.spec.containers[0].name"}));
}

TEST(BuiltinSchema, WholeNumbersHaveNoFraction) {  // NEG-10
  const auto fields = [](const char* type, const char* text) {
    std::set<std::string> found;
    for (const FieldCause& cause : validate(*kind_of(type).schema, json(text))) {
      if (cause.reason == "FieldValueTypeInvalid") found.insert(cause.field);
    }
    return found;
  };
  EXPECT_EQ(fields("deployments.apps", R"({"spec":{"replicas":3.0,"minReadySeconds":1e1,"selector":{},
      "strategy":{"rollingUpdate":{"maxSurge":1.0,"maxUnavailable":1}},"template":{"spec":{"containers":[],
      "terminationGracePeriodSeconds":9223372036854775808}}}})"),
            (std::set<std::string>{"spec.replicas", "spec.minReadySeconds", "spec.strategy.rollingUpdate.maxSurge",
                                   "spec.template.spec.terminationGracePeriodSeconds"}));
  EXPECT_TRUE(fields("resourcequotas", R"({"spec":{"hard":{"cpu":0.5,"memory":1e3,"pods":2}}})").empty())
      << "a quantity may be any number";
  EXPECT_TRUE(fields("resourcebindings.work.karmada.io", R"({"spec":{"replicas":2.0}})").empty())
      << "a custom resource's 2.0 is 2";
}

TEST(BuiltinSchema, Base64MayHaveLineBreaksAndIsStoredWithout) {
  const Schema& schema = *kind_of("secrets").schema;
  const Value given =
      Value::object({{"data", Value::object({{"a", "YWJj\nZGVm\r\n"}, {"b", "YR==\n"}, {"c", "YQ=="}})}});
  EXPECT_TRUE(validate(schema, given).empty());
  EXPECT_EQ(canonical(schema, given), yaml("data: {a: YWJjZGVm, b: YQ==, c: YQ==}"));
  EXPECT_EQ(canonical(schema, yaml("data: {a: no base64}")), yaml("data: {a: no base64}")) << "validate() refuses it";
}

TEST(BuiltinSchema, QuantitiesAreStoredAsKubernetesWritesThem) {  // NEG-9
  const Schema& schema = *kind_of("resourcequotas").schema;
  const auto stored = [&](const char* given) {
    return to_json(
        canonical(schema, json(R"({"spec":{"hard":{"cpu":)" + std::string{given} + "}}}"))["spec"]["hard"]["cpu"]);
  };
  const std::pair<const char*, const char*> cases[] = {
      {"1", R"("1")"},
      {"0", R"("0")"},
      {"0.5", R"("500m")"},
      {"1000000", R"("1M")"},
      {R"("1")", R"("1")"},
      {R"("1000m")", R"("1")"},
      {R"("1500m")", R"("1500m")"},
      {R"("+.5")", R"("500m")"},
      {R"("00")", R"("0")"},
      {R"("0Gi")", R"("0")"},
      {R"("-2000m")", R"("-2")"},
      {R"("1024Mi")", R"("1Gi")"},
      {R"("1.5Gi")", R"("1536Mi")"},
      {R"("0.3Gi")", R"("322122547200m")"},
      {R"("1000Ki")", R"("1000Ki")"},
      {R"("512")", R"("512")"},
      {R"("1073741824")", R"("1073741824")"},
      {R"("2000M")", R"("2G")"},
      {R"("2000000u")", R"("2")"},
      {R"("1e3")", R"("1e3")"},
      {R"("10E3")", R"("10e3")"},
      {R"("1e2")", R"("100")"},
      {R"("1e-1")", R"("100e-3")"},
      {R"("1E")", R"("1E")"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(stored(given), expected) << given;
  // Kept: finer than a thousandth, beyond 64 bits, with more digits than are exact, and what is no quantity.
  for (const char* kept :
       {"100u", "1.0001m", "100E", "1e40", "8Ei", "1234567890123456789", "1 ", "1Xi", "1e", "", "."}) {
    EXPECT_EQ(stored(("\"" + std::string{kept} + "\"").c_str()), "\"" + std::string{kept} + "\"");
  }
}

TEST(BuiltinSchema, QuantitiesOfAPatchGetTheirFormAndNothingElseChanges) {
  const Value given = yaml(R"(
spec: {containers: [{name: c, tty: false, resources: {limits: {cpu: 1, memory: 1024Mi}}}], volumes: [{name: v, emptyDir: {sizeLimit: 2}}]}
)");
  EXPECT_EQ(with_canonical_quantities(*kind_of("pods").schema, given), yaml(R"(
spec: {containers: [{name: c, tty: false, resources: {limits: {cpu: '1', memory: 1Gi}}}], volumes: [{name: v, emptyDir: {sizeLimit: '2'}}]}
)"));
}

TEST(BuiltinSchema, NullInMapsAndListsIsTheZeroOfItsType) {
  const Value quota = canonical(*kind_of("resourcequotas").schema, yaml(R"(
metadata: {labels: {a: null}, annotations: {b: null, c: d}}
spec: {hard: {cpu: null}}
)"));
  EXPECT_EQ(quota, yaml(R"(
metadata: {labels: {a: ''}, annotations: {b: '', c: d}}
spec: {hard: {cpu: '0'}}
)"));
  EXPECT_EQ(canonical(*kind_of("secrets").schema, yaml("data: {a: null}")), yaml("data: {a: ''}"));
  const Schema& pod = *kind_of("pods").schema;
  const Value spec = canonical(pod, yaml(R"(
spec:
  nodeSelector: {disk: null}
  containers: [{name: c, args: [a, null]}, null]
  securityContext: {supplementalGroups: [null], runAsUser: null}
)"))["spec"];
  EXPECT_EQ(spec, yaml(R"(
nodeSelector: {disk: ''}
containers: [{name: c, args: [a, '']}, {}]
securityContext: {supplementalGroups: [0], runAsUser: null}
)"));
  const Value definition =
      yaml("spec: {versions: [{name: v1, schema: {openAPIV3Schema: {enum: [null], nullable: true}}}]}");
  EXPECT_EQ(canonical(*kind_of("customresourcedefinitions.apiextensions.k8s.io").schema, definition), definition)
      << "a value of any type may be null";
}

TEST(BuiltinSchema, OpenApiContainsThePatchStrategies) {  // OA-6
  const Value api = to_openapi(*kind_of("deployments.apps").schema);
  const Value& pod = api["properties"]["spec"]["properties"]["template"]["properties"]["spec"]["properties"];
  EXPECT_EQ(pod["containers"]["x-kubernetes-patch-merge-key"], Value{"name"});
  EXPECT_EQ(pod["containers"]["x-kubernetes-patch-strategy"], Value{"merge"});
  EXPECT_EQ(pod["volumes"]["x-kubernetes-patch-strategy"], Value{"merge,retainKeys"});
  EXPECT_EQ(api["properties"]["spec"]["required"], yaml("[selector, template]"));
}

}  // namespace
}  // namespace shiplog
