#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/proof/sha256.h"
#include "events/state/state.h"
#include "projections/runner.h"

namespace shiplog {

/// The state, and on request the projection, that a journal makes.
class RemadeProjection {
 public:
  /// `file`: where to make the projection; empty: none is made. `base`: a snapshot or projection to go on from; empty:
  /// from nothing. Errors: those of the files; kCorrupt, the objects of the base do not hash to what it recorded.
  static Result<std::unique_ptr<RemadeProjection>> make(const std::string& file, const std::string& base);

  /// The first offset that is not in it.
  Offset next() const { return next_; }
  const State& state() const { return state_; }

  /// Folds the next entry. Error: kCorrupt, it must not be folded on: the state differs from one that was recorded, or
  /// the entry needs a newer build.
  Result<void> take(Offset offset, Entry entry, const std::optional<proof::Digest>& leaf);
  /// A view of the projection with all that was taken, its history trimmed as far as that of the file it is compared
  /// with.
  Result<Reader> read(Revision oldest);

 private:
  Result<void> flush();

  struct Taken {
    Offset offset;
    Entry entry;
    Folded folded;
    std::optional<proof::Digest> leaf;
  };

  std::unique_ptr<Projections> projections_;  // null: none is made
  State state_;
  Offset next_;
  std::deque<Taken> waiting_;
};

}  // namespace shiplog
