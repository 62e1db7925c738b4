#include <set>

#include "services/interpreter/builtin.h"
#include "services/interpreter/lua/vm.h"
#include "tests/support/interpreting.h"

// The compiled-in scripts of L-23, a realistic object of each kind.
namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

const State kEmpty;

template <class T>
T got(Interpreted<std::optional<T>> result) {
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_TRUE(!result || result.value().has_value()) << "no level offers it";
  return result && result.value() ? *result.value() : T{};
}

/// One kind, and the results of its scripts for objects of the kind.
class ThirdPartyKind {
 public:
  ThirdPartyKind(std::string api_version, std::string kind)
      : head_{"{apiVersion: " + api_version + ", kind: " + kind} {}

  /// An object of template generation 3 with generation 5 in the member.
  Value object(const std::string& body) const {
    return yaml(head_ +
                ", metadata: {name: x, namespace: ns, generation: 5, annotations: "
                "{resourcetemplate.karmada.io/generation: '3'}}, " +
                body + "}");
  }
  int64_t count(const std::string& body) const { return got(replicas(kEmpty, object(body), kNoon)).count; }
  Value needs(const std::string& body) const { return got(replicas(kEmpty, object(body), kNoon)).requirements; }
  std::string parts(const std::string& body) const {
    std::string line;
    for (const WorkloadComponent& component : got(components(kEmpty, object(body), kNoon))) {
      line += (line.empty() ? "" : " ") + component.name + "=" + std::to_string(component.replicas);
      const Value& request = component.requirements["resourceRequest"];
      if (!request.is_null()) line += to_json(request);
    }
    return line;
  }
  Value revised(const std::string& body, int64_t count) const {
    return got(revise_replica(kEmpty, object(body), count, kNoon));
  }
  Value kept(const std::string& desired, const std::string& observed) const {
    return got(retain(kEmpty, object(desired), object(observed), kNoon));
  }
  Value reflected(const std::string& body) const { return reflect_status(kEmpty, object(body), kNoon).value(); }
  bool healthy(const std::string& body) const { return got(health(kEmpty, object(body), kNoon)); }
  Value aggregated(const std::string& body, const std::vector<std::string>& statuses) const {
    Value items = Value::array();
    for (const std::string& status : statuses) {
      Value item = Value::object({{"clusterName", "m" + std::to_string(items.size() + 1)}});
      if (status != "null") item.set("status", yaml(status));
      items.push_back(std::move(item));
    }
    return got(aggregate_status(kEmpty, object(body), items, kNoon));
  }
  std::string depends(const std::string& body) const {
    std::string line;
    for (const Dependency& dependency : got(dependencies(kEmpty, object(body), kNoon))) {
      line += (line.empty() ? "" : " ") + dependency.kind + ":" + dependency.ns + "/" + dependency.name;
    }
    return line;
  }

 private:
  std::string head_;
};

const std::string kPodTemplate =
    "template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}, "
    "envFrom: [{configMapRef: {name: cm}}]}]}}";
const Value kNeeds = yaml("{resourceRequest: {cpu: 100m}}");

/// T-13 with equality, as in L-11. `fields`: further status fields of a member.
void observes_generations(const ThirdPartyKind& kind, const std::string& fields = "") {
  const auto observed = [&](const std::vector<std::string>& statuses) {
    return kind.aggregated("spec: {}, status: {observedGeneration: 2}", statuses)["observedGeneration"].as_int();
  };
  const std::string current = "{resourceTemplateGeneration: 5, generation: 7, observedGeneration: 7" + fields + "}";
  const std::string old_template =
      "{resourceTemplateGeneration: 4, generation: 7, observedGeneration: 7" + fields + "}";
  const std::string old_member = "{resourceTemplateGeneration: 5, generation: 8, observedGeneration: 7" + fields + "}";
  EXPECT_EQ(observed({current, current}), 5);
  EXPECT_EQ(observed({current, old_template}), 2);
  EXPECT_EQ(observed({current, old_member}), 2);
  EXPECT_EQ(observed({current, "null"}), 2);
  EXPECT_EQ(observed({}), 5) << "without any cluster";
  const Value status = kind.reflected("spec: {}, status: {observedGeneration: 5}");
  EXPECT_EQ(status["generation"], Value{5});
  EXPECT_EQ(status["resourceTemplateGeneration"], Value{3});
  EXPECT_EQ(status["observedGeneration"], Value{5});
}

TEST(ThirdParty, AllKindsOfTheTableAreThereAndParse_L_23) {
  const auto kinds = built_in_kinds();
  EXPECT_EQ(kinds.size(), 27U);
  for (const std::string& kind : kinds) {
    const size_t slash = kind.rfind('/');
    const Value object = Value::object({{"apiVersion", kind.substr(0, slash)}, {"kind", kind.substr(slash + 1)}});
    bool offers = false;
    for (const OperationNames& names : kOperations) {
      const auto script = built_in(object, names.operation);
      if (!script) continue;
      offers = true;
      EXPECT_TRUE(lua::check(script->text.as_string())) << kind;
    }
    EXPECT_TRUE(offers) << kind;
  }
}

TEST(ThirdParty, OperationsAreThoseOfTheTable_L_23) {
  const auto offered = [](const char* api_version, const char* kind) {
    const Value object = Value::object({{"apiVersion", api_version}, {"kind", kind}});
    std::string letters;
    const char* order = "RCVTASHD";  // in the order of kOperations
    for (size_t index = 0; index < kOperations.size(); ++index) {
      if (built_in(object, kOperations[index].operation)) letters += order[index];
    }
    return letters;
  };
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "AdvancedCronJob"), "AD");
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "BroadcastJob"), "RVTASHD");
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "CloneSet"), "RVASHD");
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "DaemonSet"), "ASHD");
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "SidecarSet"), "RTASHD");
  EXPECT_EQ(offered("apps.kruise.io/v1alpha1", "UnitedDeployment"), "RVASHD");
  EXPECT_EQ(offered("apps.kruise.io/v1beta1", "StatefulSet"), "RVASHD");
  EXPECT_EQ(offered("argoproj.io/v1alpha1", "Workflow"), "RVTHD");
  EXPECT_EQ(offered("batch.volcano.sh/v1alpha1", "Job"), "CASH");
  EXPECT_EQ(offered("flink.apache.org/v1beta1", "FlinkDeployment"), "RCASH");
  EXPECT_EQ(offered("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"), "TASHD");
  EXPECT_EQ(offered("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "TASHD");
  EXPECT_EQ(offered("source.toolkit.fluxcd.io/v1", "GitRepository"), "TASHD");
  for (const char* kind : {"Bucket", "HelmChart", "HelmRepository", "OCIRepository"}) {
    EXPECT_EQ(offered("source.toolkit.fluxcd.io/v1beta2", kind), "TASHD") << kind;
  }
  EXPECT_EQ(offered("kubeflow.org/v1", "Notebook"), "RASH");
  EXPECT_EQ(offered("kubeflow.org/v1", "PyTorchJob"), "CAHD");
  EXPECT_EQ(offered("kubeflow.org/v1", "TFJob"), "CAHD");
  EXPECT_EQ(offered("kubeflow.org/v2beta1", "MPIJob"), "CASH");
  EXPECT_EQ(offered("kyverno.io/v1", "ClusterPolicy"), "ASH");
  EXPECT_EQ(offered("kyverno.io/v1", "Policy"), "ASH");
  EXPECT_EQ(offered("ray.io/v1", "RayCluster"), "CAH");
  EXPECT_EQ(offered("ray.io/v1", "RayJob"), "CAHD");
  EXPECT_EQ(offered("ray.io/v1", "RayService"), "RVAHD");
  EXPECT_EQ(offered("sparkoperator.k8s.io/v1beta2", "SparkApplication"), "CASH");
}

TEST(ThirdParty, ScaledKruiseKinds_L_23) {  // L-11
  for (const auto& [version, name] : std::vector<std::pair<std::string, std::string>>{
           {"v1alpha1", "CloneSet"}, {"v1beta1", "StatefulSet"}, {"v1alpha1", "UnitedDeployment"}}) {
    const ThirdPartyKind kind{"apps.kruise.io/" + version, name};
    const std::string spec = "spec: {replicas: 4, " + kPodTemplate + "}";
    EXPECT_EQ(kind.count(spec), 4) << name;
    EXPECT_EQ(kind.needs(spec), kNeeds) << name;
    EXPECT_EQ(kind.revised(spec, 2)["spec"]["replicas"], Value{2}) << name;
    EXPECT_EQ(kind.depends(spec), "ConfigMap:ns/cm") << name;
    const std::string wanted = "spec: {replicas: 2}, status: {observedGeneration: ";
    EXPECT_TRUE(kind.healthy(wanted + "5, updatedReplicas: 2, availableReplicas: 2}")) << name;
    EXPECT_FALSE(kind.healthy(wanted + "4, updatedReplicas: 2, availableReplicas: 2}")) << name;
    EXPECT_FALSE(kind.healthy(wanted + "5, updatedReplicas: 1, availableReplicas: 2}")) << name;
    EXPECT_FALSE(kind.healthy(wanted + "5, updatedReplicas: 2, availableReplicas: 1}")) << name;
    const Value sum =
        kind.aggregated("spec: {}", {"{replicas: 2, readyReplicas: 1}", "{replicas: 3, readyReplicas: 3}"});
    EXPECT_EQ(sum["replicas"], Value{5}) << name;
    EXPECT_EQ(sum["readyReplicas"], Value{4}) << name;
    observes_generations(kind, ", replicas: 1");
  }
}

TEST(ThirdParty, KruiseDaemonSet_L_23) {  // L-11
  const ThirdPartyKind kind{"apps.kruise.io/v1alpha1", "DaemonSet"};
  EXPECT_EQ(kind.depends("spec: {" + kPodTemplate + "}"), "ConfigMap:ns/cm");
  const Value sum =
      kind.aggregated("spec: {}", {"{numberReady: 2, daemonSetHash: a}", "{numberReady: 1, daemonSetHash: b}"});
  EXPECT_EQ(sum["numberReady"], Value{3});
  EXPECT_EQ(sum["daemonSetHash"], "b") << "of the last cluster";
  EXPECT_TRUE(
      kind.healthy("spec: {}, status: {observedGeneration: 5, desiredNumberScheduled: 2, updatedNumberScheduled: 2, "
                   "numberAvailable: 2}"));
  EXPECT_FALSE(
      kind.healthy("spec: {}, status: {observedGeneration: 5, desiredNumberScheduled: 2, updatedNumberScheduled: 1, "
                   "numberAvailable: 2}"));
  observes_generations(kind);
}

TEST(ThirdParty, KruiseJobsAndSidecars_L_23) {  // L-10
  const ThirdPartyKind broadcast{"apps.kruise.io/v1alpha1", "BroadcastJob"};
  EXPECT_EQ(broadcast.count("spec: {parallelism: 3, " + kPodTemplate + "}"), 3);
  EXPECT_EQ(broadcast.count("spec: {" + kPodTemplate + "}"), 1);
  EXPECT_EQ(broadcast.revised("spec: {parallelism: 3}", 5)["spec"]["parallelism"], Value{5});
  EXPECT_EQ(broadcast.kept("spec: {template: {metadata: {labels: {a: b}}}}",
                           "spec: {template: {metadata: {labels: {c: d}}}}")["spec"],
            yaml("{template: {metadata: {labels: {c: d}}}}"));
  const Value failed = broadcast.aggregated(
      "spec: {}", {"{failed: 1, phase: failed, conditions: [{type: Failed, status: 'True'}]}",
                   "{succeeded: 2, phase: completed, conditions: [{type: Complete, status: 'True'}]}"});
  EXPECT_EQ(failed["conditions"], yaml("[{type: Failed, status: 'True', reason: JobFailed, message: 'Job executed "
                                       "failed in member clusters: m1'}]"));
  EXPECT_EQ(failed["succeeded"], Value{2});
  EXPECT_TRUE(broadcast.healthy("spec: {}, status: {desired: 2, succeeded: 2, failed: 0, active: 0}"));
  EXPECT_FALSE(broadcast.healthy("spec: {}, status: {desired: 2, succeeded: 1, failed: 1, active: 0}"));

  const ThirdPartyKind cron{"apps.kruise.io/v1alpha1", "AdvancedCronJob"};
  EXPECT_EQ(cron.depends("spec: {template: {jobTemplate: {spec: {" + kPodTemplate + "}}}}"), "ConfigMap:ns/cm");
  EXPECT_EQ(cron.aggregated("spec: {}", {"{active: [{name: a}], type: BroadcastJob}", "{active: [{name: b}]}"}),
            yaml("{active: [{name: a}, {name: b}], type: BroadcastJob}"));

  const ThirdPartyKind sidecars{"apps.kruise.io/v1alpha1", "SidecarSet"};
  EXPECT_EQ(sidecars.aggregated("spec: {}", {"{matchedPods: 2, updatedPods: 1}", "{matchedPods: 1}"}),
            yaml("{matchedPods: 3, updatedPods: 1, readyPods: 0}"));
  EXPECT_FALSE(sidecars.healthy("status: {matchedPods: 2, updatedPods: 1}"));
  EXPECT_TRUE(sidecars.healthy("status: {matchedPods: 0}"));
  EXPECT_EQ(sidecars.depends("spec: {containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}"), "Secret:ns/s");
}

TEST(ThirdParty, FluxKinds_L_23_L_10) {  // L-11
  for (const auto& [group, name] :
       std::vector<std::pair<std::string, std::string>>{{"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"},
                                                        {"kustomize.toolkit.fluxcd.io/v1", "Kustomization"},
                                                        {"source.toolkit.fluxcd.io/v1", "GitRepository"},
                                                        {"source.toolkit.fluxcd.io/v1beta2", "Bucket"},
                                                        {"source.toolkit.fluxcd.io/v1beta2", "HelmChart"},
                                                        {"source.toolkit.fluxcd.io/v1beta2", "HelmRepository"},
                                                        {"source.toolkit.fluxcd.io/v1beta2", "OCIRepository"}}) {
    const ThirdPartyKind kind{group, name};
    SCOPED_TRACE(name);
    EXPECT_EQ(kind.kept("spec: {interval: 1m}", "spec: {suspend: true}")["spec"],
              yaml("{interval: 1m, suspend: true}"));
    const std::string reason = group.starts_with("source") ? "Succeeded" : "ReconciliationSucceeded";
    EXPECT_TRUE(
        kind.healthy("spec: {}, status: {conditions: [{type: Ready, status: 'True', reason: " + reason + "}]}"));
    EXPECT_FALSE(
        kind.healthy("spec: {}, status: {conditions: [{type: Ready, status: 'False', reason: " + reason + "}]}"));
    EXPECT_FALSE(kind.healthy("spec: {}"));
    const std::string ready = "{conditions: [{type: Ready, status: 'True', reason: R, message: fine}]}";
    EXPECT_EQ(kind.aggregated("spec: {}", {ready, ready})["conditions"],
              yaml("[{type: Ready, status: 'True', reason: R, message: 'm1=fine, m2=fine'}]"));
    observes_generations(kind);
  }
}

TEST(ThirdParty, WhatFluxKindsReferTo_L_23) {
  EXPECT_EQ((ThirdPartyKind{"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"}.depends(
                R"(spec: {valuesFrom: [{kind: Secret, name: a}, {kind: ConfigMap, name: b}], serviceAccountName: sa,
                   kubeConfig: {secretRef: {name: k}}, chart: {spec: {verify: {secretRef: {name: v}}}}})")),
            "ConfigMap:ns/b Secret:ns/a Secret:ns/k Secret:ns/v ServiceAccount:ns/sa");
  EXPECT_EQ((ThirdPartyKind{"kustomize.toolkit.fluxcd.io/v1", "Kustomization"}.depends(
                "spec: {decryption: {secretRef: {name: d}}, serviceAccountName: sa}")),
            "Secret:ns/d ServiceAccount:ns/sa");
  EXPECT_EQ((ThirdPartyKind{"source.toolkit.fluxcd.io/v1", "GitRepository"}.depends(
                "spec: {secretRef: {name: a}, verify: {secretRef: {name: a}}}")),
            "Secret:ns/a");
  EXPECT_EQ((ThirdPartyKind{"source.toolkit.fluxcd.io/v1beta2", "OCIRepository"}.depends(
                "spec: {certSecretRef: {name: c}, serviceAccountName: sa}")),
            "Secret:ns/c ServiceAccount:ns/sa");
}

TEST(ThirdParty, FluxRevisionsAndArtifacts_L_23) {
  const ThirdPartyKind release{"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"};
  EXPECT_EQ(
      release.aggregated("spec: {}, status: {failures: 9}", {"{lastAppliedRevision: '1', failures: 1}",
                                                             "{lastAppliedRevision: '2', failures: 2}"})["failures"],
      Value{3});
  EXPECT_EQ(release.aggregated("spec: {}, status: {helmChart: c}", {"{lastAppliedRevision: '1'}"})["helmChart"], "c")
      << "kept";
  const ThirdPartyKind bucket{"source.toolkit.fluxcd.io/v1beta2", "Bucket"};
  EXPECT_EQ(bucket.aggregated("spec: {}", {"{url: u, artifact: {digest: a}}", "{artifact: {digest: b}}"}),
            yaml("{url: u, artifact: {digest: b}, observedGeneration: 0}"));
}

TEST(ThirdParty, Workflow_L_23_L_10) {
  const ThirdPartyKind kind{"argoproj.io/v1alpha1", "Workflow"};
  EXPECT_EQ(kind.count("spec: {parallelism: 3}"), 3);
  EXPECT_EQ(kind.needs("spec: {nodeSelector: {a: b}}"), yaml("{nodeClaim: {nodeSelector: {a: b}}}"));
  const Value kept = kind.kept("spec: {}", "spec: {suspend: true}, status: {phase: Running}");
  EXPECT_EQ(kept["spec"], yaml("{suspend: true}"));
  EXPECT_EQ(kept["status"], yaml("{phase: Running}"));
  EXPECT_TRUE(kind.healthy("status: {phase: Running}"));
  EXPECT_FALSE(kind.healthy("status: {phase: Failed}"));
  EXPECT_EQ(
      kind.depends(R"(spec: {serviceAccountName: sa, executor: {serviceAccountName: ex}, imagePullSecrets: [{name: p}],
      volumeClaimTemplates: [{metadata: {name: work}}], volumes: [{name: v, configMap: {name: cm}}]})"),
      "ConfigMap:ns/cm PersistentVolumeClaim:ns/work Secret:ns/p ServiceAccount:ns/ex ServiceAccount:ns/sa");
}

TEST(ThirdParty, FlinkDeployment_L_8_L_9) {
  const ThirdPartyKind kind{"flink.apache.org/v1beta1", "FlinkDeployment"};
  const std::string spec = R"(spec: {jobManager: {replicas: 1, resource: {cpu: 1, memory: 2048m}},
      taskManager: {resource: {cpu: 2, memory: 1024m}}, job: {parallelism: 5},
      flinkConfiguration: {taskmanager.numberOfTaskSlots: '2'}})";
  EXPECT_EQ(kind.parts(spec), R"(jobmanager=1{"cpu":"1","memory":"2048m"} taskmanager=3{"cpu":"2","memory":"1024m"})");
  EXPECT_EQ(kind.count(spec), 4);
  EXPECT_EQ(kind.needs(spec)["resourceRequest"], yaml("{cpu: '2', memory: 2048m}")) << "the larger of both";
  EXPECT_EQ(kind.parts("spec: {job: {}}"), "jobmanager=1 taskmanager=1");
  EXPECT_TRUE(kind.healthy("status: {jobStatus: {state: RUNNING}}"));
  EXPECT_FALSE(kind.healthy("status: {jobStatus: {state: CREATED}}"));
  EXPECT_TRUE(kind.healthy("status: {jobStatus: {state: CREATED}, error: 'x ErrImagePull y'}"));
  EXPECT_EQ(kind.aggregated("spec: {}", {"{jobStatus: {state: A}}", "{jobStatus: {state: B}, error: e}"}),
            yaml("{jobStatus: {state: B}, error: e}"));
}

TEST(ThirdParty, RayKinds_L_8_L_9) {
  const std::string group =
      "{groupName: g, replicas: 2, template: {spec: {containers: [{name: w, resources: {requests: {cpu: 2}}}]}}}";
  const std::string cluster =
      "{headGroupSpec: {" + kPodTemplate + "}, workerGroupSpecs: [" + group + ", {" + kPodTemplate + "}]}";
  const std::string parts = R"(ray-head=1{"cpu":"100m"} g=2{"cpu":"2"} worker-2=0{"cpu":"100m"})";
  EXPECT_EQ((ThirdPartyKind{"ray.io/v1", "RayCluster"}.parts("spec: " + cluster)), parts);
  EXPECT_EQ((ThirdPartyKind{"ray.io/v1", "RayJob"}.parts("spec: {rayClusterSpec: " + cluster + "}")), parts);
  EXPECT_EQ((ThirdPartyKind{"ray.io/v1", "RayJob"}.depends("spec: {rayClusterSpec: " + cluster + "}")),
            "ConfigMap:ns/cm");
  const ThirdPartyKind service{"ray.io/v1", "RayService"};
  const std::string spec = "spec: {rayClusterConfig: " + cluster + "}";
  EXPECT_EQ(service.count(spec), 3);
  EXPECT_EQ(service.needs(spec), yaml("{resourceRequest: {cpu: '2'}}"));
  const Value revised =
      service.revised("spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 1}, {replicas: 3}]}}", 9);
  EXPECT_EQ(revised["spec"]["rayClusterConfig"]["workerGroupSpecs"], yaml("[{replicas: 2}, {replicas: 6}]"));
  EXPECT_TRUE(service.healthy("status: {conditions: [{type: Ready, status: 'True'}]}"));

  const ThirdPartyKind rays{"ray.io/v1", "RayCluster"};
  EXPECT_TRUE(rays.healthy(
      "status: {conditions: [{type: HeadPodReady, status: 'True'}, {type: RayClusterProvisioned, status: 'True'}]}"));
  EXPECT_FALSE(rays.healthy("status: {conditions: [{type: HeadPodReady, status: 'True'}]}"));
  const Value sum = rays.aggregated("spec: {}", {"{readyWorkerReplicas: 1, desiredCPU: '1', state: ready}",
                                                 "{readyWorkerReplicas: 2, desiredCPU: 500m}"});
  EXPECT_EQ(sum["readyWorkerReplicas"], Value{3});
  EXPECT_EQ(sum["desiredCPU"], "1500m");
  EXPECT_EQ(sum["state"], "ready");
  const ThirdPartyKind job{"ray.io/v1", "RayJob"};
  EXPECT_EQ(job.aggregated("spec: {}", {"{jobDeploymentStatus: Running, jobStatus: RUNNING}",
                                        "{jobDeploymentStatus: Failed, jobStatus: FAILED, reason: r}"}),
            yaml("{jobDeploymentStatus: Failed, jobStatus: FAILED, reason: r}"));
}

TEST(ThirdParty, TrainingJobs_L_8) {
  const std::string role = "{replicas: 2, " + kPodTemplate + "}";
  EXPECT_EQ((ThirdPartyKind{"kubeflow.org/v1", "PyTorchJob"}.parts("spec: {pytorchReplicaSpecs: {Worker: " + role +
                                                                   ", Master: {" + kPodTemplate + "}}}")),
            R"(master=1{"cpu":"100m"} worker=2{"cpu":"100m"})");
  EXPECT_EQ((ThirdPartyKind{"kubeflow.org/v1", "TFJob"}.parts("spec: {tfReplicaSpecs: {PS: " + role + ", Chief: {" +
                                                              kPodTemplate + "}}}")),
            R"(ps=2{"cpu":"100m"} chief=1{"cpu":"100m"})");
  EXPECT_EQ((ThirdPartyKind{"kubeflow.org/v2beta1", "MPIJob"}.parts(
                "spec: {mpiReplicaSpecs: {Launcher: {" + kPodTemplate + "}, Worker: {" + kPodTemplate + "}}}")),
            R"(Launcher=1{"cpu":"100m"} Worker=0{"cpu":"100m"})");
  EXPECT_EQ((ThirdPartyKind{"kubeflow.org/v1", "TFJob"}.depends("spec: {tfReplicaSpecs: {PS: " + role + "}}")),
            "ConfigMap:ns/cm");

  const ThirdPartyKind torch{"kubeflow.org/v1", "PyTorchJob"};
  const std::string done = R"({startTime: '2026-01-01T01:00:00Z', completionTime: '2026-01-01T02:00:00Z',
      replicaStatuses: {Worker: {succeeded: 2}}, conditions: [{type: Succeeded, status: 'True'}]})";
  const Value both = torch.aggregated("spec: {}", {done, done});
  EXPECT_EQ(both["replicaStatuses"], yaml("{Worker: {succeeded: 4}}")) << "zero counts are omitted";
  EXPECT_EQ(both["conditions"][0]["type"], "Succeeded");
  EXPECT_EQ(both["completionTime"], "2026-01-01T02:00:00Z");
  const Value status = torch.aggregated("spec: {}", {done, "{conditions: [{type: Failed, status: 'True'}]}"});
  EXPECT_EQ(status["conditions"][0]["message"], "PyTorchJob executed failed in member clusters: m2");
  EXPECT_FALSE(torch.healthy("status: {conditions: [{type: Failed, status: 'True'}]}"));
  EXPECT_TRUE(torch.healthy("status: {conditions: [{type: Running, status: 'True'}]}"));
  const ThirdPartyKind tensor{"kubeflow.org/v1", "TFJob"};
  EXPECT_EQ(tensor.aggregated("spec: {}", {done, done})["conditions"][0]["lastProbeTime"], "2026-01-01T12:00:00Z")
      << "of the decision";
  const ThirdPartyKind mpi{"kubeflow.org/v2beta1", "MPIJob"};
  EXPECT_EQ(
      mpi.aggregated("spec: {}", {"{conditions: [{type: A, lastUpdateTime: '1'}, {type: B, lastUpdateTime: '1'}]}",
                                  "{conditions: [{type: A, lastUpdateTime: '2'}]}"})["conditions"],
      yaml("[{type: A, lastUpdateTime: '2'}, {type: B, lastUpdateTime: '1'}]"));
}

TEST(ThirdParty, VolcanoJob_L_8) {
  const ThirdPartyKind kind{"batch.volcano.sh/v1alpha1", "Job"};
  EXPECT_EQ(kind.parts("spec: {tasks: [{name: a, minAvailable: 2, " + kPodTemplate + "}, {" + kPodTemplate + "}]}"),
            R"(a=2{"cpu":"100m"} task-1=1{"cpu":"100m"})");
  EXPECT_TRUE(kind.healthy("status: {state: {phase: Pending}}"));
  EXPECT_FALSE(kind.healthy("status: {state: {phase: Failed}}"));
  const Value status = kind.aggregated(
      "spec: {}",
      {"{succeeded: 1, runningDuration: 1m5s, taskStatusCount: {t: {phase: {Succeeded: 1}}}, state: {phase: "
       "Completed}}",
       "{succeeded: 2, runningDuration: 50s, taskStatusCount: {t: {phase: {Succeeded: 2}}}, state: {phase: Failed}}"});
  EXPECT_EQ(status["succeeded"], Value{3});
  EXPECT_EQ(status["runningDuration"], "1m5s");
  EXPECT_EQ(status["taskStatusCount"], yaml("{t: {phase: {Succeeded: 3}}}"));
  EXPECT_EQ(status["state"], yaml("{phase: Failed, reason: VolcanoJobFailed, message: 'Job failed in clusters: m2', "
                                  "lastTransitionTime: '2026-01-01T12:00:00Z'}"));
}

TEST(ThirdParty, SparkApplication_L_8) {
  const ThirdPartyKind kind{"sparkoperator.k8s.io/v1beta2", "SparkApplication"};
  EXPECT_EQ(
      kind.parts(
          "spec: {type: Scala, driver: {cores: 1, memory: 512m}, executor: {cores: 2, instances: 3, memory: 10g}}"),
      R"(driver=1{"cpu":"1","memory":"896Mi"} executor=3{"cpu":"2","memory":"11Gi"})");
  EXPECT_EQ(kind.parts("spec: {type: Java, driver: {memory: 1g, memoryOverhead: 1g}, executor: {}, dynamicAllocation: "
                       "{enabled: true, minExecutors: 4}}"),
            R"(driver=1{"cpu":"1","memory":"2Gi"} executor=4{"cpu":"1","memory":"1408Mi"})");
  EXPECT_TRUE(kind.healthy("status: {applicationState: {state: RUNNING}}"));
  EXPECT_FALSE(kind.healthy("status: {applicationState: {state: FAILED}}"));
  const Value status = kind.aggregated("spec: {}", {"{applicationState: {state: RUNNING}, executionAttempts: 1}",
                                                    "{applicationState: {state: FAILED}, executionAttempts: 2}"});
  EXPECT_EQ(status["applicationState"], yaml("{state: FAILED}")) << "the worst state";
  EXPECT_EQ(status["executionAttempts"], Value{3});
}

TEST(ThirdParty, NotebookAndKyverno_L_23) {
  const ThirdPartyKind notebook{"kubeflow.org/v1", "Notebook"};
  EXPECT_EQ(notebook.count("spec: {" + kPodTemplate + "}"), 1);
  EXPECT_TRUE(notebook.healthy("status: {containerState: {running: {startedAt: t}}}"));
  EXPECT_FALSE(notebook.healthy("status: {containerState: {waiting: {reason: CrashLoopBackOff}}}"));
  const Value ready =
      notebook.aggregated("spec: {}", {"{readyReplicas: 1, containerState: {running: {startedAt: '1'}}}",
                                       "{readyReplicas: 1, containerState: {running: {startedAt: '2'}}}"});
  EXPECT_EQ(ready["containerState"], yaml("{running: {startedAt: '2'}}"));
  EXPECT_EQ(ready["conditions"][0]["type"], "Ready");
  EXPECT_EQ(ready["readyReplicas"], Value{2});
  for (const char* name : {"Policy", "ClusterPolicy"}) {
    const ThirdPartyKind policy{"kyverno.io/v1", name};
    EXPECT_TRUE(policy.healthy("status: {ready: true}"));
    EXPECT_FALSE(policy.healthy("status: {conditions: []}"));
    const Value status = policy.aggregated(
        "spec: {}", {"{ready: true, rulecount: {validate: 1, mutate: 1}}", "{ready: false, rulecount: {validate: 2}}"});
    EXPECT_EQ(status["rulecount"], yaml("{validate: 3, mutate: 1, generate: 0, verifyimages: 0}"));
    EXPECT_EQ(status["ready"], Value{false});
  }
}

// One step more for each of the clusters that went before would use up the steps of a call.
TEST(ThirdParty, StatusesOfHundredsOfClustersAreAggregated) {
  const std::string text(120, 'x');
  const std::vector<std::string> statuses(1000,
                                          "{observedGeneration: 5, conditions: [{type: Ready, status: 'True', reason: "
                                          "Succeeded, message: " +
                                              text +
                                              "}, {type: Stored, status: 'True', "
                                              "reason: Succeeded, message: " +
                                              text + "}]}");
  const ThirdPartyKind git{"source.toolkit.fluxcd.io/v1", "GitRepository"};
  const Value united = git.aggregated("spec: {}", statuses)["conditions"];
  ASSERT_EQ(united.size(), 2U);
  EXPECT_TRUE(united[1]["message"].as_string().starts_with("m1=" + text + ", m2=" + text));
  EXPECT_TRUE(united[1]["message"].as_string().ends_with(", m1000=" + text));
  for (const char* kind : {"RayCluster", "RayService"}) {
    EXPECT_EQ(ThirdPartyKind("ray.io/v1", kind).aggregated("spec: {}", statuses)["conditions"].size(), 2000U) << kind;
  }
}

}  // namespace
}  // namespace shiplog::interpreter
