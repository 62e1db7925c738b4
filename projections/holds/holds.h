#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/state/legal_hold.h"

namespace shiplog {

namespace sqlite {
class Connection;
}

/// The LegalHolds that are in a projection at present.
struct Holds {
  std::vector<LegalHold> all;
  /// Changes when a hold is made or deleted, not when its status is written; empty: there never was one.
  std::string which;
};
/// Error: kCorrupt, one of them cannot be read: nothing may be deleted then.
Result<Holds> read_holds(sqlite::Connection& connection);

/// What a hold has kept that its age would have deleted.
struct HeldRows {
  uint64_t entries = 0, versions = 0, decisions = 0;
  UtcMillis oldest;  ///< of the entries of them; 0: there are none
};
using HeldByName = std::map<std::string, HeldRows>;

// Each of these takes rows that a hold covers out of a temporary table of rows that are about to be deleted, and counts
// them for each hold. A row whose entry cannot be read is kept if a hold may cover it.

/// doomed_entry (offset)
Result<void> spare_entries(sqlite::Connection& connection, const Holds& holds, HeldByName& held);
/// doomed_decision (id)
Result<void> spare_decisions(sqlite::Connection& connection, const Holds& holds, HeldByName& held);
/// doomed (revision, replaced): a version, and the offset of the entry that replaced it, or removed its object. A
/// version is held if it was the current one at any time of the period.
Result<void> spare_versions(sqlite::Connection& connection, const Holds& holds, HeldByName& held);

}  // namespace shiplog
