#include "services/runtime/folder_watch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "events/base/check.h"

namespace shiplog {

FolderWatch::FolderWatch(const std::string& folder)
    : inotify_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)}, wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  SHIPLOG_CHECK(wake_ >= 0, "no eventfd: this process has too many open files");
  if (inotify_ >= 0 && ::inotify_add_watch(inotify_, folder.c_str(), IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) < 0) {
    give_up();
  }
}

FolderWatch::~FolderWatch() {
  if (inotify_ >= 0) give_up();
  ::close(wake_);
}

void FolderWatch::give_up() {
  ::close(inotify_);
  inotify_ = -1;
}

void FolderWatch::wait(std::chrono::milliseconds longest) {
  std::array<pollfd, 2> waiting = {pollfd{wake_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(longest.count()));  // ignores -1
  uint64_t calls = 0;
  if ((waiting[0].revents & POLLIN) != 0) SHIPLOG_CHECK(::read(wake_, &calls, sizeof calls) > 0, "it can be read");
  if (inotify_ < 0 || (waiting[1].revents & POLLIN) == 0) return;
  alignas(inotify_event) std::array<char, 4096> events;
  bool moved = false;
  for (ssize_t size = 0; (size = ::read(inotify_, events.data(), events.size())) > 0;) {
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      inotify_event event;
      std::memcpy(&event, events.data() + at, sizeof event);
      at += sizeof event + event.len;
      moved = moved || (event.mask & (IN_MOVE_SELF | IN_IGNORED)) != 0;
    }
  }
  if (moved) give_up();  // the path leads elsewhere now
}

void FolderWatch::wake() {
  const uint64_t increment = 1;
  SHIPLOG_CHECK(::write(wake_, &increment, sizeof increment) == sizeof increment,
                "an eventfd accepts one more increment");
}

}  // namespace shiplog
