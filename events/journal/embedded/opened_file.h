#pragma once

#include <optional>
#include <string>

#include "events/journal/embedded/journal_file.h"
#include "events/journal/embedded/sqlite_journal.h"

namespace shiplog::embedded {

/// A journal file after the checks that precede its use.
struct OpenedFile {
  Result<FileWriter> writer;  ///< an Error, with the reason: nothing is appended to it
  std::optional<Error> end;   ///< what follows the last readable record, if the journal is damaged there
  int64_t next = 0;           ///< of the records that are readable
  FileReader reader;          ///< declared last, so closed first: the writer's closing then moves the write-ahead log
};

/// Creates the file if that is wanted, and finds out whether acknowledged records are missing: those after a damaged
/// frame of the write-ahead log, and those that the head mark has and the file has not. Errors: those of
/// open_sqlite_journal().
Result<OpenedFile> open_journal_file(const std::string& path, const SqliteJournalOptions& options);

}  // namespace shiplog::embedded
