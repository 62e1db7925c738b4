#pragma once

#include <memory>

#include "events/journal/journal.h"

namespace shiplog {

struct MemoryJournalOptions {
  /// If there are more records or bytes than this, the oldest are deleted as if trimmed; 0 keeps all. The newest record
  /// is always kept.
  size_t max_records = 0;
  size_t max_bytes = 0;
  /// Calls `done` inside append() instead of on a thread of the journal: for a simulation with a single thread.
  bool acknowledge_inside_append = false;
};

/// A journal in memory that exists as long as a reference to it, for tests and for trial members. It is not durable,
/// but otherwise fulfils the contract of Journal: all appended entries are acknowledged before the destructor returns.
/// Offsets start at 0 and have no gaps. It must not be destroyed from one of its own acknowledgements.
std::shared_ptr<Journal> make_memory_journal(MemoryJournalOptions options = {});

}  // namespace shiplog
