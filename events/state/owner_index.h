#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

/// Which objects name which owners in metadata.ownerReferences.
class OwnerIndex {
 public:
  static bool wants(std::string_view) { return true; }
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const OwnerIndex&) const = default;

  /// Objects with this owner, sorted by key.
  const std::set<ObjectKey>& dependents(std::string_view owner_uid) const;

 private:
  std::map<SharedText, std::set<ObjectKey>, std::less<>> dependents_;  // by the owner's uid
};

}  // namespace shiplog
