#include "services/api/store.h"

#include <filesystem>
#include <system_error>

namespace shiplog::api {

void Store::when_current(std::function<void(Result<void>)> then) {
  auto head = journal_.head();
  if (!head) return then(head.error());
  replica_.when_folded(head.value(), [then = std::move(then)] { then(ok()); });
}

uint64_t Store::projection_bytes() const {
  uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code absent;
    const uintmax_t size = std::filesystem::file_size(path_ + suffix, absent);
    if (!absent) bytes += size;
  }
  return bytes;
}

Result<std::unique_ptr<Reader>> Store::take() {
  {
    const std::lock_guard lock{mutex_};
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  SHIPLOG_TRY(auto opened, Reader::open(path_));
  return std::make_unique<Reader>(std::move(opened));
}

void Store::give_back(std::unique_ptr<Reader> reader) {
  const std::lock_guard lock{mutex_};
  idle_.push_back(std::move(reader));
}

}  // namespace shiplog::api
