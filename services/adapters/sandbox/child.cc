#include "services/adapters/sandbox/child.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/base/json.h"
#include "services/adapters/sandbox/frames.h"
#include "services/interpreter/scripts.h"

namespace shiplog::sandbox {
namespace {

constexpr rlim_t kMostAddressSpace = rlim_t{2} << 30;
constexpr rlim_t kMostSeconds =
    3;  // of processor time for one call; the parent's limit is lower, but it may have exited

bool read_all(char* into, size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(STDIN_FILENO, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(const std::string& bytes) {
  for (size_t position = 0; position < bytes.size();) {
    const ssize_t put = ::write(STDOUT_FILENO, bytes.data() + position, bytes.size() - position);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    position += static_cast<size_t>(put);
  }
  return true;
}

void limit(__rlimit_resource_t what, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(what, &both);
}

/// Limits the processor time from now on to that of one call. Only the soft limit, because it is raised again later.
void limit_this_call() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto so_far = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  const rlimit moved{so_far + kMostSeconds, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CPU, &moved);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArchitecture = 0;
#endif

/// Every other system call fails with EPERM.
constexpr std::array kAllowed = {SYS_read,          SYS_write,        SYS_brk,           SYS_mmap,      SYS_munmap,
                                 SYS_mremap,        SYS_mprotect,     SYS_madvise,       SYS_futex,     SYS_exit,
                                 SYS_exit_group,    SYS_rt_sigreturn, SYS_clock_gettime, SYS_getrusage, SYS_prlimit64,
                                 SYS_getrandom,     SYS_sched_yield,  SYS_getpid,        SYS_gettid,    SYS_tgkill,
                                 SYS_rt_sigprocmask};

void forbid_system_calls() {
  if (kArchitecture == 0 || kSanitized) return;
  std::array<sock_filter, 6 + 2 * kAllowed.size()> program{};
  size_t position = 0;
  const auto add = [&](sock_filter instruction) { program.at(position++) = instruction; };
  const auto allow = static_cast<unsigned>(SECCOMP_RET_ALLOW);
  const auto refuse = static_cast<unsigned>(SECCOMP_RET_ERRNO) | unsigned{EPERM};
  const auto load = [](size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
  };
  const auto jump = [](unsigned value) { return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value}; };
  const auto end = [](unsigned result) { return sock_filter{BPF_RET | BPF_K, 0, 0, result}; };
  add(load(offsetof(seccomp_data, arch)));
  add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
  add(end(refuse));
  add(load(offsetof(seccomp_data, nr)));
  for (const long call : kAllowed) {
    add(jump(static_cast<unsigned>(call)));
    add(end(allow));
  }
  add(end(refuse));
  const sock_fprog all{static_cast<unsigned short>(position), program.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);  // if not supported, the limits above still apply
}

void confine() {
#if defined(SYS_close_range)
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 3);
  limit(RLIMIT_FSIZE, 0);
  if (!kSanitized) limit(RLIMIT_AS, kMostAddressSpace);
  forbid_system_calls();
}

/// {results, askedTime} or {error, exceeded, askedTime}.
Value reply_to(const std::string& message) {
  const auto call = parse_json(message);
  if (!call) return Value::object({{"error", "the call cannot be read: " + call.error().message}});
  const UtcMillis now{call.value()["now"].as_int()};
  interpreter::ScriptOutcome outcome = interpreter::run_script(call.value()["request"], now);
  if (outcome.results) {
    return Value::object({{"results", std::move(outcome.results).value()}, {"askedTime", outcome.asked_time}});
  }
  const Error& error = outcome.results.error();
  return Value::object({{"error", error.message}, {"exceeded", outcome.exceeded}, {"askedTime", outcome.asked_time}});
}

}  // namespace

int run_child() {
  confine();
  std::array<char, kHeader> header{};
  while (read_all(header.data(), header.size())) {
    const size_t length = length_in(header.data());
    if (length > kLongestFrame) return 1;
    std::string message(length, '\0');
    if (!read_all(message.data(), length)) return 1;
    limit_this_call();
    std::string reply = to_json(reply_to(message));
    if (reply.size() > kLongestFrame) {
      reply = R"({"error":"the result is too large","exceeded":"MemoryLimitExceeded"})";
    }
    if (!write_all(header_of(reply.size()) + reply)) return 1;
  }
  return 0;
}

}  // namespace shiplog::sandbox
