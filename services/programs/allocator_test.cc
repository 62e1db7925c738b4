#include "services/programs/allocator.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#ifdef SHIPLOG_TCMALLOC
#include <gperftools/malloc_extension.h>
#endif
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace shiplog {
namespace {

uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

/// "rd wr mr mw me ac hg sd ": what the kernel notes of the mapping that has the address.
std::string flags_of(const void* memory) {
  std::ifstream maps{"/proc/self/smaps"};
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      inside = address_of(memory) >= begin && address_of(memory) < end;
    } else if (inside && line.starts_with("VmFlags: ")) {
      return line.substr(9);
    }
  }
  return "";
}

TEST(HugePageChunks, GivesMemoryOfTheSizeAndAlignment) {
  HugePageChunks chunks;
  const void* before = nullptr;
  for (const size_t alignment : {size_t{1}, size_t{8192}, size_t{1} << 20U, size_t{4} << 20U}) {
    for (const size_t size : {size_t{1}, size_t{100'000}, size_t{3} << 20U, size_t{40} << 20U}) {
      void* memory = chunks.take(size, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(address_of(memory) % alignment, 0U);
      EXPECT_NE(memory, before);
      std::memset(memory, 0x5A, size);  // it is there, to its end
      before = memory;
    }
  }
}

TEST(HugePageChunks, NoTwoShareMemory) {
  HugePageChunks chunks;
  constexpr size_t kSize = 5 << 20U;
  unsigned char* taken[20];
  for (size_t index = 0; index < std::size(taken); ++index) {
    taken[index] = static_cast<unsigned char*>(chunks.take(kSize, 8192));
    std::memset(taken[index], static_cast<int>(index), kSize);
  }
  for (size_t index = 0; index < std::size(taken); ++index) {
    EXPECT_EQ(taken[index][0], index);
    EXPECT_EQ(taken[index][kSize - 1], index);
  }
}

TEST(HugePageChunks, OnlyTheNewestChunkAsksForHugePages) {
  HugePageChunks chunks;
  void* first = chunks.take(size_t{1} << 20U, 8192);
  if (::madvise(first, size_t{1} << 20U, MADV_HUGEPAGE) != 0) {
    EXPECT_EQ(flags_of(first).find("hg "), std::string::npos) << "this kernel has no transparent huge pages";
    return;
  }
  EXPECT_NE(flags_of(first).find("hg "), std::string::npos);
  void* second = chunks.take(size_t{64} << 20U, 8192);
  EXPECT_NE(flags_of(second).find("hg "), std::string::npos);
  EXPECT_NE(flags_of(first).find("nh "), std::string::npos) << "what is returned of it stays returned";
}

TEST(HugePageChunks, WhatCannotBeHasNoMemory) {
  HugePageChunks chunks;
  EXPECT_EQ(chunks.take(SIZE_MAX, 8192), nullptr);
  EXPECT_EQ(chunks.take(SIZE_MAX / 2, 8192), nullptr);
  EXPECT_NE(chunks.take(8192, 8192), nullptr) << "and the next one is served";
}

#ifdef SHIPLOG_TCMALLOC
TEST(Allocator, ThreadsKeepLittleFreedMemory) {
  const char* const kProperty = "tcmalloc.max_total_thread_cache_bytes";
  size_t bytes = 0;
  ASSERT_TRUE(MallocExtension::instance()->GetNumericProperty(kProperty, &bytes));
  ASSERT_EQ(bytes, size_t{32} << 20U) << "what it has otherwise";
  configure_allocator();
  ASSERT_TRUE(MallocExtension::instance()->GetNumericProperty(kProperty, &bytes));
  EXPECT_EQ(bytes, size_t{8} << 20U);
}
#endif

}  // namespace
}  // namespace shiplog
