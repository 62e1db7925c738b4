#include "services/adapters/vault/fleet_key.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/hex.h"
#include "services/http/private_file.h"

namespace shiplog::vault {

Result<Key> load_fleet_key(const std::string& path) {
  Key key{};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::kIo, "cannot open " + path + ": " + std::strerror(errno)};
  const ssize_t size = ::read(fd, key.data(), key.size());
  ::close(fd);
  if (size != static_cast<ssize_t>(key.size())) {
    return Error{ErrorCode::kCorrupt, path + " does not hold a key of 32 bytes: restore it from a backup"};
  }
  return key;
}

// The file gets its name once it is whole, and the first name stays.
Result<Key> load_or_create_fleet_key(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return load_fleet_key(path);
  const std::string draft = path + "." + std::to_string(::getpid());
  ::unlink(draft.c_str());  // of a process that was killed here
  const int made = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return Error{ErrorCode::kIo, "cannot create " + path + ": " + std::strerror(errno)};
  const Key key = random_key();
  errno = ENOSPC;  // the reason of a short write
  const bool written = ::write(made, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && ::fsync(made) == 0;
  int cause = errno;
  ::close(made);
  const bool named = written && ::link(draft.c_str(), path.c_str()) == 0;
  if (written && !named) cause = errno;
  ::unlink(draft.c_str());
  if (named) {
    // Keys that are wrapped with it must not survive it.
    if (auto synced = sync_folder(std::filesystem::path{path}.parent_path().string()); !synced) {
      ::unlink(path.c_str());
      return std::move(synced).error();
    }
    return key;
  }
  if (written && cause == EEXIST) return load_fleet_key(path);
  return Error{ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(cause)};
}

std::string fingerprint_of(const Key& fleet) {
  return hex(hmac(fleet, "shiplog: which fleet's key is it").substr(0, 16));
}

Key checkpoint_seed(const Key& fleet) {
  const std::string bytes = hmac(fleet, "shiplog: the seed of the key that signs checkpoints");
  Key seed{};
  std::copy(bytes.begin(), bytes.end(), seed.begin());
  return seed;
}

std::string checkpoint_key_name(const Key& fleet) {
  constexpr size_t kDigits = 16;
  return "shiplog/fleet-" + fingerprint_of(fleet).substr(0, kDigits);
}

}  // namespace shiplog::vault
