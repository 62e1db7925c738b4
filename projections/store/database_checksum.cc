#include "projections/store/database_checksum.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/crc32c.h"

namespace shiplog::store {
namespace {

// Small enough for the cache that is next to a core, where what was read is still when its checksum is computed.
constexpr size_t kPart = size_t{128} << 10;
// Of parts that justify a thread.
constexpr size_t kMany = 8;

constexpr size_t kChecksumAt = 60;
using ChecksumBytes = std::array<char, 4>;  // the highest first, as SQLite has it

uint32_t number_in(const char* bytes) {
  uint32_t number = 0;
  for (size_t at = 0; at < ChecksumBytes{}.size(); ++at) number = number << 8U | static_cast<unsigned char>(bytes[at]);
  return number;
}

class DatabaseFile {
 public:
  DatabaseFile(const std::string& path, int flags, mode_t mode = 0)
      : number_{::open(path.c_str(), flags | O_CLOEXEC, mode)} {}
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;
  ~DatabaseFile() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Takes part after part of a file until all are read. Threads: any, also at the same time.
class DatabaseParts {
 public:
  /// `to`: a file to write them to; -1: none.
  DatabaseParts(int from, int to, size_t size) : from_{from}, to_{to}, size_{size}, sums_((size + kPart - 1) / kPart) {}

  size_t count() const { return sums_.size(); }
  /// The number of an error; 0: none.
  int run() {
    const auto bytes = std::make_unique_for_overwrite<char[]>(kPart);
    while (true) {
      const size_t part = next_.fetch_add(1);
      if (part >= count()) return 0;
      const size_t begin = part * kPart;
      const size_t size = std::min(kPart, size_ - begin);
      if (const int why = whole(::pread, from_, bytes.get(), size, begin); why != 0) return why;
      if (const int why = to_ < 0 ? 0 : whole(::pwrite, to_, bytes.get(), size, begin); why != 0) return why;
      if (part == 0 && size >= kChecksumAt + ChecksumBytes{}.size()) {
        recorded_ = number_in(bytes.get() + kChecksumAt);
        std::fill_n(bytes.get() + kChecksumAt, ChecksumBytes{}.size(), '\0');
      }
      sums_[part] = crc32c({bytes.get(), size});
    }
  }

  /// After all have returned.
  DatabaseChecksum checksum() const {
    uint32_t sum = 0;
    for (const uint32_t of_part : sums_) {
      std::array<char, sizeof of_part> bytes;
      for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(of_part >> (8 * at));
      sum = crc32c({bytes.data(), bytes.size()}, sum);
    }
    return {sum, recorded_};
  }

 private:
  template <class Call>
  static int whole(Call call, int file, char* bytes, size_t size, size_t offset) {
    for (size_t done = 0; done < size;) {
      const ssize_t count = call(file, bytes + done, size - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      if (count == 0) return EIO;  // it has become shorter
      done += static_cast<size_t>(count);
    }
    return 0;
  }

  int from_, to_;
  size_t size_;
  std::vector<uint32_t> sums_;
  uint32_t recorded_ = 0;
  std::atomic<size_t> next_{0};
};

Error io_error(const std::string& doing, const std::string& path, int why) {
  return {ErrorCode::kIo, doing + " " + path + ": " + std::strerror(why)};
}

Result<DatabaseChecksum> read_parts(const std::string& path, int from, int to, size_t size) {
  DatabaseParts parts{from, to, size};
  std::vector<std::future<int>> others;
  const unsigned threads = parts.count() < kMany ? 1 : std::max(2U, std::thread::hardware_concurrency());
  for (unsigned thread = 1; thread < threads; ++thread) {
    others.push_back(std::async(std::launch::async, [&parts] { return parts.run(); }));
  }
  int why = parts.run();
  for (auto& other : others) {
    const int of_other = other.get();
    if (why == 0) why = of_other;
  }
  if (why != 0) return io_error(to < 0 ? "reading" : "copying", path, why);
  return parts.checksum();
}

}  // namespace

Result<DatabaseChecksum> checksum_of(const std::string& path) {
  const DatabaseFile file{path, O_RDONLY};
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return io_error("opening", path, errno);
  return read_parts(path, file.number(), -1, static_cast<size_t>(about.st_size));
}

Result<DatabaseChecksum> copy_with_checksum(const std::string& from, const std::string& to) {
  const DatabaseFile file{from, O_RDONLY};
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return io_error("opening", from, errno);
  const DatabaseFile copy{to, O_WRONLY | O_CREAT | O_EXCL, about.st_mode};
  if (copy.number() < 0) return io_error("creating", to, errno);
  return read_parts(from, file.number(), copy.number(), static_cast<size_t>(about.st_size));
}

Result<void> record_checksum(const std::string& path) {
  SHIPLOG_TRY(const DatabaseChecksum sum, checksum_of(path));
  ChecksumBytes bytes;
  for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(sum.computed >> (24 - 8 * at));
  const DatabaseFile file{path, O_WRONLY};
  if (file.number() < 0) return io_error("opening", path, errno);
  const ssize_t count = ::pwrite(file.number(), bytes.data(), bytes.size(), kChecksumAt);
  if (count != static_cast<ssize_t>(bytes.size())) return io_error("writing", path, errno);
  return ok();
}

}  // namespace shiplog::store
