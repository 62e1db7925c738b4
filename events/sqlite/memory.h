#pragma once

#include <cstdint>

namespace shiplog::sqlite {

/// Bytes that SQLite has allocated on this thread, less those that it has freed on it. Only differences are meaningful,
/// as memory may be freed on another thread. SQLite's own count, which is of all threads and takes a lock for each
/// allocation, is switched off.
int64_t memory_of_this_thread();

/// Connection::open() calls this. The call makes the linker include memory.cc, which configures SQLite before main().
void require_memory_counting();

}  // namespace shiplog::sqlite
