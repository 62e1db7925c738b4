#include "services/interpreter/lua/arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace shiplog::interpreter::lua {
namespace {

constexpr size_t kMostSpare = 16;  // chunks: one megabyte per thread

}  // namespace

std::vector<Arena::Chunk>& Arena::spare() {
  thread_local std::vector<Chunk> chunks;
  return chunks;
}

Arena::~Arena() {
  for (void* block : large_) std::free(block);
  for (Chunk& chunk : chunks_) {
    if (spare().size() < kMostSpare) spare().push_back(std::move(chunk));
  }
}

void* Arena::take(size_t size) {
  if (size > kLargest) {
    void* block = std::malloc(size);
    if (block != nullptr) large_.insert(block);
    return block;
  }
  const size_t index = class_of(size);
  if (Free* block = free_.at(index); block != nullptr) {
    free_.at(index) = block->next;
    return block;
  }
  const size_t bytes = index * kGrain;
  if (bytes > left_) {  // the rest of the old chunk remains unused
    if (spare().empty()) {
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunk));
    } else {
      chunks_.push_back(std::move(spare().back()));
      spare().pop_back();
    }
    next_ = chunks_.back().get();
    left_ = kChunk;
  }
  void* block = next_;
  next_ += bytes;
  left_ -= bytes;
  return block;
}

void* Arena::resize(void* block, size_t old_size, size_t new_size) {
  if (block != nullptr && old_size <= kLargest && new_size <= kLargest && class_of(old_size) == class_of(new_size)) {
    return block;
  }
  void* grown = take(new_size);
  if (grown == nullptr || block == nullptr) return grown;
  std::memcpy(grown, block, std::min(old_size, new_size));
  release(block, old_size);
  return grown;
}

void Arena::release(void* block, size_t size) {
  if (block == nullptr) return;
  if (size > kLargest) {
    large_.erase(block);
    std::free(block);
    return;
  }
  Free*& head = free_.at(class_of(size));
  head = new (block) Free{head};
}

}  // namespace shiplog::interpreter::lua
