#include "tests/simulation/storage.h"

#include <filesystem>

#include <stdlib.h>
#include <unistd.h>

#include "events/base/check.h"
#include "events/sqlite/wal_mover.h"
#include "tests/simulation/faulty_disk.h"

namespace shiplog::simulation {
namespace {

namespace fs = std::filesystem;

std::string new_folder() {
  const fs::path parent = ::access("/dev/shm", W_OK) == 0 ? fs::path{"/dev/shm"} : fs::temp_directory_path();
  std::string name = (parent / "shiplog-simulation-XXXXXX").string();
  SHIPLOG_CHECK(::mkdtemp(name.data()) != nullptr, "there is a place for temporary files");
  return name;
}

}  // namespace

Storage::Storage(uint64_t seed, size_t processes) : folder_{new_folder()} {
  WalMover::run_in_the_writers_thread();
  FaultyDisk& disk = FaultyDisk::get();
  disk.begin(seed);
  const auto add = [&](const std::string& name) {
    fs::create_directory(folder_ + "/" + name);
    disk.add(folder_ + "/" + name);
  };
  add("journal");
  for (size_t number = 0; number < processes; ++number) add("p" + std::to_string(number));
}

Storage::~Storage() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Result<Projections::Opened> Storage::open(const std::string& process, Offset oldest) {
  const std::string path = projection_of(process);
  auto opened = Projections::open(path);
  if (!opened || opened.value().restored.next >= oldest || oldest.value == 0) return opened;
  opened.value().projections.reset();
  for (auto at = snapshots_.rbegin(); at != snapshots_.rend(); ++at) {
    if (at->next < oldest) break;
    SHIPLOG_TRY(Projections::restore_snapshot(at->path, path));
    return Projections::open(path);
  }
  return Error{ErrorCode::kGone, "no snapshot covers what was trimmed"};
}

void Storage::kill(const std::string& process) { FaultyDisk::get().kill(folder_ + "/" + process); }

void Storage::died(const std::string& process, bool power_fails, Chance chance) {
  const std::string folder = folder_ + "/" + process;
  power_fails ? FaultyDisk::get().lose_power(folder, chance) : FaultyDisk::get().revive(folder);
}

Result<SnapshotInfo> Storage::snapshot(const Projections& of) {
  const std::string path = folder_ + "/snapshot-" + std::to_string(snapshots_.size()) + ".db";
  SHIPLOG_TRY(const SnapshotInfo taken, of.snapshot(path));
  snapshots_.push_back({path, taken.next});
  return taken;
}

}  // namespace shiplog::simulation
