#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/api/search/cached_object.h"

namespace shiplog::api {

/// A change of a cached object, for watches.
struct CachedChange {
  enum class What : uint8_t { kAdded, kModified, kDeleted };
  What what = What::kAdded;
  CachedObject::Ptr object;  ///< of a deletion, what the member has sent, or its last version
  CachedObject::Ptr before;  ///< nullptr: it is new
  /// The collection's after it. While the result of a new list is taken in, it stays that of before: a watch that ends
  /// in between repeats all of it.
  std::string version;
  bool within_list = false;  ///< of a list, of which more changes follow: `version` is that of before the list
};

/// The objects of one scope, and its newest changes. Threads: any; changes from one at a time.
class CachedCollection {
 public:
  static constexpr size_t kMostChanges = 512;

  /// `changed`: called after each change, on the thread of the change; must not block or call this object.
  explicit CachedCollection(CachedScope scope, std::function<void()> changed = {})
      : scope_{std::move(scope)}, changed_{std::move(changed)} {}
  const CachedScope& scope() const { return scope_; }

  /// Takes in a whole list; what is different from before becomes changes. A version below the one before is of a
  /// server that counts anew: watches end.
  void replace(CachedObjects listed, std::string version);
  /// An object was added or changed.
  void put(CachedObject::Ptr object);
  /// An object was deleted: its last version, with the version of the deletion.
  void remove(CachedObject::Ptr object);
  /// A bookmark.
  void advance(std::string version);
  /// Forgets everything: there is no list any more. Watches end.
  void drop();

  /// A list was taken in.
  bool listed() const;
  /// Of what is in it now; empty: it is not listed.
  std::string version() const;
  size_t size() const;
  /// What its objects take of the budget.
  size_t bytes() const;
  CachedObject::Ptr find(std::string_view ns, std::string_view name) const;
  /// Up to `most` objects behind `after` ("NAMESPACE/NAME", empty: from the beginning), of one namespace or of all.
  std::vector<CachedObject::Ptr> objects(const std::string& ns, const std::string& after, size_t most) const;

  /// A moment of the collection: so many changes ago.
  using Mark = uint64_t;
  struct CachedMoment {
    Mark mark = 0;
    std::string version;
    std::vector<CachedObject::Ptr> objects;  ///< as objects() has them then
  };
  CachedMoment now(const std::string& ns, const std::string& after, size_t most) const;
  /// The moment with this version; the present one for a version that is newer. nullopt: its changes are not known any
  /// more.
  std::optional<Mark> mark_of(std::string_view version) const;
  /// The changes from the mark on, at most `most`; nullopt: they are not known any more.
  std::optional<std::vector<CachedChange>> changes(Mark from, size_t most) const;

  /// "NAMESPACE/NAME".
  static std::string position_text(const CachedObject& object);
  /// The position that such a text names.
  static CachedObject::Position position_of(std::string_view text);

 private:
  void record(CachedChange change);
  void begin_at(const std::string& version);
  void record_differences(const CachedObjects& before, const std::string& version);
  std::vector<CachedObject::Ptr> objects_after(const std::string& ns, const std::string& after, size_t most) const;

  const CachedScope scope_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  CachedObjects objects_;
  std::string version_;
  bool listed_ = false;
  std::deque<CachedChange> changes_;
  Mark first_ = 0;           // of changes_
  std::string floor_;        // the version before changes_
  bool floor_whole_ = true;  // everything after that version is in changes_
};

}  // namespace shiplog::api
