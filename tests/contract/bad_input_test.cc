// Invalid requests: each gets a clear error, and the server continues to work (HTTP-1 to HTTP-17, PATH-1 to PATH-10).
#include "events/base/json.h"
#include "tests/contract/contract.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

void expect_server_is_healthy() { EXPECT_EQ(api().get("/readyz").status, 200); }

Answer post_text(const std::string& target, const std::string& body, const std::string& type = "application/json") {
  return api().call("POST", target, body, {{"Content-Type", type}});
}

TEST(BadInput, TextsThatDoNotParse) {
  for (const char* body :
       {"{", "nonsense", "[]", "42", "\"text\"", "{\"metadata\":{\"name\":\"x\"}", "{\"a\":\xff}", "{}{}"}) {
    const Answer answer = post_text(kConfigMaps, body);
    expect_failure(answer, 400, "BadRequest");
  }
  for (const char* body : {"a: [", "a: b: c", "\tx", "- a\n- b", "a: &x 1\nb: *y", "--- 1\n--- 2"}) {
    expect_failure(post_text(kConfigMaps, body, "application/yaml"), 400, "BadRequest");
  }
  expect_failure(post_text(kConfigMaps, "{}", "application/xml"), 415, "UnsupportedMediaType", "application/json");
  std::string deep;
  for (int level = 0; level < 100'000; ++level) deep += "{\"a\":";
  expect_failure(post_text(kConfigMaps, deep), 400, "BadRequest");
  std::string anchors = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int level = 1; level < 12; ++level) {
    const std::string before = std::to_string(level - 1);
    anchors += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [";
    for (int copy = 0; copy < 10; ++copy) anchors += (copy == 0 ? "*a" : ",*a") + before;
    anchors += "]\n";
  }
  const Answer bomb = post_text(kConfigMaps, anchors, "application/yaml");
  EXPECT_GE(bomb.status, 400) << bomb;
  EXPECT_LT(bomb.status, 500) << bomb;
  expect_server_is_healthy();
}

TEST(BadInput, ObjectsOfAnotherKindNameOrNamespaceThanThePath) {
  expect_failure(api().post(kConfigMaps, deployment("wrong-kind")), 400, "BadRequest", "apps/v1");
  Value object = config_map("elsewhere");
  object.edit("metadata").set("namespace", "other");
  expect_failure(api().post(kConfigMaps, object), 400, "BadRequest", "namespace");
  ASSERT_EQ(api().post(kConfigMaps, config_map("named")).status, 201);
  expect_failure(api().put(kConfigMaps + "/named", config_map("renamed")), 400, "BadRequest", "name");
  Value kindless = config_map("kindless");
  kindless.set("kind", "Nonsense");
  expect_failure(api().post(kConfigMaps, kindless), 400, "BadRequest");
  expect_failure(api().post(kConfigMaps, json(R"({"metadata":{"name":7}})")), 400, "BadRequest");
  expect_failure(api().post(kConfigMaps, json(R"({"metadata":"x"})")), 400, "BadRequest");
  expect_failure(api().post(kDeployments, json(R"({"metadata":{"name":"x"},"spec":{"replicas":"many"}})")), 400,
                 "BadRequest", "replicas");
  expect_failure(api().put(kConfigMaps + "/nobody", config_map("nobody")), 404, "NotFound");
}

TEST(BadInput, UnknownFieldsAreWarnedOfOrRefused) {  // CRU-6, CRU-7
  Value object = deployment("unknown-fields");
  object.edit("spec").set("replicaz", 3);
  const Answer warned = api().post(kDeployments, object);
  ASSERT_EQ(warned.status, 201) << warned;
  EXPECT_EQ(warned.headers.get("Warning"), R"(299 - "unknown field \"spec.replicaz\"")");
  EXPECT_FALSE(warned.json["spec"].contains("replicaz"));
  object.edit("metadata").set("name", "unknown-strict");
  expect_failure(api().post(kDeployments + "?fieldValidation=Strict", object), 400, "BadRequest",
                 R"(strict decoding error: unknown field "spec.replicaz")");
  EXPECT_EQ(api().get(kDeployments + "/unknown-strict").status, 404);
  const Answer ignored = api().post(kDeployments + "?fieldValidation=Ignore", object);
  EXPECT_EQ(ignored.status, 201) << ignored;
  EXPECT_EQ(ignored.headers.get("Warning"), "");
  EXPECT_EQ(api().post(kDeployments + "?fieldValidation=Sometimes", deployment("x")).status, 422);
  const Answer doubled = post_text(kConfigMaps + "?fieldValidation=Strict",
                                   R"({"metadata":{"name":"twice"},"data":{"a":"1"},"data":{"a":"2"}})");
  expect_failure(doubled, 400, "BadRequest", "duplicate field \"data\"");
}

TEST(BadInput, BodiesOverTheLimit) {  // HTTP-9
  const Answer answer = post_text(kConfigMaps, std::string(4 * 1024 * 1024, ' '));
  if (answer.status != 0) expect_failure(answer, 413, "RequestEntityTooLarge");
  // The response is sent before the body, so that clients need not send it.
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send("POST " + kConfigMaps +
           " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n");
  const std::string response = raw.read_until("RequestEntityTooLarge");
  EXPECT_TRUE(response.starts_with("HTTP/1.1 413")) << response;
  EXPECT_NE(response.find("RequestEntityTooLarge"), std::string::npos) << response;
  // An object that is below the limit of bodies but above the limit of stored objects, as with etcd.
  const Answer large =
      api().post(kConfigMaps, Value::object({{"metadata", Value::object({{"name", "large"}})},
                                             {"data", Value::object({{"a", std::string(2 * 1024 * 1024, 'x')}})}}));
  EXPECT_GE(large.status, 400) << large.status;
  EXPECT_LT(large.status, 500) << large;
  EXPECT_EQ(api().get(kConfigMaps + "/large").status, 404);
  expect_server_is_healthy();
}

TEST(BadInput, IncompleteRequests) {
  {
    RawConnection raw{plane().kubeconfig("plane")};
    raw.send("POST " + kConfigMaps +
             " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"metadata\":{\"name\":\"half-sent\"}");
  }
  {
    RawConnection raw{plane().kubeconfig("plane")};
    raw.send("GET /api/v1/names");
  }
  EXPECT_EQ(api().get(kConfigMaps + "/half-sent").status, 404);
  expect_server_is_healthy();
}

TEST(BadInput, InvalidRequests) {
  for (const char* text :
       {"\r\n\r\n\r\n nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x00\xff garbage\r\n\r\n", "GET /api/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /api/v1/%00 HTTP/1.1\r\nHost: x\r\n\r\n", "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
    RawConnection raw{plane().kubeconfig("plane")};
    raw.send(text);
    const std::string response = raw.read_until("\r\n\r\n", std::chrono::seconds{20});
    EXPECT_TRUE(response.empty() || response.starts_with("HTTP/1.1 4") || response.starts_with("HTTP/1.1 505"))
        << text << response;
  }
  expect_server_is_healthy();
}

TEST(BadInput, ARequestWithTwoHosts) {
  for (const char* second : {"x", "y", ""}) {
    RawConnection raw{plane().kubeconfig("plane")};
    raw.send(std::string{"GET /api HTTP/1.1\r\nHost: x\r\nhost: "} + second + "\r\n\r\n");
    const std::string response = raw.read_until("BadRequest");
    EXPECT_TRUE(response.starts_with("HTTP/1.1 400")) << response;
    EXPECT_NE(response.find("more than one Host header"), std::string::npos) << response;
  }
  expect_server_is_healthy();
}

TEST(BadInput, ContentEncodingsOfBodies) {
  const auto post_encoded = [](const std::string& name, const std::string& encoding) {
    return api().call("POST", kConfigMaps, to_json(config_map(name)),
                      {{"Content-Type", "application/json"}, {"Content-Encoding", encoding}});
  };
  for (const char* encoding : {"gzip", "br", "nonsense", "gzip, identity"}) {
    expect_failure(post_encoded("encoded", encoding), 415, "UnsupportedMediaType", "content encoding");
  }
  EXPECT_EQ(post_encoded("unencoded", "identity").status, 201);
}

TEST(BadInput, NegativeReplicasOfEveryKindWithAScale) {
  ASSERT_EQ(api()
                .post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json(R"({
      "metadata":{"name":"farms.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"farms","singular":"farm","kind":"Farm"},
        "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},
          "scale":{"specReplicasPath":".spec.size.replicas","statusReplicasPath":".status.replicas"}},
          "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"))
                .status,
            201);
  const std::string farms = "/apis/example.com/v1/namespaces/default/farms";
  const auto farm = [](const std::string& replicas) {
    return json(R"({"apiVersion":"example.com/v1","kind":"Farm","metadata":{"name":"f"},"spec":{"size":{"replicas":)" +
                replicas + "}}}");
  };
  ASSERT_TRUE(eventually([&] { return api().post(farms, farm("1")).status == 201; }));
  const auto with = [](Value object, const char* replicas) {
    object.edit("spec").set("replicas", json(replicas));
    return object;
  };
  const std::string apps = "/apis/apps/v1/namespaces/default/";
  Value set = deployment("negative");
  set.edit("spec").erase("strategy");
  const std::string patch = R"({"spec":{"replicas":-1}})";
  ASSERT_EQ(api().post(kDeployments, deployment("scaled")).status, 201);
  const Answer refused[] = {
      api().post(kDeployments, with(deployment("negative"), "-1")),
      api().post(apps + "replicasets", with(
                                           [&] {
                                             Value rs = set;
                                             rs.set("kind", "ReplicaSet");
                                             return rs;
                                           }(),
                                           "-1")),
      api().post(apps + "statefulsets", with(
                                            [&] {
                                              Value ss = set;
                                              ss.set("kind", "StatefulSet");
                                              return ss;
                                            }(),
                                            "-1")),
      api().post("/api/v1/namespaces/default/replicationcontrollers", json(R"({"metadata":{"name":"negative"},
          "spec":{"replicas":-1,"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},
          "spec":{"containers":[{"name":"c","image":"i"}]}}}})")),
      api().patch(kDeployments + "/scaled", "merge", json(patch)),
      api().patch(kDeployments + "/scaled/scale", "merge", json(patch)),
      api().patch(farms + "/f/scale", "merge", json(patch)),
      api().patch(farms + "/f", "merge", json(R"({"spec":{"size":{"replicas":-1}}})")),
      api().patch(farms + "/f", "merge", json(R"({"spec":{"size":{"replicas":2147483648}}})")),
      api().patch(farms + "/f/status", "merge", json(R"({"status":{"replicas":-1}})")),
  };
  for (const Answer& answer : refused) expect_failure(answer, 422, "Invalid", "replicas");
  EXPECT_EQ(api().patch(farms + "/f", "merge", json(R"({"spec":{"size":{"replicas":7}}})")).status, 200);
  ASSERT_EQ(api().remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/farms.example.com").status, 200);
}

TEST(BadInput, AFloodOfHeaders) {
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send("GET /api HTTP/1.1\r\nHost: x\r\n");
  bool accepted = true;
  for (int number = 0; accepted && number < 20'000; ++number) {
    accepted = raw.send("X-Header-" + std::to_string(number) + ": " + std::string(100, 'x') + "\r\n");
  }
  if (accepted) accepted = raw.send("\r\n");
  const std::string response = raw.read_until("\r\n\r\n", std::chrono::seconds{20});
  EXPECT_TRUE(response.empty() || response.starts_with("HTTP/1.1 4")) << response;
  expect_server_is_healthy();
}

TEST(BadInput, UnknownPaths) {  // PATH-6
  for (const char* path :
       {"/nowhere", "/api/v2", "/api/v1/sofas", "/apis/none.example.com/v1/things", "/apis/apps/v9/deployments",
        "/apis/apps/v1/namespaces/default/deployments/x/sofa", "/shiplog/v1/nonsense"}) {
    EXPECT_EQ(api().get(path).status, 404) << path;
  }
}

TEST(BadInput, MethodsThatAResourceDoesNotHave) {  // PATH-4, PATH-7
  expect_failure(api().call("PUT", kConfigMaps, "{}"), 405, "MethodNotAllowed");
  expect_failure(api().call("POST", kConfigMaps + "/x", "{}"), 405, "MethodNotAllowed");
  expect_failure(api().post("/api/v1/configmaps", config_map("x")), 405, "MethodNotAllowed");
  expect_failure(api().call("BREW", kConfigMaps), 405, "MethodNotAllowed");
  expect_failure(api().call("DELETE", "/shiplog/v1/state"), 405, "MethodNotAllowed");
}

TEST(BadInput, InvalidParameters) {
  EXPECT_EQ(api().get(kConfigMaps + "?limit=few").status, 400);
  EXPECT_EQ(api().get(kConfigMaps + "?watch=true&resourceVersion=soon").status, 422);
  EXPECT_EQ(api().get("/shiplog/v1/history?kind=sofa&name=x").status, 404);
  EXPECT_EQ(api().get("/shiplog/v1/history?kind=deployment").status, 400);
}

TEST(BadInput, RequestsWithoutACertificateAreRefused) {
  std::string text = read_file(plane().kubeconfig("plane"));
  for (const char* key : {"client-certificate-data:", "client-key-data:"}) {
    const size_t position = text.find(key);
    ASSERT_NE(position, std::string::npos);
    text.erase(position, text.find('\n', position) - position);
  }
  write_file(plane().path("anonymous.kubeconfig"), text);
  const ApiClient anonymous{plane().path("anonymous.kubeconfig")};
  expect_failure(anonymous.get(kConfigMaps), 401, "Unauthorized");
  expect_failure(anonymous.get("/shiplog/v1/audit"), 401, "Unauthorized");
  EXPECT_EQ(anonymous.get("/readyz").status, 200);
}

TEST(BadInput, InvalidFieldsAreNamed) {  // ERR-3
  Value object = deployment("misnamed");
  object.edit("spec").set("replicas", -1);
  const Answer answer = api().post(kDeployments, object);
  expect_failure(answer, 422, "Invalid", "spec.replicas");
  EXPECT_EQ(answer.json["details"]["name"].str(), "misnamed") << answer;
}

}  // namespace
}  // namespace shiplog::e2e
