#include "services/roles/federated_hpa/status_difference.h"

#include <algorithm>
#include <string_view>

#include "events/kinds/canonical_quantity.h"

namespace shiplog::federated_hpa {
namespace {

using DiffersInPart = bool (*)(const Value& was, const Value& is);

Quantity::Int amount_of(const Value& value) {
  const auto quantity = quantity_in(value);
  return quantity ? quantity.value().whole_milli() : 0;
}

bool moved(const Value& before, const Value& after, const Value& target) {
  const Quantity::Int was = amount_of(before), is = amount_of(after), wanted = amount_of(target);
  const Quantity::Int distance = std::max(was - is, is - was);
  return distance * 10 > std::max(was, is) && distance * 20 > wanted;
}

const Value& current_of(const Value& metric) {
  for (const auto& member : metric.members()) {
    if (member.value["current"].is_object()) return member.value["current"];
  }
  return metric;
}

bool metrics_moved(const Value& before, const Value& after, const std::vector<Value>& targets) {
  if (before.size() != after.size()) return true;
  for (size_t i = 0; i < after.size() && i < targets.size(); ++i) {
    if (before[i]["type"] != after[i]["type"]) return true;
    // What is shown beside that, an average of what is wanted in percent, moves with it.
    for (const char* field : {"averageUtilization", "averageValue", "value"}) {
      const Value& target = targets[i][field];
      if (target.is_null()) continue;
      if (moved(current_of(before[i])[field], current_of(after[i])[field], target)) return true;
    }
  }
  return false;
}

bool any_condition(const Value& before, const Value& after, DiffersInPart differs) {
  const Value& was = before["conditions"];
  const Value& is = after["conditions"];
  if (was.size() != is.size()) return true;
  for (size_t i = 0; i < is.size(); ++i) {
    if (was[i]["type"] != is[i]["type"] || differs(was[i], is[i])) return true;
  }
  return false;
}

/// Whether it scales at all, and if not why.
bool obstacles_differ(const Value& was, const Value& is) {
  if (is["type"].as_string() == "ScalingLimited") return false;
  const bool obstacle = is["status"].as_string() == "False";
  return was["status"] != is["status"] || (obstacle && was["reason"] != is["reason"]);
}

bool limits_differ(const Value& was, const Value& is) {
  return was["status"] != is["status"] || was["reason"] != is["reason"];
}

bool texts_differ(const Value& was, const Value& is) { return was["message"] != is["message"]; }

bool numbers_differ(const Value& before, const Value& after) {
  static constexpr const char* kFields[] = {"observedGeneration", "currentReplicas", "desiredReplicas",
                                            "lastScaleTime"};
  return std::ranges::any_of(kFields, [&](const char* field) { return before[field] != after[field]; });
}

}  // namespace

bool worth_writing(const Value& before, const Value& after, const std::vector<Value>& targets, Millis since) {
  if (numbers_differ(before, after) || any_condition(before, after, obstacles_differ)) return true;
  if (since >= kLimitsEvery && any_condition(before, after, limits_differ)) return true;
  return since >= kDetailsEvery && (any_condition(before, after, texts_differ) ||
                                    metrics_moved(before["currentMetrics"], after["currentMetrics"], targets));
}

}  // namespace shiplog::federated_hpa
