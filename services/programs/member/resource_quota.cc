#include "services/programs/member/resource_quota.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "services/programs/member/kinds.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

ResourceList limits_of(const Value& pod) {
  ResourceList sum;
  for (const Value& container : pod["spec"]["containers"].items()) {
    add_resources(sum, resource_list_from(container["resources"]["limits"]));
  }
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    for (const auto& [name, amount] : resource_list_from(container["resources"]["limits"])) {
      sum[name] = std::max(sum[name], amount);
    }
  }
  return sum;
}

/// By the names that quotas have for it. Nothing for a pod that has ended.
ResourceList usage_of_pod(const Value& pod) {
  ResourceList usage;
  if (pod.is_null() || has_finished(pod)) return usage;
  usage["pods"] = usage["count/pods"] = Quantity::from_units(1);
  for (const auto& [name, amount] : requests_of(pod)) {
    usage["requests." + name] = amount;
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage") usage[name] = amount;
  }
  for (const auto& [name, amount] : limits_of(pod)) usage["limits." + name] = amount;
  return usage;
}

bool best_effort(const Value& pod) {
  return std::ranges::none_of(pod["spec"]["containers"].items(), [](const Value& container) {
    return container["resources"]["requests"].size() + container["resources"]["limits"].size() > 0;
  });
}

bool matches(std::string_view scope, std::string_view with, const Value& values, const Value& pod) {
  if (scope == "BestEffort") return best_effort(pod);
  if (scope == "NotBestEffort") return !best_effort(pod);
  const bool terminating = !pod["spec"]["activeDeadlineSeconds"].is_null();
  if (scope == "Terminating") return terminating;
  if (scope == "NotTerminating") return !terminating;
  if (scope != "PriorityClass") return false;
  const auto name = pod["spec"]["priorityClassName"].as_string();
  if (with == "Exists") return !name.empty();
  if (with == "DoesNotExist") return name.empty();
  const bool among = !name.empty() &&
                     std::ranges::any_of(values.items(), [&](const Value& value) { return value.as_string() == name; });
  return with == "In" ? among : !among;
}

/// All scopes of the quota match the pod.
bool counts(const Value& quota, const Value& pod) {
  const Value& spec = quota["spec"];
  return std::ranges::all_of(spec["scopes"].items(),
                             [&](const Value& scope) { return matches(scope.as_string(), "Exists", {}, pod); }) &&
         std::ranges::all_of(spec["scopeSelector"]["matchExpressions"].items(), [&](const Value& expression) {
           return matches(expression["scopeName"].as_string(), expression["operator"].as_string(), expression["values"],
                          pod);
         });
}

/// The type whose objects a resource name counts; empty: none.
std::string counted_type(std::string_view resource) {
  constexpr std::string_view kCount = "count/";
  if (resource.starts_with(kCount)) return std::string{resource.substr(kCount.size())};
  static const std::set<std::string_view> kByName = {
      "configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services"};
  return kByName.contains(resource) ? std::string{resource} : std::string{};
}

/// "cpu=1,memory=2Gi"
std::string listed(const ResourceList& amounts, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = amounts.find(name);
    const ResourceList one{{name, found == amounts.end() ? Quantity{} : found->second}};
    text += (text.empty() ? "" : ",") + name + "=" + to_value(one)[name].str();
  }
  return text;
}

/// Of what the quota limits, what some container leaves open: such pods are not admitted.
std::string left_open(const ResourceList& hard, const Value& pod) {
  for (const char* field : {"requests", "limits"}) {
    for (const char* name : {"cpu", "memory"}) {
      const bool requests = std::string_view{field} == "requests";
      const std::string prefixed = std::string{field} + "." + name;
      const std::string limited = requests && hard.contains(name) ? name : prefixed;
      if (!hard.contains(limited)) continue;
      for (const Value& container : pod["spec"]["containers"].items()) {
        const Value& resources = container["resources"];
        // A limit is the request, too, where there is none.
        if (resources[field].contains(name) || (requests && resources["limits"].contains(name))) continue;
        return "must specify " + limited + " for: " + container["name"].str();
      }
    }
  }
  return "";
}

}  // namespace

Result<Decided> decide_resource_quota(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const Value& hard = object->value["spec"]["hard"];
  ResourceList by_pods;
  for (const auto& [name, pod] : state.objects(kPods, key.ns)) {
    if (counts(object->value, pod.value)) add_resources(by_pods, usage_of_pod(pod.value));
  }
  ResourceList used;
  for (const auto& limit : hard.members()) {
    const std::string name{limit.key()};
    const std::string type = counted_type(name);
    if (type.empty() || type == kPods) {
      used[name] = by_pods[name];
    } else {
      const auto& objects = state.objects(type, key.ns);
      used[name] = Quantity::from_units(std::distance(objects.begin(), objects.end()));
    }
  }
  Value seen = object->value;
  seen.edit("status").set("hard", hard.is_object() ? hard : Value::object());
  seen.edit("status").set("used", to_value(used));
  Changes changes;
  changes.update_status(key, *object, std::move(seen));
  return changes.take();
}

void wake_quotas(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
  const bool pod = change.object.type == kPods;
  if (pod ? usage_of_pod(change.before) == usage_of_pod(change.after) : !change.created() && !change.removed()) return;
  for (const auto& [name, quota] : state.objects(kResourceQuotas, change.object.ns)) {
    wake.push_back({kResourceQuotas, name.ns, name.name});
  }
}

void wake_limited(const State& state, const Change& change, const char* type, std::vector<ObjectKey>& wake) {
  if (change.object.type != kResourceQuotas) return;
  for (const auto& [name, object] : state.objects(type, change.object.ns)) {
    wake.push_back({type, name.ns, name.name});
  }
}

PodQuotas::PodQuotas(const State& state, std::string_view ns) {
  for (const auto& [name, quota] : state.objects(kResourceQuotas, ns)) add(quota.value, &quota);
}

PodQuotas::PodQuotas(const std::vector<Value>& quotas) {
  for (const Value& quota : quotas) add(quota, nullptr);
}

void PodQuotas::add(const Value& quota, const Object* stored) {
  // Until its controller has counted for the first time, a quota admits nothing that it limits, as upstream.
  quotas_.push_back(
      {quota, stored, resource_list_from(quota["spec"]["hard"]), resource_list_from(quota["status"]["used"])});
}

std::string PodQuotas::admit(const Value& pod) {
  const std::string refused = "pods \"" + pod["metadata"]["name"].str() + "\" is forbidden: ";
  const ResourceList usage = usage_of_pod(pod);
  for (const Quota& quota : quotas_) {
    if (!counts(quota.object, pod)) continue;
    const std::string name_of_quota = quota.object["metadata"]["name"].str();
    if (const std::string open = left_open(quota.hard, pod); !open.empty()) {
      return refused + "failed quota: " + name_of_quota + ": " + open;
    }
    std::vector<std::string> exceeded;
    for (const auto& [name, hard] : quota.hard) {
      const auto amount = usage.find(name);
      if (amount == usage.end() || amount->second.is_zero()) continue;
      const auto used = quota.used.find(name);
      if (used == quota.used.end())
        return refused + "status unknown for quota: " + name_of_quota + ", resources: " + name;
      if (used->second + amount->second > hard) exceeded.push_back(name);
    }
    if (exceeded.empty()) continue;
    return refused + "exceeded quota: " + name_of_quota + ", requested: " + listed(usage, exceeded) +
           ", used: " + listed(quota.used, exceeded) + ", limited: " + listed(quota.hard, exceeded);
  }
  for (Quota& quota : quotas_) {
    if (!counts(quota.object, pod)) continue;
    for (auto& [name, used] : quota.used) {
      const auto amount = usage.find(name);
      if (amount == usage.end() || amount->second.is_zero()) continue;
      used = used + amount->second;
      quota.charged = true;
    }
  }
  return "";
}

Value PodQuotas::with_usage(const Quota& quota) {
  Value seen = quota.object;
  seen.edit("status").set("used", to_value(quota.used));
  return seen;
}

void PodQuotas::charge(Changes& changes) const {
  for (const Quota& quota : quotas_) {
    if (!quota.charged) continue;
    const Value& metadata = quota.object["metadata"];
    changes.update_status({kResourceQuotas, metadata["namespace"].str(), metadata["name"].str()}, *quota.stored,
                          with_usage(quota));
  }
}

std::vector<Value> PodQuotas::charged() const {
  std::vector<Value> all;
  for (const Quota& quota : quotas_) {
    if (quota.charged) all.push_back(with_usage(quota));
  }
  return all;
}

}  // namespace shiplog::member
