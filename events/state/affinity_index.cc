#include "events/state/affinity_index.h"

#include <algorithm>
#include <functional>

#include "events/base/check.h"

namespace shiplog {
namespace {

std::vector<std::string> targets_of(const Value& binding) {
  std::vector<std::string> clusters;
  for (const Value& target : binding["spec"]["clusters"].items()) clusters.push_back(target["name"].str());
  std::ranges::sort(clusters);
  const auto repeated = std::ranges::unique(clusters);
  clusters.erase(repeated.begin(), repeated.end());
  return clusters;
}

const Value& groups_of(const Value& binding) { return binding["spec"]["workloadAffinityGroups"]; }

}  // namespace

void AffinityGroup::set(const ObjectKey& member, const std::vector<std::string>* targets) {
  if (const auto known = members.find(member); known != members.end()) {
    if (!known->second.empty()) --placed;
    for (const std::string& cluster : known->second) {
      const auto found = clusters.find(cluster);
      SHIPLOG_CHECK(found != clusters.end(), "each target of a member is counted");
      if (--found->second == 0) clusters.erase(found);
    }
    members.erase(known);
  }
  if (targets == nullptr) return;
  if (!targets->empty()) ++placed;
  SHIPLOG_CHECK(std::ranges::adjacent_find(*targets, std::ranges::greater_equal{}) == targets->end(),
                "targets are sorted and named once");
  for (const std::string& cluster : *targets) ++clusters[cluster];
  members.emplace(member, *targets);
}

int64_t AffinityGroup::others_on(std::string_view cluster, const ObjectKey& except) const {
  const auto found = clusters.find(cluster);
  if (found == clusters.end()) return 0;
  const auto self = members.find(except);
  const bool counted = self != members.end() && std::ranges::binary_search(self->second, cluster);
  return found->second - (counted ? 1 : 0);
}

int64_t AffinityGroup::others_placed(const ObjectKey& except) const {
  const auto self = members.find(except);
  return placed - (self != members.end() && !self->second.empty() ? 1 : 0);
}

void AffinityIndex::update(Groups& groups, const char* field, const ObjectKey& binding, const Value& before,
                           const Value& after) {
  const Value& was = groups_of(before)[field];
  const Value& is = groups_of(after)[field];
  if (was.is_empty() && is.is_empty()) return;
  if (was == is && before["spec"]["clusters"] == after["spec"]["clusters"]) return;
  if (was != is && !was.is_empty()) {
    const auto found = groups.find({binding.ns.str(), was.str()});
    SHIPLOG_CHECK(found != groups.end(), "the group of a binding exists");
    found->second.set(binding, nullptr);
    if (found->second.members.empty()) groups.erase(found);
  }
  if (is.is_empty()) return;
  const std::vector<std::string> targets = targets_of(after);
  groups[{binding.ns.str(), is.str()}].set(binding, &targets);
}

void AffinityIndex::update(const ObjectKey& binding, const Value& before, const Value& after) {
  if (!groups_of(before).is_object() && !groups_of(after).is_object()) return;
  update(together_, "affinityGroup", binding, before, after);
  update(apart_, "antiAffinityGroup", binding, before, after);
}

const AffinityGroup* AffinityIndex::together(std::string_view ns, std::string_view group) const {
  const auto found = together_.find({std::string{ns}, std::string{group}});
  return found == together_.end() ? nullptr : &found->second;
}

const AffinityGroup* AffinityIndex::apart(std::string_view ns, std::string_view group) const {
  const auto found = apart_.find({std::string{ns}, std::string{group}});
  return found == apart_.end() ? nullptr : &found->second;
}

}  // namespace shiplog
