// Kinds that users define, and built-in groups (CRD-1 to CRD-14 and KIND-1).
#include <algorithm>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

/// `versions` as in a definition, YAML.
Value definition(const std::string& plural, const std::string& group, const std::string& kind,
                 const std::string& versions) {
  return yaml("{metadata: {name: " + plural + "." + group + "}, spec: {group: " + group +
              ", scope: Namespaced, names: {plural: " + plural + ", kind: " + kind + "}, versions: " + versions + "}}");
}

std::string one_version(const std::string& spec = "{type: object, x-kubernetes-preserve-unknown-fields: true}") {
  return "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: " +
         spec + "}}}}]";
}

std::string condition(const std::string& name, const char* type, const char* field = "status") {
  const Answer answer = api().get(kDefinitions + "/" + name);
  return named(answer.json["status"]["conditions"], type, "type")[field].str();
}

void define(const Value& crd) {
  const Answer made = api().post(kDefinitions, crd);
  ASSERT_EQ(made.status, 201) << made;
  const std::string name = crd["metadata"]["name"].str();
  EXPECT_TRUE(eventually([&] { return condition(name, "Established") == "True"; }));
}

Value custom(const std::string& group, const std::string& kind, const std::string& spec = "{}") {
  return json(R"({"apiVersion":")" + group + R"(/v1","kind":")" + kind + R"(","metadata":{"name":"one"},"spec":)" +
              spec + "}");
}

TEST(Definitions, CRD_04_groups_of_kubernetes_need_approval) {
  Value crd = definition("jugs", "jugs.k8s.io", "Jug", one_version());
  expect_failure(api().post(kDefinitions, crd), 422, "Invalid", "api-approved.kubernetes.io");
  const auto approve = [&](const char* annotation) {
    crd.edit("metadata").edit("annotations").set("api-approved.kubernetes.io", annotation);
  };
  approve("yes");
  expect_failure(
      api().post(kDefinitions, crd), 422, "Invalid",
      "Invalid value: \"yes\": protected groups must have approval annotation \"api-approved.kubernetes.io\" "
      "with either a URL or a reason starting with \"unapproved\", see "
      "https://github.com/kubernetes/enhancements/pull/1111");
  approve("unapproved, for a test");
  define(crd);
  const char* approved = "KubernetesAPIApprovalPolicyConformant";
  EXPECT_EQ(condition("jugs.jugs.k8s.io", approved), "False");
  EXPECT_EQ(condition("jugs.jugs.k8s.io", approved, "reason"), "UnapprovedAnnotation");
  EXPECT_EQ(condition("jugs.jugs.k8s.io", approved, "message"), "not approved: \"unapproved, for a test\"");
  define(definition("jugs", "jugs.x-k8s.io", "Jug", one_version()));
}

TEST(Definitions, CRD_06_features_of_schemas) {
  const std::string ns = own_namespace();
  define(definition(
      "pots", "features.example.com", "Pot",
      one_version(
          "{type: object, required: [size], properties: {size: {type: integer, minimum: 1, "
          "maximum: 9}, name: {type: string, pattern: '^[a-z]+$', minLength: 2, maxLength: 4}, "
          "when: {type: string, format: date-time}, parts: {type: array, minItems: 1, maxItems: "
          "2, items: {type: string, enum: [lid, body]}}, port: {x-kubernetes-int-or-string: true, "
          "anyOf: [{type: integer}, {type: string}]}, labels: {type: object, "
          "additionalProperties: {type: string}}, day: {type: string, format: date}, ip: {type: string, format: "
          "ipv4}, ip6: {type: string, format: ipv6}, net: {type: string, format: cidr}, id: {type: "
          "string, format: uuid}, mac: {type: string, format: mac}, mail: {type: string, format: "
          "email}}}")));
  const std::string pots = in(ns, "pots", "features.example.com/v1");
  const auto post = [&](const char* spec) {
    return api().post(pots + "?dryRun=All", custom("features.example.com", "Pot", spec)).status;
  };
  EXPECT_EQ(
      post(R"({"size":3,"name":"abc","when":"2026-11-21T00:00:00Z","parts":["lid"],"port":"http","labels":{"a":"b"}})"),
      201);
  EXPECT_EQ(post(R"({"size":3,"port":8080})"), 201);
  EXPECT_EQ(post(R"({"size":3,"day":"2026-02-28","ip":"10.0.0.255","ip6":"fd00::1","net":"fd00::/64","mail":"a@b.c",
      "id":"8be19c5c-4659-4053-98bd-a97ba2dfe538","mac":"00:11:22:aa:BB:cc"})"),
            201);
  for (const char* wrong : {R"({})",
                            R"({"size":0})",
                            R"({"size":10})",
                            R"({"size":3,"name":"A"})",
                            R"({"size":3,"name":"abcde"})",
                            R"({"size":3,"when":"soon"})",
                            R"({"size":3,"parts":[]})",
                            R"({"size":3,"parts":["cup"]})",
                            R"({"size":3,"port":true})",
                            R"({"size":3,"labels":{"a":1}})",
                            R"({"size":3,"day":"2026-02-30"})",
                            R"({"size":3,"ip":"1.2.3"})",
                            R"({"size":3,"ip":"1.2.3.256"})",
                            R"({"size":3,"ip6":"1.2.3.4"})",
                            R"({"size":3,"ip6":"a::b::c"})",
                            R"({"size":3,"net":"10.0.0.0"})",
                            R"({"size":3,"net":"10.0.0.0/33"})",
                            R"({"size":3,"id":"12"})",
                            R"({"size":3,"mac":"00:11"})",
                            R"({"size":3,"mail":"nobody"})"}) {
    EXPECT_EQ(post(wrong), 422) << wrong;
  }
}

TEST(Definitions, CRD_07_pruned_defaulted_validated) {
  const std::string widgets = widgets_in(own_namespace());
  const Answer made =
      api().post(widgets, widget("w", R"({"size":1,"sofa":2,"anything":{"kept":{"x":1}},"colour":null})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"], json(R"({"size":1,"anything":{"kept":{"x":1}},"colour":"red"})")) << made;
}

TEST(Definitions, CRD_07_a_later_default_applies_to_existing_objects) {
  const std::string ns = own_namespace();
  define(definition("cups", "later.example.com", "Cup",
                    one_version("{type: object, properties: {size: {type: integer}}}")));
  const std::string cups = in(ns, "cups", "later.example.com/v1");
  const Answer made = api().post(cups, custom("later.example.com", "Cup", R"({"size":1})"));
  ASSERT_EQ(made.status, 201) << made;
  const Value schema =
      json(R"({"type":"object","properties":{"size":{"type":"integer"},"colour":{"type":"string","default":"red"}}})");
  Value crd = api().get(kDefinitions + "/cups.later.example.com").json;
  crd.edit("spec")
      .edit("versions")
      .edit_items()[0]
      .edit("schema")
      .edit("openAPIV3Schema")
      .edit("properties")
      .set("spec", schema);
  ASSERT_EQ(api().put(kDefinitions + "/cups.later.example.com", crd).status, 200);
  const Value whole = json(R"({"size":1,"colour":"red"})");
  EXPECT_TRUE(eventually([&] { return api().get(cups + "/one").json["spec"] == whole; }));
  EXPECT_EQ(api().get(cups).json["items"][0]["spec"], whole);
  EXPECT_EQ(api().get(cups + "/one").json["metadata"]["resourceVersion"], made.json["metadata"]["resourceVersion"]);
}

/// testDefaulting of k8s.io/apiextensions-apiserver.
TEST(Definitions, CRD_07_reads_fill_in_the_defaults_of_the_storage_version) {
  const auto fields = [](const std::string& own) {
    std::string all;
    for (const std::string name : {"a", "c", "v1beta1", "v1beta2"}) {
      const bool has_default = name == "a" || name == own;
      all += (all.empty() ? "" : ", ") + name + ": {type: string" + (has_default ? ", default: " + name : "") + "}";
    }
    return "{type: object, properties: {" + all + "}}";
  };
  const auto version = [&](const std::string& name, const char* served, const char* storage) {
    return "{name: " + name + ", served: " + served + ", storage: " + storage +
           ", subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: " + fields(name) +
           ", status: " + fields(name) + "}}}}";
  };
  for (const char* served : {"false", "true"}) {
    const std::string group = std::string{served} + ".defaults.example.com";
    const std::string name = "mugs." + group;
    const std::string mugs = in(own_namespace(), "mugs", group + "/v1beta1");
    define(definition("mugs", group, "Mug",
                      "[" + version("v1beta1", "true", "false") + ", " + version("v1beta2", served, "true") + "]"));
    const auto set_default = [&](int at, const char* operation) {
      Value patch = Value::array();
      for (const char* part : {"spec", "status"}) {
        patch.push_back(
            Value::object({{"op", operation},
                           {"path", "/spec/versions/" + std::to_string(at) + "/schema/openAPIV3Schema/properties/" +
                                        part + "/properties/c/default"},
                           {"value", "c"}}));
      }
      const Answer patched = api().patch(kDefinitions + "/" + name, "json", patch);
      EXPECT_EQ(patched.status, 200) << patched;
    };
    const auto reads = [&](const char* part, const char* field) {
      return api().get(mugs + "/one").json[part][field].str();
    };
    Value mug = custom(group, "Mug");
    mug.set("apiVersion", group + "/v1beta1");
    const Answer made = api().post(mugs, mug);
    ASSERT_EQ(made.status, 201) << made;
    EXPECT_EQ(made.json["spec"], json(R"({"a":"a","v1beta1":"v1beta1","v1beta2":"v1beta2"})")) << served;
    EXPECT_EQ(api().patch(mugs + "/one/status", "merge", json(R"({"status":{}})")).json["status"]["a"].str(), "a");

    set_default(1, "add");
    EXPECT_TRUE(eventually([&] { return reads("spec", "c") == "c"; })) << served;
    EXPECT_EQ(api().get(mugs).json["items"][0]["status"]["c"].str(), "c");
    set_default(0, "add");
    set_default(1, "remove");
    EXPECT_TRUE(eventually([&] { return reads("spec", "c").empty(); })) << "the other version's default is for writes";
    EXPECT_EQ(reads("status", "c"), "");
    const Value read = api().get(mugs + "/one").json;
    EXPECT_EQ(api().put(mugs + "/one/status", read).json["status"]["c"].str(), "c");
    EXPECT_EQ(reads("spec", "c"), "") << "only the status is written";
    set_default(0, "remove");
    EXPECT_TRUE(eventually([&] { return reads("status", "c") == "c"; })) << "it is stored";
  }
}

TEST(Definitions, CRD_08_invalid_fields_are_named_by_their_path) {
  const std::string widgets = widgets_in(own_namespace());
  const Answer refused = api().post(widgets, widget("w", R"({"size":"big","parts":[{"weight":1}],"colour":"blue"})"));
  expect_failure(refused, 422, "Invalid",
                 R"(spec.size: Invalid value: "string": spec.size in body must be of type integer: "string")");
  EXPECT_EQ(refused.json["details"]["kind"].str(), "Widget");
  const Names fields = fields_of(refused);
  for (const char* field : {"spec.size", "spec.parts[0].name", "spec.colour"}) {
    EXPECT_TRUE(std::ranges::find(fields, field) != fields.end()) << field << refused;
  }
}

TEST(Definitions, CRD_09_patches_and_media_types) {
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w")).status, 201);
  for (const char* part : {"", "/status", "/scale"}) {
    expect_failure(api().patch(widgets + "/w" + part, "strategic-merge", json("{}")), 415, "UnsupportedMediaType");
  }
  expect_failure(api().call("POST", widgets, "k8s", {{"Content-Type", kProtobuf}}), 415, "UnsupportedMediaType");
  expect_failure(api().get(widgets, kProtobuf), 406, "NotAcceptable");
  EXPECT_EQ(api().get(widgets, "application/yaml").status, 200);
}

TEST(Groups, GRP_01_old_versions_are_not_served) {
  for (const char* version :
       {"apps/v1beta1", "apps/v1beta2", "extensions/v1beta1", "policy/v1beta1", "batch/v1beta1", "autoscaling/v2beta2",
        "networking.k8s.io/v1beta1", "rbac.authorization.k8s.io/v1beta1"}) {
    EXPECT_EQ(api().get(std::string{"/apis/"} + version).status, 404) << version;
  }
}

}  // namespace
}  // namespace shiplog::e2e
