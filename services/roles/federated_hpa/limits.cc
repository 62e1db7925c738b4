#include "services/roles/federated_hpa/limits.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace shiplog::federated_hpa {
namespace {

constexpr Millis kDownscaleWindow{5 * 60 * 1000};
constexpr const char* kLower =
    "recent recommendations were lower than current one, applying the lowest recent recommendation";
constexpr const char* kHigher =
    "recent recommendations were higher than current one, applying the highest recent recommendation";

int64_t min_replicas(const Value& spec) { return spec["minReplicas"].as_int(1); }

Millis seconds(const Value& value, Millis fallback) {
  return value.is_int() ? Millis{std::clamp<int64_t>(value.as_int(), 0, 3600) * 1000} : fallback;
}

struct StabilizationWindows {
  Millis up{0};
  Millis down{0};
};

StabilizationWindows windows_of(const Value& spec) {
  const Value& behavior = spec["behavior"];
  return {seconds(behavior["scaleUp"]["stabilizationWindowSeconds"], Millis{0}),
          seconds(behavior["scaleDown"]["stabilizationWindowSeconds"], kDownscaleWindow)};
}

Millis period_of(const Value& policy) {
  return Millis{std::clamp<int64_t>(policy["periodSeconds"].as_int(), 0, 1800) * 1000};
}

Millis longest_period(const Value& spec) {
  Millis longest{0};
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    const Value& policies = spec["behavior"][direction]["policies"];
    for (const Value& policy : policies.items()) longest = std::max(longest, period_of(policy));
  }
  return longest;
}

int64_t highest_since(const std::vector<ReplicasAt>& list, UtcMillis now, Millis window, int64_t highest) {
  for (const ReplicasAt& each : list) {
    if (now - each.at < window) highest = std::max(highest, each.replicas);
  }
  return highest;
}

int64_t lowest_since(const std::vector<ReplicasAt>& list, UtcMillis now, Millis window, int64_t lowest) {
  for (const ReplicasAt& each : list) {
    if (now - each.at < window) lowest = std::min(lowest, each.replicas);
  }
  return lowest;
}

int64_t changed_since(const std::vector<ReplicasAt>& list, UtcMillis now, Millis period) {
  int64_t sum = 0;
  for (const ReplicasAt& each : list) {
    if (now - each.at < period) sum += each.replicas;
  }
  return sum;
}

/// Where one policy lets the replicas go.
int64_t limit_of(const Value& policy, bool up, int64_t at_start) {
  const int64_t value = std::clamp<int64_t>(policy["value"].as_int(), 0, std::numeric_limits<int32_t>::max());
  if (policy["type"].as_string() == "Pods") return up ? at_start + value : at_start - value;
  // Rounded away from what there is: one pod could otherwise never become two.
  if (up) return at_start + (at_start * value + 99) / 100;
  return std::max<int64_t>(0, at_start * (100 - value) / 100);
}

int64_t limit_of(const Value& rules, bool up, int64_t current, const RecentScaling& recent, UtcMillis now) {
  const std::string_view select = rules["selectPolicy"].as_string();
  if (select == "Disabled" || rules["policies"].size() == 0)
    return select == "Disabled" ? current : up ? current * 2 : 0;
  const bool highest = (select == "Min") != up;
  bool first = true;
  int64_t limit = current;
  for (const Value& policy : rules["policies"].items()) {
    const Millis period = period_of(policy);
    const int64_t at_start =
        current - changed_since(recent.added, now, period) + changed_since(recent.removed, now, period);
    const int64_t here = limit_of(policy, up, std::max<int64_t>(0, at_start));
    limit = first ? here : highest ? std::max(limit, here) : std::min(limit, here);
    first = false;
  }
  return limit;
}

void not_limited(LimitedReplicas& result) {
  result.limited = false;
  result.limited_reason = "DesiredWithinRange";
  result.limited_message = "the desired count is within the acceptable range";
}

void no_more_than(LimitedReplicas& result, int64_t most, bool by_rate) {
  if (result.replicas <= most) return;
  result.replicas = most;
  result.limited = true;
  result.limited_reason = by_rate ? "ScaleUpLimit" : "TooManyReplicas";
  result.limited_message = by_rate ? "the desired replica count is increasing faster than the maximum scale rate"
                                   : "the desired replica count is more than the maximum replica count";
}

void no_less_than(LimitedReplicas& result, int64_t least, bool by_rate) {
  if (result.replicas >= least) return;
  result.replicas = least;
  result.limited = true;
  result.limited_reason = by_rate ? "ScaleDownLimit" : "TooFewReplicas";
  result.limited_message = by_rate ? "the desired replica count is decreasing faster than the maximum scale rate"
                                   : "the desired replica count is less than the minimum replica count";
}

void limit_without_behavior(const Value& spec, int64_t current, LimitedReplicas& result) {
  const int64_t rate = std::max<int64_t>(2 * current, 4);
  const int64_t most = spec["maxReplicas"].as_int();
  no_less_than(result, min_replicas(spec), false);
  no_more_than(result, std::min(rate, most), most > rate);
}

void limit_with_behavior(const Value& spec, int64_t current, const RecentScaling& recent, UtcMillis now,
                         LimitedReplicas& result) {
  const Value& behavior = spec["behavior"];
  if (result.replicas > current) {
    const int64_t rate = std::max(current, limit_of(behavior["scaleUp"], true, current, recent, now));
    const int64_t most = spec["maxReplicas"].as_int();
    no_more_than(result, std::min(rate, most), most > rate);
  } else if (result.replicas < current) {
    const int64_t rate = std::min(current, limit_of(behavior["scaleDown"], false, current, recent, now));
    const int64_t least = min_replicas(spec);
    no_less_than(result, std::max(rate, least), least < rate);
  }
}

}  // namespace

LimitedReplicas limited(const Value& spec, int64_t current, int64_t recommended, const RecentScaling& recent,
                        UtcMillis now) {
  const Value& behavior = spec["behavior"];
  LimitedReplicas result;
  not_limited(result);
  if (behavior.is_object()) {
    const StabilizationWindows windows = windows_of(spec);
    const int64_t lowest = lowest_since(recent.recommended, now, windows.up, recommended);
    const int64_t highest = highest_since(recent.recommended, now, windows.down, recommended);
    result.replicas = std::min(std::max(current, lowest), highest);
  } else {
    result.replicas = highest_since(recent.recommended, now, kDownscaleWindow, recommended);
  }
  const bool as_recommended = result.replicas == recommended;
  const bool up = behavior.is_object() && recommended >= current;
  result.able_reason = as_recommended ? "ReadyForNewScale" : up ? "ScaleUpStabilized" : "ScaleDownStabilized";
  result.able_message = as_recommended ? "recommended size matches current size" : up ? kLower : kHigher;
  behavior.is_object() ? limit_with_behavior(spec, current, recent, now, result)
                       : limit_without_behavior(spec, current, result);
  return result;
}

void keep_relevant(RecentScaling& recent, const Value& spec, UtcMillis now) {
  const StabilizationWindows windows = windows_of(spec);
  int64_t highest = std::numeric_limits<int64_t>::min(), lowest = std::numeric_limits<int64_t>::max();
  std::vector<ReplicasAt> kept;  // newest first
  for (auto each = recent.recommended.rbegin(); each != recent.recommended.rend(); ++each) {
    const Millis age = now - each->at;
    const bool counts =
        (age < windows.down && each->replicas > highest) || (age < windows.up && each->replicas < lowest);
    highest = std::max(highest, each->replicas);
    lowest = std::min(lowest, each->replicas);
    if (counts) kept.push_back(*each);
  }
  recent.recommended.assign(kept.rbegin(), kept.rend());
  const Millis period = longest_period(spec);
  for (auto* changes : {&recent.added, &recent.removed}) {
    std::erase_if(*changes, [&](const ReplicasAt& each) { return now - each.at >= period; });
  }
}

}  // namespace shiplog::federated_hpa
