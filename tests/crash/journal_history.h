#pragma once

#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/journal/journal.h"
#include "tests/crash/checker.h"

namespace shiplog::crash {

/// The result of folding a journal from its first entry, independently of any replica.
struct JournalHistory {
  std::vector<HistoryVersion> versions;  ///< of the clients' ConfigMaps (Workload), in order
  std::string state_hash;
  Revision revision;
  Offset next;  ///< after the last entry
};

/// Reads up to the journal's current end. Errors: those of the journal; kInternal if the fold has stopped.
Result<JournalHistory> read_history(Journal& journal);

}  // namespace shiplog::crash
