#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/event.h"
#include "projections/store/reader.h"

namespace shiplog {

/// What became of one entry, without who and why.
struct EntryOutcome {
  Offset offset;
  Revision revision;      ///< of the state afterwards
  uint64_t families = 0;  ///< one bit for each family of its events
  bool accepted = false;  ///< neither refused nor a duplicate
  bool has(Family family) const { return (families >> static_cast<unsigned>(family) & 1U) != 0; }
};

/// The outcomes of entries in the order of the journal: for those who read the entries themselves there.
class OutcomeQuery {
 public:
  explicit OutcomeQuery(const View& view) : view_{view} {}

  /// Entries at `from` and after, at most `limit`.
  Result<std::vector<EntryOutcome>> from(Offset from, size_t limit) const;
  /// The revision before the entry at this offset; 0 before the first entry.
  Result<Revision> revision_before(Offset offset) const;
  /// The first entry after which the state had at least this revision; the view's end: there is none.
  Result<Offset> reaching(Revision revision) const;

 private:
  const View& view_;
};

}  // namespace shiplog
