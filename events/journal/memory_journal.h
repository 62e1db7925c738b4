#pragma once

#include <memory>

#include "events/journal/journal.h"

namespace shiplog {

struct MemoryJournalOptions {
  /// More records or bytes than this and the oldest are forgotten, as if trimmed; 0 keeps all. The newest record
  /// always stays.
  size_t max_records = 0;
  size_t max_bytes = 0;
  /// Calls `done` inside append() instead of on a thread of the journal's: for a simulation that has but one thread.
  bool acknowledge_inside_append = false;
};

/// A journal that lives as long as its holders do, for tests and for trial members. Durable it is not; otherwise the
/// contract of Journal, so all that is "written" is acknowledged before the destructor returns. Offsets start at 0 and
/// have no gaps. Not to be destroyed from one of its own acknowledgements.
std::shared_ptr<Journal> make_memory_journal(MemoryJournalOptions options = {});

}  // namespace shiplog
