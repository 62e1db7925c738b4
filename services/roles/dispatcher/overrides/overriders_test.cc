#include "services/roles/dispatcher/overrides/overriders.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::dispatcher {
namespace {

using test::json;

// One test for each cell of table B-20.

const std::string kDigest = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c";

Value workload(std::string_view kind, std::string_view image) {
  const Value pod = Value::object(
      {{"initContainers", Value::array({Value::object({{"name", "init"}, {"image", image}})})},
       {"containers",
        Value::array({Value::object({{"name", "main"}, {"image", image}}),
                      Value::object({{"name", "side"}, {"image", image}, {"args", json(R"(["-a","-b","-a"])")}})})}});
  Value object = Value::object({{"kind", kind}, {"metadata", Value::object({{"name", "web"}})}});
  if (kind == "Pod") {
    object.set("spec", pod);
  } else {
    object.edit("spec").edit("template").set("spec", pod);
  }
  return object;
}

Result<Value> overridden(const Value& object, std::string_view overriders) {
  return apply_overriders(object, json(overriders));
}
Value must(const Value& object, std::string_view overriders) {
  auto made = overridden(object, overriders);
  EXPECT_TRUE(made) << made.error().message;
  return made ? made.value() : Value{};
}
std::string why_not(const Value& object, std::string_view overriders) {
  const auto made = overridden(object, overriders);
  return made ? "it worked" : made.error().message;
}
const Value& main_container(const Value& object, int index = 0) {
  const Value& spec = object["spec"];
  return (object["kind"].as_string() == "Pod" ? spec : spec["template"]["spec"])["containers"][index];
}
std::string image_after(std::string_view before, const std::string& component, const std::string& op,
                        const std::string& value) {
  return main_container(must(workload("Deployment", before), R"({"imageOverrider": [{"component": ")" + component +
                                                                 R"(", "operator": ")" + op + R"(", "value": ")" +
                                                                 value + R"("}]})"))["image"]
      .str();
}

TEST(ImageOverrider, WithoutPredicateReachesEveryContainerOfSixKinds_B_20) {
  const auto overriders = R"({"imageOverrider": [{"component": "Registry", "operator": "replace", "value": "r.io"}]})";
  for (const char* kind : {"Pod", "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job"}) {
    const Value made = must(workload(kind, "nginx"), overriders);
    EXPECT_EQ(main_container(made, 0)["image"], Value{"r.io/nginx"}) << kind;
    EXPECT_EQ(main_container(made, 1)["image"], Value{"r.io/nginx"}) << kind;
    const Value& pod = std::string_view{kind} == "Pod" ? made["spec"] : made["spec"]["template"]["spec"];
    EXPECT_EQ(pod["initContainers"][0]["image"], Value{"nginx"}) << kind;
  }
  for (const char* kind : {"CronJob", "CloneSet"}) {
    EXPECT_EQ(must(workload(kind, "nginx"), overriders), workload(kind, "nginx")) << kind;
  }
}

TEST(ImageOverrider, WithPredicateReachesThatPathOnly_B_20) {
  const Value made = must(workload("CloneSet", "nginx:1"), R"({"imageOverrider": [{"component": "Tag",
      "operator": "replace", "value": "2", "predicate": {"path": "/spec/template/spec/initContainers/0/image"}}]})");
  EXPECT_EQ(made["spec"]["template"]["spec"]["initContainers"][0]["image"], Value{"nginx:2"});
  EXPECT_EQ(main_container(made)["image"], Value{"nginx:1"});
}

TEST(ImageOverrider, PredicatePathMustLeadToAString_B_20) {
  for (const char* path : {"/spec/nothing", "/spec/template", "/spec/template/spec/containers/7/image",
                           "/spec/template/spec/containers/x/image", "spec"}) {
    const std::string why =
        why_not(workload("Deployment", "nginx"),
                R"({"imageOverrider": [{"component": "Tag", "operator": "remove", "predicate": {"path": ")" +
                    std::string{path} + R"("}}]})");
    EXPECT_TRUE(why.starts_with("imageOverrider[0]: ")) << path << ": " << why;
  }
}

TEST(ImageOverrider, RegistryAddReplaceRemove_B_20) {
  EXPECT_EQ(image_after("r.io/a/b:t", "Registry", "add", ".cn"), "r.io.cn/a/b:t");
  EXPECT_EQ(image_after("a/b:t", "Registry", "add", "r.io"), "r.io/a/b:t");
  EXPECT_EQ(image_after("r.io/a/b:t", "Registry", "replace", "other:5000"), "other:5000/a/b:t");
  EXPECT_EQ(image_after("r.io/a/b:t", "Registry", "remove", ""), "a/b:t");
}

TEST(ImageOverrider, RepositoryAddReplaceRemove_B_20) {
  EXPECT_EQ(image_after("r.io/a/b:t", "Repository", "add", "-x"), "r.io/a/b-x:t");
  EXPECT_EQ(image_after("r.io/a/b:t", "Repository", "replace", "c"), "r.io/c:t");
  EXPECT_EQ(image_after("r.io/a/b:t", "Repository", "remove", ""), "r.io/:t");
}

TEST(ImageOverrider, TagAddReplaceRemove_B_20) {
  EXPECT_EQ(image_after("nginx:1.27", "Tag", "add", "-alpine"), "nginx:1.27-alpine");
  EXPECT_EQ(image_after("nginx", "Tag", "add", "latest"), "nginx:latest");
  EXPECT_EQ(image_after("nginx:1.27", "Tag", "replace", kDigest), "nginx@" + kDigest);
  EXPECT_EQ(image_after("nginx@" + kDigest, "Tag", "replace", "1"), "nginx:1");
  EXPECT_EQ(image_after("nginx:1.27", "Tag", "replace", "@" + kDigest), "nginx:1.27");  // shaped like neither
  EXPECT_EQ(image_after("nginx:1.27", "Tag", "remove", ""), "nginx");
  EXPECT_EQ(image_after("nginx@" + kDigest, "Tag", "remove", ""), "nginx");
}

TEST(ImageOverrider, EachEntrySeesTheOneBefore_B_19) {
  const Value made = must(workload("Pod", "nginx:1"), R"({"imageOverrider": [
      {"component": "Registry", "operator": "add", "value": "r.io"},
      {"component": "Registry", "operator": "add", "value": ":5000"}]})");
  EXPECT_EQ(main_container(made)["image"], Value{"r.io:5000/nginx:1"});
}

TEST(ImageOverrider, AnImageThatIsNoneFails_B_20) {
  EXPECT_EQ(
      why_not(workload("Pod", "Not An Image"), R"({"imageOverrider": [{"component": "Tag", "operator": "remove"}]})"),
      "imageOverrider[0]: failed to parse image value(Not An Image): invalid reference format");
}

TEST(ArgsOverrider, AddAppendsAndCreates_B_20) {
  for (const char* kind : {"Pod", "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job"}) {
    const Value made = must(workload(kind, "nginx"), R"({
        "commandOverrider": [{"containerName": "main", "operator": "add", "value": ["run", "it"]}],
        "argsOverrider": [{"containerName": "side", "operator": "add", "value": ["-c"]}]})");
    EXPECT_EQ(main_container(made, 0)["command"], json(R"(["run", "it"])")) << kind;
    EXPECT_EQ(main_container(made, 1)["args"], json(R"(["-a", "-b", "-a", "-c"])")) << kind;
    EXPECT_TRUE(main_container(made, 1)["command"].is_null()) << "another container's name";
  }
}

TEST(ArgsOverrider, RemoveTakesEveryEqualElement_B_20) {
  const Value made = must(workload("Deployment", "nginx"), R"({"argsOverrider": [
      {"containerName": "side", "operator": "remove", "value": ["-a", "-x"]},
      {"containerName": "main", "operator": "remove", "value": ["-a"]}]})");
  EXPECT_EQ(main_container(made, 1)["args"], json(R"(["-b"])"));
  EXPECT_EQ(main_container(made, 0)["args"], Value::array()) << "absent before: an empty list";
}

// Compared each with each, these would take minutes.
TEST(ArgsOverrider, ListsOfAnyLengthTakeNoLonger_B_20) {
  Value list = Value::array();
  for (int i = 0; i < 100'000; ++i) list.push_back("a" + std::to_string(i));
  Value pod = workload("Pod", "nginx");
  for (Value& container : pod.edit("spec").edit("containers").edit_items()) container.set("args", list);
  Value overriders = json(R"({"argsOverrider": [{"containerName": "main", "operator": "remove"}]})");
  std::ranges::reverse(list.edit_items());
  overriders.edit("argsOverrider").edit_items()[0].set("value", list);
  const auto made = apply_overriders(pod, overriders);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(main_container(made.value(), 0)["args"], Value::array());
}

TEST(ArgsOverrider, OtherKindsAndNamesAreLeftAlone_B_20) {
  const auto overriders = R"({"commandOverrider": [{"containerName": "main", "operator": "add", "value": ["x"]}]})";
  EXPECT_EQ(must(workload("CloneSet", "nginx"), overriders), workload("CloneSet", "nginx"));
  EXPECT_EQ(must(workload("Pod", "nginx"),
                 R"({"commandOverrider": [{"containerName": "none", "operator": "add", "value": ["x"]}]})"),
            workload("Pod", "nginx"));
}

TEST(LabelsOverrider, AddSetsReplaceAndRemoveTouchOnlyWhatIsThere_B_20) {
  const Value object = json(R"({"kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "1", "b": "2"}}})");
  const Value made = must(object, R"({"labelsOverrider": [
      {"operator": "add", "value": {"a": "new", "x/y": "z"}}, {"operator": "replace", "value": {"b": "3", "c": "4"}},
      {"operator": "remove", "value": {"x/y": "", "d": ""}}]})");
  EXPECT_EQ(made["metadata"]["labels"], json(R"({"a": "new", "b": "3"})"));
}

TEST(AnnotationsOverrider, AddMakesTheMap_ReplaceAndRemoveDoNot_B_20) {
  const Value object = json(R"({"kind": "ConfigMap", "metadata": {"name": "c"}})");
  EXPECT_EQ(must(object,
                 R"({"annotationsOverrider": [{"operator": "add", "value": {"a": "1"}}]})")["metadata"]["annotations"],
            json(R"({"a": "1"})"));
  EXPECT_EQ(must(object, R"({"annotationsOverrider": [{"operator": "replace", "value": {"a": "1"}},
                                                      {"operator": "remove", "value": {"a": "1"}}]})"),
            object);
}

TEST(FieldOverrider, PatchesJsonInsideAString_B_20) {
  const Value object = json(R"({"kind": "ConfigMap", "data": {"a/b.json": "{\"x\": {\"y\": 1}, \"l\": [1, 2]}"}})");
  const Value made = must(object, R"({"fieldOverrider": [{"fieldPath": "/data/a~1b.json", "json": [
      {"subPath": "/x/y", "operator": "replace", "value": 2}, {"subPath": "/x/z", "operator": "add", "value": {"w": null}},
      {"subPath": "/l/0", "operator": "remove"}]}]})");
  EXPECT_EQ(made["data"]["a/b.json"], Value{R"({"l":[2],"x":{"y":2,"z":{"w":null}}})"});
}

TEST(FieldOverrider, PatchesYamlInsideAString_B_20) {
  const Value object = json(R"({"kind": "ConfigMap", "data": {"c": "# lost\nz: 1\na:\n  b: text\n"}})");
  const Value made = must(object, R"({"fieldOverrider": [{"fieldPath": "/data/c", "yaml": [
      {"subPath": "/a/b", "operator": "replace", "value": "other"}]}]})");
  EXPECT_EQ(made["data"]["c"], Value{"a:\n  b: other\nz: 1\n"});
}

/// A ConfigMap's text `c` after one operation on it.
Result<Value> text_after(const std::string& text, const char* format, std::string_view operation) {
  Value object = Value::object({{"kind", "ConfigMap"}});
  object.edit("data").set("c", text);
  const auto made = overridden(object, R"({"fieldOverrider": [{"fieldPath": "/data/c", ")" + std::string{format} +
                                           R"(": [)" + std::string{operation} + "]}]}");
  if (!made) return made.error();
  return Value{made.value()["data"]["c"]};
}

TEST(FieldOverrider, NumbersOfJsonThatAreNotOverriddenKeepTheirText_B_20) {
  constexpr const char* kReplaceX = R"({"subPath": "/x", "operator": "replace", "value": 4})";
  const std::vector<std::pair<std::string, std::string>> kept = {
      {R"({"id":18446744073709551615,"x":1})", R"({"id":18446744073709551615,"x":4})"},
      {R"({"id": -9223372036854775809, "x": 1})", R"({"id":-9223372036854775809,"x":4})"},
      {R"({"x":1,"a":[0.12345678901234567890,1e400000000000000000000]})", ""},
      {R"({"x":1,"a":[0.12345678901234567890]})", R"({"a":[0.12345678901234567890],"x":4})"},
      {R"({"x":1,"a":[9223372036854775807,0.1,1.50,1e3,true]})",
       R"({"a":[9223372036854775807,0.1,1.5,1000.0,true],"x":4})"},
      {R"({"x":18446744073709551615})", R"({"x":4})"},
      {R"({"x":1,"t":"\"18446744073709551616\\","number 0":18446744073709551617,"s":"number 0"})",
       R"({"number 0":18446744073709551617,"s":"number 0","t":"\"18446744073709551616\\","x":4})"},
  };
  for (const auto& [text, wanted] : kept) {
    const auto made = text_after(text, "json", kReplaceX);
    if (wanted.empty()) {
      EXPECT_FALSE(made) << text;
      continue;
    }
    ASSERT_TRUE(made) << text << ": " << made.error().message;
    EXPECT_EQ(made.value(), Value{wanted});
  }
  const auto moved = text_after(R"({"l":[18446744073709551615,1]})", "json",
                                R"({"subPath": "/l/0", "operator": "add", "value": "number 0"})");
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved.value(), Value{R"({"l":["number 0",18446744073709551615,1]})"});
}

// This runs on the fold thread: no text that a user writes may make it take long.
TEST(FieldOverrider, TextThatLooksLikeAMarkTakesNoLonger_B_20) {
  const std::string dashes = R"(,"s":"number )" + std::string(900'000, '-') + R"("})";
  const auto made = text_after(R"({"id":18446744073709551615)" + dashes, "json",
                               R"({"subPath": "/id", "operator": "replace", "value": 4})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made.value(), Value{R"({"id":4)" + dashes});
}

TEST(FieldOverrider, RefusesToRoundAnIntegerOfYaml_B_20) {
  constexpr const char* kReplaceX = R"({"subPath": "/x", "operator": "replace", "value": 4})";
  const auto refused = text_after("a:\n- b\n- id: 18446744073709551615\nx: 1\n", "yaml", kReplaceX);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "fieldOverrider[0]: the number at /a/1/id is larger than 9223372036854775807 and would be rounded: write it "
      "in quotes, or override the whole text with plaintext");
  const auto made =
      text_after("id: 9223372036854775807\nr: 1.5\nt: \"18446744073709551615\"\nx: 1\n", "yaml", kReplaceX);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made.value(), Value{"id: 9223372036854775807\nr: 1.5\nt: \"18446744073709551615\"\nx: 4\n"});
  const auto itself = text_after("x: 18446744073709551615\n", "yaml", kReplaceX);
  ASSERT_TRUE(itself) << itself.error().message;
  EXPECT_EQ(itself.value(), Value{"x: 4\n"});
}

TEST(FieldOverrider, FailsAsAWhole_B_20) {
  const Value object = json(R"({"kind": "ConfigMap", "data": {"c": "{\"a\": 1}", "broken": "{"}})");
  const auto why = [&](const char* path, const char* sub_path) {
    return why_not(object, R"({"fieldOverrider": [{"fieldPath": ")" + std::string{path} + R"(", "json": [
        {"subPath": "/a", "operator": "remove"}, {"subPath": ")" +
                               sub_path + R"(", "operator": "replace", "value": 1}]}]})");
  };
  EXPECT_EQ(why("/data/none", "/a"), "fieldOverrider[0]: there is no string at fieldPath(/data/none)");
  EXPECT_EQ(why("/data", "/a"), "fieldOverrider[0]: there is no string at fieldPath(/data)");
  EXPECT_TRUE(why("/data/broken", "/a").starts_with("fieldOverrider[0]: ")) << why("/data/broken", "/a");
  EXPECT_TRUE(why("/data/c", "/a").starts_with("fieldOverrider[0]: the JSON patch cannot be applied: operation 1"))
      << why("/data/c", "/a");
}

TEST(PlaintextOverrider, IsOneJsonPatch_B_20) {
  const Value object = json(R"({"kind": "Deployment", "spec": {"replicas": 2, "paused": true}})");
  EXPECT_EQ(must(object, R"({"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 7},
      {"path": "/spec/strategy", "operator": "add", "value": {"type": "Recreate"}},
      {"path": "/spec/strategy/type", "operator": "replace", "value": "RollingUpdate"},
      {"path": "/spec/paused", "operator": "remove"}]})"),
            json(R"({"kind": "Deployment", "spec": {"replicas": 7, "strategy": {"type": "RollingUpdate"}}})"));
  for (const char* op : {"replace", "remove"}) {
    const std::string why = why_not(
        object, R"({"plaintext": [{"path": "/spec/none", "operator": ")" + std::string{op} + R"(", "value": 1}]})");
    EXPECT_TRUE(why.starts_with("plaintext: the JSON patch cannot be applied: operation 0")) << why;
  }
}

TEST(Overriders, RunInTheirOrderWhateverTheDocumentsIs_B_19) {
  const Value made = must(workload("Pod", "nginx:1"), R"({
      "plaintext": [{"path": "/spec/containers/0/image", "operator": "replace", "value": "last"}],
      "imageOverrider": [{"component": "Tag", "operator": "replace", "value": "first"}]})");
  EXPECT_EQ(main_container(made, 0)["image"], Value{"last"});
  EXPECT_EQ(main_container(made, 1)["image"], Value{"nginx:first"});
}

}  // namespace
}  // namespace shiplog::dispatcher
