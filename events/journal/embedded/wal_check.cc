#include "events/journal/embedded/wal_check.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace shiplog::embedded {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;
constexpr uint32_t kWalMagic = 0x377F0682;  // its last bit: checksums are computed over big-endian words

uint32_t word(std::string_view bytes, size_t at, bool big_endian = true) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return big_endian == (std::endian::native == std::endian::big) ? number : __builtin_bswap32(number);
}

struct Sum {
  uint32_t first = 0;
  uint32_t second = 0;
  bool operator==(const Sum&) const = default;
};

Sum add(Sum sum, std::string_view bytes, bool big_endian) {
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sum.first += word(bytes, at, big_endian) + sum.second;
    sum.second += word(bytes, at + 4, big_endian) + sum.first;
  }
  return sum;
}

struct Frame {
  bool commit = false;
  std::string_view salts;
  Sum stored;            // over everything before and this frame
  bool chained = false;  // `stored` matches the checksum of the previous frame
};

// One pass over the log. Every frame stores the running checksum, so each can be verified against its predecessor even
// after a corrupt one.
Result<std::optional<int64_t>> scan(const std::string& wal_path) {
  std::ifstream file(wal_path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string header(kHeaderBytes, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(header.size()))) return std::nullopt;
  const uint32_t page_bytes = word(header, 8);
  bool big_endian = (word(header, 0) & 1) != 0;
  const Sum header_sum{word(header, 24), word(header, 28)};
  const bool header_valid = (word(header, 0) & ~1U) == kWalMagic && page_bytes >= 512 && page_bytes <= 65536 &&
                            add({}, std::string_view(header).substr(0, 24), big_endian) == header_sum;

  std::optional<int64_t> broken;  // the first frame that SQLite would not accept
  if (!header_valid) {
    broken = 0;
    big_endian = std::endian::native == std::endian::big;  // as SQLite writes on this machine
  }
  bool after_commit = false;  // the previous frame is a commit at or after the broken one
  std::string salts = header.substr(16, 8);
  Sum before = header_sum;
  // If the header is corrupt, its page size is not reliable; the journal's pages have 4096 bytes.
  std::string bytes(kFrameHeaderBytes + (header_valid ? page_bytes : 4096), '\0');
  for (int64_t number = 1; file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())); ++number) {
    const std::string_view view(bytes);
    const Sum stored{word(view, 16), word(view, 20)};
    const bool chained = add(add(before, view.substr(0, 8), big_endian), view.substr(24), big_endian) == stored;
    const bool same_log = view.substr(8, 8) == salts;
    if (!broken && !(chained && same_log)) broken = number;
    if (broken && after_commit && chained && same_log) return broken;
    after_commit = broken && word(view, 4) != 0 && (same_log || !header_valid);
    if (!header_valid) salts = view.substr(8, 8);
    before = stored;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<int64_t>> find_corrupt_frame(const std::string& wal_path) {
  // A concurrent writer can make an intact frame appear corrupt, but not the same frame three times.
  std::optional<int64_t> corrupt;
  for (int pass = 0; pass < 3; ++pass) {
    SHIPLOG_TRY(const auto found, scan(wal_path));
    if (!found || (pass > 0 && found != corrupt)) return std::nullopt;
    corrupt = found;
  }
  return corrupt;
}

Result<void> sync_wal(const std::string& wal_path) {
  const int fd = ::open(wal_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return ok();
  const int synced = fd < 0 ? -1 : ::fsync(fd);
  const int system = errno;
  if (fd >= 0) ::close(fd);
  if (synced == 0) return ok();
  return Error{ErrorCode::kIo, "journal file " + wal_path + " cannot be synced: " + std::strerror(system) +
                                   "; check the disk and the file's permissions"};
}

}  // namespace shiplog::embedded
