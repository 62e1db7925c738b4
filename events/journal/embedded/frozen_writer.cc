#include "events/journal/embedded/frozen_writer.h"

#include <csignal>
#include <fstream>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <unistd.h>

namespace shiplog::embedded {
namespace {

constexpr std::chrono::milliseconds kFirstLook{100};
constexpr std::chrono::milliseconds kLookEvery{50};
constexpr std::chrono::milliseconds kStoppedFor{250};

// SQLite's WAL_WRITE_LOCK: https://sqlite.org/walformat.html, "WAL Locks".
constexpr off_t kWriteLock = 120;

/// Never closed: closing any descriptor of the file releases the locks that SQLite holds on it in this process.
int index_file(const std::string& database) {
  static std::mutex mutex;
  static std::map<std::string, int> open;
  const std::lock_guard lock{mutex};
  const auto found = open.find(database);
  if (found != open.end()) return found->second;
  const int fd = ::open((database + "-shm").c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0) open.emplace(database, fd);
  return fd;
}

bool is_stopped(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  std::getline(file, text);
  const size_t name_ends = text.rfind(')');  // the name may contain anything
  return name_ends != std::string::npos && text.size() > name_ends + 2 && text[name_ends + 2] == 'T';
}

}  // namespace

pid_t stopped_writer(const std::string& database) {
  const int fd = index_file(database);
  if (fd < 0) return 0;
  struct flock wanted = {};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = kWriteLock;
  wanted.l_len = 1;
  if (::fcntl(fd, F_GETLK, &wanted) != 0 || wanted.l_type == F_UNLCK || wanted.l_pid <= 0) return 0;
  return is_stopped(wanted.l_pid) ? wanted.l_pid : 0;
}

void FrozenWriter::look(std::chrono::milliseconds waited) {
  if (waited < last_) {  // a new wait
    suspect_ = 0;
    next_look_ = kFirstLook;
  }
  last_ = waited;
  if (waited < next_look_) return;
  next_look_ = waited + kLookEvery;
  const pid_t stopped = stopped_writer(database_);
  if (stopped == 0 || stopped != suspect_) {
    suspect_ = stopped;
    suspected_at_ = waited;
    return;
  }
  if (waited - suspected_at_ < kStoppedFor) return;
  suspect_ = 0;
  if (::kill(stopped, SIGKILL) == 0 && killed_) killed_(stopped);
}

}  // namespace shiplog::embedded
