#pragma once

#include <cstddef>
#include <cstdint>

namespace shiplog {

/// Memory from the system for an allocator, in chunks that the kernel may back with pages of 2 MiB: a heap of some
/// hundred megabytes that is read here and there misses the address cache less often. Not safe for several threads at
/// once.
class HugePageChunks {
 public:
  /// nullptr: the system has none. `size` and `alignment` are in bytes, and as large as they need to be for the caller.
  void* take(size_t size, size_t alignment);

 private:
  bool begin_chunk(size_t size);

  uintptr_t begin_ = 0, next_ = 0, end_ = 0;  // of the newest chunk
};

/// From here on the allocator of this process takes its memory from such chunks, and keeps less freed memory in its
/// threads (0141). Without effect on a kernel whose transparent huge pages are set to "never", and in builds with
/// another allocator. Once, before there are threads.
void configure_allocator();

}  // namespace shiplog
