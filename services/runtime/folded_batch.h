#pragma once

#include <optional>
#include <vector>

#include "events/base/ids.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/proof/sha256.h"
#include "events/state/state.h"

namespace shiplog {

/// One journal record, decoded.
struct DecodedRecord {
  Offset offset;
  Entry entry;
  std::optional<proof::Digest> leaf = {};  ///< of its bytes, if the replica keeps a tree of them
};

/// What was folded in one go.
struct FoldedBatch {
  std::vector<DecodedRecord> records;
  std::vector<Folded> folded;  ///< one for each record
  StateMeta after;             ///< of the state after all of them
};

}  // namespace shiplog
