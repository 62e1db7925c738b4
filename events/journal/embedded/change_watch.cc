#include "events/journal/embedded/change_watch.h"

#include <array>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/check.h"

namespace shiplog::embedded {
namespace {

constexpr int kFallbackMillis = 250;  // in addition to inotify
constexpr int kNoInotifyMillis = 10;  // without inotify: the limit of inotify instances may be reached

}  // namespace

// By name: closing a descriptor of the file would release the locks that SQLite holds on it in this process.
void announce_change(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

ChangeWatch::ChangeWatch(const std::string& path)
    : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), stop_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  SHIPLOG_CHECK(stop_ >= 0, "no eventfd: this process has too many open files");
  if (inotify_ >= 0 && ::inotify_add_watch(inotify_, path.c_str(), IN_ATTRIB) < 0) {
    ::close(inotify_);
    inotify_ = -1;
  }
}

ChangeWatch::~ChangeWatch() {
  if (inotify_ >= 0) ::close(inotify_);
  ::close(stop_);
}

bool ChangeWatch::wait() {
  std::array<pollfd, 2> waiting = {pollfd{stop_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  ::poll(waiting.data(), waiting.size(), inotify_ >= 0 ? kFallbackMillis : kNoInotifyMillis);  // ignores -1
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
