#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/event.h"

namespace shiplog {

/// Up to where entries, or their decisions, are old enough to be deleted: those with events of a family that is named
/// up to its offset, others up to `rest`. Of an entry with several families, all must be old enough.
struct FamilyCut {
  Offset rest;
  std::vector<std::pair<Family, Offset>> families = {};
  /// Nothing from here on is old enough.
  Offset end() const;
  /// The same as a condition on the row `alias` of the table of entries.
  std::string condition(std::string_view alias) const;
};

}  // namespace shiplog
