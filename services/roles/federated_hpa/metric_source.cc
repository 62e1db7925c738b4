#include "services/roles/federated_hpa/metric_source.h"

#include <string_view>

#include "events/base/path_segment.h"
#include "events/base/percent_encoding.h"
#include "events/state/served_kind.h"
#include "services/roles/federated_hpa/pod_sums.h"

namespace shiplog::federated_hpa {
namespace {

using MetricPlace = MetricSource::MetricPlace;

std::string parameters(const Value& metric) {
  const std::string selector = selector_parameter(metric["selector"]);
  return selector.empty() ? "" : "?metricLabelSelector=" + percent_encoded(selector, "-._~");
}

MetricSource object_source(const State& state, const std::string& ns, const Value& object) {
  const Value& named = object["describedObject"];
  const std::string api_version = named["apiVersion"].str(), kind = named["kind"].str(), name = named["name"].str();
  const Value& metric = object["metric"];
  const std::string in_namespace = "/namespaces/" + path_segment(ns) + "/";
  const std::string last = path_segment(metric["name"].as_string()) + parameters(metric);
  if (api_version == "v1" && kind == "Namespace" && name == ns) {
    return {MetricPlace::kCustomObject, in_namespace + "metrics/" + last, ""};
  }
  const auto served = served_kind(state, api_version, kind);
  if (!served) {
    return {MetricPlace::kNowhere, "", "no matches for kind \"" + kind + "\" in version \"" + api_version + "\""};
  }
  if (!served->namespaced) {
    return {MetricPlace::kNowhere, "",
            kind + " " + name + " is not an object of the namespace " + ns + ": metrics of others are not read"};
  }
  return {MetricPlace::kCustomObject, in_namespace + served->type() + "/" + path_segment(name) + "/" + last, ""};
}

MetricSource source_at(const State& state, const std::string& ns, const Value& metric) {
  const std::string_view type = metric["type"].as_string();
  if (source_of(metric).is_null()) return {MetricPlace::kNowhere, "", "unknown metric source type"};
  if (type == "Object") return object_source(state, ns, metric["object"]);
  if (type != "Pods") return {MetricPlace::kPodMetrics, "", ""};
  const Value& named = metric["pods"]["metric"];
  return {MetricPlace::kCustomPods,
          "/namespaces/" + path_segment(ns) + "/pods/*/" + path_segment(named["name"].as_string()) + parameters(named),
          ""};
}

}  // namespace

std::vector<MetricSource> metric_sources(const State& state, const std::string& ns, const Value& metrics) {
  std::vector<MetricSource> sources;
  for (const Value& metric : metrics.items()) sources.push_back(source_at(state, ns, metric));
  return sources;
}

std::string selector_parameter(const Value& selector) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (const auto& label : selector["matchLabels"].members()) {
    add(std::string{label.key()} + "=" + label.value.str());
  }
  for (const Value& each : selector["matchExpressions"].items()) {
    const std::string key = each["key"].str();
    const std::string_view op = each["operator"].as_string();
    if (op == "Exists") add(key);
    if (op == "DoesNotExist") add("!" + key);
    if (op != "In" && op != "NotIn") continue;
    std::string values;
    for (const Value& value : each["values"].items()) values += (values.empty() ? "" : ",") + value.str();
    add(key + (op == "In" ? " in (" : " notin (") + values + ")");
  }
  return text;
}

}  // namespace shiplog::federated_hpa
