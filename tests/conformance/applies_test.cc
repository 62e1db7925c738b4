// Server-side apply and managed fields (SSA-1 to SSA-16).
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

std::string map_of(const std::string& data, const std::string& metadata = "{}") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":)" + metadata + R"(,"data":)" + data + "}";
}

Value entry_of(const Answer& answer, const std::string& manager) {
  return named(answer.json["metadata"]["managedFields"], manager, "manager");
}

std::string pod_with(const std::string& container) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"selector":{"matchLabels":{"app":"web"}},)"
         R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[)" +
         container + "]}}}}";
}

TEST(Applies, SSA_01_a_field_manager_is_required) {
  const std::string map = in(own_namespace(), "configmaps") + "/a";
  expect_failure(apply_to(map, map_of("{}"), ""), 422, "Invalid",
                 "fieldManager: Required value: is required for apply patch");
  EXPECT_EQ(apply_to(map, "apiVersion: v1\nkind: ConfigMap\ndata: {a: '1'}\n").status, 201);
  expect_failure(apply_to(map, map_of("{}", R"({"name":"b"})")), 400, "BadRequest",
                 "does not match the name on the URL");
  expect_failure(api().call("PATCH", map + "?force=true", "{}", {{"Content-Type", "application/merge-patch+json"}}),
                 422, "Invalid", "force: Forbidden: may not be specified for non-apply patch");
}

TEST(Applies, SSA_02_bodies_that_are_refused) {
  const std::string ns = own_namespace();
  const std::string map = in(ns, "configmaps") + "/a";
  expect_failure(apply_to(map, R"({"apiVersion":"v2","kind":"ConfigMap"})"), 400, "BadRequest", "Incorrect version");
  expect_failure(apply_to(map, map_of("{}", R"({"managedFields":[{"manager":"m"}]})")), 400, "BadRequest",
                 "managedFields");
  expect_failure(apply_to(map, "a: [b"), 400, "BadRequest", "error decoding YAML");
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  const Answer twice = apply_to(web, pod_with(R"({"name":"c","image":"i"},{"name":"c","image":"j"})"));
  EXPECT_TRUE(twice.status == 400 || twice.status == 422 || twice.status == 500) << twice;
  EXPECT_EQ(twice.status, 400) << twice;
  const Answer ports = apply_to(
      web,
      pod_with(R"({"name":"c","image":"i","ports":[{"containerPort":80},{"containerPort":80,"protocol":"TCP"}]})"));
  EXPECT_EQ(ports.json["message"].str(),
            R"(failed to create typed patch object (/; apps/v1, Kind=Deployment): .spec.template.spec.)"
            R"(containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"])");
}

TEST(Applies, SSA_03_missing_objects_are_created) {
  const std::string ns = own_namespace();
  const std::string map = in(ns, "configmaps") + "/a";
  const Answer made = apply_to(map, map_of(R"({"k":"v"})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(entry_of(made, "one")["operation"].str(), "Apply");
  expect_failure(
      apply_to(in(ns, "configmaps") + "/b", map_of("{}", R"({"uid":"11111111-1111-4111-8111-111111111111"})")), 409,
      "Conflict");
  expect_failure(apply_to(in(ns, "deployments", "apps/v1") + "/none/status",
                          R"({"apiVersion":"apps/v1","kind":"Deployment","status":{"replicas":1}})"),
                 404, "NotFound");
}

TEST(Applies, SSA_04_fields_of_an_entry) {
  const std::string web = in(own_namespace(), "deployments", "apps/v1") + "/web";
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i"})"), "fieldManager=applier").status, 201);
  ASSERT_EQ(api()
                .call("PATCH", web + "/scale?fieldManager=scaler", R"({"spec":{"replicas":3}})",
                      {{"Content-Type", "application/merge-patch+json"}})
                .status,
            200);
  const Answer status = api().call("PATCH", web + "/status?fieldManager=controller", R"({"status":{"replicas":3}})",
                                   {{"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(status.status, 200) << status;
  Names order;
  for (const Value& entry : status.json["metadata"]["managedFields"].items()) {
    order.push_back(entry["operation"].str() + " " + entry["manager"].str() + " " + entry["subresource"].str());
    EXPECT_EQ(entry["apiVersion"].str(), "apps/v1");
    EXPECT_EQ(entry["fieldsType"].str(), "FieldsV1");
    EXPECT_EQ(entry["time"].str().size(), 20u);
  }
  ASSERT_EQ(order.size(), 3u) << status;
  EXPECT_EQ(order[0], "Apply applier ");
  EXPECT_TRUE(std::ranges::find(order, "Update scaler scale") != order.end()) << status;
  EXPECT_TRUE(std::ranges::find(order, "Update controller status") != order.end());
}

TEST(Applies, SSA_05_how_fields_are_written) {
  const std::string ns = own_namespace();
  const Answer made = apply_to(in(ns, "deployments", "apps/v1") + "/web",
                               pod_with(R"({"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"UDP"}]})"));
  ASSERT_EQ(made.status, 201) << made;
  const Value& pod = entry_of(made, "one")["fieldsV1"]["f:spec"]["f:template"]["f:spec"];
  EXPECT_EQ(to_json(pod["f:containers"]),
            R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{)"
            R"("k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}}}})");
  const std::string map = in(ns, "configmaps") + "/a";
  const Answer set = apply_to(map, map_of(R"({"k":"v"})", R"({"finalizers":["example.com/keep"]})"));
  EXPECT_EQ(to_json(entry_of(set, "one")["fieldsV1"]["f:metadata"]),
            R"({"f:finalizers":{"v:\"example.com/keep\"":{}}})")
      << set;
  EXPECT_EQ(api().patch(map, "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Applies, SSA_06_fields_without_owner) {
  const std::string ns = own_namespace();
  const Answer made = apply_to(in(ns, "deployments", "apps/v1") + "/web", pod_with(R"({"name":"c","image":"i"})"));
  ASSERT_EQ(made.status, 201) << made;
  // All that is owned: what is not there has no owner.
  EXPECT_EQ(
      to_json(entry_of(made, "one")["fieldsV1"]),
      R"({"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":)"
      R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}}}})")
      << made;
  const Answer posted =
      api().post(in(ns, "configmaps") + "?fieldManager=maker", json(R"({"metadata":{"name":"a"},"data":{"k":"v"}})"));
  EXPECT_EQ(to_json(entry_of(posted, "maker")["fieldsV1"]), R"({"f:data":{".":{},"f:k":{}}})") << posted;
}

TEST(Applies, SSA_07_ordinary_writes_are_tracked) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(
      api().post(maps + "?fieldManager=maker", json(R"({"metadata":{"name":"a"},"data":{"x":"1","y":"1"}})")).status,
      201);
  const Answer changed = api().call("PATCH", maps + "/a?fieldManager=changer", R"({"data":{"x":"2","y":null,"z":"1"}})",
                                    {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(to_json(entry_of(changed, "maker")["fieldsV1"]), R"({"f:data":{}})") << changed;
  EXPECT_EQ(to_json(entry_of(changed, "changer")["fieldsV1"]), R"({"f:data":{"f:x":{},"f:z":{}}})");
  EXPECT_EQ(entry_of(changed, "changer")["operation"].str(), "Update");
  for (int manager = 0; manager < 12; ++manager) {
    ASSERT_EQ(api()
                  .call("PATCH", maps + "/a?fieldManager=m-" + std::to_string(manager),
                        R"({"data":{"k)" + std::to_string(manager) + R"(":"1"}})",
                        {{"Content-Type", "application/merge-patch+json"}})
                  .status,
              200);
  }
  const Answer many = api().get(maps + "/a");
  EXPECT_LE(many.json["metadata"]["managedFields"].size(), 11u) << many;
  EXPECT_FALSE(entry_of(many, "ancient-changes").is_null()) << many;
}

TEST(Applies, SSA_08_merge_prune_conflict_force) {
  const std::string ns = own_namespace();
  const std::string map = in(ns, "configmaps") + "/a";
  ASSERT_EQ(apply_to(map, map_of(R"({"a":"1","b":"1","c":"1"})")).status, 201);
  ASSERT_EQ(apply_to(map, map_of(R"({"b":"1"})"), "fieldManager=two").status, 200) << "an equal value is shared";
  const Answer pruned = apply_to(map, map_of(R"({"c":"2"})"));
  EXPECT_EQ(pruned.json["data"], json(R"({"b":"1","c":"2"})")) << pruned;
  expect_failure(apply_to(map, map_of(R"({"b":"2"})")), 409, "Conflict");
  const Answer forced = apply_to(map, map_of(R"({"b":"2"})"), "fieldManager=one&force=true");
  EXPECT_EQ(forced.json["data"], json(R"({"b":"2"})")) << forced;
  EXPECT_TRUE(entry_of(forced, "two")["fieldsV1"]["f:data"].is_null()) << forced;
  // An element is removed from a list with its last owner.
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i"},{"name":"d","image":"j"})")).status, 201);
  const Answer less = apply_to(web, pod_with(R"({"name":"c","image":"i"})"));
  EXPECT_EQ(less.json["spec"]["template"]["spec"]["containers"].size(), 1u) << less;
}

TEST(Applies, SSA_08_scaled_replicas_stay_unless_they_are_applied) {
  const std::string web = in(own_namespace(), "deployments", "apps/v1") + "/web";
  Value body = deployment("web", 2);
  body.set("apiVersion", "apps/v1");
  body.set("kind", "Deployment");
  ASSERT_EQ(apply_to(web, to_json(body)).status, 201);
  ASSERT_EQ(api().patch(web + "/scale", "merge", json(R"({"spec":{"replicas":5}})")).status, 200);
  expect_failure(apply_to(web, to_json(body)), 409, "Conflict", ".spec.replicas");
  body.edit("spec").erase("replicas");
  const Answer released = apply_to(web, to_json(body));
  ASSERT_EQ(released.status, 200) << released;
  EXPECT_EQ(released.json["spec"]["replicas"].as_int(), 5);
}

TEST(Applies, SSA_09_the_message_of_a_conflict) {
  const std::string web = in(own_namespace(), "deployments", "apps/v1") + "/web";
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i"})")).status, 201);
  const Answer conflict = apply_to(web, pod_with(R"({"name":"c","image":"j"})"), "fieldManager=two");
  expect_failure(
      conflict, 409, "Conflict",
      R"(Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="c"].image)");
  EXPECT_EQ(conflict.json["details"]["causes"],
            json(R"([{"reason":"FieldManagerConflict","message":"conflict with \"one\"",
                      "field":".spec.template.spec.containers[name=\"c\"].image"}])"));
  const std::string map = in(own_namespace(), "configmaps") + "/a";
  ASSERT_EQ(apply_to(map, map_of(R"({"a":"1","b":"1"})")).status, 201);
  const Answer two = apply_to(map, map_of(R"({"a":"2","b":"2"})"), "fieldManager=two");
  expect_failure(two, 409, "Conflict", "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b");
  ASSERT_EQ(api().patch(map + "?fieldManager=three", "merge", json(R"({"data":{"a":"3"}})")).status, 200);
  expect_failure(apply_to(map, map_of(R"({"a":"1"})")), 409, "Conflict",
                 R"(Apply failed with 1 conflict: conflict with "three" using v1: .data.a)");
}

TEST(Applies, SSA_10_the_same_again_changes_nothing) {
  const std::string web = in(own_namespace(), "deployments", "apps/v1") + "/web";
  const std::string body = pod_with(R"({"name":"c","image":"i","ports":[{"containerPort":80}]})");
  const Answer made = apply_to(web, body);
  ASSERT_EQ(made.status, 201) << made;
  const auto watch = api().watch(web.substr(0, web.rfind('/')) + "?watch=1&resourceVersion=" + version_of(made));
  // The times of managedFields are in seconds: a write in the same second would look like none.
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  for (const char* query : {"fieldManager=one", "fieldManager=one&force=true"}) {
    const Answer again = apply_to(web, body, query);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.json, made.json) << query;
  }
  EXPECT_EQ(api().get(web).json, made.json);
  const Answer changed = apply_to(web, pod_with(R"({"name":"c","image":"j","ports":[{"containerPort":80}]})"));
  ASSERT_EQ(changed.status, 200) << changed;
  EXPECT_NE(version_of(changed), version_of(made));
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(version_of(watch->events()[0]["object"]), version_of(changed)) << "nothing was written in between";
}

TEST(Applies, SSA_11_fields_from_before_the_first_apply) {
  const std::string maps = in(own_namespace(), "configmaps");
  Value untracked = api().post(maps, config_map("a", R"({"k":"v"})")).json;
  untracked.edit("metadata").set("managedFields", Value::array());
  ASSERT_EQ(api().put(maps + "/a", untracked).status, 200);
  expect_failure(apply_to(maps + "/a", map_of(R"({"k":"w"})")), 409, "Conflict", R"("before-first-apply")");
  const Answer applied = apply_to(maps + "/a", map_of(R"({"n":"w"})"));
  EXPECT_EQ(entry_of(applied, "before-first-apply")["operation"].str(), "Update") << applied;
  EXPECT_FALSE(api().post(maps, config_map("b", R"({"k":"v"})")).json["metadata"]["managedFields"].is_empty());
  ASSERT_EQ(api().patch(maps + "/b", "merge", json(R"({"metadata":{"managedFields":[{}]}})")).status, 200);
  const Answer later = api().patch(maps + "/b", "merge", json(R"({"data":{"k":"w"}})"));
  EXPECT_FALSE(later.json["metadata"].contains("managedFields")) << "not tracked before the next apply: " << later;
  EXPECT_EQ(applied.json["data"], json(R"({"k":"v","n":"w"})"));
}

TEST(Applies, SSA_12_moving_over_from_client_side_apply) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string annotation = "kubectl.kubernetes.io/last-applied-configuration";
  Value object = config_map("a", R"({"k":"v"})");
  object.edit("metadata")
      .edit("annotations")
      .set(annotation,
           R"({"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}})");
  ASSERT_EQ(api().post(maps + "?fieldManager=kubectl-client-side-apply", object).status, 201);
  const Answer applied = apply_to(maps + "/a", map_of(R"({"k":"w"})"), "fieldManager=kubectl");
  ASSERT_EQ(applied.status, 200) << applied;
  EXPECT_EQ(applied.json["data"]["k"].str(), "w");
  EXPECT_NE(applied.json["metadata"]["annotations"][annotation].str().find(R"("k":"w")"), std::string::npos) << applied;
  EXPECT_NE(to_json(entry_of(applied, "kubectl-client-side-apply")["fieldsV1"]).find(annotation), std::string::npos)
      << "by this entry kubectl finds what to take over: " << applied;
  // The next step of kubectl: rewrite the entries, with the version that it read as precondition.
  Value managed = applied.json["metadata"]["managedFields"];
  const Value patch = Value::array(
      {Value::object({{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", managed}}),
       Value::object({{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", version_of(applied)}})});
  EXPECT_EQ(api().patch(maps + "/a", "json", patch).status, 200);
}

TEST(Applies, SSA_13_types_of_lists_and_maps) {
  const std::string ns = own_namespace();
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  // Two managers, each with an element of a keyed list.
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i","env":[{"name":"A","value":"1"}],"args":["x"]})")).status,
            201);
  const std::string env = R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[
      {"name":"c","env":[{"name":"B","value":"2"}]}]}}}})";
  const Answer both = apply_to(web, env, "fieldManager=two");
  ASSERT_EQ(both.status, 200) << both;
  EXPECT_EQ(both.json["spec"]["template"]["spec"]["containers"][0]["env"].size(), 2u);
  // An atomic list has one owner.
  const std::string args = R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[
      {"name":"c","args":["y"]}]}}}})";
  expect_failure(apply_to(web, args, "fieldManager=two"), 409, "Conflict", R"(.containers[name="c"].args)");
  // An atomic map too: a Service's selector.
  const std::string service = in(ns, "services") + "/s";
  const auto selecting = [](const std::string& selector) {
    return R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80}],"selector":)" + selector + "}}";
  };
  ASSERT_EQ(apply_to(service, selecting(R"({"a":"1"})")).status, 201);
  expect_failure(apply_to(service, selecting(R"({"b":"1"})"), "fieldManager=two"), 409, "Conflict", ".spec.selector");
  // A set: two owners' finalizers.
  const std::string map = in(ns, "configmaps") + "/a";
  ASSERT_EQ(apply_to(map, map_of("{}", R"({"finalizers":["example.com/one"]})")).status, 201);
  const Answer united = apply_to(map, map_of("{}", R"({"finalizers":["example.com/two"]})"), "fieldManager=two");
  EXPECT_EQ(united.json["metadata"]["finalizers"].size(), 2u) << united;
  EXPECT_EQ(api().patch(map, "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Applies, SSA_13_keys_of_several_fields) {
  const std::string ns = own_namespace();
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  const auto ports = [](const std::string& port) {
    return pod_with(R"({"name":"c","image":"i","ports":[)" + port + "]}");
  };
  ASSERT_EQ(apply_to(web, ports(R"({"containerPort":53,"protocol":"TCP"})")).status, 201);
  const Answer both = apply_to(web, ports(R"({"containerPort":53,"protocol":"UDP"})"), "fieldManager=two");
  ASSERT_EQ(both.status, 200) << both;
  EXPECT_EQ(both.json["spec"]["template"]["spec"]["containers"][0]["ports"].size(), 2u) << both;
  const std::string service = in(ns, "services") + "/dns";
  const auto served = [](const std::string& port) {
    return R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[)" + port + "]}}";
  };
  ASSERT_EQ(apply_to(service, served(R"({"name":"a","port":53,"protocol":"TCP"})")).status, 201);
  const Answer two = apply_to(service, served(R"({"name":"b","port":53,"protocol":"UDP"})"), "fieldManager=two");
  ASSERT_EQ(two.status, 200) << two;
  EXPECT_EQ(two.json["spec"]["ports"].size(), 2u) << two;
  const auto spread = [](const std::string& when) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"topologySpreadConstraints":[
        {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":")" +
           when + R"("}]}}}})";
  };
  ASSERT_EQ(apply_to(web, spread("DoNotSchedule"), "fieldManager=three").status, 200);
  const Answer spreads = apply_to(web, spread("ScheduleAnyway"), "fieldManager=four");
  ASSERT_EQ(spreads.status, 200) << spreads;
  EXPECT_EQ(spreads.json["spec"]["template"]["spec"]["topologySpreadConstraints"].size(), 2u) << spreads;
}

TEST(Applies, SSA_13_elements_of_a_stored_list_may_stand_twice) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  Value made = deployment("web");
  made.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0] = json(
      R"({"name":"c","image":"i","env":[{"name":"PATH","value":"/bin"},{"name":"PATH","value":"$(PATH):/sbin"}]})");
  const Answer posted = api().post(deployments + "?fieldManager=maker", made);
  ASSERT_EQ(posted.status, 201) << posted;
  const auto env_of = [](const Answer& answer) {
    return answer.json["spec"]["template"]["spec"]["containers"][0]["env"];
  };
  const auto apply_env = [&](const std::string& env, const std::string& query) {
    return apply_to(deployments + "/web",
                    R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[)"
                    R"({"name":"c","env":)" +
                        env + "}]}}}}",
                    query);
  };
  const Answer more = apply_env(R"([{"name":"HOME","value":"/"}])", "fieldManager=two");
  ASSERT_EQ(more.status, 200) << more;
  EXPECT_EQ(env_of(more).size(), 3u) << more;
  EXPECT_EQ(to_json(entry_of(more, "maker")["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
                                           [R"(k:{"name":"c"})"]["f:env"][R"(k:{"name":"PATH"})"]),
            "{}")
      << more;
  const std::string path = R"([{"name":"HOME","value":"/"},{"name":"PATH","value":"/opt"}])";
  expect_failure(apply_env(path, "fieldManager=two"), 409, "Conflict", R"(.env[name="PATH"])");
  const Answer single = apply_env(path, "fieldManager=two&force=true");
  EXPECT_EQ(env_of(single).size(), 2u) << "one takes the place of both: " << single;
}

TEST(Applies, SSA_13_the_claim_of_a_volume_is_granular) {
  const std::string volume = "/api/v1/persistentvolumes/" + own_namespace();
  const auto claimed = [](const std::string& claim) {
    return R"({"apiVersion":"v1","kind":"PersistentVolume","spec":{"capacity":{"storage":"1Gi"},)"
           R"("accessModes":["ReadWriteOnce"],"hostPath":{"path":"/d"},"claimRef":)" +
           claim + "}}";
  };
  ASSERT_EQ(apply_to(volume, claimed(R"({"namespace":"default","name":"a","resourceVersion":"5"})")).status, 201);
  const Answer both = apply_to(volume, claimed(R"({"namespace":"default","name":"a","uid":"u"})"), "fieldManager=two");
  ASSERT_EQ(both.status, 200) << both;
  EXPECT_EQ(both.json["spec"]["claimRef"]["resourceVersion"].str(), "5") << both;
  expect_failure(apply_to(volume, claimed(R"({"namespace":"default","name":"b"})"), "fieldManager=two"), 409,
                 "Conflict", ".spec.claimRef.name");
  EXPECT_EQ(api().remove(volume).status, 200);
}

TEST(Applies, SSA_13_atomic_lists_and_selectors) {
  const std::string ns = own_namespace();
  const std::string scaler = in(ns, "horizontalpodautoscalers", "autoscaling/v2") + "/a";
  const auto metric = [](const std::string& name) {
    return R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","spec":{"maxReplicas":3,
        "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[{"type":"Resource",
        "resource":{"name":")" +
           name + R"(","target":{"type":"Utilization","averageUtilization":50}}}]}})";
  };
  ASSERT_EQ(apply_to(scaler, metric("cpu")).status, 201);
  expect_failure(apply_to(scaler, metric("memory"), "fieldManager=two"), 409, "Conflict", ".spec.metrics");
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i"})")).status, 201);
  const auto on_nodes = [](const std::string& selector) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"nodeSelector":)" + selector +
           "}}}}";
  };
  ASSERT_EQ(apply_to(web, on_nodes(R"({"disk":"ssd"})"), "fieldManager=two").status, 200);
  expect_failure(apply_to(web, on_nodes(R"({"zone":"a"})"), "fieldManager=three"), 409, "Conflict", ".nodeSelector");
}

TEST(Applies, SSA_13_granular_maps) {
  const std::string ns = own_namespace();
  const std::string map = in(ns, "configmaps") + "/a";
  ASSERT_EQ(apply_to(map, map_of(R"({"x":"1"})", R"({"labels":{"a":"1"},"annotations":{"a":"1"}})")).status, 201);
  const Answer both =
      apply_to(map, map_of(R"({"y":"2"})", R"({"labels":{"b":"2"},"annotations":{"b":"2"}})"), "fieldManager=two");
  ASSERT_EQ(both.status, 200) << both;
  EXPECT_EQ(both.json["data"], json(R"({"x":"1","y":"2"})"));
  EXPECT_EQ(both.json["metadata"]["labels"], json(R"({"a":"1","b":"2"})"));
  EXPECT_EQ(both.json["metadata"]["annotations"], json(R"({"a":"1","b":"2"})"));
  const std::string web = in(ns, "deployments", "apps/v1") + "/web";
  const auto limited = [](const std::string& limits) {
    return pod_with(R"({"name":"c","image":"i","resources":{"limits":)" + limits + "}}");
  };
  ASSERT_EQ(apply_to(web, limited(R"({"cpu":"1"})")).status, 201);
  const Answer quantities = apply_to(web, limited(R"({"memory":"1Gi"})"), "fieldManager=two");
  ASSERT_EQ(quantities.status, 200) << quantities;
  EXPECT_EQ(quantities.json["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"],
            json(R"({"cpu":"1","memory":"1Gi"})"));
}

TEST(Applies, SSA_14_keys_have_defaults) {
  const std::string web = in(own_namespace(), "deployments", "apps/v1") + "/web";
  ASSERT_EQ(apply_to(web, pod_with(R"({"name":"c","image":"i","ports":[{"containerPort":80}]})")).status, 201);
  const Answer again = apply_to(
      web, pod_with(R"({"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP","name":"http"}]})"));
  ASSERT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json["spec"]["template"]["spec"]["containers"][0]["ports"].size(), 1u) << again;
}

TEST(Applies, SSA_15_custom_resources_by_their_schema) {
  const std::string widgets = widgets_in(own_namespace());
  const auto body = [](const std::string& spec) {
    return R"({"apiVersion":"conformance.example.com/v1","kind":"Widget","spec":)" + spec + "}";
  };
  const std::string w = widgets + "/w";
  ASSERT_EQ(
      apply_to(w, body(R"({"tags":["a"],"parts":[{"name":"p","weight":1}],"plain":["x"],"anything":{"a":1}})")).status,
      201);
  const Answer two =
      apply_to(w, body(R"({"tags":["b"],"parts":[{"name":"q","weight":2}],"anything":{"b":2}})"), "fieldManager=two");
  ASSERT_EQ(two.status, 200) << two;
  EXPECT_EQ(texts_of(two.json["spec"]["tags"]), (Names{"a", "b"}));
  EXPECT_EQ(two.json["spec"]["parts"].size(), 2u);
  EXPECT_EQ(two.json["spec"]["anything"], json(R"({"a":1,"b":2})"));
  expect_failure(apply_to(w, body(R"({"plain":["y"]})"), "fieldManager=two"), 409, "Conflict", ".spec.plain");
}

}  // namespace
}  // namespace shiplog::e2e
