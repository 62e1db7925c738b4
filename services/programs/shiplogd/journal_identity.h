#pragma once

#include <optional>
#include <utility>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/journal/journal.h"

namespace shiplog {

/// Whether the journal still begins with what a projection was folded from: it reaches as far, and the last entry that
/// was folded (`last`; nullopt: none was) is the one that stands at its offset. What was cut off a journal, and perhaps
/// written over by a process that had no other information, is noticed here by every process that has read it. Errors:
/// kCorrupt, it does not, with what is missing and what to do; those of the journal.
Result<void> check_same_journal(Journal& journal, const std::optional<std::pair<Offset, EntryId>>& last);

}  // namespace shiplog
