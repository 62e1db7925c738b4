#include "services/roles/federated_hpa/measurement.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "events/base/json.h"

namespace shiplog::federated_hpa {
namespace {

void set_if(Value& to, const char* field, int64_t number) {
  if (number != 0) to.set(field, number);
}

void set_if(Value& to, const char* field, const std::string& text) {
  if (!text.empty()) to.set(field, text);
}

// One list of the fields of MetricSums, for both directions.
constexpr std::pair<const char*, int64_t MetricSums::*> kSums[] = {
    {"ready", &MetricSums::ready},
    {"usage", &MetricSums::usage},
    {"requested", &MetricSums::requested},
    {"unready", &MetricSums::unready},
    {"missing", &MetricSums::missing},
    {"unreadyRequested", &MetricSums::unready_requested},
    {"missingRequested", &MetricSums::missing_requested}};

constexpr std::pair<const char*, int64_t ClusterFigures::*> kFigures[] = {
    {"replicas", &ClusterFigures::replicas},
    {"statusReplicas", &ClusterFigures::status_replicas},
    {"pods", &ClusterFigures::pods},
    {"readyPods", &ClusterFigures::ready_pods}};

Value to_value(const MetricSums& sums) {
  Value value = Value::object();
  for (const auto& [name, field] : kSums) set_if(value, name, sums.*field);
  set_if(value, "failure", sums.failure);
  if (sums.unknown) value.set("unknown", true);
  return value;
}

MetricSums sums_from(const Value& value) {
  MetricSums sums;
  for (const auto& [name, field] : kSums) sums.*field = value[name].as_int();
  sums.failure = value["failure"].str();
  sums.unknown = value["unknown"].as_bool();
  return sums;
}

Value to_value(const ClusterFigures& figures) {
  Value value = Value::object();
  for (const auto& [name, field] : kFigures) set_if(value, name, figures.*field);
  set_if(value, "failure", figures.failure);
  Value metrics = Value::array();
  for (const MetricSums& sums : figures.metrics) metrics.push_back(to_value(sums));
  if (metrics.size() > 0) value.set("metrics", std::move(metrics));
  return value;
}

ClusterFigures figures_from(std::string_view cluster, const Value& value) {
  ClusterFigures figures;
  figures.cluster = cluster;
  for (const auto& [name, field] : kFigures) figures.*field = value[name].as_int();
  figures.failure = value["failure"].str();
  for (const Value& sums : value["metrics"].items()) figures.metrics.push_back(sums_from(sums));
  return figures;
}

void set_if(Value& to, const char* field, const std::vector<ReplicasAt>& list) {
  if (list.empty()) return;
  Value value = Value::array();
  for (const ReplicasAt& each : list) value.push_back(Value::array({each.at.value, each.replicas}));
  to.set(field, std::move(value));
}

std::vector<ReplicasAt> list_from(const Value& value) {
  std::vector<ReplicasAt> list;
  for (const Value& each : value.items()) list.push_back({UtcMillis{each[0].as_int()}, each[1].as_int()});
  return list;
}

size_t bytes_of(const ClusterFigures& figures) { return to_json(to_value(figures)).size(); }

bool lacks_metric(const ClusterFigures& figures) {
  return std::ranges::any_of(figures.metrics, [](const MetricSums& sums) { return !sums.failure.empty(); });
}

}  // namespace

bool fit(Measurement& measurement, size_t most_bytes) {
  size_t bytes = to_json(to_value(measurement)).size();
  if (bytes <= most_bytes) return true;
  struct RecordedSize {
    bool lacks_metric;
    size_t bytes;
    ClusterFigures* figures;
  };
  std::vector<RecordedSize> sizes;
  for (ClusterFigures& each : measurement.clusters) sizes.push_back({lacks_metric(each), bytes_of(each), &each});
  std::ranges::sort(sizes, [](const RecordedSize& a, const RecordedSize& b) {
    return std::tie(a.lacks_metric, a.bytes, a.figures) > std::tie(b.lacks_metric, b.bytes, b.figures);
  });
  for (const RecordedSize& each : sizes) {
    if (bytes <= most_bytes) break;
    *each.figures = ClusterFigures{.cluster = each.figures->cluster,
                                   .metrics = {},
                                   .failure = "what was measured there does not fit into an entry"};
    bytes = bytes - each.bytes + bytes_of(*each.figures);
  }
  return bytes <= most_bytes;
}

Value to_value(const Measurement& measurement) {
  Value value = Value::object({{"at", measurement.at.value}, {"generation", measurement.generation}});
  set_if(value, "selector", measurement.selector);
  set_if(value, "recorded", measurement.recorded.value);
  Value rivals = Value::array();
  for (const std::string& rival : measurement.rivals) rivals.push_back(rival);
  if (rivals.size() > 0) value.set("rivals", std::move(rivals));
  set_if(value, "recommended", measurement.recent.recommended);
  set_if(value, "added", measurement.recent.added);
  set_if(value, "removed", measurement.recent.removed);
  Value clusters = Value::object();
  for (const ClusterFigures& figures : measurement.clusters) clusters.set(figures.cluster, to_value(figures));
  value.set("clusters", std::move(clusters));
  return value;
}

Measurement measurement_from(const Value& recorded) {
  Measurement measurement;
  measurement.at = UtcMillis{recorded["at"].as_int()};
  measurement.generation = recorded["generation"].as_int();
  measurement.selector = recorded["selector"].str();
  measurement.recorded = UtcMillis{recorded["recorded"].as_int()};
  for (const Value& rival : recorded["rivals"].items()) measurement.rivals.push_back(rival.str());
  measurement.recent.recommended = list_from(recorded["recommended"]);
  measurement.recent.added = list_from(recorded["added"]);
  measurement.recent.removed = list_from(recorded["removed"]);
  for (const auto& member : recorded["clusters"].members()) {
    measurement.clusters.push_back(figures_from(member.key(), member.value));
  }
  return measurement;
}

}  // namespace shiplog::federated_hpa
