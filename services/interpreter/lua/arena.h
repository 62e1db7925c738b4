#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <vector>

namespace shiplog::interpreter::lua {

/// The memory of one call's Lua state. Small blocks are allocated from chunks, and everything is freed at once, so that
/// the state need not be closed, which costs as much as running a small script.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// As realloc: `block` may be null with `old_size` 0. nullptr: out of memory, and `block` is unchanged.
  void* resize(void* block, size_t old_size, size_t new_size);
  void release(void* block, size_t size);

 private:
  static constexpr size_t kGrain = 16;      // sizes are rounded up to this
  static constexpr size_t kLargest = 1024;  // of a block in a chunk
  static constexpr size_t kChunk = 65536;
  using Chunk = std::unique_ptr<std::byte[]>;
  struct Free {
    Free* next;
  };

  static size_t class_of(size_t size) { return (size + kGrain - 1) / kGrain; }
  void* take(size_t size);
  /// Chunks of earlier calls on this thread.
  static std::vector<Chunk>& spare();

  std::array<Free*, kLargest / kGrain + 1> free_{};
  std::vector<Chunk> chunks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  std::set<void*> large_;
};

}  // namespace shiplog::interpreter::lua
