// Watches (W-1 to W-17).
#include "tests/conformance/conformance.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

std::string newest(const std::string& collection) { return version_of(api().get(collection)); }

Answer label(const std::string& target, const std::string& value) {
  return api().patch(target, "merge", json(R"({"metadata":{"labels":{"l":")" + value + R"("}}})"));
}

TEST(Watches, W_01_a_watch_continues_a_list) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", "{}", R"({"l":"1"})")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b", "{}", R"({"l":"2"})")).status, 201);
  const auto watch = api().watch(maps + "?watch=true&labelSelector=l%3D1&limit=1&continue=ignored");
  const auto fields = api().watch(maps + "?watch=true&fieldSelector=metadata.name%3Db");
  ASSERT_TRUE(watch->wait_for(1) && fields->wait_for(1));
  ASSERT_EQ(label(maps + "/a", "1").status, 200);
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  ASSERT_EQ(api().remove(maps + "/b").status, 200);
  ASSERT_TRUE(watch->wait_for(2));
  ASSERT_TRUE(fields->wait_for(2));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "DELETED a"}));
  EXPECT_EQ(news_of(*fields), (Names{"ADDED b", "DELETED b"}));
}

TEST(Watches, W_02_headers_come_before_the_first_event) {
  const std::string maps = in(own_namespace(), "configmaps");
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send("GET " + maps + "?watch=1 HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n");
  const std::string response = raw.read_until("\r\n\r\n");
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 ")) << response;
  EXPECT_EQ(header_of(response, "Content-Type"), "application/json");
  EXPECT_EQ(header_of(response, "Transfer-Encoding"), "chunked");
  EXPECT_EQ(header_of(response, "Content-Length"), "");
}

TEST(Watches, W_03_an_event_is_a_line) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", R"({"k":"two\nlines"})")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const std::string response =
      send_raw("GET " + maps + "?watch=1&pretty=true&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  size_t lines = 0;
  for (size_t position = response.find(R"({"type":"ADDED","object":{)"); position != std::string::npos;
       position = response.find(R"({"type":"ADDED","object":{)", position + 1)) {
    const size_t end = response.find('\n', position);
    ASSERT_NE(end, std::string::npos);
    EXPECT_TRUE(parse_json(std::string_view{response}.substr(position, end - position)).has_value());
    ++lines;
  }
  EXPECT_EQ(lines, 2u) << response;
}

TEST(Watches, W_04_objects_have_their_kind) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const auto watch = api().watch(deployments + "?watch=1&resourceVersion=" + newest(deployments));
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  ASSERT_EQ(label(deployments + "/web", "1").status, 200);
  ASSERT_EQ(api().remove(deployments + "/web").status, 200);
  ASSERT_TRUE(watch->wait_for(3));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED web", "MODIFIED web", "DELETED web"}));
  for (const Value& event : watch->events()) {
    EXPECT_EQ(event["object"]["kind"].str(), "Deployment");
    EXPECT_EQ(event["object"]["apiVersion"].str(), "apps/v1");
    EXPECT_EQ(event["object"]["metadata"]["namespace"].str(), ns);
  }
}

TEST(Watches, W_05_where_a_watch_begins) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  const std::string from = newest(maps);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const auto absent = api().watch(maps + "?watch=1");
  const auto zero = api().watch(maps + "?watch=1&resourceVersion=0");
  const auto after = api().watch(maps + "?watch=1&resourceVersion=" + from);
  const auto selected = api().watch(maps + "?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Da");
  ASSERT_TRUE(absent->wait_for(2) && zero->wait_for(2) && after->wait_for(1) && selected->wait_for(1));
  ASSERT_EQ(label(maps + "/a", "1").status, 200);
  ASSERT_TRUE(absent->wait_for(3) && zero->wait_for(3) && after->wait_for(2) && selected->wait_for(2));
  const Names from_state{"ADDED a", "ADDED b", "MODIFIED a"};
  EXPECT_EQ(news_of(*absent), from_state);
  EXPECT_EQ(news_of(*zero), from_state);
  EXPECT_EQ(news_of(*after), (Names{"ADDED b", "MODIFIED a"}));
  EXPECT_EQ(news_of(*selected), (Names{"ADDED a", "MODIFIED a"}));
}

TEST(Watches, W_06_versions_only_grow) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string from = newest(maps);
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + from);
  Names written;
  for (const char* name : {"a", "b", "c"}) written.push_back(version_of(api().post(maps, config_map(name))));
  for (const char* name : {"a", "b", "c"}) written.push_back(version_of(label(maps + "/" + name, "1")));
  ASSERT_EQ(api().remove(maps).status, 200);
  ASSERT_TRUE(watch->wait_for(9));
  uint64_t last = std::stoull(from);
  for (size_t index = 0; index < 9; ++index) {
    const std::string version = version_of(watch->events()[index]["object"]);
    if (index < written.size()) {
      EXPECT_EQ(version, written[index]);
    }
    EXPECT_GT(std::stoull(version), last);
    last = std::stoull(version);
  }
  const auto again = api().watch(maps + "?watch=1&resourceVersion=" + from);
  ASSERT_TRUE(again->wait_for(9)) << "all changes are in the past";
  EXPECT_EQ(again->events(), watch->events());
}

TEST(Watches, W_07_in_and_out_of_a_selector) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", R"({"k":"old"})", R"({"l":"0"})")).status, 201);
  const auto watch = api().watch(maps + "?watch=1&labelSelector=l%3D1&resourceVersion=" + newest(maps));
  ASSERT_EQ(label(maps + "/a", "1").status, 200);
  ASSERT_EQ(api().patch(maps + "/a", "merge", json(R"({"data":{"k":"new"}})")).status, 200);
  const Answer out = api().patch(maps + "/a", "merge", json(R"({"metadata":{"labels":{"l":"2"}},"data":{"k":"out"}})"));
  ASSERT_EQ(label(maps + "/a", "3").status, 200);
  ASSERT_EQ(label(maps + "/a", "1").status, 200);
  const Answer removed = api().remove(maps + "/a");
  ASSERT_EQ(removed.status, 200);
  ASSERT_TRUE(watch->wait_for(5));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"}));
  const Value deleted = watch->events()[2]["object"];
  EXPECT_EQ(deleted["data"]["k"].str(), "new") << "the old content";
  EXPECT_EQ(version_of(deleted), version_of(out)) << "the new version";
  // Field selectors work in the same way.
  const std::string pods = in(ns, "pods");
  const auto running = api().watch(pods + "?watch=1&fieldSelector=status.phase%3DRunning");
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  for (const char* phase : {"Running", "Succeeded"}) {
    ASSERT_EQ(
        api().patch(pods + "/p/status", "merge", json(R"({"status":{"phase":")" + std::string{phase} + "\"}}")).status,
        200);
  }
  ASSERT_TRUE(running->wait_for(2));
  EXPECT_EQ(news_of(*running), (Names{"ADDED p", "DELETED p"}));
}

TEST(Watches, W_08_every_change_is_an_event) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + newest(maps));
  for (int round = 0; round < 30; ++round) {
    ASSERT_EQ(api().patch(maps + "/a", "merge", json(R"({"data":{"k":")" + std::to_string(round) + R"("}})")).status,
              200);
  }
  ASSERT_TRUE(watch->wait_for(30));
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(watch->events()[static_cast<size_t>(round)]["object"]["data"]["k"].str(), std::to_string(round));
  }
}

TEST(Watches, W_10_versions_from_the_future_and_none) {
  const std::string maps = in(own_namespace(), "configmaps");
  const uint64_t head = std::stoull(newest(maps));
  const auto waits = api().watch(maps + "?watch=1&resourceVersion=" + std::to_string(head + 2));
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(api().post(maps, config_map(name)).status, 201);
  ASSERT_TRUE(waits->wait_for(1));
  for (const Value& event : waits->events()) EXPECT_GT(std::stoull(version_of(event["object"])), head + 2);
  EXPECT_EQ(news_of(*waits).back(), "ADDED c");
  const auto future = api().watch(maps +
                                  "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                                  "allowWatchBookmarks=true&resourceVersion=999999999");
  ASSERT_TRUE(future->wait_for(1));
  const Value event = future->events()[0];
  EXPECT_EQ(event["type"].str(), "ERROR");
  EXPECT_EQ(event["object"]["code"].as_int(), 504);
  EXPECT_EQ(event["object"]["details"]["causes"][0]["reason"].str(), "ResourceVersionTooLarge") << to_json(event);
  expect_failure(api().get(maps + "?watch=1&resourceVersion=soon"), 422, "Invalid", "resourceVersion");
}

TEST(Watches, W_11_they_end_in_time_and_in_order) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string response = send_raw("GET " + maps + "?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(response.ends_with("0\r\n\r\n")) << response;
}

TEST(Watches, W_13_bookmarks_are_sent_on_request) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string from = newest(maps);
  const auto asked = api().watch(maps + "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=" + from);
  const auto did_not = api().watch(maps + "?watch=1&timeoutSeconds=1&resourceVersion=" + from);
  const Answer elsewhere = api().post(in(own_namespace(), "configmaps"), config_map("a"));
  ASSERT_EQ(elsewhere.status, 201);
  ASSERT_TRUE(eventually([&] { return asked->ended() && did_not->ended(); }));
  EXPECT_EQ(news_of(*did_not), Names{});
  ASSERT_EQ(news_of(*asked), Names{"BOOKMARK"});
  const Value mark = asked->events()[0]["object"];
  EXPECT_EQ(mark["kind"].str(), "ConfigMap");
  EXPECT_EQ(mark["apiVersion"].str(), "v1");
  EXPECT_TRUE(mark["metadata"].contains("creationTimestamp"));
  EXPECT_GE(std::stoull(version_of(mark)), std::stoull(version_of(elsewhere)));
}

TEST(Watches, W_14_a_list_as_a_stream) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const std::string streamed =
      maps + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  for (const std::string& version : {std::string{}, std::string{"0"}, newest(maps)}) {
    const auto watch = api().watch(streamed + (version.empty() ? "" : "&resourceVersion=" + version));
    ASSERT_TRUE(watch->wait_for(3));
    EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "ADDED b", "BOOKMARK"})) << version;
    const Value mark = watch->events()[2]["object"];
    EXPECT_EQ(mark["metadata"]["annotations"]["k8s.io/initial-events-end"].str(), "true");
    EXPECT_EQ(mark["kind"].str(), "ConfigMap");
    EXPECT_FALSE(version_of(mark).empty());
  }
  const auto live = api().watch(streamed);
  ASSERT_TRUE(live->wait_for(3));
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  ASSERT_TRUE(live->wait_for(4));
  EXPECT_EQ(news_of(*live).back(), "DELETED a");
}

TEST(Watches, W_15_invalid_parameters_are_refused) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* wrong : {"sendInitialEvents=true", "sendInitialEvents=true&resourceVersionMatch=Exact",
                            "resourceVersionMatch=NotOlderThan&resourceVersion=1", "resourceVersionMatch=Exact"}) {
    expect_failure(api().get(maps + "?watch=1&" + wrong), 422, "Invalid");
  }
}

TEST(Watches, W_16_tables_and_metadata_event_by_event) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", R"({"k":"v"})")).status, 201);
  const auto table = api().watch(maps + "?watch=1", kTable);
  const auto partial = api().watch(maps + "?watch=1", kPartialList + "," + kPartial);
  ASSERT_TRUE(table->wait_for(1) && partial->wait_for(1));
  ASSERT_EQ(label(maps + "/a", "1").status, 200);
  ASSERT_TRUE(table->wait_for(2) && partial->wait_for(2));
  const Value first = table->events()[0]["object"];
  EXPECT_EQ(first["kind"].str(), "Table");
  EXPECT_EQ(first["columnDefinitions"].size(), 3u);
  ASSERT_EQ(first["rows"].size(), 1u);
  EXPECT_EQ(first["rows"][0]["cells"][0].str(), "a");
  EXPECT_EQ(first["rows"][0]["object"]["kind"].str(), "PartialObjectMetadata");
  const Value second = table->events()[1]["object"];
  EXPECT_EQ(second["columnDefinitions"].size(), 0u);
  EXPECT_EQ(second["rows"].size(), 1u);
  EXPECT_FALSE(version_of(second).empty());
  EXPECT_EQ(partial->events()[1]["object"]["kind"].str(), "PartialObjectMetadata");
  EXPECT_FALSE(partial->events()[1]["object"].contains("data"));
}

TEST(Watches, W_17_they_outlive_their_namespace_but_not_their_kind) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  const auto watch = api().watch(maps + "?watch=1");
  ASSERT_TRUE(watch->wait_for(1));
  ASSERT_EQ(api().remove("/api/v1/namespaces/" + ns).status, 200);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "DELETED a"}));
  EXPECT_FALSE(watch->ended());
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  ASSERT_EQ(api()
                .post(definitions, yaml("{metadata: {name: passing.watch.example.com}, spec: {group: "
                                        "watch.example.com, scope: Cluster, names: {plural: passing, kind: Passing}, "
                                        "versions: [{name: v1, served: true, storage: true, schema: "
                                        "{openAPIV3Schema: {type: object}}}]}}"))
                .status,
            201);
  const std::string passing = "/apis/watch.example.com/v1/passing";
  ASSERT_TRUE(eventually([&] { return api().get(passing).status == 200; }));
  ASSERT_EQ(
      api()
          .post(passing, json(R"({"apiVersion":"watch.example.com/v1","kind":"Passing","metadata":{"name":"p"}})"))
          .status,
      201);
  const auto of_kind = api().watch(passing + "?watch=1");
  ASSERT_TRUE(of_kind->wait_for(1));
  ASSERT_EQ(api().remove(definitions + "/passing.watch.example.com").status, 200);
  ASSERT_TRUE(eventually([&] { return of_kind->ended(); }));
  EXPECT_EQ(news_of(*of_kind), (Names{"ADDED p", "DELETED p"}));
}

TEST(Watches, W_17_they_end_when_the_schema_of_their_kind_changes) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string definition = definitions + "/growing.watch.example.com";
  ASSERT_EQ(api()
                .post(definitions, yaml("{metadata: {name: growing.watch.example.com}, spec: {group: "
                                        "watch.example.com, scope: Cluster, names: {plural: growing, kind: Growing}, "
                                        "versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: "
                                        "{type: object, properties: {a: {type: string}}}}}]}}"))
                .status,
            201);
  const std::string growing = "/apis/watch.example.com/v1/growing";
  ASSERT_TRUE(eventually([&] { return api().get(growing).status == 200; }));
  const auto watch = api().watch(growing + "?watch=1");
  ASSERT_EQ(api().patch(definition, "merge", json(R"({"metadata":{"labels":{"a":"b"}}})")).status, 200);
  ASSERT_EQ(api().post(growing, json(R"({"metadata":{"name":"g"},"a":"1"})")).status, 201);
  ASSERT_TRUE(watch->wait_for(1)) << "a label of the definition changes no schema";
  EXPECT_FALSE(watch->ended());
  ASSERT_EQ(api()
                .patch(definition, "json",
                       json(R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/b",)"
                            R"("value":{"type":"string"}}])"))
                .status,
            200);
  ASSERT_TRUE(eventually([&] { return watch->ended(); }));
  ASSERT_EQ(api().patch(growing + "/g", "merge", json(R"({"b":"2"})")).status, 200);
  const auto next = api().watch(growing + "?watch=1&resourceVersion=" + version_of(watch->events()[0]["object"]));
  ASSERT_TRUE(next->wait_for(1));
  EXPECT_EQ(next->events()[0]["object"]["b"].str(), "2");
  EXPECT_EQ(api().remove(definition).status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
