#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"

namespace shiplog {

/// The ResourceBindings of one spec.workloadAffinityGroups group of one namespace, and where they are.
struct AffinityGroup {
  std::map<ObjectKey, std::vector<std::string>> members;  ///< with the clusters that each targets
  int64_t placed = 0;                                     ///< members with a target
  std::map<std::string, int64_t, std::less<>> clusters;   ///< how many members target each

  /// The member's targets are these now; nullptr: it is none any more.
  void set(const ObjectKey& member, const std::vector<std::string>* targets);
  /// Members other than this one that target the cluster.
  int64_t others_on(std::string_view cluster, const ObjectKey& except) const;
  /// Members other than this one that have a target.
  int64_t others_placed(const ObjectKey& except) const;
  bool operator==(const AffinityGroup&) const = default;
};

/// Which bindings are to stay together, and which apart (M-10 to M-13).
class AffinityIndex {
 public:
  static bool wants(std::string_view type) { return type == type::kResourceBinding; }
  /// A ResourceBinding has changed; null: it did not, or does not, exist.
  void update(const ObjectKey& binding, const Value& before, const Value& after);
  bool operator==(const AffinityIndex&) const = default;

  /// nullptr: no binding is in such a group.
  const AffinityGroup* together(std::string_view ns, std::string_view group) const;
  const AffinityGroup* apart(std::string_view ns, std::string_view group) const;

 private:
  using Groups = std::map<std::pair<std::string, std::string>, AffinityGroup>;
  static void update(Groups& groups, const char* field, const ObjectKey& binding, const Value& before,
                     const Value& after);

  Groups together_;
  Groups apart_;
};

}  // namespace shiplog
