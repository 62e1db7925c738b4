#include "services/programs/allocator.h"

#include <algorithm>

#include <sys/mman.h>

#ifdef SHIPLOG_TCMALLOC
#include <cstdlib>
#include <new>

#include <gperftools/malloc_extension.h>
#endif

namespace shiplog {
namespace {

constexpr size_t kHugePage = size_t{2} << 20U;
constexpr size_t kChunk = size_t{32} << 20U;

uintptr_t round_up(uintptr_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

void* at(uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void* HugePageChunks::take(size_t size, size_t alignment) {
  alignment = std::max(alignment, size_t{1});
  if (size > SIZE_MAX / 2 || alignment > SIZE_MAX / 4) return nullptr;
  if (begin_ == 0 || round_up(next_, alignment) + size > end_) {
    if (!begin_chunk(size + alignment)) return nullptr;
  }
  const uintptr_t start = round_up(next_, alignment);
  next_ = start + size;
  return at(start);
}

bool HugePageChunks::begin_chunk(size_t size) {
  const size_t length = std::max<size_t>(round_up(size, kHugePage), kChunk);
  // The kernel promises no more than pages of 4 KiB: what is in front of the first boundary, and behind, is returned.
  void* mapped = ::mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return false;
  const auto first = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t start = round_up(first, kHugePage);
  if (start > first) ::munmap(mapped, start - first);
  const size_t behind = first + length + kHugePage - (start + length);
  if (behind > 0) ::munmap(at(start + length), behind);
  // The pages that the last chunk has stay as they are. But the kernel must not fill up again, in the background, what
  // the allocator returns of them: a process that has had a burst would keep its memory.
  if (begin_ != 0) ::madvise(at(begin_), end_ - begin_, MADV_NOHUGEPAGE);
  ::madvise(at(start), length, MADV_HUGEPAGE);
  begin_ = next_ = start;
  end_ = start + length;
  return true;
}

#ifdef SHIPLOG_TCMALLOC
namespace {

// What all threads together keep of freed memory, 32 MiB without this.
constexpr size_t kThreadCaches = size_t{8} << 20U;

/// Called under the lock of the allocator, from which it must not allocate.
class HugePages final : public SysAllocator {
 public:
  explicit HugePages(SysAllocator* otherwise) : otherwise_{otherwise} {}

  void* Alloc(size_t size, size_t* actual_size, size_t alignment) override {
    constexpr size_t kPage = 8192;  // of tcmalloc
    const size_t rounded = round_up(size, kPage);
    void* taken = rounded < size ? nullptr : chunks_.take(rounded, std::max(alignment, kPage));
    if (taken == nullptr) return otherwise_->Alloc(size, actual_size, alignment);
    if (actual_size != nullptr) *actual_size = rounded;
    return taken;
  }

 private:
  SysAllocator* const otherwise_;
  HugePageChunks chunks_;
};

}  // namespace

void configure_allocator() {
  MallocExtension* allocator = MallocExtension::instance();
  // Used until the last moment of the process: never destroyed.
  alignas(HugePages) static std::byte memory[sizeof(HugePages)];
  allocator->SetSystemAllocator(new (memory) HugePages{allocator->GetSystemAllocator()});
  if (std::getenv("TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES") == nullptr) {  // else it is the administrator's
    allocator->SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kThreadCaches);
  }
}
#else
void configure_allocator() {}
#endif

}  // namespace shiplog
