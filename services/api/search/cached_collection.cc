#include "services/api/search/cached_collection.h"

#include <algorithm>
#include <utility>

#include "services/api/search/multi_version.h"

namespace shiplog::api {
std::string CachedCollection::position_text(const CachedObject& object) {
  return std::string{object.ns()} + "/" + std::string{object.name()};
}

CachedObject::Position CachedCollection::position_of(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {{}, text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

void CachedCollection::record(CachedChange change) {
  changes_.push_back(std::move(change));
  for (; changes_.size() > kMostChanges; ++first_) {
    // One of several of a list: what came after the version before the list is not known as a whole any more.
    floor_whole_ = !changes_.front().within_list;
    floor_ = changes_.front().version;
    changes_.pop_front();
  }
}

/// Under the lock: nothing is known of what was before.
void CachedCollection::begin_at(const std::string& version) {
  // Beyond every mark that was given out.
  first_ += changes_.size() + 1;
  changes_.clear();
  floor_ = version;
  floor_whole_ = true;
}

/// Under the lock: objects_ is the new list, version_ still that of before.
void CachedCollection::record_differences(const CachedObjects& before, const std::string& version) {
  const auto next_mark = first_ + changes_.size();
  const auto changed = [&](CachedChange::What what, CachedObject::Ptr object, CachedObject::Ptr old) {
    record({what, std::move(object), std::move(old), version_, true});
  };
  for (const auto& old : before) {
    if (!objects_.contains(old->position())) changed(CachedChange::What::kDeleted, old, old);
  }
  for (const auto& object : objects_) {
    const auto old = before.find(object->position());
    if (old == before.end()) {
      changed(CachedChange::What::kAdded, object, nullptr);
    } else if ((*old)->version() != object->version()) {
      changed(CachedChange::What::kModified, object, *old);
    }
  }
  if (first_ + changes_.size() == next_mark) return;
  changes_.back().version = version;
  changes_.back().within_list = false;
}

void CachedCollection::replace(CachedObjects listed, std::string version) {
  CachedObjects before;  // freed without the lock
  {
    const std::lock_guard lock{mutex_};
    before.swap(objects_);
    objects_ = std::move(listed);
    const bool follows = std::exchange(listed_, true) && compare_resource_versions(version, version_).value_or(0) >= 0;
    follows ? record_differences(before, version) : begin_at(version);
    version_ = std::move(version);
  }
  if (changed_) changed_();
}

void CachedCollection::put(CachedObject::Ptr object) {
  {
    const std::lock_guard lock{mutex_};
    if (!listed_) return;
    CachedObject::Ptr before;
    if (const auto found = objects_.find(object->position()); found != objects_.end()) {
      before = *found;
      objects_.erase(found);
    }
    objects_.insert(object);
    version_ = object->version();
    const auto what = before == nullptr ? CachedChange::What::kAdded : CachedChange::What::kModified;
    record({what, std::move(object), std::move(before), version_});
  }
  if (changed_) changed_();
}

void CachedCollection::remove(CachedObject::Ptr object) {
  {
    const std::lock_guard lock{mutex_};
    if (!listed_) return;
    version_ = object->version();
    const auto found = objects_.find(object->position());
    if (found == objects_.end()) return;
    CachedObject::Ptr before = *found;
    objects_.erase(found);
    record({CachedChange::What::kDeleted, std::move(object), std::move(before), version_});
  }
  if (changed_) changed_();
}

void CachedCollection::advance(std::string version) {
  const std::lock_guard lock{mutex_};
  if (listed_) version_ = std::move(version);
}

void CachedCollection::drop() {
  CachedObjects before;
  std::deque<CachedChange> changes;
  {
    const std::lock_guard lock{mutex_};
    before.swap(objects_);
    // Beyond every mark that was given out.
    first_ += changes_.size() + 1;
    changes.swap(changes_);
    listed_ = false;
    version_.clear();
    floor_.clear();
  }
  if (changed_) changed_();
}

bool CachedCollection::listed() const {
  const std::lock_guard lock{mutex_};
  return listed_;
}

std::string CachedCollection::version() const {
  const std::lock_guard lock{mutex_};
  return version_;
}

size_t CachedCollection::size() const {
  const std::lock_guard lock{mutex_};
  return objects_.size();
}

CachedObject::Ptr CachedCollection::find(std::string_view ns, std::string_view name) const {
  const std::lock_guard lock{mutex_};
  const auto found = objects_.find(CachedObject::Position{ns, name});
  return found == objects_.end() ? nullptr : *found;
}

size_t CachedCollection::bytes() const {
  const std::lock_guard lock{mutex_};
  size_t bytes = 0;
  for (const auto& object : objects_) bytes += object->bytes();
  return bytes;
}

std::vector<CachedObject::Ptr> CachedCollection::objects(const std::string& ns, const std::string& after,
                                                         size_t most) const {
  const std::lock_guard lock{mutex_};
  return objects_after(ns, after, most);
}

/// Under the lock.
std::vector<CachedObject::Ptr> CachedCollection::objects_after(const std::string& ns, const std::string& after,
                                                               size_t most) const {
  std::vector<CachedObject::Ptr> found;
  const CachedObject::Position begin{ns, {}};
  const CachedObject::Position behind = position_of(after);
  auto at = after.empty() || behind < begin ? objects_.lower_bound(begin) : objects_.upper_bound(behind);
  for (; at != objects_.end() && found.size() < most; ++at) {
    if (!ns.empty() && (*at)->ns() != ns) break;
    found.push_back(*at);
  }
  return found;
}

CachedCollection::CachedMoment CachedCollection::now(const std::string& ns, const std::string& after,
                                                     size_t most) const {
  const std::lock_guard lock{mutex_};
  return {first_ + changes_.size(), version_, objects_after(ns, after, most)};
}

std::optional<CachedCollection::Mark> CachedCollection::mark_of(std::string_view version) const {
  const std::lock_guard lock{mutex_};
  if (!listed_) return std::nullopt;
  if (version == floor_) return floor_whole_ ? std::optional{first_} : std::nullopt;
  const auto after_floor = compare_resource_versions(version, floor_);
  if (after_floor && *after_floor < 0) return std::nullopt;
  for (size_t index = 0; index < changes_.size(); ++index) {
    const auto order = compare_resource_versions(changes_[index].version, version);
    // The first one: others of this version are repeated.
    if (order && *order == 0 && !changes_[index].within_list) return first_ + index + 1;
    if (!order || *order < 0 || (*order > 0 && !after_floor)) continue;
    // Those of one list before it may be about what is newer: they share the version of before the list.
    size_t first = index;
    while (first > 0 && changes_[first - 1].within_list) --first;
    return first > 0 || floor_whole_ ? std::optional{first_ + first} : std::nullopt;
  }
  if (version != version_ && !after_floor) return std::nullopt;
  return first_ + changes_.size();
}

std::optional<std::vector<CachedChange>> CachedCollection::changes(Mark from, size_t most) const {
  const std::lock_guard lock{mutex_};
  if (!listed_ || from < first_ || from > first_ + changes_.size()) return std::nullopt;
  const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(from - first_);
  const auto count = std::min(most, static_cast<size_t>(changes_.end() - begin));
  return std::vector<CachedChange>{begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace shiplog::api
