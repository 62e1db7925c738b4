// OpenAPI documents (OA-1 to OA-13).
#include <set>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

const std::string kOpenApi2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// The next field of a protobuf message: number and, for a length-delimited one, content.
bool next_field(std::string_view& bytes, uint64_t& number, std::string_view& content) {
  const auto varint = [&]() -> uint64_t {
    uint64_t value = 0;
    for (unsigned shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127U) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  if (bytes.empty()) return false;
  const uint64_t tag = varint();
  number = tag >> 3U;
  content = {};
  if ((tag & 7U) == 0) {
    varint();
    return true;
  }
  if ((tag & 7U) != 2) return false;
  const uint64_t length = varint();
  if (length > bytes.size()) return false;
  content = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

std::vector<std::string_view> fields(std::string_view message, uint64_t wanted) {
  std::vector<std::string_view> found;
  uint64_t number = 0;
  std::string_view content;
  while (next_field(message, number, content)) {
    if (number == wanted) found.push_back(content);
  }
  EXPECT_TRUE(message.empty()) << "not a protobuf message";
  return found;
}

std::string_view field(std::string_view message, uint64_t wanted) {
  const auto found = fields(message, wanted);
  return found.empty() ? std::string_view{} : found.front();
}

/// The value of the entry with this name in a list of {1 name, 2 value}.
std::string_view entry(const std::vector<std::string_view>& entries, std::string_view name) {
  for (const std::string_view one : entries) {
    if (field(one, 1) == name) return field(one, 2);
  }
  return {};
}

const std::string& document() {
  static const std::string body = api().get("/openapi/v2?timeout=32s", kOpenApi2).body;
  return body;
}

/// The PATCH operation of this path in the document: {2 get, ... 8 patch}.
std::string_view patch_of(const std::string& path) { return field(entry(fields(field(document(), 8), 2), path), 8); }

TEST(OpenApi, OA_01_validators_spare_the_transfer) {
  const Answer first = api().get("/openapi/v2", kOpenApi2);
  const std::string etag{first.headers.get("ETag")};
  ASSERT_TRUE(etag.size() > 2 && etag.front() == '"') << etag;
  const Answer again = api().call("GET", "/openapi/v2", {}, {{"Accept", kOpenApi2}, {"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
}

TEST(OpenApi, OA_02_protobuf_is_returned_on_request) {
  const Answer answer = api().get("/openapi/v2", kOpenApi2);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.headers.get("Content-Type").find("protobuf"), std::string_view::npos);
  EXPECT_FALSE(answer.body.starts_with("{"));
}

TEST(OpenApi, OA_03_the_document_in_protobuf) {
  EXPECT_EQ(api().get("/openapi/v2", kOpenApi2).headers.get("Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(field(document(), 1), "2.0");
  EXPECT_GT(fields(field(document(), 9), 1).size(), 50u) << "definitions";
}

TEST(OpenApi, OA_04_the_same_in_json) {
  for (const char* accept : {"application/json", "*/*"}) {
    const Answer answer = api().get("/openapi/v2", accept);
    EXPECT_EQ(answer.json["swagger"].str(), "2.0");
    EXPECT_EQ(answer.headers.get("Content-Type").substr(0, 16), "application/json");
    // Definitions and paths have the same names in both forms, and a definition the same properties.
    const auto names_in = [](const Value& object) {
      std::set<std::string> names;
      for (const auto& member : object.members()) names.insert(std::string{member.key()});
      return names;
    };
    const auto names_of_entries = [](const std::vector<std::string_view>& entries) {
      std::set<std::string> names;
      for (const std::string_view one : entries) names.insert(std::string{field(one, 1)});
      return names;
    };
    const auto definitions = fields(field(document(), 9), 1);
    EXPECT_GT(definitions.size(), 50U);
    EXPECT_EQ(names_in(answer.json["definitions"]), names_of_entries(definitions)) << accept;
    EXPECT_EQ(names_in(answer.json["paths"]), names_of_entries(fields(field(document(), 8), 2)));
    size_t properties = 0;
    for (const std::string_view one : definitions) {
      const Value& twin = answer.json["definitions"][std::string{field(one, 1)}];
      const auto in_protobuf = fields(field(field(one, 2), 25), 1);
      EXPECT_EQ(names_in(twin["properties"]), names_of_entries(in_protobuf)) << field(one, 1);
      properties += in_protobuf.size();
    }
    EXPECT_GT(properties, 300U);
  }
}

TEST(OpenApi, OA_05_numbers_of_the_protobuf_form) {
  const std::string_view patch = patch_of("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
  ASSERT_FALSE(patch.empty());
  bool dry_run = false;
  for (const std::string_view item : fields(patch, 8)) {
    const std::string_view query = field(field(field(item, 1), 2), 3);  // parameter, nonBody, query
    dry_run = dry_run || (field(query, 4) == "dryRun" && field(query, 2) == "query" && field(query, 6) == "string");
  }
  EXPECT_TRUE(dry_run);
}

TEST(OpenApi, OA_06_extensions_that_kubectl_reads) {
  const Answer answer = api().get("/openapi/v2", "application/json");
  bool deployment_defined = false;
  for (const auto& definition : answer.json["definitions"].members()) {
    for (const Value& gvk : definition.value["x-kubernetes-group-version-kind"].items()) {
      if (gvk == json(R"({"group":"apps","version":"v1","kind":"Deployment"})"))
        deployment_defined = definition.key() == "io.k8s.api.apps.v1.Deployment";
    }
  }
  EXPECT_TRUE(deployment_defined) << "under its upstream name, from which clients are generated";
  for (const char* name :
       {"io.k8s.api.core.v1.Pod", "io.k8s.api.rbac.v1.ClusterRole", "io.karmada.work.v1alpha2.ResourceBinding",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"}) {
    EXPECT_TRUE(answer.json["definitions"].contains(name)) << name;
  }
  const Value& patch = answer.json["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"], json(R"({"group":"apps","version":"v1","kind":"Deployment"})"));
  EXPECT_FALSE(named(patch["parameters"], "dryRun").is_null());
  EXPECT_FALSE(named(patch["parameters"], "fieldValidation").is_null());
  EXPECT_TRUE(has_text(patch["consumes"], "application/strategic-merge-patch+json")) << to_json(patch["consumes"]);
  EXPECT_NE(answer.body.find(R"("x-kubernetes-patch-merge-key":"name")"), std::string::npos);
  EXPECT_NE(answer.body.find(R"("x-kubernetes-patch-strategy":"merge")"), std::string::npos);
}

TEST(OpenApi, OA_07_definitions_are_complete) {
  const Answer answer = api().get("/openapi/v3/apis/apps/v1");
  EXPECT_NE(answer.body.find("\"progressDeadlineSeconds\""), std::string::npos);
  EXPECT_NE(answer.body.find("\"ownerReferences\""), std::string::npos) << "metadata has its fields";
  EXPECT_NE(answer.body.find("\"topologySpreadConstraints\""), std::string::npos);
}

TEST(OpenApi, OA_08_the_patch_of_namespaces_has_dry_run) {
  const std::string_view patch = patch_of("/api/v1/namespaces/{name}");
  ASSERT_FALSE(patch.empty());
  EXPECT_NE(patch.find("dryRun"), std::string_view::npos);
  EXPECT_NE(patch.find("x-kubernetes-group-version-kind"), std::string_view::npos);
}

TEST(OpenApi, OA_09_the_index_of_version_3) {
  const Answer index = api().get("/openapi/v3", "application/json, */*");
  for (const char* key : {"api/v1", "apis/apps/v1", "apis/policy.karmada.io/v1alpha1"}) {
    const std::string url = index.json["paths"][key]["serverRelativeURL"].str();
    EXPECT_TRUE(url.starts_with(std::string{"/openapi/v3/"} + key + "?hash=")) << url;
  }
  // The hash belongs to one document: a definition in another group does not change it.
  const std::string before = index.json["paths"]["apis/apps/v1"]["serverRelativeURL"].str();
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  ASSERT_EQ(api()
                .post(definitions, yaml("{metadata: {name: hashes.hash.example.com}, spec: {group: hash.example.com, "
                                        "scope: Cluster, names: {plural: hashes, kind: Hash}, versions: [{name: v1, "
                                        "served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}"))
                .status,
            201);
  ASSERT_TRUE(eventually([] { return api().get("/openapi/v3").json["paths"].contains("apis/hash.example.com/v1"); }));
  EXPECT_EQ(api().get("/openapi/v3").json["paths"]["apis/apps/v1"]["serverRelativeURL"].str(), before);
}

TEST(OpenApi, OA_10_documents_of_version_3_are_kept_by_their_hash) {
  const Answer index = api().get("/openapi/v3");
  const std::string url = index.json["paths"]["apis/apps/v1"]["serverRelativeURL"].str();
  const Answer right = api().get(url);
  ASSERT_EQ(right.status, 200) << url;
  EXPECT_TRUE(right.json["openapi"].str().starts_with("3.0"));
  EXPECT_EQ(right.headers.get("Cache-Control"), "public, immutable");
  EXPECT_FALSE(right.headers.get("ETag").empty());
  EXPECT_FALSE(right.headers.get("Expires").empty());
  EXPECT_EQ(right.headers.get("Vary"), "Accept");
  const Answer wrong = api().get("/openapi/v3/apis/apps/v1?hash=NONSENSE");
  EXPECT_EQ(wrong.status, 301);
  EXPECT_EQ(wrong.headers.get("Location"), url);
  const Answer none = api().get("/openapi/v3/apis/apps/v1");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.headers.get("Cache-Control").find("immutable"), std::string_view::npos);
}

TEST(OpenApi, OA_11_strategic_merge_patch_is_only_offered_for_built_in_kinds) {
  const Answer apps = api().get("/openapi/v3/apis/apps/v1");
  const Value& patch = apps.json["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"], json(R"({"group":"apps","version":"v1","kind":"Deployment"})"));
  EXPECT_FALSE(named(patch["parameters"], "fieldValidation").is_null());
  EXPECT_TRUE(patch["requestBody"]["content"].contains("application/strategic-merge-patch+json"));
  EXPECT_TRUE(patch["requestBody"]["content"].contains("application/apply-patch+yaml"));
  widgets_in(own_namespace());
  const Answer custom = api().get("/openapi/v3/apis/conformance.example.com/v1");
  const Value& other =
      custom.json["paths"]["/apis/conformance.example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"];
  EXPECT_TRUE(other["requestBody"]["content"].contains("application/merge-patch+json")) << custom;
  EXPECT_FALSE(other["requestBody"]["content"].contains("application/strategic-merge-patch+json"));
}

TEST(OpenApi, OA_12_both_versions_are_served) {
  EXPECT_EQ(api().get("/openapi/v3").status, 200);
  EXPECT_EQ(api().get("/openapi/v2", kOpenApi2).status, 200);
}

TEST(OpenApi, OA_13_custom_resources_are_in_both) {
  widgets_in(own_namespace());
  const Answer three = api().get("/openapi/v3/apis/conformance.example.com/v1");
  EXPECT_NE(three.body.find("\"colour\""), std::string::npos);
  EXPECT_NE(three.body.find(R"("kind":"Widget")"), std::string::npos);
  const Answer two = api().get("/openapi/v2", "application/json");
  EXPECT_NE(two.body.find(R"("kind":"Widget")"), std::string::npos);
}

TEST(OpenApi, OA_14_operations_are_described_as_they_are) {
  const Answer two = api().get("/openapi/v2", "application/json");
  const Value& pods = two.json["paths"]["/api/v1/namespaces/{namespace}/pods"];
  EXPECT_EQ(pods["get"]["responses"]["200"]["schema"]["$ref"].str(), "#/definitions/io.k8s.api.core.v1.PodList");
  EXPECT_FALSE(named(pods["get"]["parameters"], "labelSelector").is_null());
  EXPECT_EQ(
      two.json["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["delete"]["responses"]["200"]["schema"]["$ref"]
          .str(),
      "#/definitions/io.k8s.api.core.v1.Pod");
  const Value& removal = two.json["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["delete"];
  EXPECT_EQ(removal["responses"]["200"]["schema"]["$ref"].str(),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  EXPECT_FALSE(named(removal["parameters"], "body").is_null());
  // Every reference leads to a definition, in both forms.
  const std::string marker = R"("$ref":"#/definitions/)";
  for (size_t at = two.body.find(marker); at != std::string::npos; at = two.body.find(marker, at + 1)) {
    const size_t begin = at + marker.size();
    const std::string name = two.body.substr(begin, two.body.find('"', begin) - begin);
    ASSERT_TRUE(two.json["definitions"].contains(name)) << name;
  }
  std::set<std::string> defined;
  for (const std::string_view one : fields(field(document(), 9), 1)) {
    EXPECT_TRUE(defined.insert(std::string{field(one, 1)}).second) << field(one, 1) << " is defined twice";
  }
}

TEST(OpenApi, OA_15_the_metadata_of_objects_is_a_definition) {
  const Answer two = api().get("/openapi/v2", "application/json");
  const Value& metadata = two.json["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"];
  EXPECT_EQ(metadata["properties"]["labels"]["type"].str(), "object");
}

TEST(OpenApi, OA_16_the_schema_of_a_definition_refers_to_itself) {
  const std::string name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
  const Answer three = api().get("/openapi/v3/apis/apiextensions.k8s.io/v1", "application/json");
  const Value& properties = three.json["components"]["schemas"][name]["properties"];
  EXPECT_EQ(properties["properties"]["additionalProperties"]["$ref"].str(), "#/components/schemas/" + name);
}

}  // namespace
}  // namespace shiplog::e2e
