#include "events/journal/embedded/change_watch.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/check.h"

namespace shiplog::embedded {
namespace {

constexpr int kFallbackMillis = 1'000;         // in addition to inotify, for a writer that dies before it announces
constexpr int kNotPresentMillis = 250;         // writers do not see that it watches, and need not announce
constexpr off_t kLockedByte = off_t{1} << 20;  // far behind what the file contains
constexpr int kNoInotifyMillis = 10;           // without inotify: the limit of inotify instances may be reached

/// Of the open file, not of the process: two journals in one process see each other.
struct flock presence_lock(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

// By name: closing a descriptor of the file would release the locks that SQLite holds on it in this process.
void announce_change(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

ChangeWatch::ChangeWatch(const std::string& path, std::string presence)
    : presence_(std::move(presence)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      stop_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  SHIPLOG_CHECK(stop_ >= 0, "no eventfd: this process has too many open files");
  if (inotify_ >= 0 && ::inotify_add_watch(inotify_, path.c_str(), IN_ATTRIB) < 0) {
    ::close(inotify_);
    inotify_ = -1;
  }
  be_present();
}

ChangeWatch::~ChangeWatch() {
  if (inotify_ >= 0) ::close(inotify_);
  ::close(stop_);
  if (lock_ >= 0) ::close(lock_);
}

void ChangeWatch::be_present() {
  if (lock_ >= 0) return;
  const int file = ::open(presence_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // no entry has been appended yet
  struct flock lock = presence_lock(F_RDLCK);
  if (::fcntl(file, F_OFD_SETLK, &lock) != 0) {
    ::close(file);  // this file system has no locks
    return;
  }
  lock_ = file;
}

bool ChangeWatch::others_watch() const {
  const int file = lock_;
  if (file < 0) return true;
  struct flock lock = presence_lock(F_WRLCK);  // which every other lock conflicts with
  return ::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool ChangeWatch::wait() {
  be_present();
  std::array<pollfd, 2> waiting = {pollfd{stop_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  const int longest = inotify_ < 0 ? kNoInotifyMillis : lock_ < 0 ? kNotPresentMillis : kFallbackMillis;
  ::poll(waiting.data(), waiting.size(), longest);  // ignores -1
  if ((waiting[0].revents & POLLIN) != 0) return false;
  if ((waiting[1].revents & POLLIN) != 0) {
    std::array<char, 4096> events;
    while (::read(inotify_, events.data(), events.size()) > 0) {
    }
  }
  return true;
}

void ChangeWatch::stop() {
  const uint64_t increment = 1;
  SHIPLOG_CHECK(::write(stop_, &increment, sizeof increment) == sizeof increment,
                "an eventfd accepts one more increment");
}

}  // namespace shiplog::embedded
