#include "events/state/state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "events/base/check.h"

namespace shiplog {
namespace {

constexpr std::array kIndexedLabels = {label::kPolicyId, label::kClusterPolicyId, label::kBindingId,
                                       label::kClusterBindingId};
constexpr size_t kRememberedHashes = 8192;

const std::set<ObjectKey> kNoKeys;
const State::Objects kNoObjects;
const ResourceList kNoUsage;
const Lease kNoLease;
const Value kNull;

std::vector<std::string> owner_uids(const Value& object) {
  std::vector<std::string> uids;
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) uids.push_back(owner["uid"].str());
  return uids;
}

void add(ResourceList& sum, const ResourceList& amounts, int sign) {
  for (const auto& [name, amount] : amounts) {
    Quantity& total = sum[name];
    total = sign > 0 ? total + amount : total - amount;
    if (total.is_zero()) sum.erase(name);
  }
}

}  // namespace

Hash128 State::hash() const {
  Hash128 sum = meta_.hash;
  sum += siphash128("revision=" + std::to_string(meta_.revision.value));
  return sum;
}

std::optional<Hash128> State::hash_at(Revision revision) const {
  const auto at = std::ranges::lower_bound(recent_hashes_, revision, {}, &std::pair<Revision, Hash128>::first);
  if (at == recent_hashes_.end() || at->first != revision) return std::nullopt;
  return at->second;
}

StateMeta State::meta() const { return meta_; }

const Object* State::find(const ObjectKey& key) const {
  const auto type = objects_.find(key.type);
  if (type == objects_.end()) return nullptr;
  const auto* node = type->second.table.find(key.ns, key.name);
  return node == nullptr ? nullptr : &node->second;
}

const Value& State::value_of(const ObjectKey& key) const {
  const Object* object = find(key);
  return object == nullptr ? kNull : object->value;
}

Revision State::revision_of(const ObjectKey& key) const {
  const Object* object = find(key);
  return object == nullptr ? Revision{} : object->revision;
}

const State::Objects& State::objects(std::string_view type) const {
  const auto at = objects_.find(type);
  return at == objects_.end() ? kNoObjects : at->second.sorted;
}

std::ranges::subrange<State::Objects::const_iterator> State::objects(std::string_view type, std::string_view ns) const {
  const Objects& all = objects(type);
  const auto first = all.lower_bound(Name{std::string{ns}, ""});
  // No namespace name contains a byte below '-', so this is the first name after all of the namespace's.
  const auto last = all.lower_bound(Name{std::string{ns} + '\x01', ""});
  return {first, last};
}

std::vector<std::string> State::types() const {
  std::vector<std::string> names;
  names.reserve(objects_.size());
  for (const auto& [type, objects] : objects_) names.push_back(type);
  return names;
}

size_t State::object_count() const {
  size_t count = 0;
  for (const auto& [type, objects] : objects_) count += objects.sorted.size();
  return count;
}

const std::set<ObjectKey>& State::dependents(std::string_view owner_uid) const {
  const auto at = dependents_.find(owner_uid);
  return at == dependents_.end() ? kNoKeys : at->second;
}

const std::set<ObjectKey>& State::labelled(std::string_view label_key, std::string_view value) const {
  SHIPLOG_CHECK(std::ranges::find(kIndexedLabels, label_key) != kIndexedLabels.end(), "the label has no index");
  const auto at = labelled_.find({std::string{label_key}, std::string{value}});
  return at == labelled_.end() ? kNoKeys : at->second;
}

const Cluster* State::cluster(std::string_view name) const {
  const auto at = clusters_.find(std::string{name});
  return at == clusters_.end() ? nullptr : &at->second;
}

std::vector<std::string_view> State::override_candidates(std::string_view policy_ns, std::string_view kind,
                                                         std::string_view ns, std::string_view name) const {
  if (override_policies_.empty()) return {};
  std::vector<std::string_view> names = override_index_.candidates(policy_ns, kind, ns, name);
  const std::vector<std::string_view> of_all = override_index_.candidates(policy_ns, "", "", "");
  names.insert(names.end(), of_all.begin(), of_all.end());
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

const ResourceList& State::quota_usage(std::string_view ns) const {
  const auto at = quota_usage_.find(ns);
  return at == quota_usage_.end() ? kNoUsage : at->second;
}

const Lease& State::lease(std::string_view service) const {
  const auto at = meta_.leases.find(std::string{service});
  return at == meta_.leases.end() ? kNoLease : at->second;
}

void State::put(const ObjectKey& key, Object object) {
  auto type = objects_.find(key.type);
  if (type == objects_.end()) type = objects_.emplace(key.type, OfType{}).first;
  auto* at = type->second.table.find(key.ns, key.name);
  const bool inserted = at == nullptr;
  if (inserted) {
    at = &*type->second.sorted.try_emplace(Name{key.ns, key.name}).first;
    type->second.table.insert(at);
  }
  meta_.hash += object.hash;
  if (!inserted) meta_.hash -= at->second.hash;
  const Value before = inserted ? Value{} : at->second.value;
  at->second = std::move(object);
  reindex(key, before, at->second.value);
}

void State::erase(const ObjectKey& key) {
  const auto type = objects_.find(key.type);
  SHIPLOG_CHECK(type != objects_.end(), "an object that is erased exists");
  const auto at = type->second.sorted.find(NameLess::Views{key.ns, key.name});
  SHIPLOG_CHECK(at != type->second.sorted.end(), "an object that is erased exists");
  meta_.hash -= at->second.hash;
  const Value before = std::move(at->second.value);
  type->second.table.erase(&*at);
  type->second.sorted.erase(at);
  reindex(key, before, Value{});
}

void State::reindex(const ObjectKey& key, const Value& before, const Value& after) {
  if (before["metadata"]["ownerReferences"] != after["metadata"]["ownerReferences"]) {
    for (const std::string& uid : owner_uids(before)) {
      const auto at = dependents_.find(uid);
      if (at == dependents_.end()) continue;  // named twice
      at->second.erase(key);
      if (at->second.empty()) dependents_.erase(at);
    }
    for (const std::string& uid : owner_uids(after)) dependents_[uid].insert(key);
  }
  if (before["metadata"]["labels"] != after["metadata"]["labels"]) {
    for (const char* indexed : kIndexedLabels) {
      const auto old_value = label_of(before, indexed);
      const auto new_value = label_of(after, indexed);
      if (old_value == new_value) continue;
      if (!old_value.empty()) {
        const auto at = labelled_.find({indexed, std::string{old_value}});
        at->second.erase(key);
        if (at->second.empty()) labelled_.erase(at);
      }
      if (!new_value.empty()) labelled_[{indexed, std::string{new_value}}].insert(key);
    }
  }
  reindex_views(key, before, after);
}

void State::reindex_views(const ObjectKey& key, const Value& before, const Value& after) {
  // Most objects have no view.
  const bool viewed = key.type.ends_with(".karmada.io");
  if (!viewed) {
    if (key.type == kFeatureGatesType) set_gates(feature_gates_from(after));
    if (key.type == kFleetOptionsType) options_ = fleet_options_from(after);
    if (key.type == type::kService) services_.update(key, before, after);
    return;
  }
  const Name name{key.ns, key.name};
  if (key.type == type::kCluster) {
    if (after.is_null()) {
      clusters_.erase(key.name);
    } else {
      Cluster cluster = cluster_from(after);
      const auto alike = std::ranges::find_if(
          clusters_, [&](const auto& other) { return other.second.api_enablements == cluster.api_enablements; });
      if (alike != clusters_.end()) cluster.api_enablements = alike->second.api_enablements;
      clusters_[key.name] = std::move(cluster);
    }
  } else if (key.type == type::kPropagationPolicy || key.type == type::kClusterPropagationPolicy) {
    if (const auto known = policies_.find(name); known != policies_.end()) {
      policy_index_.remove(key.ns, key.name, known->second);
    }
    if (after.is_null()) {
      policies_.erase(name);
    } else {
      Policy& policy = policies_[name] = policy_from(after);
      policy_index_.add(key.ns, key.name, policy);
    }
  } else if (key.type == type::kOverridePolicy || key.type == type::kClusterOverridePolicy) {
    if (const auto known = override_policies_.find(name); known != override_policies_.end()) {
      override_index_.remove(key.ns, key.name, known->second.selectors);
    }
    if (after.is_null()) {
      override_policies_.erase(name);
    } else {
      OverridePolicy& policy = override_policies_[name] = override_policy_from(after);
      override_index_.add(key.ns, key.name, policy.selectors);
    }
  } else if (key.type == type::kFederatedResourceQuota) {
    if (after.is_null()) {
      quotas_.erase(name);
      if (const auto next = quotas_.lower_bound(Name{key.ns, ""}); next == quotas_.end() || next->first.ns != key.ns) {
        quota_usage_.erase(key.ns);
      }
    } else {
      quotas_[name] = quota_from(after);
      if (quota_usage_.try_emplace(key.ns).second) {
        ResourceList& usage = quota_usage_[key.ns];
        for (const auto& [binding_name, binding] : objects(type::kResourceBinding, key.ns)) {
          add(usage, usage_of(binding.value, gates_.multiple_pod_templates), +1);
        }
      }
    }
  } else if (key.type == type::kResourceBinding) {
    dependencies_.update(key, before, after);
    affinities_.update(key, before, after);
    if (gates_.overcommit_protection) unsettled_.update(key, before, after);
    if (const auto usage = quota_usage_.find(key.ns); usage != quota_usage_.end()) {
      add(usage->second, usage_of(before, gates_.multiple_pod_templates), -1);
      add(usage->second, usage_of(after, gates_.multiple_pod_templates), +1);
    }
  }
}

/// What is worked out with the gates is worked out anew.
void State::set_gates(const FeatureGates& gates) {
  if (gates == gates_) return;
  gates_ = gates;
  for (auto& [ns, usage] : quota_usage_) {
    usage.clear();
    for (const auto& [name, binding] : objects(type::kResourceBinding, ns)) {
      add(usage, usage_of(binding.value, gates_.multiple_pod_templates), +1);
    }
  }
  unsettled_ = {};
  if (!gates_.overcommit_protection) return;
  for (const auto& [name, binding] : objects(type::kResourceBinding)) {
    unsettled_.update({type::kResourceBinding, name.ns, name.name}, Value{}, binding.value);
  }
}

void State::remember_hash() {
  recent_hashes_.emplace_back(meta_.revision, hash());
  if (recent_hashes_.size() > kRememberedHashes) recent_hashes_.pop_front();
}

bool State::restore(const StateMeta& meta, std::vector<std::pair<ObjectKey, Object>> objects, std::vector<EntryId> seen,
                    State& into) {
  State made;
  for (auto& [key, object] : objects) made.put(key, std::move(object));
  const bool same = made.meta_.hash == meta.hash;
  made.meta_ = meta;
  for (const EntryId& id : seen) made.seen_.insert(id);
  into = std::move(made);
  return same;
}

}  // namespace shiplog
