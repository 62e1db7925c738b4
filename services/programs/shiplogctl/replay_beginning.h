#pragma once

#include <iosfwd>
#include <string>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "events/state/state.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {

/// Where the reading of a journal begins.
struct Beginning {
  std::string snapshot;  ///< a file; empty: the first entry
  Offset next;           ///< the first offset that the snapshot does not cover
  State state;
};

/// At the first entry, at the snapshot that the options name, or, of a trimmed journal, at one beside its file. Errors:
/// kGone, the journal is trimmed and no snapshot reaches as far; those of the snapshot and the journal.
Result<Beginning> beginning_of(Journal& journal, const ReplayCommandOptions& options, std::ostream& progress);

}  // namespace shiplog::ctl
