#include "services/programs/shiplogd/fleet_folders.h"

#include <filesystem>

#include "services/programs/shiplogd/process.h"

namespace shiplog {

Result<FleetFolders> make_fleet_folders(const ServeOptions& options, const JournalAddress& address) {
  FleetFolders folders;
  SHIPLOG_TRY(make_folder(options.common.data_dir));
  SHIPLOG_TRY(folders.lock, lock_folder(options.common.data_dir));
  make_private(options.common.data_dir);
  folders.journal = options.common.data_dir;
  if (!address.on_kafka()) {
    folders.journal = std::filesystem::path{address.sqlite_file}.parent_path().string();
    if (folders.journal.empty()) folders.journal = ".";
  }
  SHIPLOG_TRY(make_folder(folders.journal));
  folders.keys = options.keys_dir.empty() ? folders.journal : options.keys_dir;
  SHIPLOG_TRY(make_folder(folders.keys));
  folders.leases = folders.journal + "/leases";
  return folders;
}

}  // namespace shiplog
