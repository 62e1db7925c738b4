// Deletion, finalizers, garbage collection (DEL-1 to DEL-17).
#include <chrono>
#include <thread>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

Value owned(Value object, const Answer& owner, bool blocks = false) {
  Value reference = Value::object({{"apiVersion", owner.json["apiVersion"]},
                                   {"kind", owner.json["kind"]},
                                   {"name", owner.json["metadata"]["name"]},
                                   {"uid", owner.json["metadata"]["uid"]}});
  if (blocks) reference.set("blockOwnerDeletion", true);
  object.edit("metadata").edit("ownerReferences").push_back(reference);
  return object;
}

Value held(Value object) {
  object.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  return object;
}

void release(const std::string& target) {
  const Answer answer = api().patch(target, "merge", json(R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(answer.status, 200) << answer;
}

bool is_deleted(const std::string& target) {
  return eventually([&] { return api().get(target).status == 404; });
}

TEST(Deletes, DEL_01_options_come_in_the_body_or_else_in_the_query) {
  const std::string maps = in(own_namespace(), "configmaps");
  const auto make = [&](const char* name) { ASSERT_EQ(api().post(maps, config_map(name)).status, 201); };
  make("a");
  EXPECT_EQ(remove_with(maps + "/a?dryRun=All", R"({"propagationPolicy":"Background"})").status, 200);
  EXPECT_EQ(api().get(maps + "/a").status, 404) << "the query is used only without a body";
  make("b");
  EXPECT_EQ(api().remove(maps + "/b?dryRun=All&propagationPolicy=Background").status, 200);
  EXPECT_EQ(api().get(maps + "/b").status, 200);
  const Answer in_yaml = api().call("DELETE", maps + "/b", "apiVersion: v1\nkind: DeleteOptions\ndryRun: [All]\n",
                                    {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(in_yaml.status, 200) << in_yaml;
  EXPECT_EQ(api().get(maps + "/b").status, 200);
  expect_failure(remove_with(maps + "/b", "{"), 400, "BadRequest");
}

TEST(Deletes, DEL_02_propagation_policies) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  expect_failure(remove_with(maps + "/a", R"({"propagationPolicy":"Sideways"})"), 422, "Invalid", "propagationPolicy");
  expect_failure(remove_with(maps + "/a", R"({"propagationPolicy":"Orphan","orphanDependents":true})"), 422, "Invalid");
  for (const char* policy : {"Orphan", "Background", "Foreground"}) {
    ASSERT_LT(api().put(maps + "/a", config_map("a")).status, 300);
    EXPECT_EQ(api().remove(maps + "/a?propagationPolicy=" + policy).status, 200) << policy;
    EXPECT_TRUE(is_deleted(maps + "/a")) << policy;
    ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  }
}

TEST(Deletes, DEL_03_preconditions) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps, config_map("a"));
  expect_failure(remove_with(maps + "/a", R"({"preconditions":{"uid":"11111111-1111-4111-8111-111111111111"}})"), 409,
                 "Conflict", "UID in precondition");
  expect_failure(remove_with(maps + "/a", R"({"preconditions":{"resourceVersion":"1"}})"), 409, "Conflict");
  EXPECT_EQ(version_of(api().get(maps + "/a")), version_of(made));
  EXPECT_EQ(remove_with(maps + "/a", R"({"preconditions":{"uid":")" + uid_of(made) + R"(","resourceVersion":")" +
                                         version_of(made) + R"("}})")
                .status,
            200);
}

TEST(Deletes, DEL_04_removed_at_once_or_marked) {
  const std::string maps = in(own_namespace(), "configmaps");
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + version_of(api().get(maps)));
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_EQ(api().post(maps, held(config_map("b"))).status, 201);
  EXPECT_EQ(api().remove(maps + "/a").json["status"].str(), "Success");
  const Answer marked = api().remove(maps + "/b");
  EXPECT_EQ(marked.json["kind"].str(), "ConfigMap") << marked;
  EXPECT_FALSE(marked.json["metadata"]["deletionTimestamp"].str().empty());
  EXPECT_EQ(marked.json["metadata"]["deletionGracePeriodSeconds"].as_int(-1), 0) << marked;
  release(maps + "/b");
  ASSERT_TRUE(watch->wait_for(5));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "ADDED b", "DELETED a", "MODIFIED b", "DELETED b"}));
}

TEST(Deletes, DEL_05_again_while_it_is_terminating) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, held(config_map("a"))).status, 201);
  const Answer first = api().remove(maps + "/a");
  const Answer second = api().remove(maps + "/a");
  EXPECT_EQ(second.status, 200) << second;
  EXPECT_EQ(version_of(second), version_of(first)) << "nothing has changed";
  EXPECT_EQ(second.json["metadata"]["deletionTimestamp"], first.json["metadata"]["deletionTimestamp"]);
  release(maps + "/a");
  // Background replaces a pending Foreground.
  const Answer owner = api().post(maps, config_map("owner"));
  ASSERT_EQ(api().post(maps, held(owned(config_map("child"), owner, true))).status, 201);
  const Answer foreground = api().remove(maps + "/owner?propagationPolicy=Foreground");
  EXPECT_TRUE(has_text(foreground.json["metadata"]["finalizers"], "foregroundDeletion")) << foreground;
  EXPECT_EQ(api().remove(maps + "/owner?propagationPolicy=Background").status, 200);
  EXPECT_EQ(api().get(maps + "/owner").status, 404);
  release(maps + "/child");
}

TEST(Deletes, DEL_06_the_object_is_removed_with_the_last_finalizer) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* how : {"put", "merge", "json"}) {
    const Answer made = api().post(maps, held(config_map("a")));
    ASSERT_EQ(made.status, 201);
    Value without = api().remove(maps + "/a").json;
    without.edit("metadata").erase("finalizers");
    const std::string kind{how};
    const Answer last =
        kind == "put"     ? api().put(maps + "/a", without)
        : kind == "merge" ? api().patch(maps + "/a", kind, json(R"({"metadata":{"finalizers":[]}})"))
                          : api().patch(maps + "/a", kind, json(R"([{"op":"remove","path":"/metadata/finalizers"}])"));
    EXPECT_EQ(last.status, 200) << how << last;
    EXPECT_EQ(last.json["metadata"]["name"].str(), "a") << last;
    EXPECT_EQ(api().get(maps + "/a").status, 404) << how;
  }
}

TEST(Deletes, DEL_07_a_terminating_object_gets_no_new_finalizers) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, held(config_map("a"))).status, 201);
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  const Answer more =
      api().patch(maps + "/a", "merge", json(R"({"metadata":{"finalizers":["example.com/keep","example.com/more"]}})"));
  expect_failure(more, 422, "Invalid", "metadata.finalizers");
  EXPECT_EQ(more.json["details"]["causes"][0]["reason"].str(), "FieldValueForbidden");
  release(maps + "/a");
}

TEST(Deletes, DEL_08_the_response_to_an_immediate_deletion) {
  const std::string ns = own_namespace();
  ASSERT_EQ(api().post(in(ns, "serviceaccounts"), json(R"({"metadata":{"name":"a"}})")).status, 201);
  EXPECT_EQ(api().remove(in(ns, "serviceaccounts") + "/a").json["kind"].str(), "ServiceAccount");
  ASSERT_EQ(api().post(in(ns, "configmaps"), config_map("a")).status, 201);
  const Answer status = api().remove(in(ns, "configmaps") + "/a");
  EXPECT_EQ(status.json["kind"].str(), "Status");
  EXPECT_EQ(status.json["details"]["uid"].str().size(), 36u);
  const std::string storage = "/apis/storage.k8s.io/v1/";
  for (const auto& [plural, object] :
       {std::pair{"storageclasses", "{metadata: {name: NAME}, provisioner: p}"},
        std::pair{"csidrivers", "{metadata: {name: NAME}, spec: {}}"},
        std::pair{"csinodes", "{metadata: {name: NAME}, spec: {drivers: []}}"},
        std::pair{"volumeattributesclasses", "{metadata: {name: NAME}, driverName: d, parameters: {a: b}}"},
        std::pair{"volumeattachments",
                  "{metadata: {name: NAME}, spec: {attacher: a, nodeName: node, source: "
                  "{persistentVolumeName: v}}}"}}) {
    Value made = yaml(object);
    made.edit("metadata").set("name", ns);
    const Answer created = api().post(storage + plural, made);
    ASSERT_EQ(created.status, 201) << created;
    EXPECT_EQ(api().remove(storage + plural + "/" + ns).json["kind"], created.json["kind"]);
  }
}

TEST(Deletes, DEL_09_pods_on_a_node_have_a_grace_period) {
  const std::string ns = own_namespace();
  const std::string pods = in(ns, "pods");
  const std::string node = ns + "-node";
  const auto make = [&](const std::string& name, const std::string& spec) {
    const Answer made = api().post(
        pods, yaml("{metadata: {name: " + name + "}, spec: {" + spec + "containers: [{name: c, image: i}]}}"));
    EXPECT_EQ(made.status, 201) << made;
    return pods + "/" + name;
  };
  ASSERT_EQ(api().post("/api/v1/nodes", json(R"({"metadata":{"name":")" + node + R"("}})")).status, 201);
  const std::string on_node = "nodeName: " + node + ", ";

  const std::string waiting = make("waiting", "");
  ASSERT_EQ(api().remove(waiting).status, 200);
  EXPECT_EQ(api().get(waiting).status, 404) << "without a node there is no grace period";
  const std::string forced = make("forced", on_node);
  EXPECT_EQ(remove_with(forced, R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(api().get(forced).status, 404) << "the request of kubectl --force";
  const std::string done = make("done", on_node);
  ASSERT_EQ(api().patch(done + "/status", "merge", json(R"({"status":{"phase":"Succeeded"}})")).status, 200);
  ASSERT_EQ(api().remove(done).status, 200);
  EXPECT_EQ(api().get(done).status, 404);

  const std::string running = make("running", "terminationGracePeriodSeconds: 40, " + on_node);
  const Answer first = api().remove(running);
  ASSERT_EQ(first.status, 200) << first;
  EXPECT_EQ(first.json["metadata"]["deletionGracePeriodSeconds"].as_int(), 40) << first;
  EXPECT_FALSE(first.json["metadata"]["deletionTimestamp"].is_empty()) << first;
  const Answer again = api().remove(running);
  EXPECT_EQ(again.json["metadata"]["resourceVersion"], first.json["metadata"]["resourceVersion"]) << again;
  const Answer sooner = remove_with(running, R"({"gracePeriodSeconds":5})");
  EXPECT_EQ(sooner.json["metadata"]["deletionGracePeriodSeconds"].as_int(), 5) << sooner;
  EXPECT_EQ(
      remove_with(running, R"({"gracePeriodSeconds":50})").json["metadata"]["deletionGracePeriodSeconds"].as_int(), 5);
  EXPECT_EQ(api().get(running).status, 200);
  ASSERT_EQ(remove_with(running, R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(api().get(running).status, 404);

  // A negative period is one second.
  const std::string hurried = make("hurried", on_node);
  EXPECT_EQ(
      remove_with(hurried, R"({"gracePeriodSeconds":-1})").json["metadata"]["deletionGracePeriodSeconds"].as_int(), 1);
  // Evicted pods have a grace period too; it ends when the node is deleted.
  const std::string evicted = make("evicted", on_node);
  ASSERT_EQ(api().post(evicted + "/eviction", json(R"({"metadata":{"name":"evicted"}})")).status, 201);
  EXPECT_EQ(api().get(evicted).json["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  ASSERT_EQ(api().remove("/api/v1/nodes/" + node).status, 200);
  EXPECT_TRUE(is_deleted(evicted));
  EXPECT_TRUE(is_deleted(hurried));
}

TEST(Deletes, DEL_10_the_default_deletes_dependents_except_for_two_kinds) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  ASSERT_EQ(api().post(maps, owned(config_map("child"), owner)).status, 201);
  ASSERT_EQ(api().remove(maps + "/owner").status, 200);
  EXPECT_TRUE(is_deleted(maps + "/child"));
  const std::string jobs = in(ns, "jobs", "batch/v1");
  const Answer job = api().post(jobs, yaml("{metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, "
                                           "containers: [{name: c, image: i}]}}}}"));
  ASSERT_EQ(job.status, 201) << job;
  ASSERT_EQ(api().post(maps, owned(config_map("of-job"), job)).status, 201);
  const Answer removed = api().remove(jobs + "/j");
  ASSERT_EQ(removed.status, 200);
  EXPECT_NE(removed.headers.get("Warning").find("child pods are preserved by default"), std::string_view::npos);
  EXPECT_TRUE(is_deleted(jobs + "/j"));
  const Answer orphan = api().get(maps + "/of-job");
  EXPECT_EQ(orphan.status, 200);
  EXPECT_EQ(orphan.json["metadata"]["ownerReferences"].size(), 0u) << orphan;
}

TEST(Deletes, DEL_10_a_lease_waits_for_no_dependents) {
  const std::string leases = in(own_namespace(), "leases", "coordination.k8s.io/v1");
  for (const char* policy : {"Foreground", "Orphan"}) {
    ASSERT_EQ(api().post(leases, json(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"h"}})")).status, 201);
    EXPECT_EQ(api().remove(leases + "/l?propagationPolicy=" + policy).status, 200);
    EXPECT_TRUE(is_deleted(leases + "/l")) << policy;
  }
}

TEST(Deletes, DEL_11_collections_are_deleted_object_by_object) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", "{}", R"({"l":"1"})")).status, 201);
  ASSERT_EQ(api().post(maps, held(config_map("b", "{}", R"({"l":"1"})"))).status, 201);
  ASSERT_EQ(api().post(maps, config_map("c", "{}", R"({"l":"2"})")).status, 201);
  const Answer removed = api().call("DELETE", maps + "?labelSelector=l%3D1", R"({"propagationPolicy":"Background"})");
  EXPECT_EQ(removed.json["kind"].str(), "ConfigMapList") << removed;
  EXPECT_EQ(names_of(removed), (Names{"a", "b"}));
  EXPECT_EQ(names_of(api().get(maps)), (Names{"b", "c"}));
  EXPECT_TRUE(api().get(maps + "/b").json["metadata"].contains("deletionTimestamp"));
  release(maps + "/b");
  EXPECT_EQ(names_of(api().remove(maps + "?fieldSelector=metadata.name%3Dc")), Names{"c"});
}

TEST(Deletes, DEL_12_objects_without_remaining_owners_are_deleted) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const Answer one = api().post(maps, config_map("one"));
  const Answer two = api().post(maps, config_map("two"));
  ASSERT_EQ(api().post(maps, owned(owned(config_map("of-both"), one), two)).status, 201);
  ASSERT_EQ(api().post(maps, owned(config_map("of-one"), one)).status, 201);
  Value stranger = owned(config_map("of-missing-owner"), one);
  stranger.edit("metadata").edit("ownerReferences").edit_items()[0].set("uid", "11111111-1111-4111-8111-111111111111");
  ASSERT_EQ(api().post(maps, stranger).status, 201);
  EXPECT_TRUE(is_deleted(maps + "/of-missing-owner")) << "a uid that no object has";
  ASSERT_EQ(api().remove(maps + "/one").status, 200);
  EXPECT_TRUE(is_deleted(maps + "/of-one"));
  EXPECT_TRUE(eventually([&] { return api().get(maps + "/of-both").json["metadata"]["ownerReferences"].size() == 1; }));
  ASSERT_EQ(api().remove(maps + "/two").status, 200);
  EXPECT_TRUE(is_deleted(maps + "/of-both"));
}

TEST(Deletes, DEL_13_foreground_waits_for_those_that_block) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  ASSERT_EQ(api().post(maps, held(owned(config_map("blocks"), owner, true))).status, 201);
  ASSERT_EQ(api().post(maps, owned(config_map("does-not"), owner)).status, 201);
  const Answer begun = api().remove(maps + "/owner?propagationPolicy=Foreground");
  EXPECT_TRUE(has_text(begun.json["metadata"]["finalizers"], "foregroundDeletion")) << begun;
  EXPECT_TRUE(is_deleted(maps + "/does-not"));
  EXPECT_TRUE(eventually([&] { return api().get(maps + "/blocks").json["metadata"].contains("deletionTimestamp"); }));
  // All else is done: only the dependent that blocks keeps the owner, for as long as it is there.
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  const Answer waiting = api().get(maps + "/owner");
  EXPECT_TRUE(has_text(waiting.json["metadata"]["finalizers"], "foregroundDeletion")) << waiting;
  release(maps + "/blocks");
  EXPECT_TRUE(is_deleted(maps + "/blocks"));
  EXPECT_TRUE(is_deleted(maps + "/owner"));
}

TEST(Deletes, DEL_13_dependents_that_are_blocked_themselves_go_in_the_foreground) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  const Answer middle = api().post(maps, owned(config_map("middle"), owner, true));
  ASSERT_EQ(middle.status, 201) << middle;
  ASSERT_EQ(api().post(maps, held(owned(config_map("leaf"), middle, true))).status, 201);
  const Answer plain = api().post(maps, held(owned(config_map("plain"), owner, true)));
  ASSERT_EQ(plain.status, 201) << plain;
  ASSERT_EQ(api().post(maps, owned(config_map("of-plain"), plain)).status, 201);
  ASSERT_EQ(api().remove(maps + "/owner?propagationPolicy=Foreground").status, 200);
  const auto begun = [&](const char* name) {
    return eventually([&] { return api().get(maps + "/" + name).json["metadata"].contains("deletionTimestamp"); });
  };
  ASSERT_TRUE(begun("middle"));
  ASSERT_TRUE(begun("leaf")) << "before the one that it blocks is gone";
  ASSERT_TRUE(begun("plain"));
  EXPECT_TRUE(has_text(api().get(maps + "/middle").json["metadata"]["finalizers"], "foregroundDeletion"));
  EXPECT_FALSE(has_text(api().get(maps + "/plain").json["metadata"]["finalizers"], "foregroundDeletion"))
      << "nothing blocks it: deleted in the background";
  EXPECT_EQ(api().get(maps + "/of-plain").status, 200) << "in the background dependents go after their owner";
  release(maps + "/plain");
  EXPECT_TRUE(is_deleted(maps + "/of-plain"));
  EXPECT_EQ(api().get(maps + "/owner").status, 200);
  release(maps + "/leaf");
  EXPECT_TRUE(is_deleted(maps + "/middle"));
  EXPECT_TRUE(is_deleted(maps + "/owner"));
}

TEST(Deletes, DEL_14_orphans_lose_the_reference_and_stay) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  ASSERT_EQ(api().post(maps, owned(config_map("child"), owner)).status, 201);
  ASSERT_EQ(api().remove(maps + "/owner?propagationPolicy=Orphan").status, 200);
  EXPECT_TRUE(is_deleted(maps + "/owner"));
  const Answer child = api().get(maps + "/child");
  EXPECT_EQ(child.status, 200);
  EXPECT_EQ(child.json["metadata"]["ownerReferences"].size(), 0u) << child;
}

TEST(Deletes, DEL_17_not_found_is_only_the_object_of_the_request) {
  const std::string ns = own_namespace();
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string lamps = in(ns, "lamps", "del17.example.com/v1");
  constexpr int kLamps = 40;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(
        api()
            .post(definitions, yaml("{metadata: {name: lamps.del17.example.com}, spec: {group: del17.example.com, "
                                    "scope: Namespaced, names: {plural: lamps, kind: Lamp}, versions: [{name: "
                                    "v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
                                    "object}}}]}}"))
            .status,
        201);
    ASSERT_TRUE(eventually([&] { return api().get(lamps).status == 200; }));
    for (int i = 0; i < kLamps; ++i) {
      ASSERT_EQ(api().post(lamps, json(R"({"metadata":{"name":"l)" + std::to_string(i) + "\"}}")).status, 201);
    }
    // The objects of the definition vanish while it is deleted.
    std::thread others{[&] {
      for (int i = 0; i < kLamps; ++i) api().remove(lamps + "/l" + std::to_string(i));
    }};
    const Answer deleted = api().remove(definitions + "/lamps.del17.example.com");
    others.join();
    EXPECT_EQ(deleted.status, 200) << deleted;
    EXPECT_TRUE(is_deleted(definitions + "/lamps.del17.example.com"));
    expect_failure(api().remove(definitions + "/lamps.del17.example.com"), 404, "NotFound");
  }
}

TEST(Deletes, DEL_16_the_event_has_the_version_of_the_deletion) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps, config_map("a", R"({"k":"v"})"));
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + version_of(made));
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  ASSERT_TRUE(watch->wait_for(1));
  const Value object = watch->events()[0]["object"];
  EXPECT_EQ(object["data"]["k"].str(), "v");
  EXPECT_GT(std::stoull(version_of(object)), std::stoull(version_of(made)));
  EXPECT_EQ(version_of(object), version_of(api().get(maps)));
}

}  // namespace
}  // namespace shiplog::e2e
