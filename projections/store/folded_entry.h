#pragma once

#include <cstdint>
#include <vector>

#include "events/base/ids.h"
#include "events/entry.h"
#include "events/fold/fold.h"

namespace shiplog {

/// One folded entry, accepted or refused, as the projections take it in.
struct FoldedEntry {
  Offset offset;
  const Entry& entry;
  const Folded& folded;
  // Filled in by Projections::apply, so that each projection need not find out again:
  std::vector<ObjectKey> subjects = {};  ///< of each event
  std::vector<int64_t> object_ids = {};  ///< object.id of each change
};

}  // namespace shiplog
