#pragma once

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
  std::vector<ObjectKey> subjects = {};  ///< of each event; filled in by Projections::apply
};

}  // namespace shiplog
