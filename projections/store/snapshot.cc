#include "projections/store/snapshot.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"
#include "projections/store/database_checksum.h"
#include "projections/store/open.h"
#include "projections/store/schemas.h"

namespace shiplog::store {
namespace {

namespace fs = std::filesystem;

// The files that SQLite maintains for a database in WAL mode.
constexpr const char* kCompanions[] = {"-wal", "-shm", "-journal"};

Error io_error(const std::string& doing, const std::string& path, const std::string& why) {
  return {ErrorCode::kIo, doing + " " + path + ": " + why};
}

Result<void> remove_file(const std::string& path) {
  std::error_code failed;
  fs::remove(path, failed);
  if (failed) return io_error("removing", path, failed.message());
  return ok();
}

// Of a file its bytes, of a folder its names.
Result<void> sync_to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_error("opening", path, std::strerror(errno));
  const int synced = ::fsync(file);
  const int why = errno;
  ::close(file);
  if (synced != 0) return io_error("syncing", path, std::strerror(why));
  return ok();
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path{path}.parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> rename_synced(const std::string& from, const std::string& to) {
  SHIPLOG_TRY(sync_to_disk(from));
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) return io_error("renaming " + from + " to", to, failed.message());
  return sync_to_disk(folder_of(to));
}

Result<Checkpoint> checkpoint_of(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto checkpoint, read_checkpoint(connection));
  if (!checkpoint) return Error{ErrorCode::kCorrupt, connection.path() + " has no checkpoint"};
  return *std::move(checkpoint);
}

}  // namespace

Result<void> remove_database(const std::string& path) {
  // The WAL first: if it remained alone, it would be replayed into the next file of that name.
  for (const char* companion : kCompanions) {
    SHIPLOG_TRY(remove_file(path + companion));
  }
  return remove_file(path);
}

Result<Checkpoint> write_snapshot(const std::string& path, const std::string& target) {
  const std::string unfinished = target + ".unfinished";
  SHIPLOG_TRY(remove_database(unfinished));
  SHIPLOG_TRY(auto connection, store::open_reader(path));
  // VACUUM INTO reads in one transaction, so its output is a consistent and compact copy of the source.
  SHIPLOG_TRY(connection->execute("PRAGMA query_only = OFF"));
  SHIPLOG_TRY(const sqlite::FileSpace space, sqlite::space_of(*connection));
  // The copy of a file of an earlier build is one that can become smaller; of any other it is by itself.
  if (!space.shrinks) {
    SHIPLOG_TRY(connection->execute(sqlite::kCanShrink));
  }
  SHIPLOG_TRY(auto copy, connection->prepare("VACUUM INTO ?"));
  copy.bind(1, unfinished);
  if (auto copied = copy.run(); !copied) {
    static_cast<void>(remove_database(unfinished));  // the disk is probably full: free the space of the incomplete copy
    return copied.error().context("writing snapshot " + target);
  }
  Checkpoint checkpoint;
  {
    SHIPLOG_TRY(auto written, store::open_reader(unfinished));
    SHIPLOG_TRY(checkpoint, checkpoint_of(*written));
  }
  SHIPLOG_TRY(record_checksum(unfinished));
  SHIPLOG_TRY(rename_synced(unfinished, target));
  return checkpoint;
}

namespace {

Result<Checkpoint> check_pages(const std::string& path, const DatabaseChecksum& sum) {
  SHIPLOG_TRY(auto connection, store::open_reader(path));
  if (!sum.as_written()) {
    SHIPLOG_TRY(auto check, connection->prepare("PRAGMA quick_check(1)"));
    SHIPLOG_TRY(const bool answered, check.next());
    if (!answered || check.text(0) != "ok") {
      return Error{ErrorCode::kCorrupt, "snapshot " + path + " is damaged: " + std::string{check.text(0)}};
    }
  }
  SHIPLOG_TRY(auto checkpoint, checkpoint_of(*connection));
  if (checkpoint.fingerprint != fingerprint()) {
    return Error{ErrorCode::kUnavailable, "snapshot " + path + " was made with another schema or fold version"};
  }
  return checkpoint;
}

}  // namespace

Result<Checkpoint> check_snapshot(const std::string& path) {
  std::error_code failed;
  if (!fs::exists(path, failed)) return Error{ErrorCode::kNotFound, "there is no snapshot " + path};
  SHIPLOG_TRY(const DatabaseChecksum sum, checksum_of(path));
  return check_pages(path, sum);
}

Result<Checkpoint> install_snapshot(const std::string& snapshot, const std::string& path) {
  std::error_code failed;
  if (!fs::exists(snapshot, failed)) return Error{ErrorCode::kNotFound, "there is no snapshot " + snapshot};
  const std::string unfinished = path + ".unfinished";
  SHIPLOG_TRY(remove_database(unfinished));
  auto verified = [&]() -> Result<Checkpoint> {
    SHIPLOG_TRY(const DatabaseChecksum sum, copy_with_checksum(snapshot, unfinished));
    return check_pages(unfinished, sum);
  }();
  if (!verified) {
    static_cast<void>(remove_database(unfinished));
    return std::move(verified).error();
  }
  SHIPLOG_TRY(remove_database(path));
  SHIPLOG_TRY(rename_synced(unfinished, path));
  return std::move(verified).value();
}

}  // namespace shiplog::store
