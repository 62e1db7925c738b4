#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// How often, of a thousand operations of SQLite, a disk fails.
struct DiskFaults {
  uint64_t failed_sync = 0;
  uint64_t failed_write = 0;  ///< a part of it is written; or a truncation, which then has no effect
  uint64_t full = 0;          ///< the same, for lack of room
};

/// SQLite's files below, as a disk treats them: what is written stays in memory until it is synced, in any order and a
/// sector at a time. It is the VFS of all SQLite connections of this program; files of folders that were not added are
/// left alone. The files are real ones, as the journal looks at them without SQLite too (its mark, its write-ahead
/// log). Threads: one.
class FaultyDisk {
 public:
  /// Registers it with SQLite when it is called first.
  static FaultyDisk& get();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// Forgets all folders. Everything random, also SQLite's own numbers, follows from the seed.
  void begin(uint64_t seed);
  /// From now on this folder is on a disk of its own.
  void add(const std::string& folder) { disks_[folder]; }

  /// The processes that write there have died: what their connections still do when they are closed has no effect.
  void kill(const std::string& folder) { disks_.at(folder).dead = true; }
  /// They die in the middle: after so many more writes, syncs and truncations.
  void kill_after(const std::string& folder, int64_t operations) { disks_.at(folder).operations_left = operations; }
  /// All its files are closed: others may open them.
  void revive(const std::string& folder);
  /// The same, after the power has failed: of what was not synced any sectors are lost.
  void lose_power(const std::string& folder, Chance& chance);

  /// The file was synced by other means than SQLite.
  void synced(const std::string& path);

  DiskFaults faults;                         ///< of all disks
  std::map<std::string, uint64_t> happened;  ///< by what went wrong

  // For the VFS.
  struct File {
    std::map<int64_t, std::string> unsynced;  ///< by number of the sector: what the disk has of it
    int64_t synced_size = 0;
    uint64_t inode = 0;  ///< 0: not known yet
  };
  struct Disk {
    bool dead = false;
    std::optional<int64_t> operations_left;
    std::map<std::string, File> files;  ///< by path
  };
  Disk* disk_of(const std::string& path);
  /// Whether an operation is to fail; counts it.
  bool fails(uint64_t permille, const char* what);
  size_t part_of(size_t bytes) { return static_cast<size_t>(chance_.below(bytes + 1)); }
  Chance& chance() { return chance_; }

 private:
  FaultyDisk();
  Chance chance_{0};
  std::map<std::string, Disk> disks_;  // by folder
};

}  // namespace shiplog::simulation
