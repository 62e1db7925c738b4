#pragma once

#include <memory>
#include <string>
#include <vector>

#include "projections/runner.h"
#include "tests/simulation/stored_journal.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// The disks of a world with real storage: one with the journal, one for each process with its projection. Their files
/// are in a folder in memory that ends with the world.
class Storage {
 public:
  /// `processes`: their names.
  Storage(uint64_t seed, size_t processes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::string projection_of(const std::string& process) const { return folder_ + "/" + process + "/projection.db"; }
  /// The projection of a process, which has none open. When it is behind the oldest record of the journal, it becomes a
  /// copy of the newest snapshot first, as an operator would do it.
  Result<Projections::Opened> open(const std::string& process, Offset oldest);
  /// Before what a process has open is closed: it has crashed, and writes nothing more.
  void kill(const std::string& process);
  /// After that.
  void died(const std::string& process, bool power_fails, Chance chance);
  /// Takes one; nothing before its end needs to be read from the journal any more. Error: the disk has failed.
  Result<SnapshotInfo> snapshot(const Projections& of);
  /// A path for a projection beside those.
  std::string another() const { return folder_ + "/rebuilt.db"; }
  std::string journal_folder() const { return folder_ + "/journal"; }
  Error without_path(Error error) const { return without(folder_, std::move(error)); }

 private:
  std::string folder_;
  struct Snapshot {
    std::string path;
    Offset next;
  };
  std::vector<Snapshot> snapshots_;
};

}  // namespace shiplog::simulation
