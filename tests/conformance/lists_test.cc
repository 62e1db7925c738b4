// Lists, selectors, versions (LIST-1 to LIST-13).
#include <algorithm>
#include <future>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

std::string maps_with(std::initializer_list<const char*> names) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* name : names) EXPECT_EQ(api().post(maps, config_map(name)).status, 201) << name;
  return maps;
}

TEST(Lists, LIST_01_the_form_of_a_list) {
  const std::string maps = maps_with({"a"});
  const Answer list = api().get(maps);
  EXPECT_EQ(list.json["kind"].str(), "ConfigMapList");
  EXPECT_EQ(list.json["apiVersion"].str(), "v1");
  EXPECT_FALSE(version_of(list).empty());
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w")).status, 201);
  const Answer custom = api().get(widgets);
  EXPECT_EQ(custom.json["kind"].str(), "WidgetList");
  EXPECT_EQ(custom.json["items"][0]["kind"].str(), "Widget");
  EXPECT_EQ(custom.json["items"][0]["apiVersion"].str(), "conformance.example.com/v1");
}

TEST(Lists, LIST_02_a_watch_continues_where_a_list_ended) {
  const std::string maps = maps_with({"a"});
  const std::string from = version_of(api().get(maps));
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const auto watch = api().watch(maps + "?watch=1&resourceVersion=" + from);
  ASSERT_TRUE(watch->wait_for(1));
  ASSERT_EQ(api().post(maps, config_map("c")).status, 201);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED b", "ADDED c"}));
}

TEST(Lists, LIST_03_ordered_by_namespace_then_name) {
  const std::string maps = maps_with({"b", "a-b", "a.b", "c", "a"});
  EXPECT_EQ(names_of(api().get(maps)), (Names{"a", "a-b", "a.b", "b", "c"}));
  Names spaces;
  const Answer all = api().get("/api/v1/configmaps");
  for (const Value& item : all.json["items"].items()) {
    spaces.push_back(item["metadata"]["namespace"].str());
  }
  EXPECT_TRUE(std::ranges::is_sorted(spaces));
}

TEST(Lists, LIST_04_label_selectors) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", "{}", R"({"tier":"front","n":"5"})")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b", "{}", R"({"tier":"back","n":"7"})")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("c", "{}", R"({"other":""})")).status, 201);
  const auto with = [&](const std::string& selector) {
    return names_of(api().get(maps + "?labelSelector=" + percent_encode(selector)));
  };
  EXPECT_EQ(with(""), (Names{"a", "b", "c"}));
  EXPECT_EQ(with("tier"), (Names{"a", "b"}));
  EXPECT_EQ(with("!tier"), Names{"c"});
  EXPECT_EQ(with("tier=front"), Names{"a"});
  EXPECT_EQ(with("tier == front"), Names{"a"});
  EXPECT_EQ(with("tier!=front"), (Names{"b", "c"}));
  EXPECT_EQ(with("tier in (front,back)"), (Names{"a", "b"}));
  EXPECT_EQ(with("tier in ( front )"), Names{"a"});
  EXPECT_EQ(with("tier notin (front)"), (Names{"b", "c"}));
  EXPECT_EQ(with("n>5"), Names{"b"});
  EXPECT_EQ(with("n<7"), Names{"a"});
  EXPECT_EQ(with("other="), Names{"c"});
  EXPECT_EQ(with("tier,n in (5,6), !other"), Names{"a"});
  for (const char* wrong : {"tier in (front", "==", "tier like front", "a=b=c", "n>x", "in (a)", "a b"}) {
    expect_failure(api().get(maps + "?labelSelector=" + percent_encode(wrong)), 400, "BadRequest");
  }
}

TEST(Lists, LIST_05_field_selectors) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const auto with = [](const std::string& path, const std::string& selector) {
    return names_of(api().get(path + "?fieldSelector=" + percent_encode(selector)));
  };
  EXPECT_EQ(with(maps, "metadata.name=a"), Names{"a"});
  EXPECT_EQ(with(maps, "metadata.name==a"), Names{"a"});
  EXPECT_EQ(with(maps, "metadata.name!=a"), Names{"b"});
  EXPECT_EQ(with(maps, "metadata.name=a,metadata.namespace!=" + ns), Names{});
  EXPECT_EQ(with(maps, ""), (Names{"a", "b"}));
  EXPECT_EQ(with(in(ns, "events"), "involvedObject.namespace=,involvedObject.name=n"), Names{});
  EXPECT_EQ(with(maps, R"(metadata.name=a\,b)"), Names{});
  EXPECT_EQ(with("/api/v1/nodes", "spec.unschedulable=true"), Names{});
  for (const char* wrong : {"metadata.name", R"(metadata.name=a\b)", "metadata.name=a=b"}) {
    expect_failure(api().get(maps + "?fieldSelector=" + percent_encode(wrong)), 400, "BadRequest");
  }
}

TEST(Lists, LIST_06_fields_that_can_be_selected) {
  const std::string ns = own_namespace();
  const auto status = [&](const std::string& path, const std::string& field) {
    return api().get(path + "?fieldSelector=" + percent_encode(field + "=x")).status;
  };
  const std::vector<std::pair<std::string, Names>> kinds{
      {in(ns, "pods"),
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"}},
      {in(ns, "events"),
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type"}},
      {"/api/v1/nodes", {"spec.unschedulable"}},
      {"/api/v1/namespaces", {"status.phase"}},
      {in(ns, "secrets"), {"type"}},
      {in(ns, "services"), {"spec.clusterIP", "spec.type"}},
      {in(ns, "replicationcontrollers"), {"status.replicas"}},
      {in(ns, "replicasets", "apps/v1"), {"status.replicas"}},
      {in(ns, "jobs", "batch/v1"), {"status.successful"}},
      {"/apis/resource.k8s.io/v1/resourceslices", {"spec.nodeName", "spec.driver"}},
      {"/apis/certificates.k8s.io/v1/certificatesigningrequests", {"spec.signerName"}}};
  for (const auto& [path, fields] : kinds) {
    for (const std::string& field : fields) EXPECT_EQ(status(path, field), 200) << path << " " << field;
    EXPECT_EQ(status(path, "metadata.name"), 200) << path;
    EXPECT_EQ(status(path, "spec.sofa"), 400) << path;
  }
  EXPECT_EQ(status(in(ns, "configmaps"), "status.phase"), 400);
  EXPECT_EQ(status("/apis/cluster.karmada.io/v1alpha1/clusters", "metadata.name"), 200);
  EXPECT_EQ(status(widgets_in(ns), "metadata.name"), 200);
  EXPECT_EQ(status(widgets_in(ns), "metadata.namespace"), 200);
  EXPECT_EQ(status(widgets_in(ns), "spec.size"), 400);
  ASSERT_EQ(api().post(in(ns, "secrets"), json(R"({"metadata":{"name":"s"},"type":"example.com/t"})")).status, 201);
  EXPECT_EQ(names_of(api().get(in(ns, "secrets") + "?fieldSelector=type%3Dexample.com/t")), Names{"s"});
}

TEST(Lists, LIST_07_pages) {
  const std::string maps = maps_with({"a", "b", "c", "d", "e"});
  const Answer first = api().get(maps + "?limit=2");
  EXPECT_EQ(names_of(first), (Names{"a", "b"}));
  EXPECT_EQ(first.json["metadata"]["remainingItemCount"].as_int(), 3) << first;
  const std::string token = first.json["metadata"]["continue"].str();
  EXPECT_EQ(token, percent_encode(token)) << "valid in a URL without escaping";
  const Answer last = api().get(maps + "?limit=3&continue=" + token);
  EXPECT_EQ(names_of(last), (Names{"c", "d", "e"}));
  EXPECT_FALSE(last.json["metadata"].contains("continue")) << last;
  EXPECT_FALSE(last.json["metadata"].contains("remainingItemCount"));
  const Answer selected = api().get(maps + "?limit=2&fieldSelector=metadata.name!%3Da");
  EXPECT_EQ(names_of(selected), (Names{"b", "c"}));
  EXPECT_FALSE(selected.json["metadata"].contains("remainingItemCount"));
  EXPECT_EQ(names_of(api().get(maps + "?limit=0")).size(), 5u);
  EXPECT_EQ(names_of(api().get(maps + "?limit=500")).size(), 5u);
}

TEST(Lists, LIST_08_all_pages_have_one_version) {
  const std::string maps = maps_with({"a", "b", "c", "d"});
  const Answer first = api().get(maps + "?limit=2");
  const std::string next = maps + "?limit=2&continue=" + first.json["metadata"]["continue"].str();
  ASSERT_EQ(api().remove(maps + "/c").status, 200);
  ASSERT_EQ(api().post(maps, config_map("b-b")).status, 201);
  const Answer second = api().get(next);
  EXPECT_EQ(names_of(second), (Names{"c", "d"}));
  EXPECT_EQ(version_of(second), version_of(first));
  EXPECT_GE(api().get(next + "&resourceVersion=" + version_of(first)).status, 400);
  EXPECT_GE(api().get(next + "&resourceVersion=1&resourceVersionMatch=Exact").status, 400);
  EXPECT_EQ(api().get(next + "&resourceVersion=0").status, 200);
  expect_failure(api().get(maps + "?limit=2&continue=nonsense"), 400, "BadRequest");
}

TEST(Lists, LIST_10_versions_of_a_list_and_a_get) {
  const std::string maps = maps_with({"a"});
  const std::string then = version_of(api().get(maps));
  ASSERT_EQ(api().patch(maps + "/a", "merge", json(R"({"data":{"v":"2"}})")).status, 200);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const auto with = [&](const std::string& query) { return names_of(api().get(maps + "?" + query)); };
  const Names newest{"a", "b"};
  EXPECT_EQ(with(""), newest);
  EXPECT_EQ(with("resourceVersion=0"), newest);
  EXPECT_EQ(with("resourceVersion=0&resourceVersionMatch=NotOlderThan"), newest);
  EXPECT_EQ(with("resourceVersion=" + then), newest);
  EXPECT_EQ(with("limit=5&resourceVersion=" + then), Names{"a"}) << "exactly that version, for the first page";
  EXPECT_EQ(with("limit=5&resourceVersionMatch=NotOlderThan&resourceVersion=" + then), newest);
  EXPECT_EQ(with("resourceVersionMatch=Exact&resourceVersion=" + then), Names{"a"});
  const Answer past = api().get(maps + "?resourceVersionMatch=Exact&resourceVersion=" + then);
  EXPECT_FALSE(past.json["items"][0]["data"].contains("v")) << "the content as of that version: " << past;
  EXPECT_EQ(version_of(past), then);
  expect_failure(api().get(maps + "?resourceVersionMatch=Exact"), 422, "Invalid");
  expect_failure(api().get(maps + "?resourceVersionMatch=NotOlderThan"), 422, "Invalid");
  expect_failure(api().get(maps + "?resourceVersionMatch=Exact&resourceVersion=0"), 422, "Invalid");
  expect_failure(api().get(maps + "?resourceVersionMatch=Sometimes&resourceVersion=1"), 422, "Invalid");
  EXPECT_EQ(api().get(maps + "/a?resourceVersion=0").status, 200);
  EXPECT_EQ(api().get(maps + "/a?resourceVersion=" + then).status, 200);
}

TEST(Lists, LIST_11_a_version_that_does_not_exist_yet) {
  const std::string maps = maps_with({"a"});
  for (const std::string& target : {maps + "?resourceVersion=999999999", maps + "/a?resourceVersion=999999999"}) {
    const Answer future = api().get(target);
    expect_failure(future, 504, "Timeout", "Timeout: Too large resource version: 999999999");
    EXPECT_EQ(future.json["details"]["causes"][0]["reason"].str(), "ResourceVersionTooLarge");
  }
  expect_failure(api().get(maps + "?resourceVersion=soon"), 400, "BadRequest");
  // A version that is reached while the request waits for it.
  const uint64_t head = std::stoull(version_of(api().get(maps)));
  auto waiting =
      std::async(std::launch::async, [&] { return api().get(maps + "?resourceVersion=" + std::to_string(head + 1)); });
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  EXPECT_EQ(names_of(waiting.get()), (Names{"a", "b"}));
}

TEST(Lists, LIST_12_what_was_written_can_be_read) {
  const std::string maps = in(own_namespace(), "configmaps");
  const ApiClient other = plane().api();
  for (int index = 0; index < 20; ++index) {
    const std::string name = "w-" + std::to_string(index);
    ASSERT_EQ(api().post(maps, config_map(name)).status, 201);
    EXPECT_EQ(other.get(maps + "/" + name).status, 200);
    EXPECT_EQ(names_of(other.get(maps)).size(), static_cast<size_t>(index + 1));
  }
}

TEST(Lists, LIST_13_initial_events_are_for_watches) {
  expect_failure(api().get(maps_with({}) + "?sendInitialEvents=true"), 422, "Invalid", "sendInitialEvents");
}

}  // namespace
}  // namespace shiplog::e2e
