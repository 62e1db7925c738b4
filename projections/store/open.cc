#include "projections/store/open.h"

#include <filesystem>

#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"

namespace shiplog::store {
namespace {

using Settings = sqlite::Connection::Settings;

constexpr int kLongWalFrames = 1024;  // of 8 KiB

constexpr Settings kProjection = {.kind = "projection",
                                  .when_full = "free some space, then start this process again",
                                  .when_damaged =
                                      "the scrub writes single rows again; if this remains, stop the process, delete "
                                      "the file and start again, and it is rebuilt from the journal"};

// Once for the file. Rows of 1.5 KB objects waste less of a page of 8 KB than of one of 4.
constexpr const char* kPageSize = "PRAGMA page_size = 8192;";
constexpr const char* kWriterPragmas =
    "PRAGMA journal_mode = WAL;"
    // Commits do not wait for the disk, checkpoints do: after a power cut the file is whole, though perhaps some
    // batches behind, and these are folded again from the journal. OFF could leave a damaged file that looks whole.
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA journal_size_limit = 67108864;"
    // Nearly all rows go to the ends of their tables: more than this only holds memory.
    "PRAGMA cache_size = -4096;"
    "PRAGMA temp_store = MEMORY;";
constexpr const char* kReaderPragmas =
    "PRAGMA query_only = ON;"
    "PRAGMA cache_size = -4096;"
    "PRAGMA temp_store = MEMORY;";

}  // namespace

Result<std::unique_ptr<sqlite::Connection>> open_writer(const std::string& path) {
  Settings settings = kProjection;
  settings.create = true;
  std::error_code failed;
  // Of a file that is there this would be a write; of one that was made without it, it changes nothing.
  const bool is_new = !std::filesystem::exists(path, failed);
  static const std::string kNewFilePragmas = std::string{kPageSize} + sqlite::kCanShrink + kWriterPragmas;
  settings.pragmas = is_new ? kNewFilePragmas.c_str() : kWriterPragmas;
  settings.move_wal_frames = kLongWalFrames;
  return sqlite::Connection::open(path, settings);
}

Result<std::unique_ptr<sqlite::Connection>> open_reader(const std::string& path) {
  Settings settings = kProjection;
  settings.pragmas = kReaderPragmas;
  return sqlite::Connection::open(path, settings);
}

}  // namespace shiplog::store
