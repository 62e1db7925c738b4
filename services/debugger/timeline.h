#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/debugger/condition.h"
#include "services/debugger/journal_reader.h"

namespace shiplog::debugger {

struct TimelineOptions {
  /// So many entries lie between two kept states at least: more if the state has very many objects, and twice as many
  /// each time there are too many kept objects.
  size_t keep_every = 2048;
  /// In all kept states together. A kept object costs some 500 bytes; its content is shared with the present state.
  size_t most_kept_objects = 1'000'000;
};

/// What is remembered of every entry that was folded once.
struct Mark {
  Offset offset;
  Revision revision;  ///< of the state afterwards
  UtcMillis time;     ///< of the entry
};

/// A journal and the state at one position of it, which moves forwards and backwards. Position N is behind the first N
/// entries; its entry is the last one folded. States are kept on the way, so that going back folds few entries again.
class JournalTimeline {
 public:
  /// `begin`: what the entries before the reader's first one have folded to.
  JournalTimeline(JournalReader reader, State begin, TimelineOptions options = {});

  size_t position() const { return position_; }
  const State& state() const { return state_; }
  /// Of the last folded entry; without an entry at position 0 and behind enter_kept().
  const DebugRecord& record() const { return record_; }
  const Folded& folded() const { return folded_; }
  Moment moment() const;
  /// Of the entry at this position (1: the first). It was folded before: position <= known().
  const Mark& mark(size_t position) const { return marks_[position - 1]; }
  /// The farthest position so far.
  size_t known() const { return marks_.size(); }
  JournalReader& reader() { return reader_; }
  /// The revision of the state that the timeline begins with.
  Revision first_revision() const { return first_revision_; }

  /// False: the journal ends here. Errors: those of reading; kCorrupt, the entry before stopped the fold (a newer build
  /// is needed, or its recorded state hash differs).
  Result<bool> forward();
  /// To a position that was reached before, or further on. Errors: those of forward(); kGone, the journal ends before;
  /// the position is then the last one reached.
  Result<void> go(size_t position);
  /// The state at a position before the farthest one, which stays valid until the next call.
  Result<const State*> state_at(size_t position);
  /// The first position at which the state had this revision; nullopt: there is none up to the farthest position.
  std::optional<size_t> position_of(Revision revision) const;
  /// The last kept position before `position`: folding can begin there.
  size_t kept_before(size_t position) const;
  /// To a kept position, without its entry: for a search that folds on from there.
  void enter_kept(size_t position);
  size_t kept_states() const { return kept_.size(); }

 private:
  void enter(size_t position, const State& state);
  bool worth_keeping() const;
  void keep();
  void keep_near(size_t position, const State& state);
  /// The nearest state that is kept at or before `position`.
  std::pair<size_t, const State*> nearest(size_t position) const;

  JournalReader reader_;
  TimelineOptions options_;
  State state_;
  size_t position_ = 0;
  DebugRecord record_;
  Folded folded_;
  std::vector<Mark> marks_;
  std::optional<std::string> stopped_;  // the fold must not go on behind marks_.back()
  Revision first_revision_;
  std::map<size_t, State> kept_;  // 0, and then one in `keep_every`
  size_t kept_objects_ = 0;
  std::map<size_t, State> near_;                   // a few more, close to where the cursor was moved
  std::optional<std::pair<size_t, State>> other_;  // of state_at()
};

}  // namespace shiplog::debugger
