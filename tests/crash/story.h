#pragma once

#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/journal/journal.h"
#include "tests/crash/checker.h"

namespace shiplog::crash {

/// What a journal says when it is folded from its first entry, by nobody's replica.
struct Story {
  std::vector<Version> versions;  ///< of the clients' ConfigMaps (Workload), in order
  std::string state_hash;
  Revision revision;
  Offset next;  ///< after the last entry
};

/// Reads up to what is the journal's end now. Errors: those of the journal; kInternal, the fold has stopped.
Result<Story> read_story(Journal& journal);

}  // namespace shiplog::crash
