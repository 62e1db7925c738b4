#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "services/programs/shiplogd/journal_stack.h"
#include "services/programs/shiplogd/snapshots.h"
#include "services/programs/shiplogd/trim_point.h"

namespace shiplog {

struct RetentionOptions {
  JournalStack* stack = nullptr;
  Snapshots* snapshots = nullptr;
  Executor* executor = nullptr;
  JournalRetention journal;
  std::optional<Millis> history, audit, decisions;  ///< of the projection
  std::vector<std::pair<Family, Millis>> families;  ///< of entries and decisions, in place of the two
  Millis interval{60'000};
  /// This process trims the journal, which one does for all. On the thread of the retention.
  std::function<bool()> leads;
  /// Why the journal is not trimmed whatever its retention; empty: it may be.
  std::string obstacle;
};

/// Deletes what is older than its retention, in short steps on a thread of its own:
///
///   journal     records before the retention's point, and only those that are covered by the older of the newest two
///               snapshots (or the only one), which was opened and its state hash computed again
///   projection  versions, audit and decisions, on the thread that writes the projection; then the file becomes smaller
///
/// What a LegalHold covers stays: its rows in the projection, and the journal from its beginning on. The process that
/// leads writes into the status of each what its own projection has kept for it.
///
/// Interrupted at any point, the next pass goes on. A journal is trimmed before its snapshot is old: when the point is
/// beyond the newest snapshot, one is taken, and the next pass trims.
class Retention {
 public:
  explicit Retention(RetentionOptions options);
  ~Retention();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
