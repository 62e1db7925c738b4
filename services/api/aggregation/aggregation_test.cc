#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "services/api/aggregation/aggregated_api.h"
#include "services/api/aggregation/aggregated_versions.h"
#include "services/api/aggregation/front_proxy.h"
#include "services/api/aggregation/remote_discovery.h"
#include "services/api/aggregation/remote_openapi.h"
#include "tests/support/given.h"

namespace shiplog::api {
namespace {

using given::History;
using given::json;

const ObjectKey kService{"services", "other", "metrics"};
const ObjectKey kEndpoints{"endpoints", "other", "metrics"};
const ObjectKey kSlice{"endpointslices.discovery.k8s.io", "other", "metrics-x1"};

AggregatedApi metrics_api() {
  return *aggregated_api(json(R"({"metadata":{"name":"v1beta1.metrics.example.com"},"spec":{
      "group":"metrics.example.com","version":"v1beta1","groupPriorityMinimum":100,"versionPriority":10,
      "service":{"namespace":"other","name":"metrics"}}})"));
}

TEST(AggregatedApi, IsReadFromAnAPIServiceThatNamesAService) {
  Value object = json(R"({"metadata":{"name":"v1.a.io"},"spec":{"group":"a.io","version":"v1","groupPriorityMinimum":7,
      "versionPriority":3,"insecureSkipTLSVerify":true,"service":{"namespace":"n","name":"s","port":8443}}})");
  const auto api = aggregated_api(object);
  ASSERT_TRUE(api);
  EXPECT_EQ(api->service, (ObjectKey{"services", "n", "s"}));
  EXPECT_EQ(api->port, 8443);
  EXPECT_TRUE(api->insecure);
  EXPECT_EQ(api->group_priority, 7);
  EXPECT_EQ(metrics_api().port, 443);
  object.edit("spec").set("caBundle", base64_encode("authority"));
  EXPECT_EQ(aggregated_api(object)->ca_pem, "authority");
  object.edit("spec").set("caBundle", "no base64");
  EXPECT_NE(aggregated_api(object)->problem, "");
  object.edit("spec").erase("service");
  EXPECT_FALSE(aggregated_api(object)) << "it is served here";
}

TEST(ServerAddresses, AnExternalNameIsCalledAtThePortOfTheAPIService) {
  History history;
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).reason, "ServiceNotFound");
  history.object(kService, R"({"spec":{"type":"ExternalName","externalName":"adapter.host.example"}})");
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).hosts, std::vector<std::string>{"adapter.host.example:443"});
  history.object(kService, R"({"spec":{"type":"ExternalName","externalName":"fd00::7"}})");
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).hosts, std::vector<std::string>{"[fd00::7]:443"});
}

TEST(ServerAddresses, AClusterIpStandsForItsReadyEndpoints) {
  History history;
  history.object(kService, R"({"spec":{"clusterIP":"10.96.0.9","ports":[{"name":"https","port":443}]}})");
  const ServerAddresses none = addresses_of(history.state(), metrics_api());
  EXPECT_EQ(none.reason, "EndpointsNotFound");
  EXPECT_NE(none.message.find("no pods run in this control plane"), std::string::npos) << none.message;

  history.object(kEndpoints, R"({"subsets":[{"ports":[{"name":"https","port":8443}],
      "addresses":[{"ip":"10.1.1.2"},{"ip":"10.1.1.1"}],"notReadyAddresses":[{"ip":"10.1.1.3"}]}]})");
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).hosts,
            (std::vector<std::string>{"10.1.1.1:8443", "10.1.1.2:8443"}));

  history.object(kSlice, R"({"metadata":{"labels":{"kubernetes.io/service-name":"metrics"}},
      "ports":[{"name":"https","port":9443}],"endpoints":[{"addresses":["10.2.2.2"],"conditions":{"ready":false}},
      {"addresses":["10.2.2.1"]}]})");
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).hosts, std::vector<std::string>{"10.2.2.1:9443"})
      << "slices come first";
  history.edit(kSlice, [](Value& slice) { slice.edit("ports").edit_items()[0].set("name", "other"); });
  history.remove(kEndpoints);
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).reason, "MissingEndpoints");
  history.edit(kService, [](Value& service) { service.edit("spec").edit("ports").edit_items()[0].set("port", 80); });
  EXPECT_EQ(addresses_of(history.state(), metrics_api()).reason, "ServicePortError");
}

TEST(ServerAddresses, OnlyWhatBelongsToTheServiceConcernsIt) {
  const Value slice = json(R"({"metadata":{"labels":{"kubernetes.io/service-name":"metrics"}}})");
  EXPECT_TRUE(concerns(metrics_api(), kService, {}));
  EXPECT_TRUE(concerns(metrics_api(), kEndpoints, {}));
  EXPECT_TRUE(concerns(metrics_api(), kSlice, slice));
  EXPECT_FALSE(concerns(metrics_api(), kSlice, {}));
  EXPECT_FALSE(concerns(metrics_api(), {"services", "default", "metrics"}, {}));
  EXPECT_FALSE(concerns(metrics_api(), {"secrets", "default", "metrics"}, {}));
}

constexpr const char* kList = R"({"kind":"APIResourceList","groupVersion":"a.io/v1","resources":[
    {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"],
     "shortNames":["th"],"categories":["all"],"anything":{"else":1}},
    {"name":"things/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale",
     "verbs":["get"]},
    {"name":"bad name","kind":"Bad","verbs":["get"]},
    {"name":"evil\u001b[31m","kind":"Evil","verbs":["get"]},
    {"name":"kindless","verbs":["get"]},
    {"name":"/status","kind":"Thing","verbs":["get"]},
    7]})";

TEST(RemoteDiscovery, OnlyWhatHasTheFormOfDiscoveryIsTakenOver) {
  const auto resources = read_resource_list(kList, "a.io", "v1");
  ASSERT_TRUE(resources) << resources.error().message;
  ASSERT_EQ(resources.value().size(), 2U) << to_json(resources.value());
  EXPECT_FALSE(resources.value()[0].contains("anything"));

  const Value aggregated = aggregated_resources(resources.value(), "a.io", "v1");
  ASSERT_EQ(aggregated.size(), 1U);
  EXPECT_EQ(aggregated[0], json(R"({"resource":"things","responseKind":{"group":"a.io","version":"v1","kind":"Thing"},
      "scope":"Namespaced","singularResource":"thing","verbs":["get","list"],"shortNames":["th"],"categories":["all"],
      "subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},
      "verbs":["get"]}]})"));
}

TEST(RemoteDiscovery, AnAnswerThatIsNoListOfTheGroupAndVersionIsAnError) {
  EXPECT_FALSE(read_resource_list("<html>", "a.io", "v1"));
  EXPECT_FALSE(read_resource_list("{}", "a.io", "v1"));
  const auto other = read_resource_list(kList, "b.io", "v1");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("no APIResourceList of b.io/v1"), std::string::npos) << other.error().message;
  std::string many = R"({"kind":"APIResourceList","groupVersion":"a.io/v1","resources":[0)";
  for (int count = 0; count < 6000; ++count) many += ",0";
  EXPECT_FALSE(read_resource_list(many + "]}", "a.io", "v1"));
}

TEST(RemoteOpenApi, ADocumentIsReadOnlyFromTheServerItself) {
  const auto path = [](const std::string& url) {
    return document_path(R"({"paths":{"apis/a.io/v1":{"serverRelativeURL":")" + url + R"("}}})", "a.io", "v1");
  };
  EXPECT_EQ(path("/openapi/v3/apis/a.io/v1?hash=AB"), "/openapi/v3/apis/a.io/v1?hash=AB");
  EXPECT_EQ(path("//169.254.169.254/latest"), std::nullopt);
  EXPECT_EQ(path("https://elsewhere.example/"), std::nullopt);
  EXPECT_EQ(path("/a HTTP/1.1\\r\\nX-Remote-User: root"), std::nullopt);
  EXPECT_EQ(document_path("[]", "a.io", "v1"), std::nullopt);
  EXPECT_EQ(document_path("no JSON", "a.io", "v1"), std::nullopt);
}

constexpr const char* kDocument = R"({"openapi":"3.0.0","paths":{
    "/apis/a.io/v1/things":{"get":{"x-kubernetes-group-version-kind":{"group":"a.io","version":"v1","kind":"Thing"},
        "responses":{"200":{"description":"OK","content":{"application/json":{"schema":
            {"$ref":"#/components/schemas/io.a.Thing"}}}}}}},
    "/api/v1/secrets":{"get":{}}},
  "components":{"schemas":{
    "io.a.Thing":{"type":"object","properties":{"spec":{"$ref":"#/components/schemas/nowhere"},
        "shared":{"allOf":[{"$ref":"#/components/schemas/shared"}]},"list":{"type":"array"},"odd":{"type":"odd"}},
      "x-kubernetes-group-version-kind":[{"group":"a.io","version":"v1","kind":"Thing"},
        {"group":"apps","version":"v1","kind":"Deployment"}]},
    "shared":{"type":"string"}}}})";

TEST(RemoteOpenApi, ADocumentIsAboutItsOwnKindsOnly) {
  const auto read = read_openapi(kDocument, "a.io", "v1");
  ASSERT_TRUE(read) << read.error().message;
  const Value document = json(read.value()->body);
  EXPECT_TRUE(document["paths"].contains("/apis/a.io/v1/things"));
  EXPECT_FALSE(document["paths"].contains("/api/v1/secrets"));
  const Value& thing = read.value()->swagger["definitions"]["io.a.Thing"];
  EXPECT_EQ(thing["x-kubernetes-group-version-kind"].size(), 1U) << "it does not describe Deployments";
  EXPECT_EQ(thing["properties"]["shared"], json(R"({"$ref":"#/definitions/shared"})"));
  for (const char* unreadable : {"spec", "list", "odd"}) {
    EXPECT_EQ(thing["properties"][unreadable], Value::object()) << "clients reject a document for it: " << unreadable;
  }
  EXPECT_FALSE(read_openapi("{}", "a.io", "v1"));
  EXPECT_FALSE(read_openapi("no JSON", "a.io", "v1"));
}

TEST(RemoteOpenApi, ADefinitionOfATakenNameGetsAnother) {
  Value whole = json(R"({"definitions":{"shared":{"type":"integer"},"same":{"type":"string"}},
      "paths":{"/apis/a.io/v1/things":{"get":{"mine":true}}}})");
  const Value before = whole;
  const Value added = json(R"({"definitions":{"shared":{"type":"string"},"same":{"type":"string"},
      "Thing":{"properties":{"one":{"$ref":"#/definitions/shared"},"two":{"$ref":"#/definitions/same"}}}},
      "paths":{"/apis/a.io/v1/things":{"get":{"theirs":true}},"/apis/a.io/v1/others":{}}})");
  merge_swagger(whole, added, "_a.io_v1");
  EXPECT_EQ(whole["definitions"]["shared"], before["definitions"]["shared"]);
  EXPECT_EQ(whole["definitions"]["shared_a.io_v1"], json(R"({"type":"string"})"));
  EXPECT_EQ(whole["definitions"]["Thing"]["properties"]["one"]["$ref"].str(), "#/definitions/shared_a.io_v1");
  EXPECT_EQ(whole["definitions"]["Thing"]["properties"]["two"]["$ref"].str(), "#/definitions/same");
  EXPECT_EQ(whole["paths"]["/apis/a.io/v1/things"], before["paths"]["/apis/a.io/v1/things"]);
  EXPECT_TRUE(whole["paths"].contains("/apis/a.io/v1/others"));
}

TEST(FrontProxy, TheUserReplacesWhatTheClientClaims) {
  HttpHeaders headers{{"x-remote-user", "root"},
                      {"X-REMOTE-GROUP", "system:masters"},
                      {"X-Remote-Extra-scopes", "all"},
                      {"Accept", "application/json"}};
  User user;
  user.name = "ann";
  user.uid = "7";
  user.groups = {"dev", "system:authenticated"};
  user.extra = {{"example.com/scope", {"a", "b"}}};
  set_remote_user(headers, user);
  std::string seen;
  for (const auto& [name, value] : headers.all()) seen += name + "=" + value + "\n";
  EXPECT_EQ(seen,
            "Accept=application/json\nX-Remote-User=ann\nX-Remote-Uid=7\nX-Remote-Group=dev\n"
            "X-Remote-Group=system:authenticated\nX-Remote-Extra-example.com%2Fscope=a\n"
            "X-Remote-Extra-example.com%2Fscope=b\n");
}

TEST(AggregatedVersions, OneThatIsKnownNotToAnswerIsNotAsked) {
  AggregatedVersion version;
  version.api = metrics_api();
  EXPECT_TRUE(refuse_unavailable(version)) << "it has no address";
  version.availability = Availability{false, "ServiceNotFound", "service/metrics in \"other\" is not present"};
  EXPECT_EQ(refuse_unavailable(version)->message,
            "APIService v1beta1.metrics.example.com is not available: ServiceNotFound: service/metrics in \"other\" "
            "is not present");
}

}  // namespace
}  // namespace shiplog::api
