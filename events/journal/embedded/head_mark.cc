#include "events/journal/embedded/head_mark.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "events/base/crc32c.h"

namespace shiplog::embedded {
namespace {

constexpr std::string_view kHeadMarkMagic = "shiplog head 1\n\n";  // 16 bytes
constexpr size_t kBytes = kHeadMarkMagic.size() + 8 + 4;

void put(std::string& bytes, uint64_t number, int size) {
  for (int at = 0; at < size; ++at) bytes.push_back(static_cast<char>((number >> (8 * at)) & 0xFF));
}

uint64_t get(std::string_view bytes, size_t at, size_t size) {
  uint64_t number = 0;
  while (size > 0) number = number << 8U | static_cast<uint8_t>(bytes[at + --size]);
  return number;
}

std::optional<int64_t> read_from(int file) {
  std::string bytes(kBytes + 1, '\0');
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(kBytes) || !bytes.starts_with(kHeadMarkMagic)) return std::nullopt;
  const std::string_view checked = std::string_view{bytes}.substr(0, kBytes - 4);
  if (get(bytes, kBytes - 4, 4) != crc32c(checked)) return std::nullopt;
  return static_cast<int64_t>(get(bytes, kHeadMarkMagic.size(), 8));
}

}  // namespace

Result<std::optional<int64_t>> HeadMark::read(const std::string& journal) {
  const std::string path = path_of(journal);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) {
    return Error{ErrorCode::kIo, "journal " + journal + ": " + path + " cannot be read: " + std::strerror(errno) +
                                     "; give this user permission to read and write it"};
  }
  const auto marked = read_from(file);
  ::close(file);
  return marked;
}

HeadMark::~HeadMark() {
  if (file_ >= 0) ::close(file_);
}

HeadMark::HeadMark(HeadMark&& other) noexcept
    : journal_{std::move(other.journal_)}, file_{std::exchange(other.file_, -1)} {}

Result<void> HeadMark::write(int64_t next) {
  if (file_ < 0) file_ = ::open(path_of(journal_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto failed = [&](int code) {
    return Error{ErrorCode::kIo, path_of(journal_) + " cannot be written: " + std::strerror(code) +
                                     "; a loss of entries after the last mark would not be noticed: check the disk"};
  };
  if (file_ < 0) return failed(errno);
  // Another process may have committed after this one and written its mark first.
  const auto marked = read_from(file_);
  if (marked && *marked >= next) return ok();
  std::string bytes{kHeadMarkMagic};
  put(bytes, static_cast<uint64_t>(next), 8);
  put(bytes, crc32c(bytes), 4);
  // One write of a few bytes: readers see either the old or the new bytes.
  errno = ENOSPC;  // the reason of a short write
  if (::pwrite(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return failed(errno);
  return ok();
}

}  // namespace shiplog::embedded
