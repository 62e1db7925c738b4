#include "events/state/dependency_index.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/work.h"

namespace shiplog {
namespace {

const std::set<ObjectKey> kNoReferrers;

struct Named {
  std::vector<ObjectKey> attached;  // sorted
  bool selects = false;
};

Named named_by(const ObjectKey& binding, const Value& object) {
  Named named;
  const Value recorded = recorded_dependencies(object);
  for (const Value& dependency : recorded.items()) {
    if (dependency["name"].is_empty()) {
      named.selects = true;
    } else {
      named.attached.push_back(
          attached_binding(binding, dependency["kind"].as_string(), dependency["name"].as_string()));
    }
  }
  std::ranges::sort(named.attached);
  return named;
}

std::vector<ObjectKey> required_by(const Value& object) {
  std::vector<ObjectKey> referrers;
  for (const Value& requirer : object["spec"]["requiredBy"].items()) {
    referrers.push_back({type::kResourceBinding, requirer["namespace"].str(), requirer["name"].str()});
  }
  std::ranges::sort(referrers);
  return referrers;
}

}  // namespace

void DependencyIndex::move(Sets& sets, const ObjectKey& binding, const std::vector<ObjectKey>& before,
                           const std::vector<ObjectKey>& after) {
  for (const ObjectKey& key : before) {
    const auto found = sets.find(key);
    if (found == sets.end() || std::ranges::binary_search(after, key)) continue;
    found->second.erase(binding);
    if (found->second.empty()) sets.erase(found);
  }
  for (const ObjectKey& key : after) sets[key].insert(binding);
}

void DependencyIndex::update(const ObjectKey& binding, const Value& before, const Value& after) {
  if (annotation_of(before, kDependenciesAnnotation) != annotation_of(after, kDependenciesAnnotation)) {
    const Named old = named_by(binding, before);
    const Named now = named_by(binding, after);
    move(referrers_, binding, old.attached, now.attached);
    if (now.selects) {
      selecting_[binding.ns].insert(binding);
    } else if (const auto found = selecting_.find(binding.ns); old.selects && found != selecting_.end()) {
      found->second.erase(binding);
      if (found->second.empty()) selecting_.erase(found);
    }
  }
  const Value& old_list = before["spec"]["requiredBy"];
  const Value& new_list = after["spec"]["requiredBy"];
  if (old_list != new_list) move(attached_, binding, required_by(before), required_by(after));
}

const std::set<ObjectKey>& DependencyIndex::referrers(const ObjectKey& attached) const {
  const auto found = referrers_.find(attached);
  return found == referrers_.end() ? kNoReferrers : found->second;
}

const std::set<ObjectKey>& DependencyIndex::selecting(std::string_view ns) const {
  const auto found = selecting_.find(ns);
  return found == selecting_.end() ? kNoReferrers : found->second;
}

const std::set<ObjectKey>& DependencyIndex::attached_to(const ObjectKey& referrer) const {
  const auto found = attached_.find(referrer);
  return found == attached_.end() ? kNoReferrers : found->second;
}

Value recorded_dependencies(const Value& binding) {
  const auto text = annotation_of(binding, kDependenciesAnnotation);
  if (text.empty()) return {};
  auto list = parse_stored_json(text);  // what a user has made of it may be no JSON
  if (!list || !list.value().is_array()) return {};
  const Value& ns = binding["metadata"]["namespace"];
  if (std::ranges::any_of(list.value().items(), [&](const Value& entry) { return entry["namespace"] != ns; })) {
    std::erase_if(list.value().edit_items(), [&](const Value& entry) { return entry["namespace"] != ns; });
  }
  return std::move(list).value();
}

ObjectKey attached_binding(const ObjectKey& referrer, std::string_view kind, std::string_view name) {
  return {type::kResourceBinding, referrer.ns, binding_name(kind, name)};
}

}  // namespace shiplog
