#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"

namespace shiplog {

/// Which bindings follow which because the template of one refers to the template of the other (B-28 to
/// B-35): the referrer by its annotation of dependencies, the attached one by its spec.requiredBy.
class DependencyIndex {
 public:
  static bool wants(std::string_view type) { return type == type::kResourceBinding; }
  void update(const ObjectKey& binding, const Value& before, const Value& after);
  bool operator==(const DependencyIndex&) const = default;

  /// Bindings whose recorded dependencies name the template of `attached`, which need not exist yet. Sorted.
  const std::set<ObjectKey>& referrers(const ObjectKey& attached) const;
  /// Bindings of the namespace with a dependency that is selected by labels.
  const std::set<ObjectKey>& selecting(std::string_view ns) const;
  /// Bindings whose spec.requiredBy names `referrer`.
  const std::set<ObjectKey>& attached_to(const ObjectKey& referrer) const;

 private:
  using Sets = std::map<ObjectKey, std::set<ObjectKey>>;
  static void move(Sets& sets, const ObjectKey& binding, const std::vector<ObjectKey>& before,
                   const std::vector<ObjectKey>& after);

  Sets referrers_;
  Sets attached_;
  std::map<SharedText, std::set<ObjectKey>, std::less<>> selecting_;
};

/// The dependencies that a binding has recorded, as a list; null: none. Those outside its namespace are left out: an
/// object that refers to another namespace's Secret does not take it along.
Value recorded_dependencies(const Value& binding);
/// The binding that a dependency of `referrer` gets: in the referrer's namespace, named N-1 (B-32).
ObjectKey attached_binding(const ObjectKey& referrer, std::string_view kind, std::string_view name);

}  // namespace shiplog
