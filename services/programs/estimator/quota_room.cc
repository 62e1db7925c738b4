#include "services/programs/estimator/quota_room.h"

#include <algorithm>

namespace shiplog::estimator {
namespace {

constexpr const char* kPriorityClass = "PriorityClass";
constexpr std::string_view kRequests = "requests.";

/// cpu, memory and what devices provide. The others are not part of what a scheduler knows of a pod.
bool counts(std::string_view resource) {
  if (resource == "cpu" || resource == "memory") return true;
  return resource.find('/') != std::string_view::npos && !resource.starts_with("count/") &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

bool matches(const Value& expression, std::string_view priority_class) {
  const auto name = expression["operator"].as_string();
  const bool has = !priority_class.empty();
  if (name == "Exists") return has;
  if (name == "DoesNotExist") return !has;
  const bool among = has && std::ranges::any_of(expression["values"].items(), [&](const Value& value) {
                       return value.as_string() == priority_class;
                     });
  return name == "In" ? among : name == "NotIn" && !among;
}

/// A quota without scopes is for every pod. Of one with scopes, those by PriorityClass decide: nothing is known of what
/// the others look at, and as upstream a quota with such alone does not count.
bool applies(const Value& spec, std::string_view priority_class) {
  const auto scopes = spec["scopes"].items();
  const auto expressions = spec["scopeSelector"]["matchExpressions"].items();
  if (scopes.empty() && expressions.empty()) return true;
  bool decided = false;
  for (const Value& scope : scopes) {
    if (scope.as_string() != kPriorityClass) continue;
    decided = true;
    if (priority_class.empty()) return false;
  }
  for (const Value& expression : expressions) {
    if (expression["scopeName"].as_string() != kPriorityClass) continue;
    decided = true;
    if (!matches(expression, priority_class)) return false;
  }
  return decided;
}

ResourceList free_in(const Value& status) {
  const ResourceList used = resource_list_from(status["used"]);
  ResourceList free;
  for (const auto& [name, hard] : resource_list_from(status["hard"])) {
    const auto in_use = used.find(name);
    if (in_use == used.end()) continue;  // not counted yet
    const std::string resource = name.starts_with(kRequests) ? name.substr(kRequests.size()) : name;
    if (!counts(resource)) continue;
    const Quantity left = std::max(Quantity{}, hard - in_use->second);
    // "cpu" and "requests.cpu" are the same.
    const auto [known, is_new] = free.emplace(resource, left);
    if (!is_new) known->second = std::min(known->second, left);
  }
  return free;
}

}  // namespace

QuotaRoom::QuotaRoom(const std::map<std::string, Value>& quotas, std::string_view ns) {
  for (const auto& [name, quota] : quotas) {
    if (quota["metadata"]["namespace"].as_string() == ns) limits_.push_back({&quota["spec"], free_in(quota["status"])});
  }
}

void QuotaRoom::take(std::string_view priority_class, const ResourceList& request, int64_t pods) {
  if (pods <= 0) return;
  for (Limit& limit : limits_) {
    if (!applies(*limit.spec, priority_class)) continue;
    for (auto& [name, free] : limit.free) {
      const auto amount = request.find(name);
      if (amount != request.end()) free = std::max(Quantity{}, free - amount->second * pods);
    }
  }
}

std::optional<int64_t> QuotaRoom::sets(const std::vector<Part>& parts) const {
  std::optional<int64_t> fewest;
  for (const Limit& limit : limits_) {
    ResourceList needed;
    for (const Part& part : parts) {
      if (part.pods <= 0 || !applies(*limit.spec, part.priority_class)) continue;
      for (const auto& [name, amount] : part.request) needed[name] = needed[name] + amount * part.pods;
    }
    for (const auto& [name, free] : limit.free) {
      const auto amount = needed.find(name);
      if (amount == needed.end() || amount->second.is_zero() || amount->second.negative()) continue;
      const int64_t times = free.divided_by(amount->second);
      fewest = fewest ? std::min(*fewest, times) : times;
    }
  }
  return fewest;
}

}  // namespace shiplog::estimator
