#pragma once

#include <cstdint>

namespace shiplog::sqlite {

/// Bytes that SQLite has allocated on this thread, less those that it has freed on it. Only differences are meaningful,
/// as memory may be freed on another thread. SQLite's own count, which is of all threads and takes a lock for each
/// allocation, is switched off.
int64_t memory_of_this_thread();

/// Called by whoever opens a connection, so that what is described above is linked into every program that uses SQLite.
void require_own_memory();

}  // namespace shiplog::sqlite
