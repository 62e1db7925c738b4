#pragma once

#include <string>

#include "events/base/result.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogd/options.h"

namespace shiplog {

/// The folders of a process of the control plane.
struct FleetFolders {
  std::string leases, keys, journal;
  int lock = -1;  ///< of the data folder, see lock_folder()
};

/// Makes those that are missing. What all processes of a fleet share lies beside the journal; what belongs to this
/// process, in its data folder. Errors: kIo, naming a folder; kUnavailable, the data folder is in use.
Result<FleetFolders> make_fleet_folders(const ServeOptions& options, const JournalAddress& address);

}  // namespace shiplog
