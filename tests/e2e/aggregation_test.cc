// APIServices whose group another server answers for: a real HTTPS server in this process, and real kubectl.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "tests/e2e/addon_server.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kApiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string kServices = "/api/v1/namespaces/default/services";
const std::string kThings = "/apis/things.example.com/v1/namespaces/default/things";
const std::string kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

class AggregatedServers : public ::testing::Test {
 protected:
  void SetUp() override { fleet_.serve(); }

  ApiClient api() const { return fleet_.api(); }
  Value trusted() const {
    return api().get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json["data"];
  }
  static Value service() {
    return json(R"({"metadata":{"name":"things"},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}})");
  }
  static Value api_service(const AddonServer& addon) {
    Value object = json(R"({"spec":{"version":"v1","groupPriorityMinimum":2000,"versionPriority":10,
        "service":{"namespace":"default","name":"things"}}})");
    object.edit("metadata").set("name", "v1." + addon.group());
    object.edit("spec").set("group", addon.group());
    object.edit("spec").set("caBundle", addon.ca_bundle());
    object.edit("spec").edit("service").set("port", int64_t{addon.port()});
    return object;
  }
  void register_addon(const AddonServer& addon) {
    const Answer called = api().post(kServices, service());
    ASSERT_TRUE(called.status == 201 || called.status == 409) << called;
    const Answer made = api().post(kApiServices, api_service(addon));
    ASSERT_EQ(made.status, 201) << made;
  }
  Value condition(const std::string& name = "v1.things.example.com") const {
    return api().get(kApiServices + "/" + name).json["status"]["conditions"][0];
  }
  bool comes_to(const std::string& reason, const std::string& name = "v1.things.example.com") const {
    return eventually([&] { return condition(name)["reason"].as_string() == reason; });
  }
  bool is_described() const {
    return eventually([&] { return api().get("/openapi/v3").json["paths"].contains("apis/things.example.com/v1"); });
  }
  /// Of the group and version in aggregated discovery: null if it is not there.
  Value discovered(const std::string& group = "things.example.com") const {
    const Value list = api().get("/apis", kAggregated).json;
    for (const Value& item : list["items"].items()) {
      if (item["metadata"]["name"].as_string() == group) return item["versions"][0];
    }
    return {};
  }

  Fleet fleet_;
};

TEST_F(AggregatedServers, KubectlUsesTheKindsOfAnAddonAsAnyOther) {
  AddonServer addon{trusted()};
  register_addon(addon);
  ASSERT_TRUE(comes_to("Passed")) << to_json(condition());
  EXPECT_EQ(condition()["status"].as_string(), "True");
  EXPECT_NE(fleet_.kubectl_ok({"get", "apiservices", "v1.things.example.com"}).find("default/things"),
            std::string::npos);
  ASSERT_TRUE(is_described());

  const std::string manifest =
      "apiVersion: things.example.com/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 1}\n";
  EXPECT_NE(fleet_.kubectl_ok({"apply", "-f", "-"}, manifest).find("created"), std::string::npos);
  const std::string larger = "apiVersion: things.example.com/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 2}\n";
  EXPECT_NE(fleet_.kubectl_ok({"apply", "-f", "-"}, larger).find("configured"), std::string::npos);
  EXPECT_EQ(fleet_.kubectl_ok({"get", "th", "one", "-o", "jsonpath={.spec.size}"}), "2");
  EXPECT_NE(fleet_.kubectl_ok({"get", "things"}).find("one"), std::string::npos);
  EXPECT_NE(fleet_.kubectl_ok({"explain", "things.spec.size"}).find("How large it is."), std::string::npos);
  fleet_.kubectl_ok({"delete", "thing", "one", "--wait=false"});
  EXPECT_FALSE(fleet_.kubectl({"get", "thing", "one"}).ok());
}

TEST_F(AggregatedServers, TheAddonLearnsWhoAsksAndNothingElse) {
  AddonServer addon{trusted()};
  register_addon(addon);
  ASSERT_TRUE(comes_to("Passed"));
  const std::string role = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  ASSERT_EQ(api()
                .post(role, json(R"({"metadata":{"name":"things"},"rules":[{"apiGroups":["things.example.com"],
      "resources":["things"],"verbs":["list"]}]})"))
                .status,
            201);
  ASSERT_EQ(api()
                .post(role.substr(0, role.rfind('/')) + "/clusterrolebindings",
                      json(R"({"metadata":{"name":"things"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
      "kind":"ClusterRole","name":"things"},"subjects":[{"kind":"User","name":"ann"}]})"))
                .status,
            201);
  HttpHeaders as_ann{{"Impersonate-User", "ann"},
                     {"Impersonate-Group", "dev"},
                     {"X-Remote-User", "root"},
                     {"x-remote-group", "system:masters"},
                     {"Connection", "X-Remote-Uid"}};
  const Answer list = api().call("GET", kThings, "", as_ann);
  EXPECT_EQ(list.status, 200) << list;
  const auto seen = addon.seen(kThings);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].user, "ann");
  EXPECT_EQ(seen[0].groups, (std::vector<std::string>{"dev", "system:authenticated"}));
  EXPECT_FALSE(seen[0].authorization);

  EXPECT_EQ(api().call("GET", kThings + "/one", "", as_ann).status, 403) << "refused here, by RBAC";
  EXPECT_EQ(api().call("POST", kThings, "{}", as_ann).status, 403);
  for (const char* odd : {"/../things", "/%2e%2e/things", "//things", "/one%5c..", "/a%0ab"}) {
    EXPECT_NE(api().get(kThings + odd).status / 100, 2) << odd;
  }
  EXPECT_EQ(addon.seen(kThings).size(), 1U);
}

TEST_F(AggregatedServers, AWatchPassesEventsAsTheyHappenAndEndsWithItsReader) {
  AddonServer addon{trusted()};
  register_addon(addon);
  ASSERT_TRUE(comes_to("Passed"));
  {
    const ApiClient client = api();
    const auto watch = client.watch(kThings + "?watch=true");
    ASSERT_TRUE(eventually([&] { return addon.watches() == 1; }));
    ASSERT_EQ(api().post(kThings, json(R"({"metadata":{"name":"one"}})")).status, 201);
    ASSERT_TRUE(watch->wait_for(1));
    ASSERT_EQ(api().remove(kThings + "/one").status, 200);
    ASSERT_TRUE(watch->wait_for(2));
    EXPECT_EQ(watch->events()[1]["type"].as_string(), "DELETED");
  }
  EXPECT_TRUE(eventually([&] { return addon.watches() == 0; }));
}

TEST_F(AggregatedServers, AServerThatFailsIsNamedAndDelaysNothingElse) {
  AddonServer addon{trusted()};
  register_addon(addon);
  ASSERT_TRUE(comes_to("Passed"));
  ASSERT_FALSE(discovered().is_null());
  EXPECT_EQ(discovered()["freshness"].as_string(), "Current");

  for (const auto mode : {AddonServer::Mode::kGarbage, AddonServer::Mode::kRedirects, AddonServer::Mode::kEndless,
                          AddonServer::Mode::kCutsOff, AddonServer::Mode::kHangs}) {
    addon.become(mode);
    // Another Service: it is asked anew at once.
    Value moved = service();
    moved.edit("metadata").edit("annotations").set("mode", std::to_string(static_cast<int>(mode)));
    moved.edit("spec").set("externalName", "localhost");
    ASSERT_EQ(api().put(kServices + "/things", moved).status, 200);
    ASSERT_TRUE(comes_to("FailedDiscoveryCheck")) << to_json(condition());
    const Answer refused = api().get(kThings);
    EXPECT_EQ(refused.status, 503) << refused;
    EXPECT_FALSE(refused.headers.contains("Retry-After")) << "kubectl shows the cause at once";
    EXPECT_EQ(refused.reason(), "ServiceUnavailable");
    EXPECT_NE(refused.message().find("FailedDiscoveryCheck"), std::string::npos) << refused;
    EXPECT_EQ(api().get("/apis/things.example.com/v1").status, 503);
    EXPECT_EQ(discovered()["freshness"].as_string(), "Stale");
    EXPECT_EQ(discovered()["resources"][0]["resource"].as_string(), "things") << "as it was known";
    EXPECT_EQ(api().get("/openapi/v3").status, 200);
    EXPECT_TRUE(fleet_.kubectl({"get", "namespaces"}).ok());
    addon.become(AddonServer::Mode::kGood);
    moved.edit("spec").set("externalName", "127.0.0.1");
    ASSERT_EQ(api().put(kServices + "/things", moved).status, 200);
    ASSERT_TRUE(comes_to("Passed")) << to_json(condition());
    EXPECT_EQ(api().get(kThings).status, 200);
  }
}

TEST_F(AggregatedServers, WhatIsMissingIsTheReason) {
  AddonServer addon{trusted()};
  ASSERT_EQ(api().post(kApiServices, api_service(addon)).status, 201);
  ASSERT_TRUE(comes_to("ServiceNotFound")) << to_json(condition());
  const Answer refused = api().get(kThings);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.message().find("service/things in \"default\" is not present"), std::string::npos) << refused;

  ASSERT_EQ(api()
                .post(kServices, json(R"({"metadata":{"name":"things"},"spec":{"ports":[{"port":)" +
                                      std::to_string(addon.port()) + "}]}}"))
                .status,
            201);
  ASSERT_TRUE(comes_to("EndpointsNotFound")) << to_json(condition());
  ASSERT_EQ(api()
                .post("/api/v1/namespaces/default/endpoints",
                      json(R"({"metadata":{"name":"things"},"subsets":[{"addresses":[{"ip":"192.0.2.1"}],"ports":[
      {"port":8443}]}]})"))
                .status,
            201);
  ASSERT_TRUE(comes_to("FailedDiscoveryCheck")) << to_json(condition());
  EXPECT_NE(condition()["message"].as_string().find("https://192.0.2.1:8443"), std::string::npos)
      << to_json(condition());
}

TEST_F(AggregatedServers, AServerWithAnotherCertificateIsNotTrusted) {
  AddonServer addon{trusted()};
  Value untrusted = api_service(addon);
  untrusted.edit("spec").set("caBundle", base64_encode(trusted()["client-ca-file"].str()));
  ASSERT_EQ(api().post(kServices, service()).status, 201);
  ASSERT_EQ(api().post(kApiServices, untrusted).status, 201);
  ASSERT_TRUE(comes_to("FailedDiscoveryCheck")) << to_json(condition());
  EXPECT_NE(condition()["message"].as_string().find("not trusted"), std::string::npos) << condition()["message"].str();
  EXPECT_EQ(api().get(kThings).status, 503);
  EXPECT_EQ(addon.probes(), 0U);
}

TEST_F(AggregatedServers, WhatShiplogServesIsNeverAnotherServers) {
  AddonServer addon{trusted(), "apps"};
  ASSERT_EQ(api().post(kServices, service()).status, 201);
  Value taken = api_service(addon);
  taken.edit("metadata")
      .set("resourceVersion", api().get(kApiServices + "/v1.apps").json["metadata"]["resourceVersion"]);
  ASSERT_EQ(api().put(kApiServices + "/v1.apps", taken).status, 200);
  EXPECT_TRUE(eventually([&] {
    return condition("v1.apps")["message"].as_string().find("uses no Service") != std::string_view::npos;
  })) << to_json(condition("v1.apps"));
  EXPECT_EQ(api().get("/apis/apps/v1/namespaces/default/deployments").json["kind"].as_string(), "DeploymentList");
  EXPECT_EQ(addon.probes(), 0U);
  const Answer unknown = api().get("/apis/apps/v1/things");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.json["message"].as_string().find("as this server serves the group and version itself"),
            std::string_view::npos)
      << unknown.body;

  // A definition takes over what an add-on has served.
  AddonServer things{trusted()};
  register_addon(things);
  ASSERT_TRUE(comes_to("Passed"));
  ASSERT_EQ(api()
                .post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                      json(R"({"metadata":{"name":"items.things.example.com"},"spec":{"group":"things.example.com",
      "names":{"plural":"items","kind":"Item"},"scope":"Namespaced","versions":[{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})"))
                .status,
            201);
  ASSERT_TRUE(comes_to("Local")) << to_json(condition());
  EXPECT_EQ(api().get("/apis/things.example.com/v1/namespaces/default/items").status, 200);
}

TEST_F(AggregatedServers, AnAPIServiceThatIsDeletedTakesItsKindsWithIt) {
  AddonServer addon{trusted()};
  register_addon(addon);
  ASSERT_TRUE(comes_to("Passed"));
  EXPECT_EQ(api().get("/apis/things.example.com").json["versions"][0]["version"].as_string(), "v1");
  EXPECT_TRUE(is_described());
  EXPECT_TRUE(api().get("/openapi/v2").json["definitions"].contains("com.example.Thing"));
  ASSERT_EQ(api().remove(kApiServices + "/v1.things.example.com").status, 200);
  EXPECT_EQ(api().get(kThings).status, 404);
  EXPECT_EQ(api().get("/apis/things.example.com").status, 404);
  EXPECT_TRUE(discovered().is_null());
  EXPECT_FALSE(api().get("/openapi/v3").json["paths"].contains("apis/things.example.com/v1"));
}

TEST(AggregatedServersOfNetworks, ADeniedNetworkIsNeverCalled) {
  Fleet fleet;
  fleet.serve("plane", {"--denied-networks=127.0.0.0/8,::1/128"});
  const ApiClient api = fleet.api();
  AddonServer addon{
      api.get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json["data"]};
  ASSERT_EQ(api.post(kServices, json(R"({"metadata":{"name":"things"},"spec":{"type":"ExternalName",
      "externalName":"localhost"}})"))
                .status,
            201);
  ASSERT_EQ(api.post(kApiServices, json(R"({"metadata":{"name":"v1.things.example.com"},"spec":{
      "group":"things.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":10,
      "insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"things","port":)" +
                                        std::to_string(addon.port()) + "}}}"))
                .status,
            201);
  EXPECT_TRUE(eventually([&] {
    return api.get(kApiServices + "/v1.things.example.com")
               .json["status"]["conditions"][0]["message"]
               .as_string()
               .find("127.0.0.0/8") != std::string::npos;
  }));
  EXPECT_EQ(api.get(kThings).status, 503);
  EXPECT_EQ(addon.probes(), 0U);
}

}  // namespace
}  // namespace shiplog::e2e
