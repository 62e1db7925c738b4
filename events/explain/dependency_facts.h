#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/explain/fact_info.h"

// What the dependencies distributor explains.
namespace shiplog {

/// Summary: what a template refers to.
struct DependenciesFound {
  static constexpr FactInfo kInfo{120, "DependenciesFound", "kind", "name", "count"};
  std::string kind;
  std::string name;
  int64_t count = 0;
  bool operator==(const DependenciesFound&) const = default;
};

/// One object that the template refers to, or all that a selector matches.
struct DependencyFound {
  static constexpr FactInfo kInfo{121, "DependencyFound", "kind", "namespace", "name", "labelSelector", "propagated"};
  std::string kind;
  std::string ns;
  std::string name;            ///< empty: labelSelector counts
  std::string label_selector;  ///< JSON
  bool propagated = false;     ///< false: it is in another namespace
  bool operator==(const DependencyFound&) const = default;
};

/// Summary: how many bindings the binding of a dependency follows.
struct DependencyAttached {
  static constexpr FactInfo kInfo{122, "DependencyAttached", "kind", "name", "bindings"};
  std::string kind;
  std::string name;
  int64_t bindings = 0;
  bool operator==(const DependencyAttached&) const = default;
};

/// A binding that refers to the dependency, and where it is placed.
struct ReferrerFollowed {
  static constexpr FactInfo kInfo{123, "ReferrerFollowed", "namespace", "name", "clusters", "added"};
  std::string ns;
  std::string name;
  std::vector<std::string> clusters;
  bool added = false;  ///< followed for the first time; else its clusters have changed
  bool operator==(const ReferrerFollowed&) const = default;
};

/// A binding that does not refer to the dependency any more.
struct ReferrerReleased {
  static constexpr FactInfo kInfo{124, "ReferrerReleased", "namespace", "name"};
  std::string ns;
  std::string name;
  bool operator==(const ReferrerReleased&) const = default;
};

/// The policies of the referrers disagree (B-34).
struct DependencyPolicyConflict {
  static constexpr FactInfo kInfo{125, "DependencyPolicyConflict", "conflictResolution", "preserveResourcesOnDeletion"};
  bool conflict_resolution = false;             ///< Overwrite and Abort
  bool preserve_resources_on_deletion = false;  ///< true and false
  bool operator==(const DependencyPolicyConflict&) const = default;
};

}  // namespace shiplog
