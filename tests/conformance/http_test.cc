// HTTP and TLS (HTTP-1 to HTTP-17).
#include <algorithm>

#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/http/tls.h"
#include "tests/conformance/conformance.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

std::string head(const std::string& method, const std::string& target, const std::string& fields = {}) {
  return method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

std::string with_length(const std::string& body, const std::string& fields = {}) {
  return fields + "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

TEST(Http, HTTP_01_a_connection_serves_one_request_after_the_other) {
  RawConnection raw{plane().kubeconfig("plane")};
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(raw.send(head("GET", "/livez")));
    EXPECT_TRUE(raw.read_until("\r\n\r\nok").starts_with("HTTP/1.1 200 ")) << round;
  }
}

TEST(Http, HTTP_02_bodies_can_be_chunked) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string chunks = "10\r\n{\"metadata\":{\"na\r\n11\r\nme\":\"in-chunks\"}}\r\n0\r\n\r\n";
  const std::string response = send_raw(head("POST", maps, "Transfer-Encoding: chunked\r\n"), chunks);
  EXPECT_TRUE(response.starts_with("HTTP/1.1 201 ")) << response;
  EXPECT_EQ(api().get(maps + "/in-chunks").status, 200);
}

TEST(Http, HTTP_03_a_missing_content_type_means_json_but_for_patches) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const std::string body = R"({"metadata":{"name":"typeless"}})";
  EXPECT_TRUE(send_raw(head("POST", maps, with_length(body)), body).starts_with("HTTP/1.1 201 "));
  const std::string deployments = in(ns, "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const std::string scale = R"({"metadata":{"name":"web"},"spec":{"replicas":4}})";
  const std::string response = send_raw(head("PUT", deployments + "/web/scale", with_length(scale)), scale);
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 ")) << response;
  EXPECT_EQ(api().get(deployments + "/web").json["spec"]["replicas"].as_int(), 4);
  const std::string patch = R"({"data":{"a":"1"}})";
  const std::string refused = send_raw(head("PATCH", maps + "/typeless", with_length(patch)), patch);
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 415 ")) << refused;
}

TEST(Http, HTTP_04_parameters_behind_the_media_type_are_ignored) {
  const std::string maps = in(own_namespace(), "configmaps");
  const HttpHeaders type{{"Content-Type", "application/json; charset=utf-8"}};
  EXPECT_EQ(api().call("POST", maps, R"({"metadata":{"name":"a"}})", type).status, 201);
  const HttpHeaders patch{{"Content-Type", "application/merge-patch+json;charset=UTF-8"}};
  EXPECT_EQ(api().call("PATCH", maps + "/a", R"({"data":{"a":"1"}})", patch).status, 200);
}

TEST(Http, HTTP_05_a_content_type_without_a_body_is_accepted) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  const std::string field = "Content-Type: application/json\r\n";
  EXPECT_TRUE(send_raw(head("GET", maps + "/a", field)).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(send_raw(head("DELETE", maps + "/a", field)).starts_with("HTTP/1.1 200 "));
}

TEST(Http, HTTP_06_a_slash_at_the_end_is_ignored_and_segments_are_decoded) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps + "/", config_map("a")).status, 201);
  for (const std::string& path : {std::string{"/version/"}, std::string{"/apis/"}, std::string{"/api/"},
                                  std::string{"/api/v1/"}, maps + "/", maps + "/a/", maps + "/%61"}) {
    EXPECT_EQ(api().get(path).status, 200) << path;
  }
  EXPECT_EQ(api().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Adiscovery").status, 200);
}

TEST(Http, HTTP_07_a_timeout_is_a_go_duration) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* good : {"32s", "1m30s", "2s", "1h", "500ms", "1.5s", "0"}) {
    EXPECT_EQ(api().get(maps + "?timeout=" + good).status, 200) << good;
    EXPECT_EQ(api().get(std::string{"/api?timeout="} + good).status, 200) << good;
  }
  for (const char* bad : {"soon", "12", "5x", "-", "s", "-5s"}) {
    expect_failure(api().get(maps + "?timeout=" + bad), 400, "BadRequest", "timeout");
  }
  expect_failure(api().get(maps + "?watch=1&timeout=-5s"), 400, "BadRequest", "timeout");
  const auto watch = api().watch(maps + "?watch=1&timeout=1ms&timeoutSeconds=30");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  EXPECT_TRUE(watch->wait_for(1));
  EXPECT_FALSE(watch->ended());
}

TEST(Http, HTTP_08_flags_are_true_unless_0_or_false) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  for (const char* yes : {"watch=True", "watch=true", "watch=1", "watch=", "watch", "watch=yes"}) {
    const auto watch = api().watch(maps + "?" + yes);
    ASSERT_TRUE(watch->wait_for(1)) << yes;
    EXPECT_EQ(watch->events()[0]["type"].str(), "ADDED") << yes;
  }
  for (const char* no : {"watch=0", "watch=false", "watch=False", "watch=FALSE", "nonsense=1"}) {
    EXPECT_EQ(names_of(api().get(maps + "?" + no)), Names{"a"}) << no;
  }
  EXPECT_NE(api().get(maps + "/a?pretty").body.find("\n  \""), std::string::npos);
  EXPECT_EQ(api().get(maps + "/a?pretty=0").body.find("\n  \""), std::string::npos);
  const auto marked = api().watch(maps +
                                  "?watch=1&allowWatchBookmarks=True&sendInitialEvents=1"
                                  "&resourceVersionMatch=NotOlderThan");
  ASSERT_TRUE(marked->wait_for(2));
  EXPECT_EQ(marked->events()[1]["type"].str(), "BOOKMARK");
  for (const char* wrong :
       {"limit=few", "watch=1&timeoutSeconds=1.5", "watch=1&timeoutSeconds=-1", "timeoutSeconds=-1"}) {
    EXPECT_EQ(api().get(maps + "?" + wrong).status, 400) << wrong;
  }
}

TEST(Http, HTTP_09_bodies_and_patches_have_limits) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  std::string operations = "[";
  for (int index = 0; index < 10'001; ++index) {
    operations += std::string{index == 0 ? "" : ","} + R"({"op":"test","path":"/kind","value":"ConfigMap"})";
  }
  const Answer many =
      api().call("PATCH", maps + "/a", operations + "]", {{"Content-Type", "application/json-patch+json"}});
  expect_failure(many, 413, "RequestEntityTooLarge", "10000");
  const Answer large = api().call("POST", maps, std::string(3 * 1024 * 1024 + 1, ' '));
  expect_failure(large, 413, "RequestEntityTooLarge");
}

TEST(Http, HTTP_10_large_responses_are_compressed_on_request_watches_never) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send(head("GET", maps + "?watch=1", "Accept-Encoding: gzip\r\n"));
  const std::string response = raw.read_until("ADDED");
  EXPECT_EQ(header_of(response, "Content-Encoding"), "") << response;
  const std::string large = send_raw(head("GET", "/openapi/v3/api/v1", "Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(header_of(large, "Content-Encoding"), "gzip");
  EXPECT_EQ(header_of(large, "Vary"), "Accept, Accept-Encoding");
  EXPECT_NE(large.find("\r\n\r\n\x1f\x8b"), std::string::npos) << "a gzip member";
  const std::string plain = send_raw(head("GET", "/openapi/v3/api/v1", "Accept-Encoding: identity\r\n"));
  EXPECT_EQ(header_of(plain, "Content-Encoding"), "");
  EXPECT_GT(plain.size(), 3 * large.size());
  const std::string small = send_raw(head("GET", maps, "Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(header_of(small, "Content-Encoding"), "");
}

TEST(Http, HTTP_11_answers_carry_an_audit_id_their_caching_and_a_date) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const std::string& target : {maps, maps + "/none", std::string{"/nowhere"}}) {
    const Answer echoed = api().call("GET", target, {}, {{"Audit-Id", "8dd9a6b4-0000-4000-8000-123456789abc"}});
    EXPECT_EQ(echoed.headers.get("Audit-Id"), "8dd9a6b4-0000-4000-8000-123456789abc") << target << echoed;
    const Answer made = api().get(target);
    EXPECT_EQ(made.headers.get("Audit-Id").size(), 36u) << target;
    EXPECT_NE(made.headers.get("Audit-Id"), api().get(target).headers.get("Audit-Id"));
    EXPECT_EQ(made.headers.get("Cache-Control"), "no-cache, private") << target;
    EXPECT_TRUE(made.headers.get("Date").ends_with(" GMT")) << target;
  }
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send(head("GET", maps + "?watch=1"));
  EXPECT_EQ(header_of(raw.read_until("\r\n\r\n"), "Audit-Id").size(), 36u);
}

TEST(Http, HTTP_12_warnings_are_headers_one_each) {
  const std::string ns = own_namespace();
  const Answer made = api().call("POST", in(ns, "configmaps"), R"({"metadata":{"name":"a"},"sofa":1,"chair \"x\"":2})");
  ASSERT_EQ(made.status, 201) << made;
  Names warnings = warnings_of(made);
  std::ranges::sort(warnings);
  ASSERT_EQ(warnings.size(), 2u) << made;
  EXPECT_TRUE(warnings[0].starts_with(R"(299 - "unknown field \"chair )")) << warnings[0];
  EXPECT_EQ(warnings[1], R"(299 - "unknown field \"sofa\"")");
  const Answer pod = api().call("POST", in(ns, "pods"), R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c",
      "image":"i","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]}})");
  EXPECT_EQ(warnings_of(pod),
            Names{R"(299 - "spec.containers[0].env[1]: hides previous definition of \"A\", which may be )"
                  R"(dropped when using apply")"})
      << pod;
  EXPECT_EQ(warnings_of(api().get(in(ns, "endpoints"))),
            Names{R"(299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")"});
}

TEST(Http, HTTP_13_head_is_get_without_a_body) {
  for (const char* path : {"/version", "/livez"}) {
    const std::string response = send_raw(head("HEAD", path));
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 ")) << response;
    EXPECT_TRUE(response.ends_with("\r\n\r\n")) << response;
  }
}

TEST(Http, HTTP_14_the_certificate_names_the_address_and_unknown_clients_are_unauthorized) {
  const auto config = read_kubeconfig({plane().kubeconfig("plane")});
  ASSERT_TRUE(config.has_value());
  ClientTarget target = context_of(config.value()).value().target;
  EXPECT_FALSE(target.insecure);  // so every request here has checked the name already
  const auto stranger_authority = make_authority("strangers", valid_for_days(SystemClock{}.now(), 1)).value();
  const auto stranger = issue_client_certificate(stranger_authority, "stranger", {"system:masters"},
                                                 valid_for_days(SystemClock{}.now(), 1));
  ASSERT_TRUE(stranger.has_value());
  target.certificate_pem = stranger.value().certificate_pem;
  target.key_pem = stranger.value().key_pem;
  ASSERT_TRUE(write_kubeconfig(plane().path("stranger.kubeconfig"), "stranger", target));
  const ApiClient client{plane().path("stranger.kubeconfig")};
  expect_failure(client.get("/api/v1/namespaces"), 401, "Unauthorized", "Unauthorized");
}

TEST(Http, HTTP_17_a_stopping_server_ends_watches_in_order) {
  Fleet fleet;
  fleet.serve("leaving");
  RawConnection raw{fleet.kubeconfig("leaving")};
  raw.send(head("GET", "/api/v1/namespaces?watch=1"));
  raw.read_until("default");
  EXPECT_EQ(fleet.process("leaving").terminate(), 0);
  EXPECT_TRUE(raw.read_until("").ends_with("0\r\n\r\n"));
}

}  // namespace
}  // namespace shiplog::e2e
