#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "services/api/patch/patch.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const Schema& schema(const char* type) { return *Kinds::compiled().find_type(type)->schema; }

Result<Value> patched(const char* type, std::string_view object, std::string_view patch) {
  return apply_strategic_merge_patch(json(object), json(patch), schema(type));
}

std::string after(const char* type, std::string_view object, std::string_view patch) {
  const auto result = patched(type, object, patch);
  return result ? to_json(result.value()) : "error: " + result.error().message;
}

std::string containers_after(std::string_view containers, std::string_view pod_spec_patch) {
  const auto result =
      patched("deployments.apps", R"({"spec":{"template":{"spec":{"containers":)" + std::string{containers} + "}}}}",
              R"({"spec":{"template":{"spec":)" + std::string{pod_spec_patch} + "}}}");
  return result ? to_json(result.value()["spec"]["template"]["spec"]["containers"]) : result.error().message;
}

TEST(StrategicMergePatch, MapsMergeScalarsReplaceNullDeletes) {  // SMP-1
  EXPECT_EQ(after("configmaps", R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":"3","b":null,"c":null}})"),
            R"({"data":{"a":"3"}})");
  EXPECT_EQ(after("configmaps", "{}", R"({"data":{"a":"3","b":null}})"), R"({"data":{"a":"3"}})");
}

TEST(StrategicMergePatch, ListsWithoutAStrategyAreReplaced) {  // SMP-2
  EXPECT_EQ(containers_after(R"([{"name":"c","args":["a","b"]}])", R"({"containers":[{"name":"c","args":["x"]}]})"),
            R"([{"args":["x"],"name":"c"}])");
}

TEST(StrategicMergePatch, ListsMergeByKey) {  // SMP-3, SMP-10
  EXPECT_EQ(containers_after(R"([{"name":"a","image":"1"},{"name":"b","image":"1","tty":true}])",
                             R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],)"
                             R"("containers":[{"image":"2","name":"b"}]})"),
            R"([{"image":"1","name":"a"},{"image":"2","name":"b","tty":true}])");
  EXPECT_EQ(containers_after(R"([{"name":"a"}])", R"({"containers":[{"name":"b","env":[{"name":"X","value":"1"}]}]})"),
            R"([{"name":"a"},{"env":[{"name":"X","value":"1"}],"name":"b"}])");
  EXPECT_NE(containers_after(R"([{"name":"a"}])", R"({"containers":[{"image":"x"}]})")
                .find("does not contain declared merge key: name"),
            std::string::npos);
}

TEST(StrategicMergePatch, ScalarListsUniteAndLoseWhatIsNamed) {  // SMP-4, SMP-6
  EXPECT_EQ(after("configmaps", R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["b","c"]}})"),
            R"({"metadata":{"finalizers":["a","b","c"]}})");
  EXPECT_EQ(after("configmaps", R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})"),
            R"({"metadata":{"finalizers":["b"]}})");
  EXPECT_EQ(after("configmaps", R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"$setElementOrder/finalizers":["b","c"],"$deleteFromPrimitiveList/finalizers":["a"],)"
                  R"("finalizers":["c"]}})"),
            R"({"metadata":{"finalizers":["b","c"]}})");
}

TEST(StrategicMergePatch, PatchDirectives) {  // SMP-5
  EXPECT_EQ(after("configmaps", R"({"data":{"a":"1"}})", R"({"data":{"$patch":"replace","b":"2"}})"),
            R"({"data":{"b":"2"}})");
  EXPECT_EQ(after("configmaps", R"({"data":{"a":"1"}})", R"({"data":{"$patch":"delete"}})"), R"({"data":{}})");
  EXPECT_EQ(containers_after(R"([{"name":"a"},{"name":"b"}])", R"({"containers":[{"name":"a","$patch":"delete"}]})"),
            R"([{"name":"b"}])");
  EXPECT_EQ(containers_after(R"([{"name":"a"},{"name":"b"}])", R"({"containers":[{"$patch":"replace"},{"name":"c"}]})"),
            R"([{"name":"c"}])");
  for (const char* bad :
       {R"({"data":{"$patch":"merge"}})", R"({"data":{"$patch":1}})", R"({"binaryData":{"$patch":"x"}})"}) {
    const auto result = patched("configmaps", R"({"data":{"a":"1"}})", bad);
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().code, ErrorCode::kBadRequest);
  }
}

TEST(StrategicMergePatch, ElementOrder) {  // SMP-7
  EXPECT_EQ(containers_after(R"([{"name":"a"},{"name":"b"},{"name":"c"}])",
                             R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]})"),
            R"([{"name":"b"},{"name":"c"},{"name":"a"}])");
  EXPECT_EQ(
      containers_after(R"([{"name":"a"},{"name":"s"}])",
                       R"({"$setElementOrder/containers":[{"name":"n"},{"name":"a"}],"containers":[{"name":"n"}]})"),
      R"([{"name":"n"},{"name":"a"},{"name":"s"}])");
  EXPECT_NE(containers_after(R"([{"name":"a"}])",
                             R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"n"}]})")
                .find("$setElementOrder"),
            std::string::npos);
}

TEST(StrategicMergePatch, RetainKeys) {  // SMP-8
  EXPECT_EQ(
      after("deployments.apps", R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
            R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})"),
      R"({"spec":{"strategy":{"type":"Recreate"}}})");
  EXPECT_FALSE(patched("deployments.apps", R"({"spec":{"strategy":{"type":"RollingUpdate"}}})",
                       R"({"spec":{"strategy":{"$retainKeys":["x"],"type":"Recreate"}}})")
                   .has_value());
}

TEST(StrategicMergePatch, DirectivesNeverReachTheObject) {  // SMP-9
  EXPECT_EQ(
      after(
          "deployments.apps", "{}",
          R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"},"template":{"spec":{)"
          R"("$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"},{"name":"x","$patch":"delete"}]}}}})"),
      R"({"spec":{"strategy":{"type":"Recreate"},"template":{"spec":{"containers":[{"name":"a"}]}}}})");
}

/// Deterministic noise: objects and patches that share keys, with directives in every position.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_{seed} {}
  size_t below(size_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(state_ >> 33U) % n;
  }
  Value value(int depth) {
    static constexpr const char* kKeys[] = {"metadata",   "spec",
                                            "template",   "containers",
                                            "name",       "finalizers",
                                            "strategy",   "ports",
                                            "$patch",     "$retainKeys",
                                            "volumes",    "containerPort",
                                            "conditions", "$setElementOrder/containers",
                                            "type",       "$deleteFromPrimitiveList/finalizers"};
    static constexpr const char* kTexts[] = {"a", "b", "delete", "replace", "merge", "", "name", "type"};
    switch (below(depth > 6 ? 4 : 9)) {
      case 0:
        return Value{};
      case 1:
        return Value{static_cast<int64_t>(below(3))};
      case 2:
        return Value{below(2) == 0};
      case 3:
        return Value{kTexts[below(std::size(kTexts))]};
      case 4:
      case 5: {
        Value list = Value::array();
        for (size_t i = below(4); i > 0; --i) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        Value object = Value::object();
        for (size_t i = below(6); i > 0; --i) object.set(kKeys[below(std::size(kKeys))], value(depth + 1));
        return object;
      }
    }
  }

 private:
  uint64_t state_;
};

bool has_directive(const Value& value, bool top = true) {
  for (const auto& member : value.members()) {
    if (member.key().starts_with("$") && !top) return true;
    if (has_directive(member.value, false)) return true;
  }
  for (const Value& item : value.items()) {
    if (has_directive(item, false)) return true;
  }
  return false;
}

TEST(StrategicMergePatch, SurvivesAnyJson) {
  size_t applied = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    Noise noise{seed};
    const Value patch = noise.value(0);
    Value object = noise.value(0);
    for (const char* type : {"deployments.apps", "pods", "configmaps"}) {
      const auto result = apply_strategic_merge_patch(object, patch, schema(type));
      if (!result) {
        EXPECT_EQ(result.error().code, ErrorCode::kBadRequest) << seed;
        continue;
      }
      ++applied;
      if (has_directive(object, false)) continue;
      EXPECT_FALSE(has_directive(result.value(), false)) << seed << to_json(patch);
    }
    (void)apply_merge_patch(object, patch);
    (void)apply_json_patch(object, patch);
  }
  EXPECT_GT(applied, 1000U);  // the noise is not all refused
}

}  // namespace
}  // namespace shiplog::api
