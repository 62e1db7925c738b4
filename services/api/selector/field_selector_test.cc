#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

const Kind& kind(const char* type) {
  const Kind* found = Kinds::compiled().find_type(type);
  EXPECT_NE(found, nullptr) << type;
  return *found;
}

Value object(const char* json) { return parse_json(json).value(); }

bool matches(const char* type, std::string_view selector, const Value& value) {
  const auto parsed = parse_field_selector(selector, kind(type));
  EXPECT_TRUE(parsed.has_value()) << selector << ": " << (parsed ? "" : parsed.error().message);
  return parsed && parsed.value().matches(value);
}

TEST(FieldSelectorParameter, NameAndNamespaceEverywhere) {  // LIST-6
  const Value web = object(R"({"metadata":{"name":"web","namespace":"default"}})");
  EXPECT_TRUE(matches("deployments.apps", "metadata.name=web", web));
  EXPECT_TRUE(matches("propagationpolicies.policy.karmada.io", "metadata.name==web,metadata.namespace=default", web));
  EXPECT_FALSE(matches("configmaps", "metadata.name!=web", web));
  EXPECT_FALSE(parse_field_selector("metadata.namespace=x", kind("namespaces")).has_value());
}

TEST(FieldSelectorParameter, AsksForOneName) {
  EXPECT_EQ(parse_field_selector("metadata.name=web", kind("pods")).value().name(), "web");
  EXPECT_EQ(parse_field_selector("metadata.name!=web", kind("pods")).value().name(), std::nullopt);
  EXPECT_EQ(parse_field_selector("status.phase=Running", kind("pods")).value().name(), std::nullopt);
  EXPECT_TRUE(parse_field_selector("", kind("pods")).value().empty());
}

TEST(FieldSelectorParameter, LabelsOfKinds) {  // LIST-6
  EXPECT_TRUE(matches("pods", "status.phase!=Running", object(R"({"status":{"phase":"Pending"}})")));
  EXPECT_TRUE(matches("pods", "spec.nodeName=", object("{}")));
  EXPECT_TRUE(matches("nodes", "spec.unschedulable=false", object("{}")));
  EXPECT_TRUE(matches("nodes", "spec.unschedulable=true", object(R"({"spec":{"unschedulable":true}})")));
  EXPECT_TRUE(matches("replicasets.apps", "status.replicas=3", object(R"({"status":{"replicas":3}})")));
  EXPECT_TRUE(matches("jobs.batch", "status.successful=0", object("{}")));
  EXPECT_TRUE(matches("secrets", "type=Opaque", object(R"({"type":"Opaque"})")));
  EXPECT_TRUE(matches("events", "source=kubelet", object(R"({"reportingComponent":"kubelet"})")));
  EXPECT_TRUE(matches("events", "involvedObject.namespace=,involvedObject.kind=Node",
                      object(R"({"involvedObject":{"kind":"Node"}})")));
}

TEST(FieldSelectorParameter, EventsHaveTheNamesOfTheirGroup) {  // LIST-6
  const Kind& core = kind("events");
  const Kind& newer = *Kinds::compiled().find("events.k8s.io", "v1", "events");
  const Value event = object(R"({"involvedObject":{"kind":"Node","name":"n"},"reportingComponent":"c","reason":"r"})");
  const auto selects = [&](const Kind& of, std::string_view selector) {
    const auto parsed = parse_field_selector(selector, of);
    return parsed ? std::optional{parsed.value().matches(event)} : std::nullopt;
  };
  EXPECT_EQ(selects(newer, "regarding.kind=Node,regarding.name=n,reportingController=c,reason=r"), true);
  EXPECT_EQ(selects(newer, "regarding.kind=Pod"), false);
  EXPECT_EQ(selects(newer, "regarding.fieldPath=,regarding.namespace=,regarding.uid!=u,type="), true);
  for (const char* other : {"involvedObject.kind=Node", "reportingComponent=c", "source=c"}) {
    EXPECT_EQ(selects(newer, other), std::nullopt) << other;
    EXPECT_EQ(selects(core, other), true) << other;
  }
  EXPECT_EQ(selects(core, "regarding.kind=Node"), std::nullopt);
}

TEST(FieldSelectorParameter, SelectableFieldsOfADefinition) {
  Kind shirt;
  shirt.group = "example.com";
  shirt.version = "v1";
  shirt.kind = "Shirt";
  shirt.plural = "shirts";
  shirt.selectable_fields = {"spec.color", "spec.size", "status.replicas", "source"};
  const Value red = object(R"({"metadata":{"name":"a"},"spec":{"color":"red","size":3,"new":true}})");
  const auto selects = [&](std::string_view selector) {
    const auto parsed = parse_field_selector(selector, shirt);
    return parsed ? std::optional{parsed.value().matches(red)} : std::nullopt;
  };
  EXPECT_EQ(selects("spec.color=red,spec.size=3"), true);
  EXPECT_EQ(selects("spec.color!=red"), false);
  EXPECT_EQ(selects("metadata.name=a,spec.size=4"), false);
  EXPECT_EQ(selects("status.replicas="), true) << "what is missing is empty, unlike the same field of built-in kinds";
  EXPECT_EQ(selects("source="), true);
  EXPECT_EQ(selects("spec.new=true"), std::nullopt) << "is not declared";
  EXPECT_EQ(selects(".spec.color=red"), std::nullopt);

  const FieldSelector mixed = parse_field_selector("metadata.name=a,spec.color=blue", shirt).value();
  EXPECT_TRUE(mixed.depends_on_version());
  EXPECT_TRUE(mixed.may_match(red)) << "another version may be blue";
  EXPECT_FALSE(mixed.may_match(object(R"({"metadata":{"name":"b"}})")));
  EXPECT_FALSE(parse_field_selector("metadata.name=a", shirt).value().depends_on_version());
}

TEST(FieldSelectorParameter, BackslashEscapes) {  // LIST-5
  EXPECT_TRUE(matches("secrets", R"(type=a\,b\=c\\)", object(R"({"type":"a,b=c\\"})")));
}

TEST(FieldSelectorParameter, NonsenseIsABadRequest) {
  for (const char* text : {"metadata.name", "=x", "spec.replicas=1", R"(metadata.name=a\)", R"(metadata.name=\x)",
                           "metadata.name=a=b", "x\\", "\\"}) {
    const auto parsed = parse_field_selector(text, kind("pods"));
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadRequest) << text;
  }
}

}  // namespace
}  // namespace shiplog::api
