// Loaded into a real shiplogd (LD_PRELOAD). While the file that SHIPLOG_DISK_FAULT names exists, what it contains
// happens to files:
//
//   fail                       syncing the journal's write-ahead log fails with EIO
//   hang                       the same does not return
//   OPERATION ERROR TEXT       sync, write, open or rename of files whose path contains TEXT fails; ERROR is EIO or
//   ENOSPC
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

template <class Function>
Function* in_c_library(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct Fault {
  char operation[16] = "", text[256] = "";
  int error = EIO;
  bool hangs = false;
};

/// nullptr: no fault.
const Fault* fault(Fault& read) {
  const char* name = ::getenv("SHIPLOG_DISK_FAULT");
  if (name == nullptr) return nullptr;
  const int file = in_c_library<int(const char*, int, ...)>("open")(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  char line[300] = "";
  const ssize_t length = ::read(file, line, sizeof line - 1);
  ::close(file);
  if (length <= 0) return nullptr;
  char* rest = nullptr;
  const char* operation = ::strtok_r(line, " \n", &rest);
  const char* error = ::strtok_r(nullptr, " \n", &rest);
  const char* text = ::strtok_r(nullptr, " \n", &rest);
  if (operation == nullptr) return nullptr;
  const bool of_journal = std::strcmp(operation, "fail") == 0 || std::strcmp(operation, "hang") == 0;
  read.hangs = std::strcmp(operation, "hang") == 0;
  std::strncpy(read.operation, of_journal ? "sync" : operation, sizeof read.operation - 1);
  std::strncpy(read.text, of_journal ? "/journal.db-wal" : text == nullptr ? "" : text, sizeof read.text - 1);
  if (error != nullptr && std::strcmp(error, "ENOSPC") == 0) read.error = ENOSPC;
  return &read;
}

bool fails(const char* operation, const char* path) {
  for (Fault now; const Fault* found = fault(now); now = {}) {
    if (std::strcmp(found->operation, operation) != 0 || std::strstr(path, found->text) == nullptr) return false;
    if (!found->hangs) {
      errno = found->error;
      return true;
    }
    ::usleep(10'000);
  }
  return false;
}

bool fails(const char* operation, int fd) {
  if (::getenv("SHIPLOG_DISK_FAULT") == nullptr) return false;
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
  return ::readlink(path, name, sizeof name - 1) > 0 && fails(operation, name);
}

}  // namespace

extern "C" {

int fsync(int fd) { return fails("sync", fd) ? -1 : in_c_library<int(int)>("fsync")(fd); }
int fdatasync(int fd) { return fails("sync", fd) ? -1 : in_c_library<int(int)>("fdatasync")(fd); }

ssize_t write(int fd, const void* bytes, size_t size) {
  return fails("write", fd) ? -1 : in_c_library<ssize_t(int, const void*, size_t)>("write")(fd, bytes, size);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return fails("write", fd) ? -1 : in_c_library<ssize_t(int, const iovec*, int)>("writev")(fd, parts, count);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return fails("write", fd) ? -1
                            : in_c_library<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  return fails("write", fd) ? -1
                            : in_c_library<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(fd, bytes, size, at);
}

int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : in_c_library<int(const char*, const char*)>("rename")(from, to);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  return fails("open", path) ? -1 : in_c_library<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = va_arg(more, unsigned);
  va_end(more);
  return fails("open", path) ? -1 : in_c_library<int(const char*, int, ...)>("open64")(path, flags, mode);
}

}  // extern "C"
