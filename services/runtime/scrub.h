#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "events/base/error.h"
#include "events/base/time.h"
#include "events/journal/journal.h"

namespace shiplog {

/// What is looked through for damage, and what happens when there is some.
struct ScrubOptions {
  std::string name;            ///< of the journal, in logs and metrics
  Journal* journal = nullptr;  ///< its records are verified by Tail::next
  bool reads_journal = true;   ///< false: another process does, and the journal serves repairs only
  std::string projection;      ///< its file
  /// Called on the thread of the pass when a record is damaged, with the offset and what to do.
  std::function<void(const Error&)> journal_damaged;
};

/// What one pass read and found.
struct ScrubReport {
  uint64_t records = 0;
  uint64_t rows = 0;             ///< of all tables of the projection
  uint64_t damaged_records = 0;  ///< 1 at most: a pass over the journal ends at the first
  uint64_t damaged_rows = 0;     ///< or indexes
  uint64_t repaired_rows = 0;    ///< written again
};

/// Reads the journal and all tables of its projection once. `pace` is called with the bytes that were just read, and
/// waits as long as that may take; false ends the pass. Damaged rows are repaired by folding the journal again, up to
/// the newest of them, unless the journal is damaged too or does not have its first entries any more; what follows from
/// other rows of the projection is repaired without it. What is found is logged and counted.
ScrubReport scrub(const ScrubOptions& options, const std::function<bool(size_t bytes)>& pace);

/// Scrubs on a thread of its own until it is destroyed.
class ScrubThread {
 public:
  /// At most `bytes_per_second` (above 0); a pass begins `interval` after the one before began, or when that is over.
  ScrubThread(ScrubOptions options, int64_t bytes_per_second, Millis interval);
  ~ScrubThread();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
