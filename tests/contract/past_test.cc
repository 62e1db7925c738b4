// /at/MOMENT/...: a fleet as it was, for unmodified clients.
#include "events/base/json.h"
#include "services/http/http.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";

std::string version_of(const Answer& answer) { return answer.json["metadata"]["resourceVersion"].str(); }
std::string at(const std::string& revision, const std::string& target) { return "/at/r" + revision + target; }

Answer as(const std::string& user, const std::string& target, const std::string& method = "GET") {
  return api().call(method, target, {}, HttpHeaders{{"Impersonate-User", user}});
}

/// A ConfigMap that was created, changed and deleted: the revisions at which that was so.
struct Life {
  std::string created, changed, deleted;
};
Life life_of(const std::string& name) {
  Life life;
  life.created = version_of(api().post(kConfigMaps, config_map(name, R"({"a":"1"})")));
  life.changed = version_of(api().put(kConfigMaps + "/" + name, config_map(name, R"({"a":"2"})")));
  EXPECT_EQ(api().remove(kConfigMaps + "/" + name).status, 200);
  life.deleted = version_of(api().get(kConfigMaps));
  return life;
}

Value item_of(const Answer& list, const std::string& name) {
  for (const Value& item : list.json["items"].items()) {
    if (item["metadata"]["name"].as_string() == name) return item;
  }
  return {};
}

TEST(PastReads, ShowEachObjectAsItWasAlsoDeletedOnes) {
  const Life life = life_of("past-read");
  const std::string one = kConfigMaps + "/past-read";
  EXPECT_EQ(api().get(at(life.created, one)).json["data"]["a"].str(), "1");
  EXPECT_EQ(api().get(at(life.changed, one)).json["data"]["a"].str(), "2");
  expect_failure(api().get(at(life.deleted, one)), 404, "NotFound", "past-read");
  expect_failure(api().get(one), 404, "NotFound");

  const Answer then = api().get(at(life.created, kConfigMaps));
  EXPECT_EQ(version_of(then), life.created);
  EXPECT_EQ(item_of(then, "past-read")["data"]["a"].str(), "1");
  EXPECT_TRUE(item_of(api().get(at(life.deleted, kConfigMaps)), "past-read").is_null());
  // Whatever version a client asks for, it gets the moment's.
  EXPECT_EQ(version_of(api().get(at(life.created, kConfigMaps + "?resourceVersion=0"))), life.created);
  EXPECT_EQ(api().get(at(life.created, one + "?resourceVersion=" + life.deleted)).json["data"]["a"].str(), "1");
  // A moment can also be a time.
  const Answer history = api().get("/shiplog/v1/history?kind=configmap&namespace=default&name=past-read");
  for (const Value& version : history.json["items"].items()) {
    if (std::to_string(version["revision"].as_int()) != life.changed) continue;
    // An entry before it can have the same millisecond, none after it: the next one is a deletion.
    if (version["time"] == history.json["items"][0]["time"]) return;
    EXPECT_EQ(api().get("/at/" + version["time"].str() + one).json["data"]["a"].str(), "2") << history;
    return;
  }
  ADD_FAILURE() << history;
}

TEST(PastReads, APageIsOfTheMomentToo) {
  const std::string selected = kConfigMaps + "?labelSelector=past-pages&limit=1";
  for (const char* name : {"past-page-1", "past-page-2"}) {
    api().post(kConfigMaps, config_map(name, "{}", R"({"past-pages":""})"));
  }
  const std::string moment = version_of(api().get(kConfigMaps));
  api().post(kConfigMaps, config_map("past-page-3", "{}", R"({"past-pages":""})"));
  const Answer first = api().get(at(moment, selected));
  const std::string token = first.json["metadata"]["continue"].str();
  ASSERT_FALSE(token.empty()) << first;
  const Answer second = api().get(at(moment, selected + "&continue=" + token));
  EXPECT_EQ(second.json["items"][0]["metadata"]["name"].str(), "past-page-2") << second;
  EXPECT_TRUE(second.json["metadata"]["continue"].is_null()) << second;
  expect_failure(api().get(at(version_of(api().get(kConfigMaps)), selected + "&continue=" + token)), 400, "BadRequest",
                 "the token is of revision " + moment);
}

TEST(PastReads, AreReadOnly) {
  const Life life = life_of("past-write");
  const std::string one = kConfigMaps + "/past-write";
  for (const auto& [method, target] : {std::pair{"POST", kConfigMaps}, {"PUT", one}, {"PATCH", one}, {"DELETE", one}}) {
    const Answer refused = api().call(method, at(life.created, target), "{}");
    expect_failure(refused, 405, "MethodNotAllowed", "/at/r" + life.created + " is the past, which is read-only");
  }
}

TEST(PastReads, RefuseAMomentThatIsNotKept) {
  expect_failure(api().get("/at/yesterday/api/v1/pods"), 400, "BadRequest", "neither a revision such as r4711 nor");
  expect_failure(api().get("/at/r99999999/api/v1/pods"), 400, "BadRequest", "newer than the newest revision; kept are");
  expect_failure(api().get("/at/2999-01-01T00:00:00Z/api/v1/pods"), 400, "BadRequest", "in the future");
  expect_failure(api().get("/at/2001-01-01T00:00:00Z/api/v1/pods"), 400, "BadRequest", "before the oldest revision");
}

TEST(PastReads, ServeObjectsDiscoveryAndOpenApiOnly) {
  const std::string moment = version_of(api().get(kConfigMaps));
  for (const char* path :
       {"/metrics", "/shiplog/v1/export", "/shiplog/v1/history", "/feeds/api", "/shiplog/v1/requests"}) {
    expect_failure(api().get(at(moment, path)), 404, "NotFound", "is not served below /at/");
  }
  EXPECT_EQ(api().get(at(moment, "/version")).status, 200);
  EXPECT_EQ(api().get(at(moment, "/openapi/v2")).status, 200);
  EXPECT_EQ(api().get("/at/r" + moment).json["paths"].is_null(), false);
}

TEST(PastReads, ServeTheKindsOfTheMoment) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string widgets = "/apis/past.example.com/v1/namespaces/default/widgets";
  const std::string before = version_of(api().get(kConfigMaps));
  const Value definition = json(R"({"metadata":{"name":"widgets.past.example.com"},"spec":{"group":"past.example.com",
    "scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  ASSERT_EQ(api().post(definitions, definition).status, 201);
  ASSERT_TRUE(eventually([&] { return api().get(widgets).status == 200; }));
  const Answer widget = api().post(
      widgets, json(R"({"apiVersion":"past.example.com/v1","kind":"Widget","metadata":{"name":"w"},"size":3})"));
  ASSERT_EQ(widget.status, 201) << widget;
  const std::string during = version_of(widget);
  ASSERT_EQ(api().remove(definitions + "/widgets.past.example.com").status, 200);
  ASSERT_TRUE(eventually([&] { return api().get(widgets).status == 404; }));

  EXPECT_EQ(api().get(at(before, widgets)).status, 404);
  EXPECT_EQ(api().get(at(during, widgets + "/w")).json["size"].as_int(), 3);
  EXPECT_EQ(api().get(at(before, "/apis/past.example.com/v1")).status, 404);
  EXPECT_EQ(api().get(at(during, "/apis/past.example.com/v1")).json["resources"][0]["name"].str(), "widgets");
  const Answer documents = api().get(at(during, "/openapi/v3"));
  const std::string url = documents.json["paths"]["apis/past.example.com/v1"]["serverRelativeURL"].str();
  ASSERT_FALSE(url.empty()) << documents;
  EXPECT_EQ(api().get(at(during, url)).status, 200) << "clients put it after the address of the server";
  const Answer moved = api().get(at(during, "/openapi/v3/apis/past.example.com/v1?hash=OLD"));
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(std::string{moved.headers.get("Location")}, at(during, url));
}

TEST(PastReads, NeedThePermissionThenAndNow) {
  const std::string user = "past-reader";
  const auto reads = [&](const std::string& revision) { return as(user, at(revision, kConfigMaps)); };
  const std::string before = version_of(api().get(kConfigMaps));
  const std::string roles = kRbac + "/namespaces/default/roles";
  const std::string bindings = kRbac + "/namespaces/default/rolebindings";
  ASSERT_EQ(api()
                .post(roles, json(R"({"metadata":{"name":"past-reader"},
    "rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]})"))
                .status,
            201);
  const Answer bound = api().post(bindings, json(R"({"metadata":{"name":"past-reader"},
    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"past-reader"},
    "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"past-reader"}]})"));
  ASSERT_EQ(bound.status, 201) << bound;
  const std::string during = version_of(bound);
  ASSERT_TRUE(eventually([&] { return as(user, kConfigMaps).status == 200; }));

  EXPECT_EQ(reads(during).status, 200);
  expect_failure(reads(before), 403, "Forbidden", "not permitted at revision " + before);
  EXPECT_EQ(as(user, at(during, "/api/v1/namespaces/default/secrets")).status, 403) << "neither then nor now";
  EXPECT_EQ(as(user, at(during, "/api/v1/configmaps")).status, 403) << "of one namespace";
  EXPECT_EQ(as(user, at(during, kConfigMaps), "DELETE").status, 405);
  ASSERT_EQ(api().remove(bindings + "/past-reader").status, 200);
  ASSERT_TRUE(eventually([&] { return as(user, kConfigMaps).status == 403; }));
  EXPECT_EQ(reads(during).status, 403) << "the permission was taken away";
}

// What resourceVersion can ask for without /at/: the same holds as for history (decision 0087).
TEST(PastReads, DoNotReachIntoAnEarlierNamespaceOfTheSameName) {
  const std::string user = "past-second";
  const std::string space = "/api/v1/namespaces/past-reused";
  const std::string maps = space + "/configmaps";
  const Value made = json(R"({"metadata":{"name":"past-reused"}})");
  ASSERT_EQ(api().post("/api/v1/namespaces", made).status, 201);
  const auto map = [](const char* name) { return json(std::string{R"({"metadata":{"name":")"} + name + R"("}})"); };
  for (const char* name : {"first-1", "first-2"}) ASSERT_EQ(api().post(maps, map(name)).status, 201);
  const Answer page = api().get(maps + "?limit=1");
  const std::string earlier = version_of(page);
  std::vector<std::string> events;  // they are counted by themselves
  for (const char* name : {"e1", "e2"}) {
    const Answer event = api().post(space + "/events", json(std::string{R"({"metadata":{"name":")"} + name + R"("},
        "involvedObject":{"namespace":"past-reused"},"reason":"Tested","type":"Normal"})"));
    ASSERT_EQ(event.status, 201) << event;
    events.push_back(version_of(event));
  }
  ASSERT_EQ(api().remove(space).status, 200);
  ASSERT_TRUE(eventually([&] { return api().get(space).status == 404; }));
  ASSERT_EQ(api().post("/api/v1/namespaces", made).status, 201);
  ASSERT_EQ(api()
                .post(kRbac + "/namespaces/past-reused/rolebindings", json(R"({"metadata":{"name":"past-second"},
    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},
    "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"past-second"}]})"))
                .status,
            201);
  ASSERT_TRUE(eventually([&] { return as(user, maps).status == 200; }));

  const std::string exact = "resourceVersionMatch=Exact&resourceVersion=" + earlier;
  EXPECT_NE(api().get(maps + "?" + exact).body.find("first-1"), std::string::npos) << "of all namespaces";
  expect_failure(as(user, maps + "?" + exact), 410, "Expired");
  expect_failure(as(user, maps + "?limit=5&resourceVersion=" + earlier), 410, "Expired");
  expect_failure(as(user, maps + "?limit=1&continue=" + page.json["metadata"]["continue"].str()), 410, "Expired");
  expect_failure(as(user, maps + "/first-1?" + exact), 410, "Expired");
  expect_failure(as(user, maps + "?dryRun=All&" + exact, "DELETE"), 410, "Expired");
  expect_failure(as(user, space + "/events?resourceVersionMatch=Exact&resourceVersion=" + events[0]), 410, "Expired");
  const Answer watched = as(user, maps + "?watch=1&timeoutSeconds=1&resourceVersion=" + earlier);
  EXPECT_EQ(watched.json["type"].str(), "ERROR") << watched;
  EXPECT_EQ(watched.json["object"]["code"].as_int(), 410) << watched;

  for (const char* name : {"second-1", "second-2"}) ASSERT_EQ(api().post(maps, map(name)).status, 201);
  const Answer own = as(user, maps + "?limit=1");
  ASSERT_EQ(api().remove(maps + "/second-2").status, 200);
  const Answer rest = as(user, maps + "?limit=1&continue=" + own.json["metadata"]["continue"].str());
  EXPECT_EQ(rest.json["items"][0]["metadata"]["name"].str(), "second-2") << rest;
  const Answer followed = as(user, maps + "?watch=1&timeoutSeconds=1&resourceVersion=" + version_of(own));
  EXPECT_EQ(followed.json["type"].str(), "DELETED") << followed;
}

TEST(PastReads, AKeyThatWasDestroyedStaysDestroyed) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const Answer created =
      api().post(secrets, json(R"({"metadata":{"name":"past-secret"},"stringData":{"a":"hidden"}})"));
  ASSERT_EQ(created.status, 201) << created;
  EXPECT_EQ(api().get(at(version_of(created), secrets + "/past-secret")).json["data"]["a"].str(), "aGlkZGVu");
  ASSERT_EQ(api().remove(secrets + "/past-secret").status, 200);
  ASSERT_TRUE(eventually([&] {
    const Answer answer = api().get(at(version_of(created), secrets + "/past-secret"));
    return answer.body.find("aGlkZGVu") == std::string::npos;
  }));
  EXPECT_EQ(api().get(at(version_of(created), secrets)).status, 200) << "the list without it";
}

std::string summary(const Value& event) {
  return event["type"].str() + " " + event["object"]["metadata"]["name"].str() + " " +
         event["object"]["data"]["a"].str() + " " + event["object"]["metadata"]["resourceVersion"].str();
}

TEST(PastWatches, ReplayWhatAWatchSawThen) {
  const std::string from = version_of(api().get(kConfigMaps));
  const std::string query = kConfigMaps + "?watch=1&fieldSelector=metadata.name%3Dpast-watch&resourceVersion=" + from;
  const auto then = api().watch(query);
  const Life life = life_of("past-watch");
  ASSERT_TRUE(then->wait_for(3));
  const auto again = api().watch("/at/r" + from + ",speed=max" + query);
  ASSERT_TRUE(again->wait_for(3));
  for (size_t index = 0; index < 3; ++index) {
    EXPECT_EQ(summary(again->events()[index]), summary(then->events()[index]));
  }
  // Without a version it begins with what there was.
  const auto initial = api().watch("/at/r" + life.created + ",speed=max" + kConfigMaps +
                                   "?watch=1&fieldSelector=metadata.name%3Dpast-watch");
  ASSERT_TRUE(initial->wait_for(3));
  EXPECT_EQ(summary(initial->events()[0]), "ADDED past-watch 1 " + life.created);
  EXPECT_EQ(initial->events()[1]["type"].str(), "MODIFIED");
  EXPECT_EQ(initial->events()[2]["type"].str(), "DELETED");
  // It continues in the present.
  api().post(kConfigMaps, config_map("past-watch", R"({"a":"new"})"));
  EXPECT_TRUE(initial->wait_for(4));
}

TEST(PastWatches, DoNotGoBackBehindTheirMoment) {
  const Life life = life_of("past-behind");
  const auto stream = api().watch("/at/r" + life.changed + kConfigMaps + "?watch=1&resourceVersion=" + life.created);
  ASSERT_TRUE(stream->wait_for(1));
  EXPECT_EQ(stream->events()[0]["type"].str(), "ERROR");
  EXPECT_EQ(stream->events()[0]["object"]["code"].as_int(), 410);
}

TEST(PastWatches, GoOnAtTheSpeedOfThePath) {
  const std::string from = version_of(api().get(kConfigMaps));
  const std::string query = kConfigMaps + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=" + from;
  const auto slow = api().watch("/at/r" + from + ",speed=0.000001" + query);
  life_of("past-speed");
  ASSERT_TRUE(eventually([&] { return slow->ended(); }));
  for (const Value& event : slow->events()) {
    EXPECT_NE(event["object"]["metadata"]["name"].str(), "past-speed") << "that is days ahead";
  }
}

}  // namespace
}  // namespace shiplog::e2e
