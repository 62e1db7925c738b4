#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "schemas/kinds/embedded.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::yaml;

const Kind& karmada_kind(std::string_view type) {
  const Kind* kind = Kinds::compiled().find_type(type);
  EXPECT_NE(kind, nullptr) << type;
  static const Kind none = [] {
    Kind empty;
    empty.schema = std::make_shared<Schema>();
    return empty;
  }();
  return kind == nullptr ? none : *kind;
}

Value filled(std::string_view type, std::string_view text) {
  return with_defaults(*karmada_kind(type).schema, yaml(text));
}

std::set<std::string> wrong(std::string_view type, std::string_view text) {
  std::set<std::string> fields;
  for (const FieldCause& cause : validate(*karmada_kind(type).schema, filled(type, text)))
    fields.insert(cause.field + " " + cause.reason);
  return fields;
}

using Fields = std::set<std::string>;

constexpr const char* kPolicies = "propagationpolicies.policy.karmada.io";
constexpr const char* kBindings = "resourcebindings.work.karmada.io";
constexpr const char* kClusters = "clusters.cluster.karmada.io";

TEST(KarmadaKinds, EveryDocumentIsAKind) {
  size_t documents = 0;
  for (const EmbeddedDocument& document : embedded_kinds()) {
    if (!document.name.ends_with(".yaml")) continue;
    ++documents;
    const auto crd = parse_json(document.bytes);
    ASSERT_TRUE(crd.has_value()) << document.name << ": " << crd.error().message;
    const auto kinds = kinds_of(crd.value());
    ASSERT_TRUE(kinds.has_value()) << kinds.error().message;
    const Kind& kind = kinds.value().at(0);
    const std::string folder = kind.group.ends_with("shiplog.io") ? "shiplog/" : "karmada/";
    EXPECT_EQ(document.name, folder + kind.type() + ".yaml");
  }
  EXPECT_EQ(documents, 23U);
}

TEST(KarmadaKinds, AreServedAsSpecified) {  // KIND-2
  struct Row {
    const char* group;
    const char* version;
    const char* kind;
    const char* plural;
    bool namespaced;
    std::vector<std::string> short_names;
    bool in_category;
    bool has_status;
  };
  const std::vector<Row> rows = {
      {"policy.karmada.io", "v1alpha1", "PropagationPolicy", "propagationpolicies", true, {"pp"}, true, false},
      {"policy.karmada.io",
       "v1alpha1",
       "ClusterPropagationPolicy",
       "clusterpropagationpolicies",
       false,
       {"cpp"},
       true,
       false},
      {"policy.karmada.io", "v1alpha1", "OverridePolicy", "overridepolicies", true, {"op"}, true, false},
      {"policy.karmada.io",
       "v1alpha1",
       "ClusterOverridePolicy",
       "clusteroverridepolicies",
       false,
       {"cop"},
       true,
       false},
      {"policy.karmada.io", "v1alpha1", "FederatedResourceQuota", "federatedresourcequotas", true, {}, true, true},
      {"policy.karmada.io", "v1alpha1", "ClusterTaintPolicy", "clustertaintpolicies", false, {}, false, false},
      {"work.karmada.io", "v1alpha1", "Work", "works", true, {"wk"}, true, true},
      {"work.karmada.io", "v1alpha2", "ResourceBinding", "resourcebindings", true, {"rb"}, true, true},
      {"work.karmada.io", "v1alpha2", "ClusterResourceBinding", "clusterresourcebindings", false, {"crb"}, true, true},
      {"cluster.karmada.io", "v1alpha1", "Cluster", "clusters", false, {}, false, true},
      {"config.karmada.io",
       "v1alpha1",
       "ResourceInterpreterCustomization",
       "resourceinterpretercustomizations",
       false,
       {"ric"},
       true,
       true},
      {"config.karmada.io",
       "v1alpha1",
       "ResourceInterpreterWebhookConfiguration",
       "resourceinterpreterwebhookconfigurations",
       false,
       {},
       true,
       false},
      {"search.karmada.io", "v1alpha1", "ResourceRegistry", "resourceregistries", false, {}, false, true},
      {"autoscaling.karmada.io", "v1alpha1", "FederatedHPA", "federatedhpas", true, {"fhpa"}, true, true},
      {"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA", "cronfederatedhpas", true, {"cronfhpa"}, true, true},
      {"networking.karmada.io", "v1alpha1", "MultiClusterService", "multiclusterservices", true, {"mcs"}, true, true},
      {"networking.karmada.io", "v1alpha1", "MultiClusterIngress", "multiclusteringresses", true, {"mci"}, true, true},
      {"apps.karmada.io", "v1alpha1", "WorkloadRebalancer", "workloadrebalancers", false, {}, false, true},
      {"remedy.karmada.io", "v1alpha1", "Remedy", "remedies", false, {}, true, false},
      {"multicluster.x-k8s.io", "v1alpha1", "ServiceExport", "serviceexports", true, {"svcex"}, false, true},
      {"multicluster.x-k8s.io", "v1alpha1", "ServiceImport", "serviceimports", true, {"svcim"}, false, true},
      {"operator.karmada.io", "v1alpha1", "Karmada", "karmadas", true, {}, true, true},
  };
  for (const Row& row : rows) {
    const Kind* found = Kinds::compiled().find(row.group, row.version, row.plural);
    ASSERT_NE(found, nullptr) << row.plural;
    EXPECT_EQ(found->kind, row.kind);
    EXPECT_EQ(found->namespaced, row.namespaced) << row.kind;
    EXPECT_EQ(found->short_names, row.short_names) << row.kind;
    EXPECT_EQ(found->categories, row.in_category ? std::vector<std::string>{"karmada-io"} : std::vector<std::string>{})
        << row.kind;
    EXPECT_EQ(found->has_status, row.has_status) << row.kind;
    EXPECT_TRUE(found->has_generation && found->storage && !found->scale && !found->ephemeral && !found->builtin)
        << row.kind;
  }
  // Called but never stored, so not among the kinds.
  EXPECT_EQ(Kinds::compiled().find("search.karmada.io", "v1alpha1", "proxying"), nullptr);
}

TEST(KarmadaKinds, HaveTheirColumns) {
  const auto names = [](std::string_view type) {
    std::string all;
    for (const PrintColumn& column : karmada_kind(type).columns)
      all += column.name + (column.priority > 0 ? "* " : " ");
    return all;
  };
  EXPECT_EQ(names(kPolicies), "CONFLICT-RESOLUTION PRIORITY AGE ");
  EXPECT_EQ(names("federatedresourcequotas.policy.karmada.io"), "OVERALL OVERALL_USED ");
  EXPECT_EQ(names("works.work.karmada.io"), "WORKLOAD-KIND APPLIED AGE ");
  EXPECT_EQ(names(kBindings), "SCHEDULED FULLYAPPLIED AGE ");
  EXPECT_EQ(names(kClusters), "Version Mode Ready Age Zones* Region* Provider* API-Endpoint* Proxy-URL* ");
  EXPECT_EQ(names("overridepolicies.policy.karmada.io"), "");
  EXPECT_EQ(karmada_kind(kBindings).columns[0].json_path, R"(.status.conditions[?(@.type=="Scheduled")].status)");
}

TEST(KarmadaKinds, PropagationPolicyDefaults) {  // KIND-4 to KIND-6
  const Value policy = filled(kPolicies, R"(
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  failover: {application: {decisionConditions: {}}}
)");
  EXPECT_EQ(policy["spec"], yaml(R"(
resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
placement: {}
priority: 0
preemption: Never
schedulerName: default-scheduler
conflictResolution: Abort
failover: {application: {decisionConditions: {tolerationSeconds: 300}, purgeMode: Gracefully}}
)"));
  EXPECT_EQ(filled(kPolicies, "spec: {placement: {replicaScheduling: {}}}")["spec"]["placement"],
            yaml("replicaScheduling: {replicaSchedulingType: Divided}"));
}

TEST(KarmadaKinds, PropagationPolicyBounds) {
  EXPECT_EQ(wrong(kPolicies, "{}"), (Fields{"spec FieldValueRequired"}));
  EXPECT_EQ(wrong(kPolicies, "spec: {}"), (Fields{"spec.resourceSelectors FieldValueRequired"}));
  EXPECT_EQ(wrong(kPolicies, "spec: {resourceSelectors: []}"), (Fields{"spec.resourceSelectors FieldValueInvalid"}));
  EXPECT_EQ(wrong(kPolicies, R"(
spec:
  resourceSelectors: [{apiVersion: v1}]
  preemption: Sometimes
  activationPreference: Eager
  placement:
    clusterAffinities: [{affinityName: ''}, {clusterNames: [m1]}]
    spreadConstraints: [{spreadByField: planet}]
    replicaScheduling:
      weightPreference: {staticWeightList: [{targetCluster: {}, weight: 0}]}
  schedulePriority: {priorityClassSource: PodPriorityClass, priorityClassName: high}
)"),
            (Fields{"spec.resourceSelectors[0].kind FieldValueRequired", "spec.preemption FieldValueNotSupported",
                    "spec.activationPreference FieldValueNotSupported",
                    "spec.placement.clusterAffinities[0].affinityName FieldValueInvalid",
                    "spec.placement.clusterAffinities[1].affinityName FieldValueRequired",
                    "spec.placement.spreadConstraints[0].spreadByField FieldValueNotSupported",
                    "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight FieldValueInvalid",
                    "spec.schedulePriority.priorityClassSource FieldValueNotSupported"}));
}

TEST(KarmadaKinds, PoliciesOfBothScopesAreDescribedAlike) {
  const auto spec_of = [](std::string_view type) {
    return to_openapi(*karmada_kind(type).schema->properties.at("spec"));
  };
  EXPECT_EQ(spec_of(kPolicies), spec_of("clusterpropagationpolicies.policy.karmada.io"));
  EXPECT_EQ(spec_of("overridepolicies.policy.karmada.io"), spec_of("clusteroverridepolicies.policy.karmada.io"));
  EXPECT_EQ(spec_of(kBindings), spec_of("clusterresourcebindings.work.karmada.io"));
}

TEST(KarmadaKinds, Cluster) {  // CL-1 to CL-10
  EXPECT_EQ(wrong(kClusters,
                  "{metadata: {name: m1}, spec: {syncMode: Push, zones: [a], taints: [{key: k, effect: NoExecute}]}}"),
            Fields{});
  EXPECT_EQ(wrong(kClusters, R"(
metadata: {name: M1}
spec:
  syncMode: Shove
  secretRef: {name: s}
  region: 'not a label value'
  taints: [{key: k, effect: PreferNoSchedule}, {effect: NoSchedule}]
  resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: lots}]}]
)"),
            (Fields{"metadata.name FieldValueInvalid", "spec.syncMode FieldValueNotSupported",
                    "spec.secretRef.namespace FieldValueRequired", "spec.region FieldValueInvalid",
                    "spec.taints[0].effect FieldValueNotSupported", "spec.taints[1].key FieldValueRequired",
                    "spec.resourceModels[0].ranges[0].max FieldValueInvalid"}));
  EXPECT_EQ(wrong(kClusters, "{metadata: {name: " + std::string(49, 'a') + "}, spec: {syncMode: Pull}}"),
            (Fields{"metadata.name FieldValueTooLong"}));
}

TEST(KarmadaKinds, FederatedResourceQuota) {
  constexpr const char* kType = "federatedresourcequotas.policy.karmada.io";
  EXPECT_EQ(wrong(kType, "spec: {overall: {cpu: 10, memory: 1.5Gi, requests.cpu: 100m, pods: '1e3'}}"), Fields{});
  EXPECT_EQ(wrong(kType, "spec: {overall: {cpu: ten}, staticAssignments: [{clusterName: m1}]}"),
            (Fields{"spec.overall.cpu FieldValueInvalid", "spec.staticAssignments[0].hard FieldValueRequired"}));
}

TEST(KarmadaKinds, ClusterTaintPolicy) {
  constexpr const char* kType = "clustertaintpolicies.policy.karmada.io";
  EXPECT_EQ(wrong(kType, R"(
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ['True']}]
  taints: [{key: sick, effect: NoSchedule}]
)"),
            Fields{});
  EXPECT_EQ(wrong(kType, "spec: {removeOnConditions: [{conditionType: Ready}], taints: []}"),
            (Fields{"spec.removeOnConditions[0].operator FieldValueRequired",
                    "spec.removeOnConditions[0].statusValues FieldValueRequired", "spec.taints FieldValueInvalid"}));
}

TEST(KarmadaKinds, ResourceBinding) {  // KIND-9
  const Value binding = filled(kBindings, R"(
spec: {resource: {apiVersion: apps/v1, kind: Deployment, name: web}, schedulePriority: {}, failover: {cluster: {}}}
)");
  EXPECT_EQ(binding["spec"]["conflictResolution"], Value{"Abort"});
  EXPECT_EQ(binding["spec"]["schedulePriority"], yaml("priority: 0"));
  EXPECT_EQ(binding["spec"]["failover"], yaml("cluster: {purgeMode: Gracefully}"));
  EXPECT_FALSE(binding["spec"].contains("placement"))
      << "the policy's placement has a default, the binding's copy none";
  EXPECT_EQ(
      wrong(kBindings, R"(
spec:
  resource: {apiVersion: apps/v1, kind: Deployment}
  clusters: [{replicas: 1}]
  gracefulEvictionTasks: [{fromCluster: m1, producer: me, reason: 'two words'}]
  rescheduleTriggeredAt: soon
status:
  conditions: [{type: Scheduled, status: 'Yes', reason: Success, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]
  aggregatedStatus: [{clusterName: m1, health: Fine, status: {any: thing}}]
)"),
      (Fields{"spec.resource.name FieldValueRequired", "spec.clusters[0].name FieldValueRequired",
              "spec.gracefulEvictionTasks[0].reason FieldValueInvalid",
              "spec.rescheduleTriggeredAt FieldValueTypeInvalid", "status.conditions[0].status FieldValueNotSupported",
              "status.aggregatedStatus[0].health FieldValueNotSupported"}));
}

TEST(KarmadaKinds, WorkKeepsManifestsWhole) {
  const Value work = yaml(R"(
metadata: {name: w, namespace: karmada-es-m1}
spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, unheard: of}, data: {k: v}}]}, extra: 1}
)");
  const Value kept = prune(*karmada_kind("works.work.karmada.io").schema, work);
  EXPECT_EQ(kept["spec"]["workload"], work["spec"]["workload"]);
  EXPECT_FALSE(kept["spec"].contains("extra"));
}

TEST(KarmadaKinds, AWorkloadRebalancerNamesAtLeastOneWorkload_REB_1_5_2_1) {
  constexpr const char* kRebalancers = "workloadrebalancers.apps.karmada.io";
  EXPECT_EQ(wrong(kRebalancers,
                  "spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: ns, name: web}, "
                  "{apiVersion: v1, kind: Namespace, name: ns}], ttlSecondsAfterFinished: 60}"),
            Fields{});
  EXPECT_EQ(wrong(kRebalancers, "spec: {workloads: []}"), (Fields{"spec.workloads FieldValueInvalid"}));
  EXPECT_EQ(wrong(kRebalancers, "spec: {}"), (Fields{"spec.workloads FieldValueRequired"}));
  EXPECT_EQ(wrong(kRebalancers, "spec: {workloads: [{namespace: ns}]}"),
            (Fields{"spec.workloads[0].apiVersion FieldValueRequired", "spec.workloads[0].kind FieldValueRequired",
                    "spec.workloads[0].name FieldValueRequired"}));
}

TEST(KarmadaKinds, TheOthersAcceptAndRefuse) {
  struct Sample {
    const char* type;
    const char* good;
    const char* bad;
    Fields wrong;
  };
  const std::vector<Sample> samples = {
      {"overridepolicies.policy.karmada.io",
       "spec: {overrideRules: [{overriders: {plaintext: [{path: /spec/replicas, operator: replace, value: 2}]}}]}",
       "spec: {overrideRules: [{overriders: {imageOverrider: [{component: Name, operator: add}]}}, {}]}",
       {"spec.overrideRules[0].overriders.imageOverrider[0].component FieldValueNotSupported",
        "spec.overrideRules[1].overriders FieldValueRequired"}},
      {"works.work.karmada.io",
       "spec: {workload: {}}",
       "status: {manifestStatuses: [{health: Odd}]}",
       {"spec FieldValueRequired", "status.manifestStatuses[0].identifier FieldValueRequired",
        "status.manifestStatuses[0].health FieldValueNotSupported"}},
      {"resourceinterpretercustomizations.config.karmada.io",
       "spec: {target: {apiVersion: v1, kind: K}, customizations: {retention: {luaScript: x}}}",
       "spec: {target: {apiVersion: v1, kind: K}, customizations: {retention: {}}}",
       {"spec.customizations.retention.luaScript FieldValueRequired"}},
      {"resourceinterpreterwebhookconfigurations.config.karmada.io",
       "webhooks: [{name: a.b.c, clientConfig: {url: 'https://x', caBundle: aGk=}, interpreterContextVersions: "
       "[v1alpha1]}]",
       "webhooks: [{name: a.b.c, clientConfig: {caBundle: '!'}}]",
       {"webhooks[0].clientConfig.caBundle FieldValueTypeInvalid",
        "webhooks[0].interpreterContextVersions FieldValueRequired"}},
      {"resourceregistries.search.karmada.io",
       "spec: {targetCluster: {}, resourceSelectors: []}",
       "spec: {targetCluster: {}}",
       {"spec.resourceSelectors FieldValueRequired"}},
      {"federatedhpas.autoscaling.karmada.io",
       "spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 3, metrics: [{type: Resource, resource: "
       "{name: cpu, target: {type: Utilization}}}]}",
       "spec: {scaleTargetRef: {kind: Deployment}, metrics: [{resource: {name: cpu}}]}",
       {"spec.maxReplicas FieldValueRequired", "spec.scaleTargetRef.name FieldValueRequired",
        "spec.metrics[0].type FieldValueRequired", "spec.metrics[0].resource.target FieldValueRequired"}},
      {"cronfederatedhpas.autoscaling.karmada.io",
       "spec: {scaleTargetRef: {kind: Deployment, name: a}, rules: [{name: r, schedule: '* * * * *'}]}",
       "spec: {scaleTargetRef: {kind: Deployment, name: a}, rules: [{name: r, schedule: x, failedHistoryLimit: 33}]}",
       {"spec.rules[0].failedHistoryLimit FieldValueInvalid"}},
      {"multiclusterservices.networking.karmada.io",
       "spec: {types: [CrossCluster], ports: [{port: 80}]}",
       "spec: {providerClusters: [{}]}",
       {"spec.types FieldValueRequired", "spec.providerClusters[0].name FieldValueRequired"}},
      {"multiclusteringresses.networking.karmada.io",
       "spec: {rules: [{host: a.b, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: "
       "{number: 80}}}}]}}]}",
       "spec: {rules: [{http: {paths: [{path: /}]}}]}",
       {"spec.rules[0].http.paths[0].backend FieldValueRequired",
        "spec.rules[0].http.paths[0].pathType FieldValueRequired"}},
      {"workloadrebalancers.apps.karmada.io",
       "spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, name: a}]}",
       "spec: {workloads: []}",
       {"spec.workloads FieldValueInvalid"}},
      {"remedies.remedy.karmada.io",
       "spec: {actions: [TrafficControl]}",
       "spec: {decisionMatches: [{clusterConditionMatch: {conditionType: A, operator: Like, conditionStatus: "
       "'True'}}]}",
       {"spec.decisionMatches[0].clusterConditionMatch.operator FieldValueNotSupported"}},
      {"serviceexports.multicluster.x-k8s.io",
       "metadata: {name: a}",
       "status: {conditions: [{type: A}]}",
       {"status.conditions[0].lastTransitionTime FieldValueRequired", "status.conditions[0].message FieldValueRequired",
        "status.conditions[0].reason FieldValueRequired", "status.conditions[0].status FieldValueRequired"}},
      {"serviceimports.multicluster.x-k8s.io",
       "spec: {type: Headless, ports: []}",
       "spec: {type: Odd, ports: [], ips: ['1', '2']}",
       {"spec.ips FieldValueTooMany", "spec.type FieldValueNotSupported"}},
      {"karmadas.operator.karmada.io",
       "spec: {components: {etcd: {}, karmadaScheduler: {podDisruptionBudgetConfig: {minAvailable: 1}}}}",
       "spec: {components: {karmadaScheduler: {podDisruptionBudgetConfig: {minAvailable: 1, maxUnavailable: 1}}}}",
       {"spec.components.etcd FieldValueRequired",
        "spec.components.karmadaScheduler.podDisruptionBudgetConfig FieldValueInvalid"}},
  };
  for (const Sample& sample : samples) {
    EXPECT_EQ(wrong(sample.type, sample.good), Fields{}) << sample.type;
    EXPECT_EQ(wrong(sample.type, sample.bad), sample.wrong) << sample.type;
  }
}

TEST(KarmadaKinds, DocumentsExplainEveryField) {
  const std::function<void(const Schema&, const std::string&)> walk = [&](const Schema& schema,
                                                                          const std::string& path) {
    for (const auto& [name, property] : schema.properties) {
      if (path.empty() && (name == "metadata" || name == "apiVersion" || name == "kind")) continue;
      EXPECT_FALSE(property->description.empty()) << path << "." << name;
      walk(*property, path + "." + name);
    }
    if (schema.items != nullptr) walk(*schema.items, path + "[]");
  };
  for (const auto& kind : Kinds::compiled().all()) {
    // The operator's kind uses types of core/v1, which are described there.
    if (!kind->builtin && kind->group != "operator.karmada.io") walk(*kind->schema, "");
  }
}

}  // namespace
}  // namespace shiplog
