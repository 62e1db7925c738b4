#include "services/api/store.h"

#include <filesystem>
#include <system_error>

namespace shiplog::api {

Result<std::optional<ObjectRow>> Store::newest(const ObjectKey& object) {
  const auto from_projection = [&](const View& view) { return ObjectQuery{view}.get(object); };
  const auto waiting = queue_ == nullptr ? ProjectionQueue::Waiting{} : queue_->waiting(object);
  const Change* change = waiting.change.get();
  if (!waiting.known || (change != nullptr && !change->removed() && change->json == nullptr)) {
    return read(from_projection);
  }
  if (change == nullptr) return queue_ == nullptr ? read(from_projection) : read_as_it_is(from_projection);
  if (change->removed()) return std::optional<ObjectRow>{};
  return std::optional{ObjectRow{object, change->revision, *change->json}};
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
