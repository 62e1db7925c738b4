#include "services/api/apply/fields.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const Schema& deployment() { return *Kinds::compiled().find_type("deployments.apps")->schema; }
const Schema& service() { return *Kinds::compiled().find_type("services")->schema; }

std::string fields(const Value& value, const Schema& schema) {
  const auto set = fields_of(value, schema);
  return set ? to_json(to_fields_v1(set.value())) : set.error().message;
}

Value containers(std::string_view list) {
  return json(R"({"spec":{"template":{"spec":{"containers":)" + std::string{list} + "}}}}");
}

TEST(Fields, AreWrittenAsFieldsV1) {  // SSA-5, its example
  EXPECT_EQ(fields(containers(R"([{"name":"c","image":"i"}])"), deployment()),
            R"({"f:spec":{"f:template":{"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}}}})");
}

TEST(Fields, AtomicPartsAreOneField) {  // SSA-13
  EXPECT_EQ(fields(json(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"replicas":1}})"), deployment()),
            R"({"f:spec":{"f:replicas":{},"f:selector":{}}})");
  EXPECT_EQ(fields(containers(R"([{"name":"c","args":["a","b"]}])"), deployment()),
            R"({"f:spec":{"f:template":{"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:name":{}}}}}}})");
}

TEST(Fields, SetsAreKeptByValueAndMapsByKey) {  // SSA-13
  EXPECT_EQ(fields(json(R"({"metadata":{"labels":{"a":"1"},"finalizers":["x/y"]}})"), deployment()),
            R"({"f:metadata":{"f:finalizers":{"v:\"x/y\"":{}},"f:labels":{"f:a":{}}}})");
}

TEST(Fields, AKeyThatHasADefaultNeedNotBeGiven) {  // SSA-14
  EXPECT_EQ(fields(json(R"({"spec":{"ports":[{"port":80}]}})"), service()),
            R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}})");
}

TEST(Fields, ElementsMustHaveTheirKeyAndOnce) {  // SSA-2
  EXPECT_EQ(fields(containers(R"([{"name":"c"},{"name":"c"}])"), deployment()),
            R"(.spec.template.spec.containers: duplicate entries for key [{"name":"c"}])");
  EXPECT_EQ(fields(containers(R"([{"image":"c"}])"), deployment()),
            ".spec.template.spec.containers: an element of the list has no name");
}

TEST(Fields, ReadWhatTheyWrite) {
  const auto set = fields_of(
      json(
          R"({"metadata":{"labels":{"a":"1"}},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})"),
      deployment());
  ASSERT_TRUE(set);
  const auto again = from_fields_v1(to_fields_v1(set.value()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again.value(), set.value());
  EXPECT_EQ(paths_of(set.value()),
            (std::vector<std::string>{".metadata.labels.a", R"(.spec.template.spec.containers[name="c"])",
                                      R"(.spec.template.spec.containers[name="c"].image)",
                                      R"(.spec.template.spec.containers[name="c"].name)"}));
  EXPECT_FALSE(from_fields_v1(json(R"({"spec":{}})")));
  EXPECT_FALSE(from_fields_v1(json(R"({"f:spec":1})")));
}

TEST(Fields, SetsCombine) {
  const auto a = from_fields_v1(json(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})")).value();
  const auto b = from_fields_v1(json(R"({"f:a":{"f:x":{},"f:y":{}}})")).value();
  EXPECT_EQ(to_json(to_fields_v1(unite(a, b))), R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  EXPECT_EQ(to_json(to_fields_v1(intersect(a, b))), R"({"f:a":{"f:x":{}}})");
  EXPECT_EQ(to_json(to_fields_v1(subtract(a, b))), R"({"f:a":{},"f:b":{}})");
  EXPECT_TRUE(subtract(a, a).empty());
}

TEST(Fields, ComparingReportsChangedAndRemovedFields) {
  const Value before = json(R"({"metadata":{"labels":{"a":"1","b":"1"}},"spec":{"replicas":1}})");
  const Value after = json(R"({"metadata":{"labels":{"a":"2","c":"1"}},"spec":{"replicas":1}})");
  const FieldChanges changes = compare_fields(before, after, deployment());
  EXPECT_EQ(paths_of(changes.changed), (std::vector<std::string>{".metadata.labels.a", ".metadata.labels.c"}));
  EXPECT_EQ(paths_of(changes.removed), (std::vector<std::string>{".metadata.labels.b"}));
  EXPECT_TRUE(compare_fields(after, after, deployment()).changed.empty());
}

TEST(Fields, MergingKeepsWhatIsNotNamed) {
  const Value live = containers(R"([{"name":"a","image":"1","args":["x"]},{"name":"b","image":"1"}])");
  const Value wanted = containers(R"([{"name":"b","image":"2"},{"name":"c","image":"3"}])");
  EXPECT_EQ(merge_fields(live, wanted, deployment()),
            containers(R"([{"name":"a","image":"1","args":["x"]},{"name":"b","image":"2"},{"name":"c","image":"3"}])"));
}

TEST(Fields, RemovingAnElementLeavesWhatOthersHaveInIt) {
  const Value value = containers(R"([{"name":"a","image":"1"},{"name":"b","image":"1","tty":true}])");
  const FieldSet all = fields_of(value, deployment()).value();
  const FieldSet kept = fields_of(containers(R"([{"name":"b","image":"1"}])"), deployment()).value();
  EXPECT_EQ(without_fields(value, subtract(all, kept), kept, deployment()),
            containers(R"([{"name":"b","image":"1"}])"));
  EXPECT_EQ(without_fields(value, all, {}, deployment()), json("{}"));
}

}  // namespace
}  // namespace shiplog::api
