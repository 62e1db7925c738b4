#include "services/runtime/file_election.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr Millis kLookEvery{100};

}  // namespace

struct FileElection::Lock {
  std::string service;
  std::function<void(bool)> changed;
  int fd = -1;
  bool held = false;
  bool complained = false;
  ~Lock() {
    if (fd >= 0) ::close(fd);  // releases the lock
  }
};

FileElection::FileElection(std::string folder, std::string identity, Executor& executor)
    : folder_{std::move(folder)}, identity_{std::move(identity)}, executor_{executor} {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);  // a failure shows when the first lock is opened
}

FileElection::~FileElection() { *alive_ = false; }

void FileElection::campaign(const std::string& service, std::function<void(bool leading)> changed) {
  auto lock = std::make_shared<Lock>();
  lock->service = service;
  lock->changed = std::move(changed);
  locks_.push_back(lock);
  look(lock);
}

void FileElection::look(const std::shared_ptr<Lock>& lock) {
  if (lock->fd < 0) lock->fd = ::open((folder_ + "/" + lock->service).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock->fd >= 0 && ::flock(lock->fd, LOCK_EX | LOCK_NB) == 0) {
    lock->held = true;
    lock->changed(true);
    return;
  }
  if (errno != EWOULDBLOCK && !lock->complained) {
    lock->complained = true;
    log::error("election.failed",
               {log::kv("file", folder_ + "/" + lock->service), log::kv("reason", std::strerror(errno))});
  }
  executor_.post_after(kLookEvery, [this, alive = alive_, lock] {
    if (*alive && lock->changed) look(lock);
  });
}

void FileElection::resign() {
  for (const auto& lock : locks_) {
    if (lock->fd >= 0) ::close(lock->fd);
    lock->fd = -1;
    lock->held = false;
    lock->changed = nullptr;
  }
  locks_.clear();
}

}  // namespace shiplog
