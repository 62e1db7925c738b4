#include "services/programs/shiplogd/process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include <boost/system/system_error.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/runtime/log.h"

// Of tcmalloc, which is linked into the programs. Weak: builds with a sanitizer have its allocator instead.
extern "C" {
int MallocExtension_GetNumericProperty(const char* property, size_t* value) __attribute__((weak));
void MallocExtension_ReleaseToSystem(size_t bytes) __attribute__((weak));
}

namespace shiplog {
namespace {

std::atomic<bool> has_failed{false};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

bool is_address(const std::string& host) {
  return host.find_first_not_of("0123456789.") == std::string::npos || host.find(':') != std::string::npos;
}

/// After a burst of requests or connections the allocator keeps what they took, for the next one. Most is returned
/// to the system, in pieces that take a few milliseconds each.
void release_free_memory() {
  constexpr size_t kKept = 32U << 20U;
  constexpr size_t kAtOnce = 64U << 20U;
  if (MallocExtension_GetNumericProperty == nullptr || MallocExtension_ReleaseToSystem == nullptr) return;
  size_t free_bytes = 0;
  MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &free_bytes);
  if (free_bytes > kKept) MallocExtension_ReleaseToSystem(std::min(free_bytes - kKept, kAtOnce));
}

/// What prints other exceptions, which are bugs, and leaves a core dump.
std::terminate_handler handler_of_bugs = nullptr;

template <class SystemError>
std::string reason_of_refusal(const SystemError& error) {
  constexpr std::array kRefusals = {EAGAIN, EMFILE, ENFILE, ENOMEM, ENOBUFS};
  return std::ranges::find(kRefusals, error.code().value()) == kRefusals.end() ? "" : error.what();
}

/// Why the exception was thrown, if the system refused a resource; otherwise "".
std::string refused_by_system(const std::exception_ptr& uncaught) {
  if (!uncaught) return "";
  try {
    std::rethrow_exception(uncaught);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error& error) {
    return reason_of_refusal(error);
  } catch (const boost::system::system_error& error) {
    return reason_of_refusal(error);
  } catch (...) {
    return "";
  }
}

void report_uncaught() {
  const std::string reason = refused_by_system(std::current_exception());
  if (reason.empty()) handler_of_bugs();
  std::fprintf(
      stderr,
      "shiplogd: the system refuses this process a resource: %s: raise the limits of processes, open files and "
      "memory (ulimit -u, -n and -v; pids.max and memory.max of a container)\n",
      reason.c_str());
  ::_exit(1);
}

}  // namespace

void report_refused_resources() { handler_of_bugs = std::set_terminate(report_uncaught); }

void block_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set = stop_signals();
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void allow_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // not granted: connections then wait until others have closed
}

void wait_for_stop() {
  const sigset_t set = stop_signals();
  const timespec interval{.tv_sec = 5, .tv_nsec = 0};
  while (::sigtimedwait(&set, nullptr, &interval) < 0) release_free_memory();
}

size_t heap_bytes() {
  size_t bytes = 0;
  if (MallocExtension_GetNumericProperty != nullptr) {
    MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes);
  }
  return bytes;
}

void stop_process() {
  has_failed = true;
  ::kill(::getpid(), SIGTERM);
}

bool stopped_by_failure() { return has_failed; }

StopDeadline::StopDeadline(Millis longest)
    : thread_{[this, longest] {
        std::unique_lock lock{mutex_};
        if (changed_.wait_for(lock, std::chrono::milliseconds{longest.value}, [this] { return stopped_; })) return;
        log::error("process.stop_forced",
                   {log::kv("reason", "it has not stopped within " + std::to_string(longest.value) + " ms")});
        ::_exit(1);
      }} {}

StopDeadline::~StopDeadline() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::string stuck(const ThreadLoop& loop, Millis longest) {
  const Millis busy = loop.busy_for();
  if (busy <= longest) return "";
  return "the fold thread has been working on one thing for " + std::to_string(busy.value) + " ms";
}

Result<Identity> load_identity(const std::string& folder, const HostPort& listen,
                               const std::vector<std::string>& names) {
  const std::string pki = folder + "/pki";
  SHIPLOG_TRY(make_folder(pki));
  const UtcMillis now = SystemClock{}.now();
  Identity identity;
  SHIPLOG_TRY(identity.authority, load_or_create_authority(pki + "/ca", "shiplog-ca", now));
  ServerNames known{.dns = {"localhost", "kubernetes", "kubernetes.default.svc"}, .ips = {"127.0.0.1", "::1"}};
  std::vector<std::string> more = names;
  if (listen.host != "0.0.0.0" && listen.host != "::") more.push_back(listen.host);
  char hostname[256] = {};
  if (::gethostname(hostname, sizeof hostname - 1) == 0) more.emplace_back(hostname);
  for (const std::string& name : more) {
    auto& into = is_address(name) ? known.ips : known.dns;
    if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
  }
  SHIPLOG_TRY(identity.server,
              load_or_create_server_certificate(pki + "/server", identity.authority, "shiplog", known, now));
  SHIPLOG_TRY(identity.admin, load_or_create_client_certificate(pki + "/admin", identity.authority, "kubernetes-admin",
                                                                {"system:masters"}, now));
  // The same format and care as for the authority, whose key stays apart from it.
  SHIPLOG_TRY(identity.tokens, load_or_create_authority(pki + "/service-accounts", "shiplog-service-accounts", now));
  return identity;
}

std::vector<std::string> missing_authorities(const std::string& folder) {
  std::vector<std::string> missing;
  for (const char* name : {"ca", "service-accounts", "front-proxy-ca"}) {
    const std::string path = folder + "/pki/" + name + ".crt";
    if (!std::filesystem::exists(path)) missing.push_back(path);
  }
  return missing;
}

void warn_of_new_authorities(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    log::warn("authority.made",
              {log::kv("file", file),
               log::kv("reason", "there was none: what an earlier one of this fleet has signed is no longer valid")});
  }
}

HttpServer::Options http_options(const CommonOptions& common, const HostPort& listen, const Identity& identity) {
  HttpServer::Options http;
  http.host = listen.host;
  http.port = listen.port;
  http.certificate_pem = identity.server.certificate_pem;
  http.key_pem = identity.server.key_pem;
  http.client_ca_pem = identity.authority.certificate_pem;
  http.max_connections = common.max_connections;
  http.max_connections_per_address = common.max_connections_per_address;
  http.max_body_bytes = common.max_body_bytes;
  return http;
}

Result<void> write_admin_kubeconfig(const std::string& path, const std::string& name, const std::string& url,
                                    const Identity& identity) {
  if (path.empty()) return ok();
  ClientTarget target;
  target.url = url;
  target.ca_pem = identity.authority.certificate_pem;
  target.certificate_pem = identity.admin.certificate_pem;
  target.key_pem = identity.admin.key_pem;
  return write_kubeconfig(path, name, target);
}

Result<void> make_folder(const std::string& path) {
  std::error_code trouble;
  const bool made = std::filesystem::create_directories(path, trouble);
  if (trouble) return Error{ErrorCode::kIo, "cannot make the folder " + path + ": " + trouble.message()};
  if (made) ::chmod(path.c_str(), 0700);
  return ok();
}

void make_private(const std::string& folder) {
  std::error_code trouble;
  const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  for (const char* below : {"", "snapshots", "pki", "leases"}) {
    for (const auto& file : std::filesystem::directory_iterator{std::filesystem::path{folder} / below, trouble}) {
      if (!file.is_regular_file(trouble)) continue;
      if ((file.status(trouble).permissions() & others) == std::filesystem::perms::none) continue;
      std::filesystem::permissions(file.path(), others, std::filesystem::perm_options::remove, trouble);
    }
  }
}

Result<int> lock_folder(const std::string& folder) {
  const std::string path = folder + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Error{ErrorCode::kIo, "cannot open " + path + ": " + std::strerror(errno)};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return Error{ErrorCode::kUnavailable, "the data folder " + folder +
                                              " is in use by another shiplogd: stop it, or give this one its own "
                                              "--data-dir (several may share one --journal)"};
  }
  return fd;
}

}  // namespace shiplog
