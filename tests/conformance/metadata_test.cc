// What the server sets in an object's metadata (META-1 to META-15).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Metadata, META_01_uid_and_time_of_creation_are_the_servers) {
  const std::string maps = in(own_namespace(), "configmaps");
  Value object = config_map("a");
  object.edit("metadata").set("uid", "11111111-1111-4111-8111-111111111111");
  object.edit("metadata").set("creationTimestamp", "2001-01-01T00:00:00Z");
  const Answer made = api().post(maps, object);
  ASSERT_EQ(made.status, 201) << made;
  const std::string uid = uid_of(made);
  EXPECT_NE(uid, "11111111-1111-4111-8111-111111111111");
  ASSERT_EQ(uid.size(), 36u);
  for (const size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(uid[dash], '-') << uid;
  EXPECT_EQ(uid[14], '4') << uid;
  EXPECT_NE(std::string{"89ab"}.find(uid[19]), std::string::npos) << uid;
  EXPECT_FALSE(made.json["metadata"]["creationTimestamp"].str().starts_with("2001")) << made;
}

TEST(Metadata, META_02_every_change_has_a_version_of_its_own) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const std::string from = version_of(api().get(maps));
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + from);
  ASSERT_EQ(api().remove(maps).status, 200);  // one request, two changes
  ASSERT_TRUE(watch->wait_for(2));
  Names versions{from};
  for (const Value& event : watch->events()) versions.push_back(version_of(event["object"]));
  for (size_t index = 1; index < versions.size(); ++index) {
    EXPECT_NE(versions[index].front(), '0');
    EXPECT_GT(std::stoull(versions[index]), std::stoull(versions[index - 1]));
  }
}

TEST(Metadata, META_03_a_write_that_changes_nothing_makes_no_version) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const Answer made = api().post(deployments, deployment("web"));
  const auto watch = api().watch(deployments + "?watch=1&resourceVersion=" + version_of(made));
  const Value unchanged = json(R"({"spec":{"replicas":1}})");
  for (const Answer& again :
       {api().put(deployments + "/web", made.json), api().put(deployments + "/web", deployment("web")),
        api().patch(deployments + "/web", "merge", unchanged),
        api().patch(deployments + "/web", "strategic-merge", unchanged),
        api().patch(deployments + "/web", "json", json("[]")),
        api().patch(deployments + "/web/scale", "merge", unchanged)}) {
    EXPECT_EQ(again.status, 200) << again;
    EXPECT_EQ(version_of(again), version_of(made)) << again;
  }
  ASSERT_EQ(api().patch(deployments + "/web", "merge", json(R"({"spec":{"replicas":2}})")).status, 200);
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(watch->events()[0]["object"]["spec"]["replicas"].as_int(), 2) << "the first event after the creation";
}

TEST(Metadata, META_04_a_new_object_has_no_version_yet) {
  Value object = config_map("a");
  object.edit("metadata").set("resourceVersion", "7");
  const Answer refused = api().post(in(own_namespace(), "configmaps"), object);
  EXPECT_GE(refused.status, 400) << refused;
  EXPECT_NE(refused.message().find("resourceVersion should not be set"), std::string::npos);
}

TEST(Metadata, META_05_there_are_no_self_links) {
  Value object = config_map("a");
  object.edit("metadata").set("selfLink", "/api/v1/namespaces/default/configmaps/a");
  const Answer made = api().post(in(own_namespace(), "configmaps"), object);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_FALSE(made.json["metadata"].contains("selfLink"));
}

TEST(Metadata, META_06_generation_counts_changes_of_the_spec) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  Value web = deployment("web");
  web.edit("metadata").set("generation", 7);
  const auto generation = [](const Answer& answer) {
    EXPECT_LT(answer.status, 300) << answer;
    return answer.json["metadata"]["generation"].as_int();
  };
  EXPECT_EQ(generation(api().post(deployments, web)), 1);
  const auto patch = [](const std::string& target, const char* text) {
    return api().patch(target, "merge", json(text));
  };
  EXPECT_EQ(generation(patch(deployments + "/web", R"({"metadata":{"generation":9,"labels":{"a":"b"}}})")), 1);
  EXPECT_EQ(generation(patch(deployments + "/web", R"({"spec":{"replicas":2}})")), 2);
  EXPECT_EQ(generation(patch(deployments + "/web", R"({"metadata":{"annotations":{"a":"b"}}})")), 3);
  EXPECT_EQ(generation(patch(deployments + "/web", R"({"metadata":{"annotations":{"a":"b"}}})")), 3);
  EXPECT_EQ(generation(patch(deployments + "/web/status", R"({"status":{"replicas":2}})")), 3);
  const std::string widgets = widgets_in(ns);
  EXPECT_EQ(generation(api().post(widgets, widget("w"))), 1);
  EXPECT_EQ(generation(patch(widgets + "/w", R"({"metadata":{"annotations":{"a":"b"}}})")), 1);
  EXPECT_EQ(generation(patch(widgets + "/w", R"({"spec":{"size":2}})")), 2);
  for (const auto& [path, object] :
       {std::pair{in(ns, "configmaps"), config_map("a")},
        std::pair{in(ns, "secrets"), json(R"({"metadata":{"name":"a"}})")},
        std::pair{in(ns, "serviceaccounts"), json(R"({"metadata":{"name":"a"}})")},
        std::pair{in(ns, "leases", "coordination.k8s.io/v1"), json(R"({"metadata":{"name":"a"},"spec":{}})")}}) {
    const Answer made = api().post(path, object);
    EXPECT_FALSE(made.json["metadata"].contains("generation")) << made;
  }
}

TEST(Metadata, META_07_deletion_counts_too_but_not_the_status) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  Value web = deployment("web");
  web.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(deployments, web).status, 201);
  const Answer status = api().patch(deployments + "/web/status", "merge", json(R"({"status":{"replicas":1}})"));
  EXPECT_EQ(status.json["metadata"]["generation"].as_int(), 1) << status;
  const Answer deleting = api().remove(deployments + "/web");
  EXPECT_EQ(deleting.json["metadata"]["generation"].as_int(), 2) << deleting;
  EXPECT_EQ(api().patch(deployments + "/web", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Metadata, META_08_the_time_of_deletion_is_the_servers) {
  const std::string maps = in(own_namespace(), "configmaps");
  Value object = config_map("a");
  object.edit("metadata").set("deletionTimestamp", "2001-01-01T00:00:00Z");
  object.edit("metadata").set("deletionGracePeriodSeconds", 5);
  object.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  const Answer made = api().post(maps, object);
  EXPECT_FALSE(made.json["metadata"].contains("deletionTimestamp")) << made;
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  const std::string when = api().get(maps + "/a").json["metadata"]["deletionTimestamp"].str();
  EXPECT_EQ(when.size(), 20u);
  Value without = config_map("a", R"({"k":"v"})");
  without.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  const Answer kept = api().put(maps + "/a", without);
  EXPECT_EQ(kept.json["metadata"]["deletionTimestamp"].str(), when) << kept;
  const Answer moved =
      api().patch(maps + "/a", "merge", json(R"({"metadata":{"deletionTimestamp":"2099-01-01T00:00:00Z"}})"));
  EXPECT_EQ(api().get(maps + "/a").json["metadata"]["deletionTimestamp"].str(), when) << moved;
  EXPECT_EQ(api().patch(maps + "/a", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Metadata, META_09_an_update_may_leave_out_the_uid_but_not_name_another) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps, config_map("a"));
  Value object = config_map("a", R"({"k":"v"})");
  object.edit("metadata").set("creationTimestamp", "2001-01-01T00:00:00Z");
  const Answer put = api().put(maps + "/a", object);
  EXPECT_EQ(put.json["metadata"]["uid"], made.json["metadata"]["uid"]);
  EXPECT_EQ(put.json["metadata"]["creationTimestamp"], made.json["metadata"]["creationTimestamp"]);
  object.edit("metadata").set("uid", "11111111-1111-4111-8111-111111111111");
  expect_failure(api().put(maps + "/a", object), 409, "Conflict", "UID in precondition");
}

TEST(Metadata, META_10_the_namespace_is_the_urls) {
  const std::string maps = in(own_namespace(), "configmaps");
  EXPECT_FALSE(api().post(maps, config_map("a")).json["metadata"]["namespace"].str().empty());
  Value elsewhere = config_map("b");
  elsewhere.edit("metadata").set("namespace", "default");
  expect_failure(api().post(maps, elsewhere), 400, "BadRequest", "namespace");
  const Answer node = api().post("/api/v1/nodes", json(R"({"metadata":{"name":"meta-10","namespace":"default"}})"));
  EXPECT_EQ(node.status, 201) << node;
  EXPECT_FALSE(node.json["metadata"].contains("namespace")) << node;
  EXPECT_EQ(api().remove("/api/v1/nodes/meta-10").status, 200);
}

TEST(Metadata, META_11_kind_and_version_may_be_left_out) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps, json(R"({"metadata":{"name":"a"}})"));
  EXPECT_EQ(made.json["kind"].str(), "ConfigMap");
  EXPECT_EQ(made.json["apiVersion"].str(), "v1");
  EXPECT_EQ(api().put(maps + "/a", json(R"({"metadata":{"name":"a"},"data":{"k":"v"}})")).status, 200);
  expect_failure(api().post(maps, json(R"({"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"b"}})")), 400,
                 "BadRequest");
}

TEST(Metadata, META_12_names_labels_and_finalizers_have_a_syntax) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  for (const char* name : {"Upper", "a_b", "-a", "a-", "a..b", "a/b"}) {
    expect_failure(api().post(maps, config_map(name)), 422, "Invalid", "metadata.name");
  }
  EXPECT_EQ(api().post(maps, config_map("a.b-c.1")).status, 201);
  expect_failure(api().post(maps, config_map(std::string(254, 'a'))), 422, "Invalid", "metadata.name");
  const auto service = [](const char* name) {
    return yaml(std::string{"{metadata: {name: "} + name + "}, spec: {ports: [{port: 80}]}}");
  };
  EXPECT_EQ(api().post(in(ns, "services"), service("1st")).status, 201) << "since Kubernetes 1.36";
  expect_failure(api().post(in(ns, "services"), service("a.b")), 422, "Invalid", "metadata.name");
  expect_failure(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":"a.b"}})")), 422, "Invalid",
                 "metadata.name");
  for (const char* labels : {R"({"a b":"c"})", R"({"a":"b c"})", R"({"a/b/c":"d"})", R"({"-a":"b"})"}) {
    expect_failure(api().post(maps, config_map("x", "{}", labels)), 422, "Invalid", "metadata.labels");
  }
  EXPECT_EQ(api().post(maps, config_map("x", "{}", R"({"example.com/A_b.c":"","a":"B_c.d"})")).status, 201);
  Value plain = config_map("y");
  plain.edit("metadata").set("finalizers", json(R"(["mine"])"));
  expect_failure(api().post(maps, plain), 422, "Invalid", "metadata.finalizers");
  Value custom = widget("argo");
  custom.edit("metadata").set("finalizers", json(R"(["resources-finalizer.argocd.argoproj.io"])"));
  const Answer warned = api().post(widgets_in(ns), custom);
  EXPECT_EQ(warned.status, 201) << warned;
  EXPECT_NE(warned.headers.get("Warning").find("prefer a domain-qualified finalizer name including a path (/)"),
            std::string_view::npos)
      << warned;
  const Answer freed = api().patch(widgets_in(ns) + "/argo", "merge", json(R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(freed.status, 200) << freed;
  Value noted = config_map("z");
  noted.edit("metadata").edit("annotations").set("a", std::string(257 * 1024, 'x'));
  expect_failure(api().post(maps, noted), 422, "Invalid", "metadata.annotations");
}

TEST(Metadata, META_13_names_are_generated) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps, json(R"({"metadata":{"generateName":"made-"}})"));
  const std::string name = made.json["metadata"]["name"].str();
  ASSERT_EQ(name.size(), 10u) << made;
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 5), std::string::npos) << name;
  EXPECT_EQ(made.json["metadata"]["generateName"].str(), "made-");
  const Answer given = api().post(maps, json(R"({"metadata":{"generateName":"made-","name":"given"}})"));
  EXPECT_EQ(given.json["metadata"]["name"].str(), "given");
  const Answer longer =
      api().post(maps, Value::object({{"metadata", Value::object({{"generateName", std::string(70, 'a')}})}}));
  EXPECT_EQ(longer.json["metadata"]["name"].str().size(), 63u) << longer;
  expect_failure(api().post(maps, json(R"({"metadata":{}})")), 422, "Invalid", "name or generateName is required");
}

TEST(Metadata, META_14_owners_are_united_and_one_may_control) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  const auto reference = [&](const std::string& uid, bool controller) {
    return Value::object(
        {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", uid}, {"controller", controller}});
  };
  Value twice = config_map("twice");
  twice.edit("metadata")
      .set("ownerReferences", Value::array({reference(uid_of(owner), true), reference(uid_of(owner), true)}));
  const Answer made = api().post(maps, twice);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_NE(made.headers.get("Warning").find("ownerReferences"), std::string_view::npos);
  Value both = config_map("both");
  both.edit("metadata")
      .set("ownerReferences", Value::array({reference(uid_of(owner), true), reference(uid_of(made), true)}));
  expect_failure(api().post(maps, both), 422, "Invalid", "metadata.ownerReferences");
}

TEST(Metadata, META_15_managed_fields_can_be_reset_but_not_forgotten) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = api().post(maps + "?fieldManager=maker", config_map("a", R"({"k":"v"})"));
  ASSERT_GT(made.json["metadata"]["managedFields"].size(), 0u) << made;
  const Answer kept = api().put(maps + "/a?fieldManager=maker", config_map("a", R"({"k":"v"})"));
  EXPECT_EQ(kept.json["metadata"]["managedFields"], made.json["metadata"]["managedFields"]) << kept;
  Value reset = made.json;
  reset.edit("metadata").set("managedFields", Value::array());
  const Answer empty = api().put(maps + "/a?fieldManager=maker", reset);
  EXPECT_EQ(empty.json["metadata"]["managedFields"].size(), 0u) << empty;
  const Answer again = api().patch(maps + "/a", "merge", json(R"({"metadata":{"managedFields":[{}]}})"));
  EXPECT_EQ(again.json["metadata"]["managedFields"].size(), 0u) << again;
}

}  // namespace
}  // namespace shiplog::e2e
