// Loaded into a real shiplogd (LD_PRELOAD): while the file that SHIPLOG_DISK_FAULT names exists, syncing the journal's
// write-ahead log fails (the file contains "fail") or does not return (anything else).
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace {

enum class Fault { kNone, kFail, kHang };

Fault fault() {
  const char* name = ::getenv("SHIPLOG_DISK_FAULT");
  if (name == nullptr) return Fault::kNone;
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return Fault::kNone;
  char text[4] = {};
  const bool fail = ::read(file, text, sizeof text) == 4 && std::memcmp(text, "fail", 4) == 0;
  ::close(file);
  return fail ? Fault::kFail : Fault::kHang;
}

bool is_journal(int fd) {
  char path[64] = "/proc/self/fd/";
  char digits[16];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + fd % 10);
    fd /= 10;
  } while (fd > 0);
  size_t end = std::strlen(path);
  while (count > 0) path[end++] = digits[--count];
  char name[4096] = {};
  const ssize_t length = ::readlink(path, name, sizeof name - 1);
  constexpr const char* kEnd = "/journal.db-wal";
  const auto size = static_cast<ssize_t>(std::strlen(kEnd));
  return length >= size && std::strcmp(name + length - size, kEnd) == 0;
}

int sync(int fd, const char* function) {
  if (is_journal(fd)) {
    for (Fault now = fault(); now != Fault::kNone; now = fault()) {
      if (now == Fault::kFail) {
        errno = EIO;
        return -1;
      }
      ::usleep(10'000);
    }
  }
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, function))(fd);
}

}  // namespace

extern "C" int fsync(int fd) { return sync(fd, "fsync"); }
extern "C" int fdatasync(int fd) { return sync(fd, "fdatasync"); }
