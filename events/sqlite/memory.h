#pragma once

#include <cstdint>

namespace shiplog::sqlite {

/// Bytes that SQLite has taken on this thread since it began, less what it has returned on it: only a difference says
/// something. SQLite's own count is of all threads, and takes a lock for each allocation; it is off in programs that
/// link this.
int64_t memory_of_this_thread();

}  // namespace shiplog::sqlite
