// One store, several versions (GRP-3, EVENT-1, CRD-10).
#include "services/api/versions/versions.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? std::move(value).value() : Value{};
}

const Kind& kind(const char* group, const char* version, const char* plural) {
  const Kind* found = Kinds::compiled().find(group, version, plural);
  EXPECT_NE(found, nullptr) << plural;
  return *found;
}

const char* const kAutoscaler = R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
  "metadata":{"name":"a"},"spec":{"maxReplicas":5,"behavior":{"scaleDown":{"selectPolicy":"Max"}},"metrics":[
  {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},
  {"type":"Pods","pods":{"metric":{"name":"qps","selector":{"matchLabels":{"a":"b"}}},
    "target":{"type":"AverageValue","averageValue":"10"}}},
  {"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"Service","name":"s"},
    "target":{"type":"Value","value":"2"}}},
  {"type":"External","external":{"metric":{"name":"e","selector":{"matchLabels":{"c":"d"}}},
    "target":{"type":"AverageValue","averageValue":"3"}}},
  {"type":"ContainerResource","containerResource":{"name":"memory","container":"main",
    "target":{"type":"Utilization","averageUtilization":60}}}]},
  "status":{"currentReplicas":1,"desiredReplicas":2,"conditions":[{"type":"AbleToScale","status":"True"}],
  "currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":30,"averageValue":"1"}}},
  {"type":"Resource","resource":{"name":"memory","current":{"averageValue":"7"}}}]}})";

TEST(Versions, OnlyAConversionWebhookMakesAnotherVersionOfItsKind) {
  Kind shirt;
  shirt.group = "example.com";
  shirt.version = "v2";
  shirt.kind = "Shirt";
  shirt.plural = "shirts";
  const Value old = json(R"({"apiVersion":"example.com/v1","kind":"Shirt","spec":{"size":1}})");
  EXPECT_FALSE(needs_conversion(shirt, old));
  EXPECT_EQ(in_version(shirt, old)["apiVersion"].str(), "example.com/v2");
  shirt.conversion = json(R"({"conversionReviewVersions":["v1"]})");
  EXPECT_TRUE(needs_conversion(shirt, old));
  EXPECT_EQ(in_version(shirt, old), old) << "the other apiVersion would be a lie";
  EXPECT_EQ(pruned_in_version(shirt, old), old);
  EXPECT_FALSE(needs_conversion(shirt, json(R"({"apiVersion":"example.com/v2","kind":"Shirt"})")));
  EXPECT_FALSE(needs_conversion(shirt, json(R"({"apiVersion":"autoscaling/v1","kind":"Scale"})")));
  EXPECT_FALSE(needs_conversion(shirt, Value{}));
}

TEST(Versions, AnAutoscalerHasItsCpuTargetInAFieldAndTheRestInAnnotations) {
  const Value shown = in_version(kind("autoscaling", "v1", "horizontalpodautoscalers"), json(kAutoscaler));
  EXPECT_EQ(shown["apiVersion"].str(), "autoscaling/v1");
  EXPECT_EQ(shown["spec"], json(R"({"maxReplicas":5,"targetCPUUtilizationPercentage":70})"));
  EXPECT_EQ(shown["status"]["currentCPUUtilizationPercentage"].as_int(), 30);
  const Value metrics = json(shown["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"].as_string());
  EXPECT_EQ(metrics[0], json(R"({"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"10",
      "selector":{"matchLabels":{"a":"b"}}}})"));
  EXPECT_EQ(metrics[2]["external"]["metricSelector"], json(R"({"matchLabels":{"c":"d"}})"));
  const Value idle =
      in_version(kind("autoscaling", "v1", "horizontalpodautoscalers"),
                 json(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","status":{}})"));
  EXPECT_EQ(to_json(idle["status"]), R"({"currentReplicas":0,"desiredReplicas":0})") << "always written in v1";
}

TEST(Versions, AnAutoscalerIsTheSameAfterBothConversions) {
  Value expected = json(kAutoscaler);
  // Of the CPU's current use, v1 has the percentage alone.
  expected.edit("status").edit("currentMetrics").edit_items()[0].edit("resource").edit("current").erase("averageValue");
  const Value there = in_version(kind("autoscaling", "v1", "horizontalpodautoscalers"), json(kAutoscaler));
  EXPECT_EQ(in_version(kind("autoscaling", "v2", "horizontalpodautoscalers"), there), expected);
}

TEST(Versions, AnEventHasTwoSetsOfNames) {
  const Value event = json(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"name":"p"},
      "message":"m","reason":"r","reportingComponent":"c","reportingInstance":"i","source":{"component":"s"},
      "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:01Z","count":2,"type":"Normal"})");
  const Value shown = in_version(kind("events.k8s.io", "v1", "events"), event);
  EXPECT_EQ(shown, json(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
      "regarding":{"name":"p"},"note":"m","reason":"r","reportingController":"c","reportingInstance":"i",
      "deprecatedSource":{"component":"s"},"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z",
      "deprecatedLastTimestamp":"2026-01-01T00:00:01Z","deprecatedCount":2,"type":"Normal"})"));
  EXPECT_EQ(in_version(kind("", "v1", "events"), shown), event);
}

TEST(Versions, ACustomKindIsTheSameInAll) {
  Kind sofa;
  sofa.group = "example.com";
  sofa.version = "v1";
  sofa.kind = "Sofa";
  const Value shown = in_version(sofa, json(R"({"apiVersion":"example.com/v2","kind":"Sofa","spec":{"a":1}})"));
  EXPECT_EQ(shown, json(R"({"apiVersion":"example.com/v1","kind":"Sofa","spec":{"a":1}})"));
}

/// As the definition of a user gives it.
Kind sofa_with(const std::string& properties) {
  const auto kinds = kinds_of(json(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sofas.example.com"},)"
      R"("spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"sofas","singular":"sofa","kind":"Sofa","listKind":"SofaList"},)"
      R"("versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{)" +
      properties + "}}}}}}]}}"));
  EXPECT_TRUE(kinds.has_value());
  return kinds.value().at(0);
}

TEST(Versions, AFieldThatADefinitionHasLostIsNotRead) {  // CRD-7, CRD-10
  const Kind sofa = sofa_with(R"("a":{"type":"string"},"seats":{"type":"array","items":{"type":"object","properties":{
      "wide":{"type":"boolean"}}}},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
      "new":{"type":"integer","default":3})");
  const Value stored = json(R"({"apiVersion":"example.com/v2","kind":"Sofa","metadata":{"name":"s","labels":{"x":"y"}},
      "spec":{"a":"one","old":"legacy","seats":[{"wide":true,"soft":1}],"free":{"any":1}},"gone":{}})");
  EXPECT_EQ(pruned_in_version(sofa, stored),
            json(R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"s","labels":{"x":"y"}},
                     "spec":{"a":"one","seats":[{"wide":true}],"free":{"any":1},"new":3}})"));
  EXPECT_EQ(in_version(sofa, stored)["spec"]["old"].str(), "legacy") << "webhooks convert back what they get";
  const Value built_in = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"old":1})");
  EXPECT_EQ(pruned_in_version(kind("", "v1", "configmaps"), built_in), built_in);
}

/// Two versions, each with a default and a field of its own; v1 is stored.
Kind chair_in(const std::string& version, bool stored_is_served = true) {
  const auto described = [](const std::string& name, const char* served, const char* storage) {
    return R"({"name":")" + name + R"(","served":)" + served + R"(,"storage":)" + storage +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{)"
           R"("from_v1":{"type":"string")" +
           (name == "v1" ? R"(,"default":"x")" : "") + R"(},)" + R"("from_v2":{"type":"string")" +
           (name == "v2" ? R"(,"default":"x")" : "") + R"(},)" + R"("only_)" + name + R"(":{"type":"string"}}}}}}})";
  };
  const auto kinds = kinds_of(json(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"chairs.example.com"},)"
      R"("spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"chairs","singular":"chair","kind":"Chair","listKind":"ChairList"},"versions":[)" +
      described("v1", stored_is_served ? "true" : "false", "true") + "," + described("v2", "true", "false") + "]}}"));
  EXPECT_TRUE(kinds.has_value());
  for (const Kind& kind : kinds.value()) {
    if (kind.version == version) return kind;
  }
  ADD_FAILURE() << version;
  return {};
}

Value chair(const std::string& version, const std::string& spec) {
  return json(R"({"apiVersion":"example.com/)" + version + R"(","kind":"Chair","spec":)" + spec + "}");
}

TEST(Versions, AReadFillsInTheDefaultsOfTheVersionThatIsStored) {  // CRD-7
  const Kind v1 = chair_in("v1");
  const Kind v2 = chair_in("v2");
  const Value stored = chair("v1", R"({"only_v1":"a","only_v2":"b"})");
  const Value shown = pruned_in_version(v2, stored);
  EXPECT_EQ(shown, chair("v2", R"({"from_v1":"x"})"));
  EXPECT_EQ(pruned_in_version(v2, shown), shown) << "once is enough";
  EXPECT_EQ(in_version(v2, stored)["spec"], json(R"({"from_v1":"x","only_v1":"a","only_v2":"b"})"));
  EXPECT_EQ(pruned_in_version(v1, stored)["spec"], json(R"({"from_v1":"x","only_v1":"a"})"));
  EXPECT_EQ(pruned_in_version(v1, chair("v2", "{}"))["spec"], json(R"({"from_v2":"x"})"))
      << "as it was stored when v2 was the storage version";

  const Kind instead = chair_in("v2", false);  // stored in v2, as v1 is not served
  EXPECT_TRUE(instead.storage);
  EXPECT_EQ(pruned_in_version(instead, chair("v2", "{}"))["spec"], json(R"({"from_v1":"x"})"));
}

TEST(Versions, AWriteHasTheDefaultsOfItsOwnVersionOnly) {  // CRD-7, CRD-10
  EXPECT_EQ(written_in_version(chair_in("v1"), chair("v2", R"({"only_v1":"a","only_v2":"b"})")),
            chair("v1", R"({"only_v1":"a"})"));
}

TEST(Versions, AConversionWebhookIsGivenWhatIsStoredWithItsDefaults) {  // CRD-7, CRD-10
  Kind v2 = chair_in("v2");
  v2.conversion = json(R"({"conversionReviewVersions":["v1"]})");
  EXPECT_EQ(completed_as_stored(v2, chair("v1", R"({"only_v2":"b"})")), chair("v1", R"({"from_v1":"x"})"));
  const Value converted = chair("v2", R"({"only_v1":"a"})");
  EXPECT_EQ(written_in_version(v2, converted), chair("v2", "{}"));
  EXPECT_EQ(pruned_in_version(v2, converted), chair("v2", "{}")) << "the defaults of v2 are those of writes";
}

TEST(Versions, WhatIsMalformedDoesNoHarm) {
  const Kind& v2 = kind("autoscaling", "v2", "horizontalpodautoscalers");
  EXPECT_EQ(in_version(v2, json(R"({"apiVersion":"autoscaling/v1","spec":7})"))["spec"].as_int(), 7);
  const Value odd = json(R"({"apiVersion":"autoscaling/v1","metadata":{"annotations":
      {"autoscaling.alpha.kubernetes.io/metrics":"{"}},"spec":{}})");
  EXPECT_EQ(in_version(v2, odd)["spec"], Value::object());
}

}  // namespace
}  // namespace shiplog::api
