// Status, scale and the other subresources (SUB-1 to SUB-6).
#include <algorithm>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Subresources, SUB_01_status_is_written_apart) {
  const std::string ns = own_namespace();
  const std::string widgets = widgets_in(ns);
  Value with_status = widget("w");
  with_status.set("status", json(R"({"size":9})"));
  const Answer made = api().post(widgets, with_status);
  EXPECT_FALSE(made.json.contains("status")) << made;
  Value status = made.json;
  status.set("status", json(R"({"size":3})"));
  status.set("spec", json(R"({"size":50})"));
  status.edit("metadata").set("labels", json(R"({"a":"b"})"));
  status.edit("metadata").set("annotations", json(R"({"a":"b"})"));
  const Answer put = api().put(widgets + "/w/status", status);
  ASSERT_EQ(put.status, 200) << put;
  EXPECT_EQ(put.json["status"]["size"].as_int(), 3);
  EXPECT_EQ(put.json["spec"]["size"].as_int(), 1);
  EXPECT_FALSE(put.json["metadata"].contains("labels")) << put;
  EXPECT_FALSE(put.json["metadata"].contains("annotations")) << put;
  EXPECT_EQ(put.json["metadata"]["generation"].as_int(), 1);
  expect_failure(api().put(widgets + "/w/status", status), 409, "Conflict");
  EXPECT_EQ(api().get(widgets + "/w/status").json["status"]["size"].as_int(), 3);
  Value main = api().get(widgets + "/w").json;
  main.set("status", json(R"({"size":99})"));
  const Answer kept = api().put(widgets + "/w", main);
  EXPECT_EQ(kept.json["status"]["size"].as_int(), 3) << kept;
  EXPECT_EQ(
      api().patch(widgets + "/w/status", "merge", json(R"({"status":{"size":4}})")).json["status"]["size"].as_int(), 4);
  EXPECT_EQ(api()
                .patch(widgets + "/w/status", "json", json(R"([{"op":"replace","path":"/status/size","value":5}])"))
                .json["status"]["size"]
                .as_int(),
            5);
  const Answer applied =
      apply_to(widgets + "/w/status",
               R"({"apiVersion":"conformance.example.com/v1","kind":"Widget","status":{"selector":"a=b"}})");
  EXPECT_EQ(applied.json["status"]["selector"].str(), "a=b") << applied;
}

TEST(Subresources, SUB_01_some_metadata_of_built_in_kinds_is_written_with_the_status) {
  const std::string ns = own_namespace();
  struct Case {
    std::string path;
    const char* object;
    bool labels;
    bool annotations;
    bool owners;
  };
  const std::vector<Case> cases{
      {in(ns, "services"), "{spec: {ports: [{port: 80}]}}", true, true, true},
      {in(ns, "persistentvolumeclaims"),
       "{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", true, true, true},
      {in(ns, "pods"), "{spec: {containers: [{name: c, image: i}]}}", true, true, false},
      {in(ns, "deployments", "apps/v1"),
       "{spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, "
       "image: i}]}}}}",
       false, true, true},
      {"/apis/storage.k8s.io/v1/volumeattachments",
       "{spec: {attacher: a, nodeName: node, source: {persistentVolumeName: v}}}", false, false, false}};
  const Value metadata = json(R"({"metadata":{"labels":{"l":"1"},"annotations":{"n":"1"},"ownerReferences":[
      {"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"11111111-1111-4111-8111-111111111111"}]}})");
  for (const Case& each : cases) {
    Value object = yaml(each.object);
    object.edit("metadata").set("name", "written");
    ASSERT_EQ(api().post(each.path, object).status, 201) << each.path;
    const std::string written = each.path + "/written";
    const Answer patched = api().patch(written + "/status?fieldManager=s", "merge", metadata);
    ASSERT_EQ(patched.status, 200) << patched;
    const Value& got = patched.json["metadata"];
    EXPECT_EQ(got["labels"].contains("l"), each.labels) << patched;
    EXPECT_EQ(got["annotations"].contains("n"), each.annotations) << patched;
    EXPECT_EQ(got["ownerReferences"].size() == 1, each.owners) << patched;
    const Value& owned = named(got["managedFields"], "s", "manager")["fieldsV1"]["f:metadata"];
    EXPECT_EQ(owned.contains("f:labels"), each.labels) << patched;
    EXPECT_EQ(owned.contains("f:ownerReferences"), each.owners) << patched;
    api().remove(written);  // the garbage collector may be faster, as there is no such owner
  }
  const Answer space = api().patch("/api/v1/namespaces/" + ns + "/status", "json",
                                   json(R"([{"op":"remove","path":"/metadata/labels"}])"));
  EXPECT_EQ(space.json["metadata"]["labels"]["kubernetes.io/metadata.name"].str(), ns) << space;
}

TEST(Subresources, SUB_02_scale_of_workloads) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const Answer made = api().post(deployments, deployment("web", 2));
  const std::string scale = deployments + "/web/scale";
  EXPECT_EQ(
      api().get(scale).json,
      Value::object({{"kind", "Scale"},
                     {"apiVersion", "autoscaling/v1"},
                     {"metadata", Value::object({{"name", "web"},
                                                 {"namespace", ns},
                                                 {"uid", uid_of(made)},
                                                 {"resourceVersion", version_of(made)},
                                                 {"creationTimestamp", made.json["metadata"]["creationTimestamp"]}})},
                     {"spec", Value::object({{"replicas", 2}})},
                     {"status", Value::object({{"replicas", 0}, {"selector", "app=web"}})}}));
  const auto watch = api().watch(deployments + "?watch=1&resourceVersion=" + version_of(made));
  for (const char* type : {"merge", "strategic-merge"}) {
    const Answer scaled = api().patch(scale, type, json(R"({"spec":{"replicas":3}})"));
    EXPECT_EQ(scaled.status, 200) << type << scaled;
    EXPECT_EQ(scaled.json["spec"]["replicas"].as_int(), 3);
  }
  EXPECT_EQ(api().patch(scale, "json", json(R"([{"op":"replace","path":"/spec/replicas","value":4}])")).status, 200);
  const Answer applied = apply_to(scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":5}})",
                                  "fieldManager=m&force=true");
  EXPECT_EQ(applied.status, 200) << applied;
  EXPECT_EQ(applied.json["spec"]["replicas"].as_int(), 5) << applied;
  const std::string of_six = R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":6}})";
  expect_failure(apply_to(scale, of_six, "fieldManager=other"), 409, "Conflict",
                 R"(conflict with "m" with subresource "scale": .spec.replicas)");
  expect_failure(apply_to(scale, of_six, ""), 422, "Invalid", "fieldManager: Required value");
  expect_failure(apply_to(scale, R"({"spec":{"replicas":5}})", "fieldManager=m"), 400, "BadRequest",
                 "Incorrect version");
  expect_failure(
      apply_to(scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":"5"}})", "fieldManager=m"),
      400, "BadRequest", "cannot unmarshal string into Go struct field ScaleSpec.spec.replicas");
  const Answer shared =
      apply_to(scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":5}})", "fieldManager=other");
  EXPECT_EQ(shared.status, 200) << shared;
  Names owners;
  const Value web = api().get(deployments + "/web").json;
  for (const Value& entry : web["metadata"]["managedFields"].items()) {
    if (!entry["fieldsV1"]["f:spec"]["f:replicas"].is_null()) {
      owners.push_back(entry["manager"].str() + " " + entry["operation"].str() + " " + entry["subresource"].str());
    }
  }
  std::ranges::sort(owners);
  EXPECT_EQ(owners, (Names{"m Apply scale", "other Apply scale"})) << "an equal value is shared";
  const Answer again =
      apply_to(scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":5}})", "fieldManager=other");
  EXPECT_EQ(version_of(again), version_of(shared)) << "SSA-10";
  expect_failure(api().call("PATCH", scale, "{}", {{"Content-Type", "text/plain"}}), 415, "UnsupportedMediaType");
  Value put = api().get(scale).json;
  put.edit("spec").set("replicas", 6);
  EXPECT_EQ(api().put(scale, put).status, 200);
  expect_failure(api().put(scale, put), 409, "Conflict");
  put.edit("metadata").erase("resourceVersion");
  put.edit("spec").set("replicas", 7);
  EXPECT_EQ(api().put(scale, put).status, 200);
  const Answer parent = api().get(deployments + "/web");
  EXPECT_EQ(parent.json["spec"]["replicas"].as_int(), 7);
  EXPECT_EQ(parent.json["metadata"]["generation"].as_int(), 6);
  ASSERT_TRUE(watch->wait_for(5));
  EXPECT_EQ(watch->events()[0]["type"].str(), "MODIFIED");
  put.edit("spec").set("replicas", -1);
  expect_failure(api().put(scale, put), 422, "Invalid", "spec.replicas");
  for (const auto& [resource, version] : {std::pair{"replicasets", "apps/v1"}, std::pair{"statefulsets", "apps/v1"}}) {
    const std::string path = in(ns, resource, version);
    Value workload = deployment("s", 2);
    workload.erase("kind");
    ASSERT_EQ(api().post(path, workload).status, 201) << resource;
    EXPECT_EQ(api().get(path + "/s/scale").json["spec"]["replicas"].as_int(), 2);
  }
  expect_failure(api().get(in(ns, "daemonsets", "apps/v1") + "/x/scale"), 404, "NotFound");
}

TEST(Subresources, SUB_03_scale_of_custom_resources) {
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w", R"({"size":2})")).status, 201);
  ASSERT_EQ(api().post(widgets, widget("none", "{}")).status, 201);
  const Answer scale = api().get(widgets + "/w/scale");
  EXPECT_EQ(scale.json["spec"]["replicas"].as_int(), 2);
  EXPECT_EQ(scale.json["status"]["replicas"].as_int(7), 0) << scale;
  ASSERT_EQ(api().patch(widgets + "/w/status", "merge", json(R"({"status":{"size":1,"selector":"a=b"}})")).status, 200);
  const Answer known = api().get(widgets + "/w/scale");
  EXPECT_EQ(known.json["status"], json(R"({"replicas":1,"selector":"a=b"})"));
  EXPECT_EQ(api().patch(widgets + "/w/scale", "merge", json(R"({"spec":{"replicas":5}})")).status, 200);
  EXPECT_EQ(api().get(widgets + "/w").json["spec"]["size"].as_int(), 5);
  expect_failure(api().get(widgets + "/none/scale"), 500, "InternalError", ".spec.size");
}

TEST(Subresources, SUB_04_the_others) {
  const std::string ns = own_namespace();
  const std::string accounts = in(ns, "serviceaccounts");
  ASSERT_EQ(api().post(accounts, json(R"({"metadata":{"name":"a"}})")).status, 201);
  const Answer token = api().post(accounts + "/a/token", json(R"({"spec":{"expirationSeconds":600}})"));
  EXPECT_EQ(token.status, 201) << token;
  EXPECT_FALSE(token.json["status"]["token"].str().empty());
  EXPECT_FALSE(token.json["status"]["expirationTimestamp"].str().empty());
  EXPECT_EQ(token.json["metadata"]["uid"], api().get(accounts + "/a").json["metadata"]["uid"]);
  expect_failure(api().post(accounts + "/a/token", json(R"({"metadata":{"uid":"other"}})")), 409, "Conflict",
                 "the UID in the token request (other) does not match the UID of the service account");
  const std::string pods = in(ns, "pods");
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  const Answer bound = api().post(
      pods + "/p/binding",
      json(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","labels":{"topology.kubernetes.io/zone":"z"}},
          "target":{"kind":"Node","name":"n1"}})"));
  EXPECT_EQ(bound.status, 201) << bound;
  EXPECT_EQ(api().get(pods + "/p").json["spec"]["nodeName"].str(), "n1");
  EXPECT_EQ(api().get(pods + "/p").json["metadata"]["labels"]["topology.kubernetes.io/zone"].str(), "z");
  ASSERT_EQ(
      api()
          .post(pods, yaml("{metadata: {name: gated}, spec: {schedulingGates: [{name: g}], containers: [{name: c, "
                           "image: i}]}}"))
          .status,
      201);
  expect_failure(api().post(pods + "/gated/binding", json(R"({"target":{"name":"n1"}})")), 409, "Conflict",
                 "pod gated has non-empty .spec.schedulingGates");
  // The same with the collection, as old schedulers send it.
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: q}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  const Answer by_name =
      api().post(in(ns, "bindings"),
                 json(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"q"},"target":{"name":"n1"}})"));
  EXPECT_EQ(by_name.status, 201) << by_name;
  EXPECT_EQ(api().get(pods + "/q").json["spec"]["nodeName"].str(), "n1");
  EXPECT_EQ(api().get(in(ns, "bindings")).status, 405);
  expect_failure(api().post(in(ns, "bindings"), json(R"({"kind":"Binding","target":{"name":"n1"}})")), 422, "Invalid",
                 "metadata.name");
  EXPECT_EQ(named(api().get("/api/v1").json["resources"], "bindings")["verbs"], json(R"(["create"])"));
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: r}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  const Answer in_protobuf = send_protobuf(
      "POST", pods + "/r/eviction", json(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"r"}})"));
  EXPECT_EQ(in_protobuf.status, 201) << in_protobuf;
  EXPECT_EQ(api().get(pods + "/r").status, 404);
  ASSERT_EQ(api()
                .post(in(ns, "poddisruptionbudgets", "policy/v1"),
                      yaml("{metadata: {name: b}, spec: {minAvailable: 1, selector: {matchLabels: "
                           "{topology.kubernetes.io/zone: z}}}}"))
                .status,
            201);
  ASSERT_EQ(api().patch(pods + "/p/status", "merge", json(R"({"status":{"phase":"Running"}})")).status, 200);
  const std::string kept = "The disruption budget b needs 0 healthy pods and has 0 currently";
  const Answer guarded = api().post(pods + "/p/eviction", json(R"({"metadata":{"name":"p"}})"));
  EXPECT_EQ(guarded.status, 429) << guarded;
  EXPECT_EQ(guarded.json["details"]["causes"][0]["message"].str(), kept) << guarded;
  ASSERT_EQ(api().remove(in(ns, "poddisruptionbudgets", "policy/v1") + "/b").status, 200);
  const Answer evicted = api().post(
      pods + "/p/eviction",
      json(
          R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}})"));
  EXPECT_EQ(evicted.status, 201) << evicted;
  EXPECT_EQ(evicted.json["status"].str(), "Success");
  EXPECT_EQ(api().get(pods + "/p").status, 404);
  Value space = api().get("/api/v1/namespaces/" + ns).json;
  space.edit("spec").set("finalizers", Value::array());
  space.edit("metadata").set("labels", json(R"({"not":"taken"})"));
  const Answer finalized = api().put("/api/v1/namespaces/" + ns + "/finalize", space);
  EXPECT_EQ(finalized.status, 200) << finalized;
  EXPECT_EQ(finalized.json["spec"]["finalizers"].size(), 0u) << finalized;
  EXPECT_FALSE(finalized.json["metadata"]["labels"].contains("not")) << finalized;
  // The usual way to remove a namespace that is stuck in deletion.
  const std::string stuck = "/api/v1/namespaces/" + ns + "-stuck";
  ASSERT_EQ(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":")" + ns + R"(-stuck"}})")).status, 201);
  Value held = config_map("held");
  held.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(in(ns + "-stuck", "configmaps"), held).status, 201);
  ASSERT_EQ(api().remove(stuck).status, 200);
  Value going = api().get(stuck).json;
  going.edit("metadata").erase("resourceVersion");
  going.edit("spec").set("finalizers", Value::array());
  EXPECT_EQ(api().put(stuck + "/finalize", going).status, 200);
  EXPECT_EQ(api().get(stuck).status, 404);
}

TEST(Subresources, SUB_07_ephemeral_containers_are_only_added) {
  const std::string pods = in(own_namespace(), "pods");
  const std::string pod = "{metadata: {name: p, labels: {a: b}}, spec: {containers: [{name: c, image: 'i:1'}]";
  expect_failure(api().post(pods, yaml(pod + ", ephemeralContainers: [{name: d, image: 'i:1'}]}}")), 422, "Invalid",
                 "spec.ephemeralContainers: Forbidden: cannot be set on create");
  ASSERT_EQ(api().post(pods, yaml(pod + "}}")).status, 201);
  const std::string debug = pods + "/p/ephemeralcontainers";
  EXPECT_EQ(named(api().get("/api/v1").json["resources"], "pods/ephemeralcontainers")["verbs"],
            json(R"(["get","patch","update"])"));
  // As `kubectl debug` sends it.
  const Answer added = api().patch(debug, "strategic-merge", json(R"({"metadata":{"labels":{"a":"changed"}},"spec":{
      "hostNetwork":true,"ephemeralContainers":[{"name":"d","image":"b:1","stdin":true,"targetContainerName":"c"}]}})"));
  ASSERT_EQ(added.status, 200) << added;
  EXPECT_EQ(added.json["spec"]["ephemeralContainers"][0]["terminationMessagePath"].str(), "/dev/termination-log");
  EXPECT_EQ(added.json["spec"]["ephemeralContainers"][0]["imagePullPolicy"].str(), "IfNotPresent");
  EXPECT_EQ(added.json["metadata"]["labels"]["a"].str(), "b") << "nothing else is written";
  EXPECT_FALSE(added.json["spec"].contains("hostNetwork"));
  EXPECT_EQ(named(added.json["metadata"]["managedFields"], "ephemeralcontainers", "subresource")["operation"].str(),
            "Update");
  EXPECT_EQ(api().get(debug).json["spec"], api().get(pods + "/p").json["spec"]);
  const auto refused = [&](const char* containers, const std::string& why) {
    Value changed = api().get(pods + "/p").json;
    changed.edit("spec").set("ephemeralContainers", json(containers));
    expect_failure(api().put(debug, changed), 422, "Invalid", why);
  };
  refused("[]", R"(existing ephemeral containers "d" may not be removed)");
  refused(R"([{"name":"d","image":"b:2","stdin":true,"targetContainerName":"c"}])",
          R"(existing ephemeral containers "d" may not be changed)");
  const Value first = added.json["spec"]["ephemeralContainers"][0];
  const auto with = [&](const char* second) { return "[" + to_json(first) + "," + second + "]"; };
  refused(with(R"({"name":"c","image":"b:1"})").c_str(), "spec.ephemeralContainers[1].name: Duplicate value");
  refused(with(to_json(first).c_str()).c_str(), "spec.ephemeralContainers[1].name: Duplicate value");
  refused(with(R"({"name":"e"})").c_str(), "spec.ephemeralContainers[1].image: Required value");
  refused(with(R"({"name":"e","image":"b:1","targetContainerName":"x"})").c_str(),
          "spec.ephemeralContainers[1].targetContainerName: Not found");
  refused(with(R"({"name":"e","image":"b:1","ports":[{"containerPort":1}]})").c_str(),
          "spec.ephemeralContainers[1].ports: Forbidden: cannot be set for an Ephemeral Container");
  // The pod itself does not take them.
  expect_failure(api().patch(pods + "/p", "merge", json(R"({"spec":{"ephemeralContainers":[]}})")), 422, "Invalid",
                 "pod updates may not change fields other than");
  EXPECT_EQ(api().patch(pods + "/p", "merge", json(R"({"metadata":{"labels":{"a":"c"}}})")).status, 200);
}

TEST(Subresources, SUB_08_a_resize_changes_resources_alone) {
  const std::string pods = in(own_namespace(), "pods");
  ASSERT_EQ(api()
                .post(pods, yaml("{metadata: {name: p}, spec: {containers: [{name: c, image: 'i:1', resources: "
                                 "{requests: {cpu: 1}}}]}}"))
                .status,
            201);
  EXPECT_EQ(named(api().get("/api/v1").json["resources"], "pods/resize")["verbs"], json(R"(["get","patch","update"])"));
  // As `kubectl patch --subresource resize` sends it.
  const Answer resized =
      api().patch(pods + "/p/resize", "strategic-merge",
                  json(R"({"spec":{"nodeName":"n","containers":[{"name":"c","image":"i:2","resources":
                                          {"requests":{"cpu":"2"}}}]}})"));
  ASSERT_EQ(resized.status, 200) << resized;
  EXPECT_EQ(resized.json["spec"]["containers"][0]["resources"]["requests"]["cpu"].str(), "2");
  EXPECT_EQ(resized.json["spec"]["containers"][0]["image"].str(), "i:1");
  EXPECT_FALSE(resized.json["spec"].contains("nodeName"));
  EXPECT_EQ(resized.json["metadata"]["generation"].as_int(), 2);
  EXPECT_EQ(named(resized.json["metadata"]["managedFields"], "resize", "subresource")["operation"].str(), "Update");
  expect_failure(api().patch(pods + "/p/resize", "json", json(R"([{"op":"remove","path":
      "/spec/containers/0/resources/requests"}])")),
                 422, "Invalid", "Pod QOS Class may not change as a result of resizing");
}

TEST(Subresources, SUB_05_subresources_of_kubelets_are_not_served) {
  const std::string pods = in(own_namespace(), "pods");
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  const Answer core = api().get("/api/v1");
  for (const char* sub : {"log", "exec", "attach", "portforward"}) {
    EXPECT_TRUE(named(core.json["resources"], std::string{"pods/"} + sub).is_null()) << sub;
    expect_failure(api().get(pods + "/p/" + sub), 404, "NotFound", "ask the member cluster that runs the pod");
  }
}

TEST(Subresources, SUB_06_the_status_of_an_aggregated_kind_is_decoded_and_not_validated) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  const std::string name = own_namespace();
  const Answer made = api().post(clusters, yaml("{metadata: {name: " + name + "}, spec: {syncMode: Pull}}"));
  ASSERT_EQ(made.status, 201) << made;
  const std::string one = clusters + "/" + name;
  Value object = api().get(one).json;
  object.edit("metadata").erase("resourceVersion");
  object.set("status", json(R"({"conditions":[{"type":"Mine","status":"True","reason":"","message":"",
      "lastTransitionTime":"2026-01-02T12:00:00Z"},{"type":"Odd","status":"Perhaps","reason":"two words",
      "message":"m","lastTransitionTime":null}]})"));
  const Answer put = api().put(one + "/status", object);
  ASSERT_EQ(put.status, 200) << put;
  EXPECT_EQ(put.json["status"]["conditions"][0]["reason"].str(), "");
  EXPECT_EQ(put.json["status"]["conditions"][1]["status"].str(), "Perhaps");
  // The stored status is no obstacle to other writes.
  const Answer labelled = api().patch(one, "merge", json(R"({"metadata":{"labels":{"a":"b"}}})"));
  EXPECT_EQ(labelled.status, 200) << labelled;
  Value again = api().get(one).json;
  again.edit("metadata").erase("resourceVersion");  // the control plane may have written meanwhile
  again.edit("spec").set("region", "r");
  EXPECT_EQ(api().put(one, again).status, 200);
  // The collector may have added its own by now.
  const Value conditions = api().get(one).json["status"]["conditions"];
  EXPECT_EQ(named(conditions, "Mine", "type")["status"].str(), "True") << to_json(conditions);
  EXPECT_EQ(named(conditions, "Odd", "type")["status"].str(), "Perhaps") << to_json(conditions);
  // What a Go type cannot hold is a bad request.
  object.edit("status").set("conditions", "none");
  expect_failure(api().put(one + "/status", object), 400, "BadRequest");
  EXPECT_EQ(api().remove(one).status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
