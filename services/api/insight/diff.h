#pragma once

#include <map>
#include <string>
#include <vector>

#include "events/base/value.h"

namespace shiplog::api {

/// One difference between two versions of an object.
struct FieldChange {
  enum class Kind { kAdded, kRemoved, kChanged };
  std::string path;  ///< "spec.template.spec.containers[nginx].image"
  Kind kind = Kind::kChanged;
  std::string before;  ///< JSON, cut after kLongestValue bytes; empty when added
  std::string after;   ///< the same; empty when removed
  bool operator==(const FieldChange&) const = default;
};

/// "added", "removed", "changed".
const char* name_of(FieldChange::Kind kind);

inline constexpr size_t kLongestValue = 120;

/// What changed, in the order of the paths. An added or removed part is one change, whole. Items of a list are matched
/// by their name, type, cluster or key where they all have one, else by position. Left out: what every write
/// touches (metadata.resourceVersion, generation, managedFields, kubectl's last-applied annotation, heartbeats).
std::vector<FieldChange> diff(const Value& before, const Value& after);

/// Each value of the object that has no members or items, as JSON by its path, without what every write touches. The
/// paths are those of diff().
std::map<std::string, std::string> leaves(const Value& object);

/// At most kLongestValue bytes of it, and "..." if it is longer.
std::string shortened(std::string text);

}  // namespace shiplog::api
