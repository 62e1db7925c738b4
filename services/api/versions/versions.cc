#include "services/api/versions/versions.h"

#include <array>
#include <string>
#include <utility>

#include "events/base/api_version.h"
#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/kinds/pruned_and_defaulted.h"
#include "events/kinds/schema.h"

namespace shiplog::api {
namespace {

// --- HorizontalPodAutoscaler. Source: pkg/apis/autoscaling/v1/conversion.go of Kubernetes.

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";

void move_field(Value& into, const char* name, const Value& from) {
  if (!from.is_null()) into.set(name, from);
}

/// "Resource" is described in the field "resource".
std::string field_of(const Value& metric) {
  std::string field = metric["type"].str();
  if (!field.empty()) field[0] = lower_case(field[0]);
  return field;
}

/// One metric of autoscaling/v2 in the form of v1. `side`: "target" of a spec, "current" of a status.
Value metric_to_v1(const Value& metric, const std::string& side) {
  const std::string field = field_of(metric);
  const Value& source = metric[field];
  Value out = Value::object();
  for (const char* name : {"name", "container"}) move_field(out, name, source[name]);
  move_field(out, "metricName", source["metric"]["name"]);
  move_field(out, field == "external" ? "metricSelector" : "selector", source["metric"]["selector"]);
  move_field(out, "target", source["describedObject"]);
  const Value& values = source[side];
  move_field(out, (side + "AverageUtilization").c_str(), values["averageUtilization"]);
  move_field(out, field == "object" ? "averageValue" : (side + "AverageValue").c_str(), values["averageValue"]);
  move_field(out, (side + "Value").c_str(), values["value"]);
  Value shown = Value::object({{"type", metric["type"]}});
  if (!field.empty()) shown.set(field, std::move(out));
  return shown;
}

Value metric_to_v2(const Value& metric, const std::string& side) {
  const std::string field = field_of(metric);
  const Value& source = metric[field];
  Value out = Value::object();
  for (const char* name : {"name", "container"}) move_field(out, name, source[name]);
  if (!source["metricName"].is_null()) {
    Value about = Value::object({{"name", source["metricName"]}});
    move_field(about, "selector", source[field == "external" ? "metricSelector" : "selector"]);
    out.set("metric", std::move(about));
  }
  move_field(out, "describedObject", source["target"]);
  Value values = Value::object();
  move_field(values, "averageUtilization", source[side + "AverageUtilization"]);
  move_field(values, "averageValue", source[field == "object" ? "averageValue" : side + "AverageValue"]);
  move_field(values, "value", source[side + "Value"]);
  if (side == "target") {
    values.set("type", values.contains("averageUtilization") ? "Utilization"
                       : values.contains("averageValue")     ? "AverageValue"
                                                             : "Value");
  }
  out.set(side, std::move(values));
  Value shown = Value::object({{"type", metric["type"]}});
  if (!field.empty()) shown.set(field, std::move(out));
  return shown;
}

/// The utilization of the CPU, which v1 has a field of its own for.
const Value& cpu_of(const Value& metric, const char* side) {
  static const Value kNone;
  const bool cpu = metric["type"].as_string() == "Resource" && metric["resource"]["name"].as_string() == "cpu";
  return cpu ? metric["resource"][side]["averageUtilization"] : kNone;
}

void annotate(Value& object, const char* name, const Value& value) {
  if (!value.is_empty()) object.edit("metadata").edit("annotations").set(name, to_json(value));
}

/// Takes the annotation off. What is no JSON of ours is dropped.
Value take_annotation(Value& object, const char* name) {
  const Value text = object["metadata"]["annotations"][name];
  if (text.is_null()) return {};
  object.edit("metadata").edit("annotations").erase(name);
  if (object["metadata"]["annotations"].size() == 0) object.edit("metadata").erase("annotations");
  auto value = parse_json(text.as_string());
  return value ? std::move(value).value() : Value{};
}

/// The list of metrics in v1's annotation; the first utilization of the CPU apart.
Value metrics_to_v1(const Value& metrics, const char* side, Value& cpu) {
  Value others = Value::array();
  for (const Value& metric : metrics.items()) {
    if (cpu.is_null() && !cpu_of(metric, side).is_null()) {
      cpu = cpu_of(metric, side);
    } else {
      others.push_back(metric_to_v1(metric, side));
    }
  }
  return others;
}

Value metrics_to_v2(const Value& others, const char* side, const Value& cpu) {
  Value metrics = Value::array();
  if (!cpu.is_null()) {
    Value values = Value::object({{"averageUtilization", cpu}});
    if (std::string_view{side} == "target") values.set("type", "Utilization");
    metrics.push_back(Value::object(
        {{"type", "Resource"}, {"resource", Value::object({{"name", "cpu"}, {side, std::move(values)}})}}));
  }
  for (const Value& metric : others.items()) metrics.push_back(metric_to_v2(metric, side));
  return metrics;
}

Value autoscaler_to_v1(Value object) {
  Value cpu;
  annotate(object, kMetrics, metrics_to_v1(object["spec"]["metrics"], "target", cpu));
  annotate(object, kBehavior, object["spec"]["behavior"]);
  if (object["spec"].is_object()) {
    Value& spec = object.edit("spec");
    for (const char* name : {"metrics", "behavior"}) spec.erase(name);
    move_field(spec, "targetCPUUtilizationPercentage", cpu);
  }
  if (!object["status"].is_object()) return object;
  Value current;
  annotate(object, kCurrentMetrics, metrics_to_v1(object["status"]["currentMetrics"], "current", current));
  annotate(object, kConditions, object["status"]["conditions"]);
  Value& status = object.edit("status");
  for (const char* name : {"currentMetrics", "conditions"}) status.erase(name);
  for (const char* name : {"currentReplicas", "desiredReplicas"}) {  // always written in this version
    if (status[name].is_null()) status.set(name, 0);
  }
  move_field(status, "currentCPUUtilizationPercentage", current);
  return object;
}

Value autoscaler_to_v2(Value object) {
  const Value others = take_annotation(object, kMetrics);
  const Value behavior = take_annotation(object, kBehavior);
  const Value currents = take_annotation(object, kCurrentMetrics);
  const Value conditions = take_annotation(object, kConditions);
  if (object["spec"].is_object()) {
    Value& spec = object.edit("spec");
    const Value metrics = metrics_to_v2(others, "target", spec["targetCPUUtilizationPercentage"]);
    spec.erase("targetCPUUtilizationPercentage");
    if (metrics.size() > 0) spec.set("metrics", metrics);
    if (behavior.is_object()) spec.set("behavior", behavior);
  }
  if (!object["status"].is_object()) return object;
  Value& status = object.edit("status");
  const Value metrics = metrics_to_v2(currents, "current", status["currentCPUUtilizationPercentage"]);
  status.erase("currentCPUUtilizationPercentage");
  if (metrics.size() > 0) status.set("currentMetrics", metrics);
  if (conditions.is_array()) status.set("conditions", conditions);
  return object;
}

// --- Event: the same under other names (EVENT-1).

constexpr std::array<std::pair<const char*, const char*>, 7> kEventFields = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
}};

Value rename_event(Value object, bool to_core) {
  for (const auto& [core, newer] : kEventFields) {
    const char* from = to_core ? newer : core;
    const Value value = object[from];
    if (value.is_null()) continue;
    object.erase(from);
    object.set(to_core ? core : newer, value);
  }
  return object;
}

}  // namespace

namespace {

/// A definition may have been given a default, or have lost a field, since the object was stored (CRD-7). Compiled
/// kinds are as they are.
bool may_have_changed(const Kind& kind) {
  if (kind.builtin || kind.schema == nullptr) return false;
  const Kind* compiled = Kinds::compiled().find(kind.group, kind.version, kind.plural);
  return compiled == nullptr || compiled->schema != kind.schema;
}

/// The schema of objects that are stored in the version. That of `kind` stands for a version that its definition does
/// not have any longer.
const Schema& schema_of_version(const Kind& kind, std::string_view version) {
  if (kind.stored_schemas == nullptr) return *kind.schema;
  const auto found = kind.stored_schemas->find(version);
  return found == kind.stored_schemas->end() ? *kind.schema : *found->second;
}

const Schema& schema_of_stored(const Kind& kind, const Value& object) {
  return schema_of_version(kind, split_api_version(object["apiVersion"].as_string()).version);
}

enum class Unknown { kKept, kPruned };

/// An object in the version of `kind`, where another one is stored, was converted or written by a request, and has its
/// defaults.
Value completed(const Kind& kind, Value object, Unknown unknown) {
  const bool as_stored = kind.storage || object["apiVersion"].as_string() != kind.api_version();
  const Schema& schema = schema_of_stored(kind, object);
  if (unknown == Unknown::kKept) return as_stored ? with_defaults(schema, std::move(object)) : object;
  if (as_stored) object = pruned_and_defaulted(schema, std::move(object));
  if (as_stored && &schema == kind.schema.get()) return object;
  return prune(*kind.schema, std::move(object));
}

Value in_form_of(const Kind& kind, Value object) {
  const std::string wanted = kind.api_version();
  if (object["apiVersion"].as_string() == wanted) return object;
  if (kind.builtin && kind.group == "autoscaling") {
    object = kind.version == "v1" ? autoscaler_to_v1(std::move(object)) : autoscaler_to_v2(std::move(object));
  } else if (kind.builtin && kind.kind == "Event") {
    object = rename_event(std::move(object), kind.group.empty());
  }
  object.set("apiVersion", wanted);
  return object;
}

Value converted(const Kind& kind, Value object, Unknown unknown) {
  if (!object.is_object() || needs_conversion(kind, object)) return object;
  if (may_have_changed(kind)) object = completed(kind, std::move(object), unknown);
  return in_form_of(kind, std::move(object));
}

}  // namespace

bool needs_conversion(const Kind& kind, const Value& object) {
  return !kind.conversion.is_null() && object.is_object() && object["kind"].as_string() == kind.kind &&
         object["apiVersion"].as_string() != kind.api_version();
}

Value in_version(const Kind& kind, Value object) { return converted(kind, std::move(object), Unknown::kKept); }

Value pruned_in_version(const Kind& kind, Value object) { return converted(kind, std::move(object), Unknown::kPruned); }

bool is_shown_as_stored(const Kind& kind) {
  return kind.schema == nullptr || &schema_of_version(kind, kind.version) == kind.schema.get();
}

Value completed_as_stored(const Kind& kind, Value object) {
  if (!object.is_object() || !may_have_changed(kind)) return object;
  const Schema& schema = schema_of_stored(kind, object);
  return pruned_and_defaulted(schema, std::move(object));
}

Value written_in_version(const Kind& kind, Value object) {
  if (!object.is_object() || needs_conversion(kind, object)) return object;
  if (may_have_changed(kind)) object = prune(*kind.schema, std::move(object));
  return in_form_of(kind, std::move(object));
}

}  // namespace shiplog::api
