#pragma once

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/programs/shiplogctl/replay.h"

namespace shiplog::ctl {

/// The records of the journal from `from` up to what is its end now, decoded by threads beside the one that takes them,
/// in their order. An entry that cannot be decoded is an error after all before it. The journal must outlive it.
Result<Records> read_decoded(Journal& journal, Offset from);

}  // namespace shiplog::ctl
