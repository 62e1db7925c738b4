// What may have been written to a member, or vanished there, without having been seen: what its list misses.
#include <algorithm>
#include <utility>

#include "events/state/work.h"
#include "services/roles/collector/watch.h"
#include "services/roles/exported_slices.h"

namespace shiplog::collector {
namespace {

/// Not longer ago than that. A time far ahead is of another process's clock: nothing is known of when it was.
bool within(UtcMillis since, UtcMillis now, Millis span) { return since - now < span && now - since < span; }

/// The status does not state yet whether the member has applied it, and it was made less than `span` ago.
bool on_its_way(const Value& work, UtcMillis now, Millis span) {
  const auto made = parse_rfc3339(work["metadata"]["creationTimestamp"].as_string());
  return condition_of(work, "Applied").is_null() && made && within(made.value(), now, span);
}

}  // namespace

/// A write brings an event of the member. Without one nothing was written: the object was as it is wanted already, and
/// was listed before there was this Work.
void MemberWatches::doubt_unreported(const State& state, int number, UtcMillis now) {
  Slot& own = slot(number);
  for (ObjectKey& work : std::exchange(own.just_applied, {})) own.unreported.emplace_back(now, std::move(work));
  for (; !own.unreported.empty() && !within(own.unreported.front().first, now, kSettled); own.unreported.pop_front()) {
    const ObjectKey& work = own.unreported.front().second;
    const Value& value = state.value_of(work);
    const Value& manifests = manifests_of(value);
    if (deleting(value) || !applied(value) || statuses_of(state, work).size() >= manifests.size()) continue;
    for (const Value& manifest : manifests.items()) {
      const auto served = served_kind(state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
      if (served) doubt(served->type(), work);
    }
  }
}

/// It was written after all. If that was before the list, what was written had vanished by then.
void MemberWatches::doubt_unlisted(const ObjectKey& work, const Value& value) {
  auto& unlisted = slot_of_work(work).unlisted;
  const auto found = unlisted.find(work);
  if (found == unlisted.end() || !applied(value)) return;
  for (const std::string& type : found->second) doubt(type, work);
  unlisted.erase(found);
}

/// Objects that a Work reports as present but the list lacks have vanished while there was no watch.
void MemberWatches::take_in_list(const State& state, const Arrived& arrived, UtcMillis now) {
  for (const auto& [name, work] : state.objects(type::kWork, execution_space(arrived.cluster))) {
    const ObjectKey key{type::kWork, name.ns, name.name};
    const bool taken = applied(work.value);
    if (deleting(work.value) || only_kept(work.value)) continue;
    for (const Value& manifest : manifests_of(work.value).items()) {
      const auto served = served_kind(state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
      if (!served || served->type() != arrived.type) continue;
      if (arrived.listed.contains({manifest["metadata"]["namespace"].str(), manifest["metadata"]["name"].str()}))
        continue;
      const auto since = parse_rfc3339(condition_of(work.value, "Applied")["lastTransitionTime"].as_string());
      const bool settled = since && !within(since.value(), now, kSettled);
      if (taken && (work.value["status"].contains("manifestStatuses") || settled)) {
        gone(state, key, manifest);
      } else if (taken || on_its_way(work.value, now, kLongestLag)) {
        doubt(arrived.type, key);
      } else {
        slot_of_work(key).unlisted[key].insert(arrived.type);
      }
    }
  }
}

/// What was missing, or went, may have been written by us without our knowing yet: unless it is seen soon, the member
/// is listed once more.
void MemberWatches::doubt(const std::string& type, const ObjectKey& work) {
  const auto watch = watches_.find({type, kWatch, cluster_of_space(work.ns)});
  if (watch == watches_.end()) return;
  const bool first = watch->second->doubtful.empty();
  watch->second->doubtful.insert(work);
  if (first) watch->second->wake();
}

bool MemberWatches::in_doubt(const State& state, Watch& watch) const {
  std::erase_if(watch.doubtful, [&](const ObjectKey& work) {
    const Value& value = state.value_of(work);
    return value.is_null() || deleting(value);
  });
  return !watch.doubtful.empty();
}

}  // namespace shiplog::collector
