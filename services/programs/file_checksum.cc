#include "services/programs/file_checksum.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "events/base/check.h"
#include "events/base/hex.h"

namespace shiplog {
namespace {

using Digest = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

Error io_error(const std::string& doing, const std::string& path) {
  return {errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, doing + " " + path + ": " + std::strerror(errno)};
}

Digest begin_digest() {
  Digest digest{EVP_MD_CTX_new(), EVP_MD_CTX_free};
  SHIPLOG_CHECK(digest && EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is always there");
  return digest;
}

std::string end_digest(const Digest& digest) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  EVP_DigestFinal_ex(digest.get(), bytes.data(), &size);
  return hex({reinterpret_cast<const char*>(bytes.data()), size});
}

/// Closes when it goes.
struct OpenFile {
  explicit OpenFile(int fd) : number{fd} {}
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number;
};

Result<void> read_through(const std::string& path, const std::function<Result<void>(std::string_view)>& take) {
  const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) return io_error("cannot open", path);
  std::string buffer(1 << 20, '\0');
  while (true) {
    const ssize_t count = ::read(file.number, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot read", path);
    if (count == 0) return ok();
    SHIPLOG_TRY(take({buffer.data(), static_cast<size_t>(count)}));
  }
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const Digest digest = begin_digest();
  EVP_DigestUpdate(digest.get(), bytes.data(), bytes.size());
  return end_digest(digest);
}

Result<FileChecksum> checksum_of_file(const std::string& path) {
  const Digest digest = begin_digest();
  FileChecksum checksum;
  SHIPLOG_TRY(read_through(path, [&](std::string_view bytes) -> Result<void> {
    EVP_DigestUpdate(digest.get(), bytes.data(), bytes.size());
    checksum.bytes += bytes.size();
    return ok();
  }));
  checksum.sha256 = end_digest(digest);
  return checksum;
}

Result<void> copy_private_file(const std::string& from, const std::string& to) {
  const OpenFile file{::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (file.number < 0) return io_error("cannot create", to);
  SHIPLOG_TRY(read_through(from, [&](std::string_view bytes) -> Result<void> {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.number, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return io_error("cannot write", to);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return ok();
  }));
  if (::fsync(file.number) != 0) return io_error("cannot sync", to);
  return ok();
}

Result<void> sync_file(const std::string& path) {
  const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) return io_error("cannot open", path);
  if (::fsync(file.number) != 0) return io_error("cannot sync", path);
  return ok();
}

}  // namespace shiplog
