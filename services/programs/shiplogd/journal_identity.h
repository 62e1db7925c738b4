#pragma once

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "projections/runner.h"

namespace shiplog {

/// Whether the journal still begins with what a projection was folded from: it reaches as far, and the last entry that
/// was folded is the one that stands at its offset. What was cut off a journal, and perhaps written over by a process
/// that had no other information, is noticed here by every process that has read it.
/// Errors: kCorrupt, it does not, with what is missing and what to do; those of the journal.
Result<void> check_same_journal(Journal& journal, const Restored& restored);

}  // namespace shiplog
