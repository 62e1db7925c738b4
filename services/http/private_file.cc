#include "services/http/private_file.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shiplog {
namespace {

constexpr mode_t kPermissions = 0777;

Error io_error(const std::string& doing, const std::string& path, int code) {
  const ErrorCode kind = code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {kind, doing + " " + path + ": " + std::generic_category().message(code)};
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (::fsync(fd) != 0) return io_error("cannot sync", path, errno);
  return ok();
}

/// Gives a new file, which is private, what the old one had. A group that cannot be kept gets no rights: another one
/// must not read what the old one did.
Result<void> become_like(int fd, const struct stat& old, const std::string& path) {
  mode_t mode = old.st_mode & kPermissions;
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 && ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);
  }
  if (::fchmod(fd, mode) != 0) return io_error("cannot set the mode of", path, errno);
  return ok();
}

/// `old`: whose mode and owner the file gets; null: it is private.
Result<void> write_fresh(const std::string& path, std::string_view bytes, const struct stat* old) {
  const std::string pattern = path + ".XXXXXX";
  std::vector<char> fresh{pattern.begin(), pattern.end()};
  fresh.push_back('\0');
  const int fd = ::mkostemp(fresh.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) {
    Error error = io_error("cannot create", path, errno);
    error.code = ErrorCode::kIo;
    return error;
  }
  auto written = old == nullptr ? ok() : become_like(fd, *old, path);
  if (written) written = write_all(fd, bytes, path);
  ::close(fd);
  if (written && ::rename(fresh.data(), path.c_str()) != 0) written = io_error("cannot replace", path, errno);
  if (!written) {
    ::unlink(fresh.data());
    return written;
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return sync_folder(folder);
}

}  // namespace

Result<void> write_private_file(const std::string& path, std::string_view bytes) {
  return write_fresh(path, bytes, nullptr);
}

Result<void> replace_file(const std::string& path, std::string_view bytes) {
  std::error_code failed;
  const std::string target = std::filesystem::canonical(path, failed).string();
  struct stat old {};
  if (failed || ::stat(target.c_str(), &old) != 0) return write_fresh(path, bytes, nullptr);
  return write_fresh(target, bytes, &old);
}

Result<void> sync_folder(const std::string& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return io_error("cannot open", folder, errno);
  const int synced = ::fsync(fd);
  const int code = errno;
  ::close(fd);
  // A file system that cannot sync folders is accepted.
  if (synced == 0 || code == EINVAL || code == ENOTSUP) return ok();
  return io_error("cannot sync", folder, code);
}

Result<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("cannot open", path, errno);
  std::string bytes;
  char block[16 * 1024];
  while (true) {
    const ssize_t count = ::read(fd, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      ::close(fd);
      return io_error("cannot read", path, code);
    }
    if (count == 0) break;
    bytes.append(block, static_cast<size_t>(count));
  }
  ::close(fd);
  return bytes;
}

}  // namespace shiplog
