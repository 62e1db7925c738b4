#include "events/sqlite/memory.h"

#include <cstdlib>

#include <malloc.h>
#include <sqlite3.h>

#include "events/base/check.h"

namespace shiplog::sqlite {
namespace {

constinit thread_local int64_t taken = 0;

int size_of(void* memory) { return static_cast<int>(malloc_usable_size(memory)); }

void* take(int size) {
  void* const memory = std::malloc(static_cast<size_t>(size));
  if (memory != nullptr) taken += size_of(memory);
  return memory;
}

void give_back(void* memory) {
  taken -= size_of(memory);
  std::free(memory);
}

void* resize(void* memory, int size) {
  const int before = size_of(memory);
  void* const moved = std::realloc(memory, static_cast<size_t>(size));
  if (moved != nullptr) taken += size_of(moved) - before;
  return moved;
}

int rounded(int size) { return (size + 7) & ~7; }

bool configure() {
  static const sqlite3_mem_methods kMethods = {.xMalloc = take,
                                               .xFree = give_back,
                                               .xRealloc = resize,
                                               .xSize = size_of,
                                               .xRoundup = rounded,
                                               .xInit = [](void*) { return SQLITE_OK; },
                                               .xShutdown = [](void*) {},
                                               .pAppData = nullptr};
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &kMethods) == SQLITE_OK &&
         sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}

// SQLite has to be told before it is used for the first time.
const bool configured = configure();

}  // namespace

void require_memory_counting() { SHIPLOG_CHECK(configured, "nothing has used SQLite before main()"); }

int64_t memory_of_this_thread() {
  require_memory_counting();
  return taken;
}

}  // namespace shiplog::sqlite
