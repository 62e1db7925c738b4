// Lists, selectors, past versions, and the forms of a response (NEG-1 to NEG-10, LIST-1 to LIST-13 and TBL-1 to
// TBL-10).
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

std::vector<std::string> names(const Answer& list) {
  EXPECT_EQ(list.status, 200) << list;
  std::vector<std::string> found;
  for (const Value& item : list.json["items"].items()) found.push_back(item["metadata"]["name"].str());
  return found;
}

using Names = std::vector<std::string>;

TEST(Lists, PagesShowTheStateOfTheFirst) {  // LIST-7, LIST-8
  const std::string selected = kConfigMaps + "?labelSelector=set%3Dpages";
  for (const char* name : {"page-a", "page-b", "page-c", "page-d", "page-e"}) {
    ASSERT_EQ(api().post(kConfigMaps, config_map(name, "{}", R"({"set":"pages"})")).status, 201);
  }
  const Answer first = api().get(selected + "&limit=2");
  EXPECT_EQ(names(first), (Names{"page-a", "page-b"}));
  ASSERT_EQ(api().remove(kConfigMaps + "/page-d").status, 200);
  ASSERT_EQ(api().post(kConfigMaps, config_map("page-f", "{}", R"({"set":"pages"})")).status, 201);
  const Answer second = api().get(selected + "&limit=2&continue=" + first.json["metadata"]["continue"].str());
  EXPECT_EQ(names(second), (Names{"page-c", "page-d"}));
  EXPECT_EQ(second.json["metadata"]["resourceVersion"], first.json["metadata"]["resourceVersion"]);
  const Answer third = api().get(selected + "&limit=2&continue=" + second.json["metadata"]["continue"].str());
  EXPECT_EQ(names(third), (Names{"page-e"}));
  EXPECT_EQ(third.json["metadata"]["continue"].str(), "");
  expect_failure(api().get(selected + "&limit=2&continue=nonsense"), 400, "BadRequest", "continue");
  EXPECT_EQ(names(api().get(selected)), (Names{"page-a", "page-b", "page-c", "page-e", "page-f"}));
}

TEST(Lists, LabelSelectors) {  // LIST-4
  ASSERT_EQ(api().post(kConfigMaps, config_map("label-a", "{}", R"({"set":"labels","tier":"front"})")).status, 201);
  ASSERT_EQ(api().post(kConfigMaps, config_map("label-b", "{}", R"({"set":"labels","tier":"back"})")).status, 201);
  ASSERT_EQ(api().post(kConfigMaps, config_map("label-c", "{}", R"({"set":"labels"})")).status, 201);
  const auto with = [](const std::string& selector) {
    return names(api().get(kConfigMaps + "?labelSelector=set%3Dlabels," + selector));
  };
  EXPECT_EQ(with("tier%3Dfront"), (Names{"label-a"}));
  EXPECT_EQ(with("tier%3D%3Dfront"), (Names{"label-a"}));
  EXPECT_EQ(with("tier!%3Dfront"), (Names{"label-b", "label-c"}));
  EXPECT_EQ(with("tier"), (Names{"label-a", "label-b"}));
  EXPECT_EQ(with("!tier"), (Names{"label-c"}));
  EXPECT_EQ(with("tier%20in%20(front,%20back)"), (Names{"label-a", "label-b"}));
  EXPECT_EQ(with("tier%20notin%20(front)"), (Names{"label-b", "label-c"}));
  for (const char* wrong : {"tier%20in%20(front", "%3D%3D", "tier%20like%20front", "a%3Db%3Dc"}) {
    expect_failure(api().get(kConfigMaps + "?labelSelector=" + wrong), 400, "BadRequest");
  }
}

TEST(Lists, FieldSelectors) {  // LIST-5, LIST-6
  ASSERT_EQ(api().post(kConfigMaps, config_map("field-a")).status, 201);
  EXPECT_EQ(names(api().get(kConfigMaps + "?fieldSelector=metadata.name%3Dfield-a")), (Names{"field-a"}));
  EXPECT_EQ(names(api().get("/api/v1/configmaps?fieldSelector=metadata.name%3Dfield-a,metadata.namespace!%3Ddefault")),
            Names{});
  EXPECT_EQ(names(api().get("/apis/cluster.karmada.io/v1alpha1/clusters?fieldSelector=metadata.name%3Dnone")), Names{});
  expect_failure(api().get(kConfigMaps + "?fieldSelector=data.a%3D1"), 400, "BadRequest", "data.a");
}

TEST(Lists, ThePastIsAnsweredExactly) {  // LIST-10, LIST-11
  const std::string selected = kConfigMaps + "?labelSelector=set%3Dpast";
  ASSERT_EQ(api().post(kConfigMaps, config_map("past-a", R"({"v":"1"})", R"({"set":"past"})")).status, 201);
  const std::string then = api().get(selected).json["metadata"]["resourceVersion"].str();
  ASSERT_EQ(api().patch(kConfigMaps + "/past-a", "merge", json(R"({"data":{"v":"2"}})")).status, 200);
  ASSERT_EQ(api().post(kConfigMaps, config_map("past-b", "{}", R"({"set":"past"})")).status, 201);
  const Answer before = api().get(selected + "&resourceVersion=" + then + "&resourceVersionMatch=Exact");
  EXPECT_EQ(names(before), (Names{"past-a"}));
  EXPECT_EQ(before.json["items"][0]["data"]["v"].str(), "1");
  EXPECT_EQ(before.json["metadata"]["resourceVersion"].str(), then);
  EXPECT_EQ(names(api().get(selected + "&resourceVersion=" + then + "&resourceVersionMatch=NotOlderThan")),
            (Names{"past-a", "past-b"}));
  EXPECT_EQ(names(api().get(selected + "&resourceVersion=0")), (Names{"past-a", "past-b"}));
  EXPECT_EQ(api().get(selected + "&resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(api().get(selected + "&resourceVersion=soon").status, 400);
  const Answer future = api().get(selected + "&resourceVersion=99999999");
  expect_failure(future, 504, "Timeout", "Too large resource version");
}

TEST(Lists, Tables) {  // NEG-5, TBL-1 to TBL-3, TBL-7
  ASSERT_EQ(api().post(kDeployments, deployment("tabled", 3)).status, 201);
  const Answer list = api().get(kDeployments + "?fieldSelector=metadata.name%3Dtabled",
                                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  ASSERT_EQ(list.status, 200) << list;
  EXPECT_EQ(list.json["kind"].str(), "Table");
  EXPECT_EQ(list.json["apiVersion"].str(), "meta.k8s.io/v1");
  EXPECT_GT(std::stoll(list.json["metadata"]["resourceVersion"].str()), 0);
  Names columns;
  for (const Value& column : list.json["columnDefinitions"].items()) columns.push_back(column["name"].str());
  EXPECT_EQ(columns, (Names{"Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"}));
  ASSERT_EQ(list.json["rows"].size(), 1u);
  const Value& cells = list.json["rows"][0]["cells"];
  ASSERT_EQ(cells.size(), columns.size());
  EXPECT_EQ(cells[0].str(), "tabled");
  EXPECT_EQ(cells[1].str(), "0/3");
  EXPECT_EQ(cells[6].str(), "nginx:1.27");
  EXPECT_EQ(list.json["rows"][0]["object"]["kind"].str(), "PartialObjectMetadata");
  expect_failure(api().get(kDeployments, "application/json;as=Sofa;v=v1;g=meta.k8s.io"), 406, "NotAcceptable");
  expect_failure(api().get(kDeployments, "text/html"), 406, "NotAcceptable");
}

TEST(Lists, MetadataAlone) {  // NEG-6 to NEG-8
  ASSERT_EQ(api().post(kConfigMaps, config_map("partial", R"({"a":"1"})", R"({"set":"partial"})")).status, 201);
  const std::string form = ";v=v1;g=meta.k8s.io";
  const Answer object = api().get(kConfigMaps + "/partial", "application/json;as=PartialObjectMetadata" + form);
  ASSERT_EQ(object.status, 200) << object;
  EXPECT_EQ(object.json["kind"].str(), "PartialObjectMetadata");
  EXPECT_EQ(object.json["metadata"]["name"].str(), "partial");
  EXPECT_FALSE(object.json.contains("data")) << object;
  const Answer list = api().get(kConfigMaps + "?labelSelector=set%3Dpartial",
                                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList" + form +
                                    ",application/json;as=PartialObjectMetadataList" + form + ",application/json");
  EXPECT_EQ(list.json["kind"].str(), "PartialObjectMetadataList") << list;
  EXPECT_EQ(list.json["items"].size(), 1u);
  EXPECT_FALSE(list.json["items"][0].contains("data"));
  const Answer none = api().get(kConfigMaps + "/none", "application/json;as=PartialObjectMetadata" + form);
  expect_failure(none, 404, "NotFound");
}

TEST(Lists, Yaml) {  // NEG-3, NEG-4
  const std::string yaml =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: |\n    two\n    lines\n";
  const Answer made = api().call("POST", kConfigMaps, yaml, {{"Content-Type", "application/yaml"}});
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"]["a"].str(), "two\nlines\n");
  const Answer read = api().get(kConfigMaps + "/yaml", "application/yaml");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.headers.get("Content-Type"), "application/yaml");
  EXPECT_NE(read.body.find("kind: ConfigMap\n"), std::string::npos) << read;
}

}  // namespace
}  // namespace shiplog::e2e
