#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "events/base/ids.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/proof/sha256.h"
#include "projections/store/prepared_rows.h"

namespace shiplog {

/// One folded entry, accepted or refused: the input of the projections.
struct FoldedEntry {
  Offset offset;
  const Entry& entry;
  const Folded& folded;
  /// Of the record, for the Merkle tree; nullopt: the journal has none (ephemera).
  std::optional<proof::Digest> leaf = {};
  // Set by Projections::apply, so that the projections need not compute them again:
  std::vector<ObjectKey> subjects = {};    ///< of each event
  std::vector<int64_t> object_ids = {};    ///< object.id of each change
  const PreparedRows* prepared = nullptr;  ///< nullptr: nothing is
};

}  // namespace shiplog
