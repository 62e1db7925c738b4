#include "events/journal/embedded/opened_file.h"

#include <filesystem>
#include <utility>

#include "events/journal/embedded/head_mark.h"
#include "events/journal/embedded/wal_check.h"

namespace shiplog::embedded {
namespace {

/// The error for a journal in which acknowledged entries are missing.
Error shorter(const std::string& path, int64_t next, int64_t marked) {
  return {ErrorCode::kCorrupt,
          "journal " + path + " is shorter than what was acknowledged: it ends before offset " + std::to_string(next) +
              ", and entries " + std::to_string(next) + " to " + std::to_string(marked - 1) + " are missing (" +
              HeadMark::path_of(path) + " records them). This happens if " + path +
              "-wal was truncated or not copied with it. Restore the file together with its -wal from "
              "a backup. To go on without these entries for good, stop all processes of the fleet, "
              "then delete " +
              HeadMark::path_of(path) +
              " and each process's projection of this journal (projection.db; ephemera-projection.db is that of the "
              "ephemera). Keep the snapshots: those with entries that are missing are not used, and a journal that is "
              "trimmed begins with one"};
}

}  // namespace

Result<OpenedFile> open_journal_file(const std::string& path, const SqliteJournalOptions& options) {
  const std::string wal_path = path + "-wal";
  SHIPLOG_TRY(const auto marked, HeadMark::read(path));  // before the bounds, which other processes may move
  if (marked && !std::filesystem::exists(path)) return shorter(path, 0, *marked);
  SHIPLOG_TRY(prepare_file(path, options.create, options.first_offset.value));
  SHIPLOG_TRY(const auto corrupt_frame, find_corrupt_frame(wal_path));
  SHIPLOG_TRY(sync_wal(wal_path));
  SHIPLOG_TRY(auto reader, FileReader::open(path, options.busy_timeout));
  SHIPLOG_TRY(const Bounds bounds, reader.bounds());

  std::optional<Error> end;
  if (corrupt_frame) {
    end = Error{ErrorCode::kCorrupt,
                "journal " + path + ": its write-ahead log " + wal_path + " is damaged in frame " +
                    std::to_string(*corrupt_frame) + ": the records from offset " + std::to_string(bounds.next) +
                    " on are lost, all earlier ones are readable; restore both files from a backup"};
  } else if (marked && *marked > bounds.next) {
    end = shorter(path, bounds.next, *marked);
  }
  if (end) {
    const Error reason = *end;
    return OpenedFile{reason, std::move(end), bounds.next, std::move(reader)};
  }
  if (options.upgrade && !reader.compresses()) {
    { const FileReader closed = std::move(reader); }
    SHIPLOG_TRY(upgrade_format(path));
    SHIPLOG_TRY(reader, FileReader::open(path, options.busy_timeout));
  }
  auto writer = FileWriter::open(path, reader.compresses(), options.busy_timeout, options.killed_frozen_writer);
  if (!writer && writer.error().code != ErrorCode::kCorrupt) return std::move(writer).error();
  return OpenedFile{std::move(writer), std::nullopt, bounds.next, std::move(reader)};
}

}  // namespace shiplog::embedded
