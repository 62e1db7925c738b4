// Create and update (CRU-1 to CRU-10).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Writes, CRU_01_a_creation_is_defaulted_and_loses_its_status) {
  Value web = deployment("web");
  web.edit("spec").erase("replicas");
  web.set("status", json(R"({"readyReplicas":7})"));
  const Answer made = api().post(in(own_namespace(), "deployments", "apps/v1"), web);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"]["replicas"].as_int(), 1);
  EXPECT_FALSE(made.json["status"].contains("readyReplicas"));
}

TEST(Writes, CRU_02_an_update_replaces_all_but_the_status) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  Value web = deployment("web");
  web.edit("metadata").set("labels", json(R"({"a":"b"})"));
  web.edit("spec").set("revisionHistoryLimit", 3);
  const Answer made = api().post(deployments, web);
  ASSERT_EQ(made.status, 201);
  ASSERT_EQ(api().patch(deployments + "/web/status", "merge", json(R"({"status":{"replicas":3}})")).status, 200);
  Value other = deployment("web", 2);
  other.set("status", json(R"({"replicas":9})"));
  const Answer put = api().put(deployments + "/web", other);
  ASSERT_EQ(put.status, 200) << "without a version: " << put;
  EXPECT_EQ(put.json["status"]["replicas"].as_int(), 3);
  EXPECT_FALSE(put.json["metadata"].contains("labels")) << put;
  EXPECT_EQ(put.json["spec"]["revisionHistoryLimit"].as_int(), 10) << "what is left out has its default again";
  EXPECT_EQ(uid_of(put), uid_of(made)) << "not named in the body, and kept";
  EXPECT_EQ(put.json["metadata"]["creationTimestamp"], made.json["metadata"]["creationTimestamp"]);
  EXPECT_EQ(put.json["metadata"]["generation"].as_int(), made.json["metadata"]["generation"].as_int() + 1);
  EXPECT_EQ(api().get(deployments + "/web").json, put.json);
  Value another = other;
  another.edit("metadata").set("uid", "11111111-1111-4111-8111-111111111111");
  expect_failure(api().put(deployments + "/web", another), 409, "Conflict");
  other.edit("metadata").set("resourceVersion", version_of(put));
  other.edit("spec").set("replicas", 4);
  ASSERT_EQ(api().put(deployments + "/web", other).status, 200);
  other.edit("spec").set("replicas", 5);
  expect_failure(api().put(deployments + "/web", other), 409, "Conflict");
  const std::string widgets = widgets_in(ns);
  ASSERT_EQ(api().post(widgets, widget("w")).status, 201);
  expect_failure(api().put(widgets + "/w", widget("w", R"({"size":2})")), 422, "Invalid", "must be specified");
  const std::string leases = in(ns, "leases", "coordination.k8s.io/v1");
  const Value lease = json(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})");
  ASSERT_EQ(api().post(leases, lease).status, 201);
  expect_failure(api().put(leases + "/l", lease), 422, "Invalid", "metadata.resourceVersion");
  const std::string definition =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.conformance.example.com";
  Value unconditional = api().get(definition).json;
  unconditional.edit("metadata").erase("resourceVersion");
  expect_failure(api().put(definition, unconditional), 422, "Invalid", "metadata.resourceVersion");
  const std::string hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const Value hook = json(R"({"metadata":{"name":"cru-2"},"webhooks":[]})");
  ASSERT_EQ(api().post(hooks, hook).status, 201);
  expect_failure(api().put(hooks + "/cru-2", hook), 422, "Invalid", "metadata.resourceVersion");
  EXPECT_EQ(api().remove(hooks + "/cru-2").status, 200);
  const std::vector<std::pair<std::string, std::string>> others{
      {in(ns, "poddisruptionbudgets", "policy/v1"), "{metadata: {name: cru-2}, spec: {minAvailable: 1}}"},
      {"/apis/storage.k8s.io/v1/csidrivers", "{metadata: {name: cru-2}, spec: {}}"},
      {"/apis/storage.k8s.io/v1/volumeattachments",
       "{metadata: {name: cru-2}, spec: {attacher: a, nodeName: node, source: {persistentVolumeName: v}}}"}};
  for (const auto& [path, object] : others) {
    ASSERT_EQ(api().post(path, yaml(object)).status, 201) << path;
    expect_failure(api().put(path + "/cru-2", yaml(object)), 422, "Invalid", "metadata.resourceVersion");
    EXPECT_EQ(api().remove(path + "/cru-2").status, 200) << path;
  }
}

TEST(Writes, CRU_03_some_kinds_are_created_by_an_update) {
  const std::string ns = own_namespace();
  expect_failure(api().put(in(ns, "configmaps") + "/none", config_map("none")), 404, "NotFound",
                 R"(configmaps "none" not found)");
  expect_failure(api().put(in(ns, "deployments", "apps/v1") + "/none", deployment("none")), 404, "NotFound");
  expect_failure(api().put(in(ns, "endpointslices", "discovery.k8s.io/v1") + "/none",
                           yaml("{metadata: {name: none}, addressType: IPv4, endpoints: []}")),
                 404, "NotFound");
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  const std::vector<std::pair<std::string, std::string>> creatable{
      {in(ns, "leases", "coordination.k8s.io/v1"), "{metadata: {name: new}, spec: {holderIdentity: me}}"},
      {in(ns, "roles", rbac), "{metadata: {name: new}, rules: []}"},
      {in(ns, "rolebindings", rbac),
       "{metadata: {name: new}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: new}, subjects: []}"},
      {in(ns, "endpoints"), "{metadata: {name: new}, subsets: []}"},
      {in(ns, "limitranges"), "{metadata: {name: new}, spec: {limits: []}}"},
      {in(ns, "services"), "{metadata: {name: new}, spec: {ports: [{port: 80}]}}"},
      {in(ns, "events"), "{metadata: {name: new}, involvedObject: {kind: Pod, name: p, namespace: " + ns +
                             "}, reason: R, message: m, type: Normal}"}};
  for (const auto& [path, object] : creatable) {
    const Answer made = api().put(path + "/new", yaml(object));
    EXPECT_EQ(made.status, 201) << path << made;
    EXPECT_EQ(uid_of(made).size(), 36u);
    EXPECT_EQ(api().get(path + "/new").status, 200) << path;
  }
}

TEST(Writes, CRU_04_a_dry_run_leaves_nothing) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + version_of(api().get(maps)));
  const Answer made = api().post(maps + "?dryRun=All", json(R"({"metadata":{"generateName":"dry-"}})"));
  EXPECT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["name"].str().size(), 9u);
  EXPECT_EQ(version_of(made), "");
  EXPECT_EQ(api().post(maps + "?dryRun=All", config_map("Wrong")).status, 422);
  const Answer filled = api().post(in(ns, "deployments", "apps/v1") + "?dryRun=All", deployment("dry"));
  EXPECT_EQ(filled.json["spec"]["revisionHistoryLimit"].as_int(), 10) << filled;
  EXPECT_EQ(uid_of(filled).size(), 36u);
  EXPECT_TRUE(filled.json["metadata"].contains("creationTimestamp"));
  expect_failure(api().post(in("nowhere", "configmaps") + "?dryRun=All", config_map("dry")), 404, "NotFound",
                 R"(namespaces "nowhere" not found)");
  const Answer existing = api().post(maps, config_map("there"));
  const Answer put = api().put(maps + "/there?dryRun=All", config_map("there", R"({"k":"v"})"));
  EXPECT_EQ(put.json["data"]["k"].str(), "v") << put;
  EXPECT_EQ(version_of(put), version_of(existing));
  EXPECT_EQ(api().patch(maps + "/there?dryRun=All", "merge", json(R"({"data":{"k":"v"}})")).status, 200);
  EXPECT_EQ(api().remove(maps + "/there?dryRun=All").status, 200);
  EXPECT_EQ(remove_with(maps + "/there", R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(api().remove(maps + "?dryRun=All").status, 200);
  EXPECT_EQ(
      apply_to(maps + "/applied", R"({"apiVersion":"v1","kind":"ConfigMap"})", "fieldManager=m&dryRun=All").status,
      201);
  EXPECT_EQ(names_of(api().get(maps)), Names{"there"});
  for (const char* wrong : {"dryRun=Some", "dryRun=", "dryRun=all"}) {
    expect_failure(api().post(maps + "?" + wrong, config_map("x")), 422, "Invalid", "dryRun");
  }
  expect_failure(remove_with(maps + "/there", R"({"dryRun":["Some"]})"), 422, "Invalid", "dryRun");
  ASSERT_EQ(api().remove(maps + "/there").status, 200);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED there", "DELETED there"}));
}

TEST(Writes, CRU_05_the_field_manager) {
  const std::string maps = in(own_namespace(), "configmaps");
  expect_failure(api().post(maps + "?fieldManager=" + std::string(129, 'x'), config_map("x")), 422, "Invalid",
                 "fieldManager");
  expect_failure(api().post(maps + "?fieldManager=a%01b", config_map("x")), 422, "Invalid", "fieldManager");
  const Answer made = api().call("POST", maps, R"({"metadata":{"name":"a"},"data":{"k":"v"}})",
                                 {{"User-Agent", "tool/v1.2 (linux) x/y"}});
  EXPECT_EQ(made.json["metadata"]["managedFields"][0]["manager"].str(), "tool") << made;
}

TEST(Writes, CRU_06_unknown_and_doubled_fields) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  Value odd = deployment("odd");
  odd.edit("spec").set("sofa", 1);
  const Answer warned = api().post(deployments + "?fieldValidation=Warn", odd);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warnings_of(warned), Names{R"(299 - "unknown field \"spec.sofa\"")"});
  odd.edit("metadata").set("name", "odd-2");
  EXPECT_EQ(warnings_of(api().post(deployments, odd)).size(), 1u) << "Warn is the default";
  odd.edit("metadata").set("name", "odd-3");
  EXPECT_EQ(warnings_of(api().post(deployments + "?fieldValidation=Ignore", odd)), Names{});
  odd.edit("metadata").set("name", "odd-4");
  expect_failure(api().post(deployments + "?fieldValidation=Strict", odd), 400, "BadRequest",
                 R"(strict decoding error: unknown field "spec.sofa")");
  expect_failure(api().post(deployments + "?fieldValidation=Maybe", odd), 422, "Invalid", "fieldValidation");
  const std::string doubled = R"({"metadata":{"name":"odd-5","name":"odd-5"}})";
  expect_failure(api().call("POST", deployments + "?fieldValidation=Strict", doubled), 400, "BadRequest",
                 R"(duplicate field "metadata.name")");
  for (const std::string type : {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    const auto patch_odd = [&](const std::string& query, const char* patch) {
      return api().call("PATCH", deployments + "/odd" + query, patch, {{"Content-Type", type}});
    };
    const Answer refused = patch_odd("?fieldValidation=Strict", R"({"spec":{"sofa":1}})");
    expect_failure(refused, 422, "Invalid", R"(strict decoding error: unknown field "spec.sofa")");
    EXPECT_EQ(fields_of(refused), Names{"patch"});
    const char* const twice = R"({"spec":{"paused":true,"paused":false}})";
    expect_failure(patch_odd("?fieldValidation=Strict", twice), 422, "Invalid", R"(duplicate field "spec.paused")");
    EXPECT_EQ(warnings_of(patch_odd("", twice)), Names{R"(299 - "duplicate field \"spec.paused\"")"});
    EXPECT_EQ(warnings_of(patch_odd("?fieldValidation=Ignore", twice)), Names{});
  }
  const std::string maps = in(own_namespace(), "configmaps");
  const auto in_yaml = [&](const std::string& query, HttpHeaders type, const std::string& method = "POST") {
    const std::string target = maps + (method == "POST" ? query : "/odd?fieldManager=m&" + query.substr(1));
    return api().call(method, target,
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata:\n  a: '1'\n  a: '2'\n",
                      std::move(type));
  };
  const HttpHeaders plain{{"Content-Type", "application/yaml"}};
  const HttpHeaders applied{{"Content-Type", "application/apply-patch+yaml"}};
  const std::string line = R"(line 6: key "a" already set in map)";
  expect_failure(in_yaml("?fieldValidation=Strict", plain), 400, "BadRequest",
                 "strict decoding error: yaml: unmarshal errors:\n  " + line);
  expect_failure(in_yaml("?fieldValidation=Strict", applied, "PATCH"), 400, "BadRequest", "\n  " + line);
  const Answer warned_of = in_yaml("?fieldValidation=Warn", plain);
  EXPECT_EQ(warned_of.json["data"]["a"].str(), "2") << warned_of;
  EXPECT_EQ(warnings_of(warned_of), Names{R"(299 - "line 6: key \"a\" already set in map")"});
  EXPECT_EQ(warnings_of(in_yaml("?fieldValidation=Warn&force=true", applied, "PATCH")), warnings_of(warned_of));
  const Answer silent = in_yaml("?fieldValidation=Ignore&force=true", applied, "PATCH");
  EXPECT_EQ(silent.status, 200) << silent;
  EXPECT_EQ(warnings_of(silent), Names{});
  const std::string widgets = widgets_in(own_namespace());
  expect_failure(api().post(widgets + "?fieldValidation=Strict", widget("w", R"({"sofa":1})")), 400, "BadRequest",
                 R"(unknown field "spec.sofa")");
}

TEST(Writes, CRU_07_unknown_fields_are_never_stored) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, json(R"({"metadata":{"name":"a","sofa":1},"sofa":{"x":1}})")).status, 201);
  const Answer got = api().get(maps + "/a");
  EXPECT_FALSE(got.json.contains("sofa"));
  EXPECT_FALSE(got.json["metadata"].contains("sofa"));
}

TEST(Writes, CRU_08_immutable_fields) {
  const std::string ns = own_namespace();
  const auto refuse = [](const std::string& path, const Value& object, const char* patch, const char* field) {
    ASSERT_EQ(api().post(path, object).status, 201) << path;
    const std::string target = path + "/" + object["metadata"]["name"].str();
    expect_failure(api().patch(target, "merge", json(patch)), 422, "Invalid", field);
  };
  const std::string selector = R"({"spec":{"selector":{"matchLabels":{"app":"x"}},
                                  "template":{"metadata":{"labels":{"app":"x"}}}}})";
  refuse(in(ns, "deployments", "apps/v1"), deployment("a"), selector.c_str(), "spec.selector");
  Value set = deployment("a");
  set.erase("kind");
  refuse(in(ns, "replicasets", "apps/v1"), set, selector.c_str(), "spec.selector");
  set.edit("spec").erase("replicas");
  refuse(in(ns, "daemonsets", "apps/v1"), set, selector.c_str(), "spec.selector");
  set.edit("spec").set("serviceName", "s");
  refuse(in(ns, "statefulsets", "apps/v1"), set, R"({"spec":{"serviceName":"t"}})", "spec");
  const std::string jobs = in(ns, "jobs", "batch/v1");
  refuse(jobs,
         yaml("{metadata: {name: a}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
              "image: i}]}}}}"),
         R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}})", "spec.template");
  refuse(in(ns, "services"), yaml("{metadata: {name: a}, spec: {clusterIP: 10.96.7.7, ports: [{port: 80}]}}"),
         R"({"spec":{"clusterIP":"10.96.7.8","clusterIPs":["10.96.7.8"]}})", "spec.clusterIP");
  refuse(in(ns, "rolebindings", "rbac.authorization.k8s.io/v1"),
         yaml("{metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}"),
         R"({"roleRef":{"name":"edit"}})", "roleRef");
  refuse(in(ns, "secrets"), json(R"({"metadata":{"name":"a"},"type":"Opaque"})"), R"({"type":"example.com/t"})",
         "type");
  refuse(in(ns, "configmaps"), json(R"({"metadata":{"name":"a"},"immutable":true,"data":{"k":"v"}})"),
         R"({"data":{"k":"w"}})", "data");
  refuse(in(ns, "persistentvolumeclaims"),
         yaml("{metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"),
         R"({"spec":{"accessModes":["ReadOnlyMany"]}})", "spec");
}

TEST(Writes, CRU_09_fields_that_depend_on_each_other) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  const auto refuse = [&](const char* patch, const std::string& field) {
    Value wrong = deployment("wrong");
    const Value changes = json(patch);
    for (const auto& member : changes.members()) wrong.edit("spec").set(member.key(), member.value);
    expect_failure(api().post(deployments, wrong), 422, "Invalid", field);
  };
  refuse(R"({"selector":{"matchLabels":{"app":"other"}}})", "spec.template.metadata.labels");
  refuse(R"({"selector":null})", "spec.selector");
  refuse(R"({"selector":{"matchExpressions":[{"key":"app","operator":"Like"}]}})", "operator");
  const std::string meta = R"({"template":{"metadata":{"labels":{"app":"wrong"}},"spec":)";
  refuse((meta + R"({"containers":[]}}})").c_str(), "spec.template.spec.containers");
  refuse((meta + R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}}})").c_str(), "name");
  refuse((meta + R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":70000}]}]}}})").c_str(),
         "containerPort");
  Value quantity = deployment("wrong");
  quantity.edit("spec")
      .edit("template")
      .edit("spec")
      .set("containers", json(R"([{"name":"c","image":"i","resources":{"limits":{"cpu":"much"}}}])"));
  const Answer refused = api().post(deployments, quantity);
  EXPECT_TRUE(refused.status == 400 || refused.status == 422) << refused;
  EXPECT_NE(refused.message().find("quantities must match"), std::string::npos) << refused;
}

TEST(Writes, CRU_10_defaults) {
  const std::string ns = own_namespace();
  const auto made = [](const std::string& path, const std::string& object) {
    const Answer answer = api().post(path, yaml(object));
    EXPECT_EQ(answer.status, 201) << answer;
    return answer.json;
  };
  const std::string meta = "metadata: {name: a}";
  const std::string pods = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}";
  const std::string selected = "selector: {matchLabels: {app: a}}, template: " + pods;
  const auto spec_of = [&](const std::string& path, const std::string& spec) {
    return made(path, "{" + meta + ", spec: {" + spec + "}}")["spec"];
  };
  const Value web = spec_of(in(ns, "deployments", "apps/v1"), selected);
  EXPECT_EQ(web["strategy"],
            json(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}})"));
  EXPECT_EQ(web["revisionHistoryLimit"].as_int(), 10);
  EXPECT_EQ(web["progressDeadlineSeconds"].as_int(), 600);
  const Value pod = web["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"].str(), "Always");
  EXPECT_EQ(pod["dnsPolicy"].str(), "ClusterFirst");
  EXPECT_EQ(pod["schedulerName"].str(), "default-scheduler");
  EXPECT_EQ(pod["terminationGracePeriodSeconds"].as_int(), 30);
  EXPECT_TRUE(pod.contains("securityContext"));
  EXPECT_EQ(pod["containers"][0]["imagePullPolicy"].str(), "Always");
  EXPECT_EQ(pod["containers"][0]["terminationMessagePath"].str(), "/dev/termination-log");
  EXPECT_TRUE(pod["containers"][0].contains("resources"));
  const Value state = spec_of(in(ns, "statefulsets", "apps/v1"), "serviceName: s, " + selected);
  EXPECT_EQ(state["podManagementPolicy"].str(), "OrderedReady");
  EXPECT_EQ(state["updateStrategy"], json(R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"));
  EXPECT_EQ(state["persistentVolumeClaimRetentionPolicy"], json(R"({"whenDeleted":"Retain","whenScaled":"Retain"})"));
  const Value daemon = spec_of(in(ns, "daemonsets", "apps/v1"), selected);
  EXPECT_EQ(daemon["updateStrategy"],
            json(R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})"));
  const std::string job_pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1'}]}}";
  const Value job = made(in(ns, "jobs", "batch/v1"), "{" + meta + ", spec: {" + job_pod + "}}");
  EXPECT_EQ(job["spec"]["completions"].as_int(), 1);
  EXPECT_EQ(job["spec"]["parallelism"].as_int(), 1);
  EXPECT_EQ(job["spec"]["backoffLimit"].as_int(), 6);
  EXPECT_EQ(job["spec"]["completionMode"].str(), "NonIndexed");
  EXPECT_EQ(job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], job["metadata"]["uid"]);
  EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"].str(), "IfNotPresent");
  const Value cron =
      spec_of(in(ns, "cronjobs", "batch/v1"), "schedule: '* * * * *', jobTemplate: {spec: {" + job_pod + "}}");
  EXPECT_EQ(cron["concurrencyPolicy"].str(), "Allow");
  EXPECT_EQ(cron["successfulJobsHistoryLimit"].as_int(), 3);
  EXPECT_EQ(cron["failedJobsHistoryLimit"].as_int(), 1);
  EXPECT_TRUE(cron["suspend"].is_bool());
  EXPECT_FALSE(cron["jobTemplate"]["spec"].contains("backoffLimit")) << "the Job gets it when it is made";
  const Value service = spec_of(in(ns, "services"), "ports: [{port: 80}]");
  EXPECT_EQ(service["type"].str(), "ClusterIP");
  EXPECT_EQ(service["sessionAffinity"].str(), "None");
  EXPECT_EQ(service["internalTrafficPolicy"].str(), "Cluster");
  EXPECT_EQ(service["ports"][0]["targetPort"].as_int(), 80);
  EXPECT_EQ(service["ports"][0]["protocol"].str(), "TCP");
  EXPECT_FALSE(service["clusterIP"].is_empty());
  const Value secret = made(in(ns, "secrets"), "{" + meta + ", stringData: {k: v}}");
  EXPECT_EQ(secret["type"].str(), "Opaque");
  EXPECT_EQ(secret["data"]["k"].str(), "dg==");
  EXPECT_FALSE(secret.contains("stringData"));
  const Answer space = api().get("/api/v1/namespaces/" + ns);
  EXPECT_EQ(space.json["spec"]["finalizers"], json(R"(["kubernetes"])"));
  EXPECT_EQ(space.json["status"]["phase"].str(), "Active");
  EXPECT_EQ(space.json["metadata"]["labels"]["kubernetes.io/metadata.name"].str(), ns);
  const Value volumes =
      made(in(ns, "pods"), "{" + meta +
                               ", spec: {volumes: [{name: v, secret: {secretName: s}}, {name: e}], "
                               "containers: [{name: c, image: i, resources: {limits: {cpu: 1}}, "
                               "ports: [{containerPort: 80}], livenessProbe: {httpGet: {port: 80}}}]}}")["spec"];
  EXPECT_EQ(volumes["volumes"][0]["secret"]["defaultMode"].as_int(), 420);
  EXPECT_TRUE(volumes["volumes"][1].contains("emptyDir"));
  EXPECT_TRUE(volumes["enableServiceLinks"].as_bool());
  const Value& container = volumes["containers"][0];
  EXPECT_EQ(container["ports"][0]["protocol"].str(), "TCP");
  EXPECT_EQ(container["livenessProbe"]["periodSeconds"].as_int(), 10);
  EXPECT_EQ(container["livenessProbe"]["failureThreshold"].as_int(), 3);
  EXPECT_EQ(container["livenessProbe"]["httpGet"]["scheme"].str(), "HTTP");
  const Value scaler = spec_of(in(ns, "horizontalpodautoscalers", "autoscaling/v2"),
                               "maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}");
  EXPECT_EQ(scaler["minReplicas"].as_int(), 1);
  EXPECT_EQ(scaler["metrics"][0]["resource"]["target"]["averageUtilization"].as_int(), 80);
  const Value binding =
      made(in(ns, "rolebindings", "rbac.authorization.k8s.io/v1"),
           "{" + meta + ", roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: User, name: u}]}");
  EXPECT_EQ(binding["roleRef"]["apiGroup"].str(), "rbac.authorization.k8s.io");
  EXPECT_EQ(binding["subjects"][0]["apiGroup"].str(), "rbac.authorization.k8s.io");
  const Answer hooks = api().post(
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
      yaml("{metadata: {name: cru-10}, webhooks: [{name: a.b.c, clientConfig: {service: {namespace: hooks, name: s}}, "
           "sideEffects: None, admissionReviewVersions: [v1], rules: [{apiGroups: [none.example.com], apiVersions: "
           "[v1], "
           "operations: [CREATE], resources: [sofas]}]}]}"));
  ASSERT_EQ(hooks.status, 201) << hooks;
  const Value& hook = hooks.json["webhooks"][0];
  EXPECT_EQ(hook["failurePolicy"].str(), "Fail");
  EXPECT_EQ(hook["matchPolicy"].str(), "Equivalent");
  EXPECT_EQ(hook["timeoutSeconds"].as_int(), 10);
  EXPECT_EQ(hook["rules"][0]["scope"].str(), "*");
  EXPECT_TRUE(hook.contains("namespaceSelector"));
  EXPECT_EQ(api().remove("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cru-10").status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
