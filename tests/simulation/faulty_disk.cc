#include "tests/simulation/faulty_disk.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include <sqlite3.h>
#include <sys/stat.h>

#include "events/base/check.h"

namespace shiplog::simulation {
namespace {

constexpr int64_t kSector = 512;

sqlite3_vfs* real_vfs = nullptr;
sqlite3_vfs vfs;  // a copy of the real one, with some functions replaced

/// An open file; that of the real VFS follows it in memory.
struct Open {
  sqlite3_file base;
  FaultyDisk::Disk* disk;
  FaultyDisk::File* file;
};
Open& opened(sqlite3_file* file) { return *reinterpret_cast<Open*>(file); }
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(&opened(file) + 1); }

int64_t size_of(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  real(file)->pMethods->xFileSize(real(file), &size);
  return size;
}

/// Notes what the disk has of the sectors that are about to be written.
void remember(sqlite3_file* file, int64_t from, int64_t to) {
  FaultyDisk::File& known = *opened(file).file;
  for (int64_t sector = from / kSector; sector * kSector < to; ++sector) {
    if (known.unsynced.contains(sector)) continue;
    std::string before(kSector, '\0');
    const int64_t there = std::clamp<int64_t>(size_of(file) - sector * kSector, 0, kSector);
    if (there > 0) {
      real(file)->pMethods->xRead(real(file), before.data(), static_cast<int>(there), sector * kSector);
    }
    known.unsynced.emplace(sector, std::move(before));
  }
}

/// Whether the machine still runs; kDies: it does so within this operation.
enum class Machine { kRuns, kDies, kDead };
Machine look_at_machine(sqlite3_file* file) {
  FaultyDisk::Disk& disk = *opened(file).disk;
  if (disk.dead) return Machine::kDead;
  if (!disk.operations_left || --*disk.operations_left > 0) return Machine::kRuns;
  disk.dead = true;
  return Machine::kDies;
}

int close_file(sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); }
int read_file(sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), bytes, count, at);
}

/// One that fails, or that the machine dies in, has reached the file in part.
int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  FaultyDisk& all = FaultyDisk::get();
  const Machine machine = look_at_machine(file);
  if (machine == Machine::kDead) return SQLITE_IOERR_WRITE;
  int failure = machine == Machine::kDies ? SQLITE_IOERR_WRITE : SQLITE_OK;
  if (failure == SQLITE_OK && all.fails(all.faults.failed_write, "disk: failed write")) failure = SQLITE_IOERR_WRITE;
  if (failure == SQLITE_OK && all.fails(all.faults.full, "disk: no room")) failure = SQLITE_FULL;
  const int written = failure == SQLITE_OK ? count : static_cast<int>(all.part_of(static_cast<size_t>(count)));
  remember(file, at, at + written);
  const int code = written == 0 ? SQLITE_OK : real(file)->pMethods->xWrite(real(file), bytes, written, at);
  return failure == SQLITE_OK ? code : failure;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (look_at_machine(file) != Machine::kRuns) return SQLITE_IOERR_TRUNCATE;
  FaultyDisk& all = FaultyDisk::get();
  if (all.fails(all.faults.failed_write, "disk: failed truncation")) return SQLITE_IOERR_TRUNCATE;
  remember(file, size, size_of(file));
  return real(file)->pMethods->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int) {
  FaultyDisk& all = FaultyDisk::get();
  if (look_at_machine(file) != Machine::kRuns) return SQLITE_IOERR_FSYNC;
  if (all.fails(all.faults.failed_sync, "disk: failed sync")) return SQLITE_IOERR_FSYNC;
  opened(file).file->unsynced.clear();
  opened(file).file->synced_size = size_of(file);
  return SQLITE_OK;  // nothing is gained by syncing the real one
}

int file_size(sqlite3_file* file, sqlite3_int64* size) { return real(file)->pMethods->xFileSize(real(file), size); }
int lock(sqlite3_file* file, int how) { return real(file)->pMethods->xLock(real(file), how); }
int unlock(sqlite3_file* file, int how) { return real(file)->pMethods->xUnlock(real(file), how); }
int check_lock(sqlite3_file* file, int* held) { return real(file)->pMethods->xCheckReservedLock(real(file), held); }
/// Of size hints nothing is passed on: they would grow the file behind what is remembered of it.
int control(sqlite3_file* file, int what, void* argument) {
  if (what == SQLITE_FCNTL_SIZE_HINT || what == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;
  return real(file)->pMethods->xFileControl(real(file), what, argument);
}
int sector_size(sqlite3_file*) { return kSector; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** mapped) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, mapped);
}
int lock_shared(sqlite3_file* file, int offset, int count, int how) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, how);
}
void barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int unmap_shared(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

const sqlite3_io_methods kMethods = {
    2,           close_file, read_file,    write_file, truncate_file, sync_file,       file_size,
    lock,        unlock,     check_lock,   control,    sector_size,   characteristics, map_shared,
    lock_shared, barrier,    unmap_shared, nullptr,    nullptr};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* got) {
  FaultyDisk::Disk* disk = path == nullptr ? nullptr : FaultyDisk::get().disk_of(path);
  const int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (disk == nullptr || (flags & kept) == 0) return real_vfs->xOpen(real_vfs, path, file, flags, got);
  Open& open = *new (file) Open{};
  const int code = real_vfs->xOpen(real_vfs, path, real(file), flags, got);
  if (code != SQLITE_OK) return code;
  open.base.pMethods = &kMethods;
  open.disk = disk;
  open.file = &disk->files[path];
  struct stat status = {};
  if (::stat(path, &status) == 0 && open.file->inode != status.st_ino) {  // also of a file that was replaced
    *open.file = {{}, size_of(file), status.st_ino};
  }
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* path, int sync) {
  FaultyDisk::Disk* disk = FaultyDisk::get().disk_of(path);
  if (disk != nullptr && disk->dead) return SQLITE_IOERR_DELETE;
  if (disk != nullptr) disk->files.erase(path);
  return real_vfs->xDelete(real_vfs, path, sync);
}

int fill_random(sqlite3_vfs*, int count, char* bytes) {
  for (int at = 0; at < count; ++at) bytes[at] = static_cast<char>(FaultyDisk::get().chance().below(256));
  return count;
}

std::string read_whole(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

FaultyDisk::FaultyDisk() {
  real_vfs = sqlite3_vfs_find(nullptr);
  SHIPLOG_CHECK(real_vfs != nullptr, "SQLite has a VFS");
  vfs = *real_vfs;
  vfs.zName = "faulty";
  vfs.szOsFile = static_cast<int>(sizeof(Open)) + real_vfs->szOsFile;
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xRandomness = fill_random;
  vfs.pNext = nullptr;
  sqlite3_vfs_register(&vfs, 1);
}

FaultyDisk& FaultyDisk::get() {
  static FaultyDisk disk;
  return disk;
}

void FaultyDisk::begin(uint64_t seed) {
  chance_ = Chance{seed};
  disks_.clear();
  faults = {};
  happened.clear();
  sqlite3_randomness(0, nullptr);  // SQLite takes a new seed from the VFS
}

FaultyDisk::Disk* FaultyDisk::disk_of(const std::string& path) {
  const auto found = disks_.find(path.substr(0, path.rfind('/')));
  return found == disks_.end() ? nullptr : &found->second;
}

bool FaultyDisk::fails(uint64_t permille, const char* what) {
  if (!chance_.permille(permille)) return false;
  ++happened[what];
  return true;
}

void FaultyDisk::revive(const std::string& folder) {
  Disk& disk = disks_.at(folder);
  disk.dead = false;
  disk.operations_left.reset();
}

void FaultyDisk::synced(const std::string& path) {
  Disk* disk = disk_of(path);
  if (disk == nullptr || !disk->files.contains(path)) return;
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) disk->files[path] = {{}, status.st_size, status.st_ino};
}

void FaultyDisk::lose_power(const std::string& folder, Chance& chance) {
  ++happened["disk: power lost"];
  for (auto& [path, file] : disks_.at(folder).files) {
    if (!std::filesystem::exists(path)) continue;
    std::string content = read_whole(path);
    const auto size = static_cast<int64_t>(content.size());
    if (file.unsynced.empty() && file.synced_size == size) continue;
    if (chance.permille(200)) {  // all of it was on its way
      file = {};
      continue;
    }
    const uint64_t lost = chance.permille(300) ? 1000 : chance.below(1001);
    // The length of a file is written of its own, between what it was and what it is.
    const int64_t kept = chance.permille(500) ? size : file.synced_size;
    content.resize(static_cast<size_t>(std::max(size, file.synced_size)), '\0');
    for (const auto& [sector, before] : file.unsynced) {
      const int64_t at = sector * kSector;
      // A file that was cut is as long as before only with all it had.
      if (at >= static_cast<int64_t>(content.size()) || (at < size && !chance.permille(lost))) continue;
      const auto count = std::min(before.size(), content.size() - static_cast<size_t>(at));
      std::copy_n(before.begin(), count, content.begin() + at);
      ++happened["disk: sector lost"];
    }
    content.resize(static_cast<size_t>(kept));
    std::ofstream{path, std::ios::binary | std::ios::trunc}.write(content.data(),
                                                                  static_cast<std::streamsize>(content.size()));
    file = {};
  }
  for (const auto& item : std::filesystem::directory_iterator{folder}) {
    if (item.path().string().ends_with("-shm")) std::filesystem::remove(item.path());
  }
  revive(folder);
}

}  // namespace shiplog::simulation
