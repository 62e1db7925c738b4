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

TEST(Versions, WhatIsMalformedDoesNoHarm) {
  const Kind& v2 = kind("autoscaling", "v2", "horizontalpodautoscalers");
  EXPECT_EQ(in_version(v2, json(R"({"apiVersion":"autoscaling/v1","spec":7})"))["spec"].as_int(), 7);
  const Value odd = json(R"({"apiVersion":"autoscaling/v1","metadata":{"annotations":
      {"autoscaling.alpha.kubernetes.io/metrics":"{"}},"spec":{}})");
  EXPECT_EQ(in_version(v2, odd)["spec"], Value::object());
}

}  // namespace
}  // namespace shiplog::api
