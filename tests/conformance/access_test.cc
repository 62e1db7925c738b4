// Namespaces, authorization, leases and events (NSP-1 to NSP-7, AUTHZ-1 to AUTHZ-10 and LEASE-1 to EVENT-3).
// Authentication and most of authorization are in tests/contract/authorization_test.cc.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Namespaces, NSP_01_a_missing_namespace) {
  expect_failure(api().post(in("nowhere", "configmaps"), config_map("a")), 404, "NotFound", R"(namespaces "nowhere")");
  expect_failure(api().get(in("nowhere", "configmaps") + "/a"), 404, "NotFound", R"(configmaps "a" not found)");
  expect_failure(api().remove(in("nowhere", "configmaps") + "/a"), 404, "NotFound");
  EXPECT_EQ(names_of(api().get(in("nowhere", "configmaps"))), Names{});
  expect_failure(api().post(in("nowhere", "leases", "coordination.k8s.io/v1"), json(R"({"metadata":{"name":"l"}})")),
                 404, "NotFound", R"(namespaces "nowhere")");
}

TEST(Namespaces, NSP_02_initial_namespaces) {
  for (const char* name :
       {"default", "kube-system", "kube-public", "kube-node-lease", "karmada-system", "karmada-cluster"}) {
    const Answer space = api().get(std::string{"/api/v1/namespaces/"} + name);
    EXPECT_EQ(space.json["status"]["phase"].str(), "Active") << name << space;
  }
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    expect_failure(api().remove(std::string{"/api/v1/namespaces/"} + name), 403, "Forbidden");
  }
}

TEST(Namespaces, NSP_03_a_deletion_begins_and_ends_with_both_lists_of_finalizers) {
  const std::string ns = own_namespace();
  const std::string path = "/api/v1/namespaces/" + ns;
  Value held = config_map("held");
  held.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(in(ns, "configmaps"), held).status, 201);
  const Answer begun = api().remove(path);
  EXPECT_EQ(begun.status, 200);
  EXPECT_EQ(begun.json["kind"].str(), "Namespace");
  EXPECT_EQ(begun.json["status"]["phase"].str(), "Terminating") << begun;
  EXPECT_FALSE(begun.json["metadata"]["deletionTimestamp"].str().empty());
  const Answer again = api().remove(path);
  EXPECT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json["kind"].str(), "Namespace");
  ASSERT_EQ(api().patch(in(ns, "configmaps") + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status,
            200);
  EXPECT_TRUE(eventually([&] { return api().get(path).status == 404; }));
}

TEST(Namespaces, NSP_04_no_new_objects_in_a_terminating_namespace) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  Value held = config_map("held");
  held.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(maps, held).status, 201);
  ASSERT_EQ(api().remove("/api/v1/namespaces/" + ns).status, 200);
  const Answer refused = api().post(maps, config_map("new"));
  expect_failure(refused, 403, "Forbidden",
                 R"(configmaps "new" is forbidden: unable to create new content in namespace )" + ns +
                     " because it is being terminated");
  EXPECT_EQ(refused.json["details"]["causes"][0]["reason"].str(), "NamespaceTerminating") << refused;
  EXPECT_EQ(refused.json["details"]["causes"][0]["field"].str(), "metadata.namespace");
  const Answer lease = api().post(in(ns, "leases", "coordination.k8s.io/v1"), json(R"({"metadata":{"name":"l"}})"));
  expect_failure(lease, 403, "Forbidden", "because it is being terminated");
  EXPECT_EQ(api().patch(maps + "/held", "merge", json(R"({"data":{"k":"v"}})")).status, 200);
  EXPECT_EQ(api().patch(maps + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Namespaces, NSP_05_content_is_deleted_first) {
  const std::string ns = own_namespace();
  Value held = config_map("held");
  held.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(in(ns, "configmaps"), held).status, 201);
  ASSERT_EQ(api().post(in(ns, "secrets"), json(R"({"metadata":{"name":"s"}})")).status, 201);
  const std::string leases = in(ns, "leases", "coordination.k8s.io/v1");  // in the journal of ephemera
  ASSERT_EQ(api().post(leases, json(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})")).status, 201);
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_EQ(api().remove("/api/v1/namespaces/" + ns).status, 200);
  // Clients read and update what is in it for five seconds.
  EXPECT_EQ(api().patch(in(ns, "secrets") + "/s", "merge", json(R"({"metadata":{"labels":{"a":"b"}}})")).status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(in(ns, "secrets") + "/s").status == 404; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::seconds{5});
  const auto has_condition = [&](const char* type, const char* status) {
    const Answer now = api().get("/api/v1/namespaces/" + ns);
    for (const Value& each : now.json["status"]["conditions"].items()) {
      if (each["type"].as_string() == type) return each["status"].as_string() == status && !each["message"].is_empty();
    }
    return false;
  };
  EXPECT_TRUE(eventually([&] { return has_condition("NamespaceFinalizersRemaining", "True"); }));
  EXPECT_TRUE(has_condition("NamespaceContentRemaining", "True"));
  EXPECT_TRUE(has_condition("NamespaceDeletionDiscoveryFailure", "False"));
  EXPECT_TRUE(has_condition("NamespaceDeletionGroupVersionParsingFailure", "False"));
  EXPECT_TRUE(has_condition("NamespaceDeletionContentFailure", "False"));
  // They name what remains and why, and the namespace keeps its finalizer until nothing does.
  const Answer waiting = api().get("/api/v1/namespaces/" + ns);
  const auto message_of = [&](const char* type) {
    return named(waiting.json["status"]["conditions"], type, "type")["message"].str();
  };
  const std::string content = message_of("NamespaceContentRemaining");
  EXPECT_TRUE(content.starts_with("Some resources are remaining: configmaps.")) << content;
  EXPECT_TRUE(content.ends_with(" has 1 resource instances")) << content;
  EXPECT_EQ(message_of("NamespaceFinalizersRemaining"),
            "Some content in the namespace has finalizers remaining: example.com/keep in 1 resource instances");
  EXPECT_EQ(waiting.json["status"]["phase"].str(), "Terminating");
  EXPECT_TRUE(has_text(waiting.json["spec"]["finalizers"], "kubernetes")) << waiting;
  EXPECT_TRUE(api().get(in(ns, "configmaps") + "/held").json["metadata"].contains("deletionTimestamp"));
  ASSERT_EQ(api().patch(in(ns, "configmaps") + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status,
            200);
  EXPECT_TRUE(eventually([&] { return api().get("/api/v1/namespaces/" + ns).status == 404; }));
  EXPECT_TRUE(eventually([&] { return api().get(leases + "/l").status == 404; }));
}

TEST(Namespaces, NSP_06_a_namespace_can_be_watched_until_it_is_removed) {
  const std::string ns = own_namespace();
  const std::string path = "/api/v1/namespaces?fieldSelector=metadata.name%3D" + ns;
  const Answer list = api().get(path);
  ASSERT_EQ(names_of(list), Names{ns});
  const auto watch = api().watch(path + "&watch=1&resourceVersion=" + version_of(list));
  ASSERT_EQ(api().remove("/api/v1/namespaces/" + ns).status, 200);
  EXPECT_TRUE(eventually([&] {
    const Names news = news_of(*watch);
    return !news.empty() && news.back() == "DELETED " + ns;
  }));
}

TEST(Namespaces, NSP_07_the_service_of_the_server_itself) {
  const Answer service = api().get("/api/v1/namespaces/default/services/kubernetes");
  ASSERT_EQ(service.status, 200) << service;
  EXPECT_EQ(service.json["metadata"]["labels"]["component"].str(), "apiserver");
  EXPECT_EQ(service.json["spec"]["ports"][0]["port"].as_int(), 443);
  const int64_t port = service.json["spec"]["ports"][0]["targetPort"].as_int();
  EXPECT_GT(port, 0);
  const std::string endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
  const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
  const auto leads_here = [&] {
    const Value subset = api().get(endpoints).json["subsets"][0];
    const Value slice = api().get(slices).json;
    return subset["addresses"][0]["ip"].str() == "127.0.0.1" && subset["ports"][0]["port"].as_int() == port &&
           slice["endpoints"][0]["addresses"][0].str() == "127.0.0.1" && slice["ports"][0]["port"].as_int() == port;
  };
  EXPECT_TRUE(leads_here()) << api().get(endpoints) << api().get(slices);
  // It is maintained by the server: it is created again when it is deleted.
  for (const std::string& path : {endpoints, slices, std::string{"/api/v1/namespaces/default/services/kubernetes"}}) {
    const Answer before = api().get(path);
    ASSERT_EQ(api().remove(path).status, 200);
    EXPECT_TRUE(eventually([&] {
      const Answer now = api().get(path);
      return now.status == 200 && now.json["metadata"]["uid"] != before.json["metadata"]["uid"];
    })) << path;
  }
  ASSERT_EQ(api().patch(endpoints, "merge", json(R"({"subsets":null})")).status, 200);
  EXPECT_TRUE(eventually(leads_here));
}

TEST(Access, AUTHZ_01_a_selected_name_is_a_requested_name) {
  const std::string ns = own_namespace();
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  ASSERT_EQ(api()
                .post(in(ns, "roles", rbac), yaml("{metadata: {name: one}, rules: [{apiGroups: [''], resources: "
                                                  "[configmaps], resourceNames: [mine], verbs: [get, list, watch]}]}"))
                .status,
            201);
  ASSERT_EQ(api()
                .post(in(ns, "rolebindings", rbac),
                      yaml("{metadata: {name: one}, roleRef: {kind: Role, name: one}, subjects: [{kind: User, name: "
                           "one-" +
                           ns + "}]}"))
                .status,
            201);
  const std::string user = "one-" + ns;
  const std::string maps = in(ns, "configmaps");
  EXPECT_EQ(as(user, "GET", maps + "?fieldSelector=metadata.name%3Dmine").status, 200);
  EXPECT_EQ(as(user, "GET", maps).status, 403);
  EXPECT_EQ(as(user, "GET", maps + "?fieldSelector=metadata.name%3Dyours").status, 403);
  EXPECT_EQ(as(user, "DELETE", maps + "?fieldSelector=metadata.name%3Dmine").status, 403);
  EXPECT_EQ(as("root", "DELETE", maps, {}, {{"Impersonate-Group", "system:masters"}}).status, 200);
}

TEST(Access, AUTHZ_06_initial_roles) {
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/";
  for (const char* name : {"cluster-admin", "admin", "edit", "view", "system:discovery", "system:public-info-viewer",
                           "system:basic-user", "system:node-bootstrapper", "system:monitoring"}) {
    const Answer role = api().get(roles + name);
    EXPECT_EQ(role.json["metadata"]["labels"]["kubernetes.io/bootstrapping"].str(), "rbac-defaults") << name << role;
  }
  EXPECT_FALSE(api().get(roles + "admin").json["aggregationRule"].is_null());
  const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/";
  const auto subjects = [&](const char* name) {
    Names found;
    const Answer binding = api().get(bindings + name);
    for (const Value& subject : binding.json["subjects"].items()) found.push_back(subject["name"].str());
    return found;
  };
  EXPECT_EQ(subjects("cluster-admin"), Names{"system:masters"});
  EXPECT_EQ(subjects("system:discovery"), Names{"system:authenticated"});
  EXPECT_EQ(subjects("system:basic-user"), Names{"system:authenticated"});
  EXPECT_EQ(subjects("system:monitoring"), Names{"system:monitoring"});
  EXPECT_EQ(subjects("system:public-info-viewer"), (Names{"system:authenticated", "system:unauthenticated"}));
  EXPECT_EQ(as("anybody", "GET", "/api").status, 200);
  EXPECT_EQ(as("anybody", "GET", "/apis/apps/v1").status, 200);
  EXPECT_EQ(as("anybody", "GET", "/openapi/v3").status, 200);
  EXPECT_EQ(as("anybody", "GET", "/version/").status, 200);
}

TEST(Leases, LEASE_01_the_race_has_one_winner) {
  const std::string ns = own_namespace();
  const std::string leases = in(ns, "leases", "coordination.k8s.io/v1");
  EXPECT_EQ(api().get(leases + "/l").status, 404);
  const Answer made =
      api().post(leases, json(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"","leaseDurationSeconds":15,
                       "acquireTime":"2026-11-21T00:28:56.123456Z","renewTime":"2026-11-21T00:28:56.123456Z"}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_FALSE(made.json["metadata"].contains("generation"));
  for (int round = 0; round < 5; ++round) {
    const Value read = api().get(leases + "/l").json;
    std::vector<std::thread> threads;
    std::atomic<int> won{0}, lost{0};
    for (int candidate = 0; candidate < 4; ++candidate) {
      threads.emplace_back([&, candidate] {
        Value mine = read;
        mine.edit("spec").set("holderIdentity", std::to_string(round) + "-" + std::to_string(candidate));
        const int status = api().put(leases + "/l", mine).status;
        if (status == 200) ++won;
        if (status == 409) ++lost;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won.load(), 1);
    EXPECT_EQ(lost.load(), 3);
  }
}

TEST(Events, EVENT_02_events_are_in_the_namespace_of_their_object) {
  const std::string ns = own_namespace();
  const auto event = [](const std::string& name, const std::string& space) {
    return yaml("{metadata: {name: " + name + "}, involvedObject: {kind: Pod, name: p, namespace: '" + space +
                "'}, reason: R, message: m, type: Normal, count: 1}");
  };
  expect_failure(api().post(in(ns, "events"), event("e", "default")), 422, "Invalid", "involvedObject.namespace");
  expect_failure(api().post(in(ns, "events"), event("e", "")), 422, "Invalid", "involvedObject.namespace");
  EXPECT_EQ(api().post(in("default", "events"), event("event-02", "")).status, 201);
  ASSERT_EQ(api().post(in(ns, "events"), event("e", ns)).status, 201);
  const Answer repeated = api().patch(in(ns, "events") + "/e", "strategic-merge",
                                      json(R"({"count":2,"lastTimestamp":"2026-11-21T00:00:02Z"})"));
  EXPECT_EQ(repeated.json["count"].as_int(), 2) << repeated;
  EXPECT_EQ(api().patch(in(ns, "events") + "/none", "strategic-merge", json(R"({"count":2})")).status, 404);
}

}  // namespace
}  // namespace shiplog::e2e
