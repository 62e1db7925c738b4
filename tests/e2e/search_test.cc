// search.karmada.io: the search cache and the global proxy, with kubectl and two trial members.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"
#include "tests/support/impersonator.h"

namespace shiplog::e2e {
namespace {

const std::string kGroup = "/apis/search.karmada.io/v1alpha1/";
const std::string kProxy = kGroup + "proxying/karmada/proxy";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";

std::string config_map(const std::string& name) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default, labels: {of: " + name +
         "}}\ndata: {a: \"1\"}\n---\n";
}

std::string registry(const std::string& clusters) {
  return R"(apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: all}
spec:
  targetCluster: {clusterNames: [)" +
         clusters + R"(]}
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: v1, kind: ConfigMap, namespace: default}
  - {apiVersion: v1, kind: Secret}
)";
}

std::set<std::string> names_in(const Answer& list) {
  std::set<std::string> names;
  for (const Value& item : list.json["items"].items()) names.insert(item["metadata"]["name"].str());
  return names;
}

class SearchAcrossMembers : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    for (const char* member : {"m1", "m2"}) {
      fleet_.join(member);
      fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonatesAnyone, member);
    }
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      deployment_manifest("web") + "---\n" + config_map("one") + config_map("both"), "m1");
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      deployment_manifest("db") + "---\n" + config_map("two") + config_map("both"), "m2");
    fleet_.kubectl_ok({"apply", "-f", "-"}, registry("m1, m2"));
    server_ = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
  }
  /// kubectl as Karmada's users type it.
  std::vector<std::string> through(std::vector<std::string> words) const {
    words.insert(words.begin(), "--server=" + server_ + kProxy);
    return words;
  }
  Answer get(const std::string& path) const { return fleet_.api().get(kProxy + path); }

  Fleet fleet_;
  std::string server_;
};

TEST_F(SearchAcrossMembers, KubectlWorksOverAllClusters_6_4) {
  EXPECT_TRUE(eventually([&] {
    const std::string pods = fleet_.kubectl(through({"get", "pods", "-A"})).out;
    return pods.find("web-") != std::string::npos && pods.find("db-") != std::string::npos;
  }));
  EXPECT_NE(fleet_.kubectl_ok(through({"get", "deployments"})).find("READY"), std::string::npos) << "columns";
  EXPECT_EQ(
      fleet_.kubectl_ok(through({"get", "configmap", "two", "-o",
                                 R"(jsonpath={.metadata.annotations.resource\.karmada\.io/cached-from-cluster})"})),
      "m2");
  // What changes something goes to the cluster of the object (6.4.4, 6.4.5).
  fleet_.kubectl_ok(through({"scale", "deployment", "db", "--replicas=2"}));
  fleet_.kubectl_ok(through({"annotate", "configmap", "two", "note=1"}));
  EXPECT_EQ(fleet_.api("m2").get("/apis/apps/v1/namespaces/default/deployments/db").json["spec"]["replicas"], Value{2});
  EXPECT_TRUE(eventually([&] { return get(kMaps + "/two").json["metadata"]["annotations"]["note"] == Value{"1"}; }));
  Answer two = get(kMaps + "/two");
  two.json.edit("data").set("a", "2");
  EXPECT_EQ(fleet_.api().put(kProxy + kMaps + "/two", two.json).status, 200);
  const Value stored = fleet_.api("m2").get(kMaps + "/two").json;
  EXPECT_EQ(stored["data"]["a"], Value{"2"});
  EXPECT_FALSE(stored["metadata"]["annotations"].contains("resource.karmada.io/cached-from-cluster"));
  EXPECT_TRUE(eventually([&] { return get(kMaps + "/two").json["data"]["a"] == Value{"2"}; }));
  EXPECT_EQ(fleet_.api().put(kProxy + kMaps + "/two", two.json).status, 409) << "the version is an old one by now";
  EXPECT_FALSE(fleet_.kubectl(through({"create", "configmap", "new"})).ok());
  const Answer created = fleet_.api().post(kProxy + kMaps, json(R"({"metadata":{"name":"new"}})"));
  EXPECT_EQ(created.status, 405) << created;
  EXPECT_NE(created.message().find("the global proxy knows no cluster"), std::string::npos) << created;
  EXPECT_EQ(get(kMaps + "/both").status, 409);
  EXPECT_NE(get(kMaps + "/both").message().find("ambiguous objects in clusters [m1, m2]"), std::string::npos);
  fleet_.kubectl_ok(through({"delete", "configmap", "one"}));
  EXPECT_EQ(fleet_.api("m1").get(kMaps + "/one").status, 404);
  EXPECT_TRUE(fleet_.shiplogctl({"audit", "--verb", "delete"}).says("DELETE " + kMaps + "/one -> 200"));
  // Logs of a pod, wherever it runs.
  const std::string pod = fleet_.kubectl_ok({"get", "pods", "-o", "jsonpath={.items[0].metadata.name}"}, {}, "m1");
  EXPECT_TRUE(eventually([&] { return fleet_.kubectl(through({"logs", pod})).ok(); }));
  // All else is the control plane's (6.4.2).
  EXPECT_NE(fleet_.kubectl_ok(through({"get", "clusters"})).find("m1"), std::string::npos);
  EXPECT_EQ(get("/version").status, 200);
}

TEST_F(SearchAcrossMembers, ListsHavePagesAndWatchesGoOnFromThem_6_5) {
  const Answer whole = get(kMaps);
  ASSERT_EQ(whole.status, 200) << whole;
  EXPECT_EQ(names_in(whole), (std::set<std::string>{"both", "one", "two"}));
  const std::string version = whole.json["metadata"]["resourceVersion"].str();
  EXPECT_EQ(parse_json(*base64url_decode(version)).value().members().size(), 2U);
  EXPECT_EQ(names_in(get(kMaps + "?labelSelector=of%3Dtwo")), std::set<std::string>{"two"});
  EXPECT_EQ(names_in(get(kMaps + "?fieldSelector=metadata.name%3Done")), std::set<std::string>{"one"});
  EXPECT_EQ(get("/api/v1/namespaces/kube-system/configmaps").json["items"].size(), 0U) << "not selected (6.4.7)";
  size_t items = 0;
  std::string token;
  for (int pages = 0; pages == 0 || !token.empty(); ++pages) {
    const Answer page = get(kMaps + "?limit=2&continue=" + token);
    ASSERT_EQ(page.status, 200) << page;
    ASSERT_LT(pages, 9);
    EXPECT_LE(page.json["items"].size(), 2U);
    items += page.json["items"].size();
    token = page.json["metadata"]["continue"].str();
  }
  EXPECT_EQ(items, whole.json["items"].size());

  const ApiClient api = fleet_.api();
  const auto watch = api.watch(kProxy + kMaps + "?watch=true&resourceVersion=" + version);
  fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("late"), "m2");
  ASSERT_TRUE(watch->wait_for(1));
  const Value event = watch->events()[0];
  EXPECT_EQ(event["type"], Value{"ADDED"});
  EXPECT_EQ(event["object"]["metadata"]["name"], Value{"late"});
  fleet_.kubectl_ok({"delete", "configmap", "late"}, {}, "m2");
  const auto resumed =
      api.watch(kProxy + kMaps + "?watch=true&resourceVersion=" + event["object"]["metadata"]["resourceVersion"].str());
  ASSERT_TRUE(resumed->wait_for(1));
  EXPECT_EQ(resumed->events()[0]["type"], Value{"DELETED"}) << "the watch resumes after the event (6.5.8)";

  // Another selection: watches end, and the clusters that are not selected have no objects any more (6.5.10).
  fleet_.kubectl_ok({"apply", "-f", "-"}, registry("m1"));
  EXPECT_TRUE(eventually([&] { return watch->ended(); }));
  EXPECT_EQ(names_in(get(kMaps)), (std::set<std::string>{"both", "one"}));
  EXPECT_EQ(get(kMaps + "?watch=true&timeoutSeconds=5&resourceVersion=" + version).status, 410);
}

TEST_F(SearchAcrossMembers, AMemberAtAnotherAddressIsFollowed) {
  EXPECT_TRUE(eventually([&] { return names_in(get(kMaps)).contains("two"); }));
  fleet_.kill("m2");
  fleet_.member("m2");  // a trial member keeps no objects: those of before are gone
  const std::string address =
      fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "m2");
  fleet_.kubectl_ok(
      {"patch", "cluster", "m2", "--type=merge", "-p", R"({"spec":{"apiEndpoint":")" + address + R"("}})"});
  fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("after"), "m2");
  const std::set<std::string> now = {"after", "both", "one"};
  EXPECT_TRUE(eventually([&] { return names_in(get(kMaps)) == now; })) << get(kMaps);
}

TEST_F(SearchAcrossMembers, TheSearchCacheAnswersLists_6_2) {
  const auto search = [&](const std::string& path) { return fleet_.api().get(kGroup + "search/" + path); };
  const Answer list = search("cache/apis/apps/v1/deployments");
  ASSERT_EQ(list.status, 200) << list;
  EXPECT_EQ(names_in(list), (std::set<std::string>{"db", "web"}));
  EXPECT_EQ(list.json["kind"], Value{"DeploymentList"});
  EXPECT_EQ(list.json["metadata"], json("{}")) << "6.2.2";
  const Answer named = search("cache" + kMaps + "/both");
  EXPECT_EQ(named.json["items"].size(), 2U) << "6.2.3";
  EXPECT_EQ(search("cache" + kMaps + "/none").json["items"].size(), 0U);
  const Answer broken = search("cache" + kMaps + "?labelSelector=a%20b");
  EXPECT_EQ(broken.status, 400);
  EXPECT_TRUE(broken.json["error"].is_string()) << broken;
  EXPECT_EQ(search("cache/api/v1/namespaces/default/pods/x/log").status, 400);
  EXPECT_NE(search("other/api/v1/pods").message().find("unrecognized search category other"), std::string::npos);
  EXPECT_NE(search("opensearch/api/v1/pods").message().find("not supported"), std::string::npos);
  EXPECT_EQ(fleet_.api().post(kGroup + "search/cache/api/v1/pods", json("{}")).status, 405);
}

TEST_F(SearchAcrossMembers, TheProxyGivesNoRightsInMembersAndNoSecrets) {
  fleet_.kubectl_ok({"apply", "-f", "-"}, R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: look}
rules:
- {apiGroups: [search.karmada.io], resources: [proxying/proxy, search/api], verbs: ["*"]}
)");
  fleet_.kubectl_ok({"create", "clusterrolebinding", "ann", "--clusterrole=look", "--user=ann"});
  const auto as = [&](const std::string& user, const std::string& method, const std::string& path) {
    return fleet_.api().call(method, kProxy + path, "", {{"Impersonate-User", user}});
  };
  EXPECT_EQ(as("bob", "GET", kMaps).status, 403) << "proxying/proxy is what is asked for";
  EXPECT_EQ(as("ann", "GET", kMaps).status, 200) << "6.2.7: no permission for each kind";
  EXPECT_EQ(as("ann", "DELETE", kMaps + "/one").status, 403) << "the member decides";
  EXPECT_EQ(fleet_.api("m1").get(kMaps + "/one").status, 200);
  EXPECT_EQ(as("ann", "GET", "/api/v1/namespaces").status, 403) << "what is here is for those who may read it here";
  const Answer secrets = as("ann", "GET", "/api/v1/secrets");
  EXPECT_EQ(secrets.status, 403) << secrets;
  EXPECT_NE(secrets.message().find("Secrets of members"), std::string::npos) << secrets;
  EXPECT_EQ(fleet_.api().call("GET", kGroup + "search/cache/api/v1/secrets", "", {{"Impersonate-User", "ann"}}).status,
            403);
  // A right to one name is none to the others, which a search would show: it ignores selectors of fields (6.2.4).
  for (const char* name : {"tls", "other"}) {
    fleet_.kubectl_ok({"create", "secret", "generic", name, "--from-literal=a=1"}, {}, "m1");
  }
  fleet_.kubectl_ok({"create", "role", "one", "--verb=get,list", "--resource=secrets", "--resource-name=tls"});
  fleet_.kubectl_ok({"create", "rolebinding", "one", "--role=one", "--user=ann"});
  const std::string one = "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dtls";
  EXPECT_TRUE(eventually([&] { return names_in(as("ann", "GET", one)) == std::set<std::string>{"tls"}; }));
  const Answer found = fleet_.api().call("GET", kGroup + "search/cache" + one, "", {{"Impersonate-User", "ann"}});
  EXPECT_EQ(found.status, 403) << found;
  fleet_.kubectl_ok({"create", "rolebinding", "ann", "--clusterrole=edit", "--user=ann", "-n", "default"});
  EXPECT_EQ(as("ann", "GET", "/api/v1/namespaces/default/secrets").status, 200);
  EXPECT_EQ(as("ann", "GET", "/api/v1/secrets").status, 403) << "a right in one namespace is none elsewhere";
}

}  // namespace
}  // namespace shiplog::e2e
