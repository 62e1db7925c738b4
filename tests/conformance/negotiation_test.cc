// Media types of requests and responses (NEG-1 to NEG-10).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

std::string with_map(const char* name = "a") {
  const std::string maps = in(own_namespace(), "configmaps");
  EXPECT_EQ(api().post(maps, config_map(name, R"({"k":"v"})")).status, 201);
  return maps;
}

TEST(Negotiation, NEG_01_the_first_clause_that_can_be_served) {
  const std::string one = with_map() + "/a";
  for (const char* accept :
       {"*/*", "application/*", "application/json, */*;q=0.8", "application/json, */*",
        "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf, */*",
        "text/html, application/json;q=0.1", "application/json;charset=utf-8", "application/cbor, application/json"}) {
    const Answer answer = api().get(one, accept);
    EXPECT_EQ(answer.status, 200) << accept;
    EXPECT_EQ(answer.headers.get("Content-Type"), "application/json") << accept;
  }
  EXPECT_EQ(api().get(one, "application/json;q=0.5, application/yaml").headers.get("Content-Type"), "application/yaml");
  // Parameters in any order.
  EXPECT_EQ(api().get(one, "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata").json["kind"].str(),
            "PartialObjectMetadata");
  const std::string response = send_raw("GET " + one + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(header_of(response, "Content-Type"), "application/json");
}

TEST(Negotiation, NEG_02_nothing_acceptable) {
  const std::string maps = with_map();
  for (const char* accept :
       {"text/html", "application/cbor", "application/json;q=0", "application/json;as=Sofa;v=v1;g=meta.k8s.io"}) {
    const Answer answer = api().get(maps + "/a", accept);
    expect_failure(answer, 406, "NotAcceptable", "application/json");
  }
  // What is answered to a review is no row of a table.
  for (const auto& [path, body] : {std::pair{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                             R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})"},
                                   std::pair{"/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"}}) {
    const auto review = [&, target = path, text = body](const std::string& accept) {
      return api().call("POST", target, text, {{"Accept", accept}});
    };
    const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    expect_failure(review(table), 406, "NotAcceptable", "application/json");
    const Answer plain = review(table + ",application/json");
    EXPECT_EQ(plain.status, 201) << plain;
    EXPECT_NE(plain.json["kind"].str(), "Table");
  }
}

TEST(Negotiation, NEG_03_yaml_and_indented_json) {
  const std::string one = with_map() + "/a";
  const Answer yaml_answer = api().get(one, "application/yaml");
  EXPECT_NE(yaml_answer.body.find("kind: ConfigMap\n"), std::string::npos) << yaml_answer;
  EXPECT_NE(api().get(one + "?pretty=true").body.find("\n  \"kind\""), std::string::npos);
  for (const char* browser : {"curl/8.5.0", "Wget/1.21", "Mozilla/5.0 (X11)"}) {
    const Answer answer = api().call("GET", one, {}, {{"User-Agent", browser}});
    EXPECT_NE(answer.body.find("\n  \"kind\""), std::string::npos) << browser;
  }
  EXPECT_EQ(api().call("GET", one, {}, {{"User-Agent", "kubectl/v1.33.1"}}).body.find("\n  \""), std::string::npos);
}

TEST(Negotiation, NEG_04_bodies_are_json_yaml_or_protobuf) {
  const std::string maps = in(own_namespace(), "configmaps");
  EXPECT_EQ(api().post(maps, config_map("a")).status, 201);
  const Answer made = api().call("POST", maps, "metadata: {name: b}\ndata:\n  k: |\n    two\n    lines\n",
                                 {{"Content-Type", "application/yaml"}});
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"]["k"].str(), "two\nlines\n");
  EXPECT_EQ(send_protobuf("POST", maps, config_map("c", R"({"k":"v"})")).status, 201);
  for (const char* type :
       {"text/plain", "application/cbor", "application/xml", "application/strategic-merge-patch+json"}) {
    const Answer refused = api().call("POST", maps, "{}", {{"Content-Type", type}});
    expect_failure(refused, 415, "UnsupportedMediaType", "application/json");
  }
}

TEST(Negotiation, NEG_05_tables_and_metadata_on_request) {
  const std::string maps = with_map();
  for (const char* version : {"v1", "v1beta1"}) {
    const std::string form = std::string{";g=meta.k8s.io;v="} + version;
    const Answer table = api().get(maps, "application/json;as=Table" + form);
    EXPECT_EQ(table.json["kind"].str(), "Table") << table;
    EXPECT_EQ(table.json["apiVersion"].str(), std::string{"meta.k8s.io/"} + version);
    EXPECT_EQ(table.headers.get("Content-Type"), "application/json");
    const Answer list = api().get(maps, "application/json;as=PartialObjectMetadataList" + form);
    EXPECT_EQ(list.json["apiVersion"].str(), std::string{"meta.k8s.io/"} + version);
    EXPECT_EQ(list.json["items"][0]["metadata"]["name"].str(), "a");
    const Answer one = api().get(maps + "/a", "application/json;as=PartialObjectMetadata" + form);
    EXPECT_EQ(one.json["apiVersion"].str(), std::string{"meta.k8s.io/"} + version);
    EXPECT_FALSE(one.json.contains("data"));
  }
  const HttpHeaders partial{{"Accept", kPartial}};
  const Answer made = api().call("POST", maps, R"({"metadata":{"name":"b"},"data":{"k":"v"}})", partial);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.json["kind"].str(), "PartialObjectMetadata") << made;
  const Answer put = api().call("PUT", maps + "/b", R"({"metadata":{"name":"b"},"data":{"k":"w"}})", partial);
  EXPECT_EQ(put.json["kind"].str(), "PartialObjectMetadata") << put;
  HttpHeaders patch = partial;
  patch.set("Content-Type", "application/merge-patch+json");
  const Answer patched = api().call("PATCH", maps + "/b", R"({"metadata":{"labels":{"l":"1"}}})", patch);
  EXPECT_EQ(patched.json["kind"].str(), "PartialObjectMetadata") << patched;
  EXPECT_EQ(patched.json["metadata"]["labels"]["l"].str(), "1");
  const auto watch = api().watch(maps + "?watch=1", kPartial);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(watch->events()[0]["object"]["kind"].str(), "PartialObjectMetadata");
  EXPECT_EQ(watch->events()[0]["object"]["apiVersion"].str(), "meta.k8s.io/v1");
}

TEST(Negotiation, NEG_06_the_form_of_a_list_is_for_lists) {
  const std::string maps = with_map();
  expect_failure(api().get(maps, kPartial), 406, "NotAcceptable");
  expect_failure(api().get(maps + "/a", kPartialList), 406, "NotAcceptable");
  EXPECT_EQ(api().get(maps, kPartial + ",application/json").json["kind"].str(), "ConfigMapList");
}

TEST(Negotiation, NEG_07_metadata_clients_are_answered_in_json) {
  const std::string maps = with_map();
  const std::string form = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  const Answer list = api().get(maps, kProtobuf + form + ",application/json" + form + ",application/json");
  EXPECT_EQ(list.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(list.json["kind"].str(), "PartialObjectMetadataList") << list;
}

TEST(Negotiation, NEG_08_a_status_is_never_transformed) {
  const std::string maps = with_map();
  for (const std::string& accept : {kTable, kPartial}) {
    const Answer missing = api().get(maps + "/none", accept);
    expect_failure(missing, 404, "NotFound");
  }
  const Answer removed = api().call("DELETE", maps + "/a", {}, {{"Accept", kTable}});
  EXPECT_EQ(removed.json["kind"].str(), "Status") << removed;
  EXPECT_EQ(removed.json["status"].str(), "Success");
}

TEST(Negotiation, NEG_09_the_form_of_json_in_responses) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const Answer empty = api().get(maps);
  EXPECT_NE(empty.body.find(R"("items":[])"), std::string::npos) << empty;
  EXPECT_TRUE(empty.body.ends_with("\n"));
  const Answer secret = api().post(in(ns, "secrets"), json(R"({"metadata":{"name":"s"},"data":{"k":"AAEC/w=="}})"));
  EXPECT_EQ(secret.json["data"]["k"].str(), "AAEC/w==") << secret;
  EXPECT_TRUE(secret.json["metadata"]["resourceVersion"].is_string());
  EXPECT_TRUE(secret.json["metadata"]["uid"].is_string());
  const std::string created = secret.json["metadata"]["creationTimestamp"].str();
  EXPECT_EQ(created.size(), 20u) << created;
  EXPECT_TRUE(created.ends_with("Z"));
  // Exact 64-bit numbers.
  const Answer pod = api().post(in(ns, "pods"), yaml("{metadata: {name: p}, spec: {activeDeadlineSeconds: "
                                                     "2147483647, containers: [{name: c, image: i}]}}"));
  EXPECT_NE(pod.body.find(R"("activeDeadlineSeconds":2147483647)"), std::string::npos) << pod;
  // Times are returned with seconds or microseconds, whatever notation the client used.
  const std::string leases = in(ns, "leases", "coordination.k8s.io/v1");
  for (const auto& [sent, kept] : {std::pair{"2026-11-21T02:03:04Z", "2026-11-21T02:03:04.000000Z"},
                                   std::pair{"2026-11-21T02:03:04.5Z", "2026-11-21T02:03:04.500000Z"},
                                   std::pair{"2026-11-21T02:03:04.123456789Z", "2026-11-21T02:03:04.123456Z"},
                                   std::pair{"2026-11-21T03:03:04.123456+01:00", "2026-11-21T02:03:04.123456Z"}}) {
    Value lease = json(R"({"metadata":{"generateName":"l-"},"spec":{}})");
    lease.edit("spec").set("renewTime", sent);
    const Answer made = api().post(leases, lease);
    EXPECT_EQ(made.json["spec"]["renewTime"].str(), kept) << made;
  }
  const Answer status = api().patch(in(ns, "pods") + "/p/status", "merge",
                                    json(R"({"status":{"startTime":"2026-11-21T03:03:04.9+01:00"}})"));
  EXPECT_EQ(status.json["status"]["startTime"].str(), "2026-11-21T02:03:04Z") << status;
}

TEST(Negotiation, NEG_10_the_form_of_json_in_requests) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const Answer nulls = api().post(
      maps, json(R"({"metadata":{"name":"n","creationTimestamp":null,"labels":null},"data":null,"binaryData":null})"));
  ASSERT_EQ(nulls.status, 201) << nulls;
  EXPECT_FALSE(nulls.json.contains("data"));
  const Answer cased = api().post(maps, json(R"({"metadata":{"name":"c"},"Data":{"a":"b"}})"));
  ASSERT_EQ(cased.status, 201);
  EXPECT_FALSE(cased.json.contains("data")) << "names of fields are case-sensitive";
  const std::string deployments = in(ns, "deployments", "apps/v1");
  Value typed = deployment("typed");
  typed.set("status", Value::object());
  typed.edit("spec").edit("template").edit("metadata").set("creationTimestamp", Value{});
  const Answer made = api().post(deployments, typed);
  ASSERT_EQ(made.status, 201) << made;
  // A client sends back a time in another notation than it read.
  Value back = made.json;
  std::string created = back["metadata"]["creationTimestamp"].str();
  created.pop_back();
  for (const char* ending : {"+00:00", ".000Z"}) {
    back.edit("metadata").set("creationTimestamp", created + ending);
    const Answer again = api().put(deployments + "/typed", back);
    EXPECT_EQ(again.status, 200) << again;
    EXPECT_EQ(version_of(again), version_of(made));
  }
  for (const char* wrong : {"\"3\"", "1.5", "true"}) {
    Value number = deployment("wrong");
    number.edit("spec").set("replicas", json(wrong));
    expect_failure(api().post(deployments, number), 400, "BadRequest");
  }
  Value text = config_map("wrong");
  text.set("data", json(R"({"a":1})"));
  expect_failure(api().post(maps, text), 400, "BadRequest");
}

}  // namespace
}  // namespace shiplog::e2e
