#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"

namespace shiplog {

/// Which bindings of both kinds have a cluster among spec.clusters: what a taint or a lost cluster concerns.
class TargetIndex {
 public:
  static bool wants(std::string_view type) { return is_binding(type); }
  void update(const ObjectKey& binding, const Value& before, const Value& after);
  bool operator==(const TargetIndex&) const = default;

  /// Sorted by key.
  const std::set<ObjectKey>& on(std::string_view cluster) const;

 private:
  std::map<std::string, std::set<ObjectKey>, std::less<>> clusters_;  // none is empty
};

}  // namespace shiplog
