#include "services/adapters/sandbox/sandbox.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/base/json.h"
#include "services/adapters/sandbox/frames.h"

namespace shiplog {
namespace {

constexpr int kCheckInterval = 20;  // ms between two checks of the processor time

using Steady = std::chrono::steady_clock;

std::string message_of(int error) { return std::string{std::strerror(error)}; }

void close_at(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

struct Sandbox::Process {
  pid_t pid = -1;
  int to = -1, from = -1;
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  Result<void> start(const std::string& program) {
    std::array<int, 2> in{-1, -1};
    std::array<int, 2> out{-1, -1};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
      const int cause = errno;
      for (int& fd : in) close_at(fd);
      return Error{ErrorCode::kUnavailable, "no pipe for the sandbox: " + message_of(cause)};
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setpgroup(&how, 0);  // Ctrl-C in a terminal applies to the parent only
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = "shiplogd";
    std::string command = "interpret";
    std::array<char*, 3> arguments = {name.data(), command.data(), nullptr};
    std::array<char*, 1> environment = {nullptr};
    const int failed = ::posix_spawn(&pid, program.c_str(), &files, &how, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close_at(in[0]);
    close_at(out[1]);
    to = in[1];
    from = out[0];
    if (failed != 0) {
      pid = -1;
      end();
      return Error{ErrorCode::kUnavailable, "the sandbox process cannot be started: " + message_of(failed)};
    }
    for (const int fd : {to, from}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    return ok();
  }

  /// The processor time it has used so far.
  Millis processor_time() const {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
    return Millis{int64_t{used.tv_sec} * 1000 + used.tv_nsec / 1'000'000};
  }

  void end() {
    close_at(to);
    close_at(from);
    if (pid < 0) return;
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
  }
};

Sandbox::Sandbox(Options options) : options_{std::move(options)} {}

Sandbox::~Sandbox() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Sandbox::run(const std::string& queue, Value request, Done done) {
  {
    const std::lock_guard lock{mutex_};
    queues_[queue].push_back({std::move(request), std::move(done)});
    while (threads_.size() < options_.processes) threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
}

/// Takes a call of the queue after that of the last call. The caller holds the lock.
bool Sandbox::next(Call& call) {
  if (queues_.empty()) return false;
  auto queue = queues_.upper_bound(last_queue_);
  if (queue == queues_.end()) queue = queues_.begin();
  last_queue_ = queue->first;
  call = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  return true;
}

void Sandbox::work() {
  Process process;
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    Call call;
    if (!next(call)) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    CallResult<Outcome> outcome = call_process(process, call);
    if (!stopping_) call.done(std::move(outcome));
    lock.lock();
  }
}

Sandbox::CallResult<Sandbox::Outcome> Sandbox::call_process(Process& process, const Call& call) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  Outcome outcome;
  outcome.now = options_.clock->now();
  const std::string message = to_json(Value::object({{"request", call.request}, {"now", outcome.now.value}}));
  if (message.size() > sandbox::kLongestFrame) return Error{ErrorCode::kInvalid, "the arguments are too large"};
  // Retried once if the process has ended: it may have been killed between two calls.
  auto reply = exchange(process, message);
  if (!reply && reply.error().code == ErrorCode::kIo) reply = exchange(process, message);
  if (!reply && reply.error().code == ErrorCode::kIo) {
    killed_.fetch_add(1, std::memory_order_relaxed);
    return Failure{{ErrorCode::kTimeout, "stopped: its process ended while it ran"}, "Crashed"};
  }
  if (!reply) return reply.error();
  SHIPLOG_TRY(const Value answer, parse_json(reply.value()));
  outcome.asked_time = answer["askedTime"].as_bool();
  outcome.bytes = reply.value().size();
  if (const Value* error = answer.find("error")) {
    std::string exceeded = answer["exceeded"].str();
    const ErrorCode code = exceeded.empty() ? ErrorCode::kInvalid : ErrorCode::kTooLarge;
    return Failure{{code, error->str()}, std::move(exceeded)};
  }
  outcome.results = answer["results"];
  return outcome;
}

/// Sends a message and waits for its reply. kIo: the process has ended.
Sandbox::CallResult<std::string> Sandbox::exchange(Process& process, const std::string& message) {
  if (process.pid < 0) {
    SHIPLOG_TRY(process.start(options_.program));
  }
  const Millis before = process.processor_time();
  const auto deadline = Steady::now() + std::chrono::milliseconds{options_.longest.value};
  const std::string bytes = sandbox::header_of(message.size()) + message;
  std::string reply;
  size_t sent = 0;
  std::array<char, 65536> part{};
  const auto gone = [&] {
    process.end();
    return Error{ErrorCode::kIo, "the sandbox process has ended"};
  };
  while (true) {
    const bool sending = sent < bytes.size();
    pollfd wait{sending ? process.to : process.from, static_cast<short>(sending ? POLLOUT : POLLIN), 0};
    ::poll(&wait, 1, kCheckInterval);
    if (wait.revents != 0 && sending) {
      const ssize_t put = ::write(process.to, bytes.data() + sent, bytes.size() - sent);
      if (put < 0 && errno != EAGAIN && errno != EINTR) return gone();
      if (put > 0) sent += static_cast<size_t>(put);
      continue;
    }
    if (wait.revents != 0) {
      const ssize_t got = ::read(process.from, part.data(), part.size());
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return gone();
      if (got > 0) reply.append(part.data(), static_cast<size_t>(got));
      if (reply.size() < sandbox::kHeader) continue;
      const size_t length = sandbox::length_in(reply.data());
      if (length > sandbox::kLongestFrame) return gone();
      if (reply.size() == sandbox::kHeader + length) return reply.substr(sandbox::kHeader);
      continue;
    }
    if (stopping_) return gone();
    if (process.processor_time().value - before.value > options_.processor.value) {
      process.end();
      killed_.fetch_add(1, std::memory_order_relaxed);
      return Failure{{ErrorCode::kTimeout, "stopped: it has taken more than " +
                                               std::to_string(options_.processor.value) + " ms of processor time"},
                     "TimeLimitExceeded"};
    }
    if (Steady::now() > deadline) {
      process.end();
      return Error{ErrorCode::kUnavailable, "it did not finish within " + std::to_string(options_.longest.value) +
                                                " ms, before its limit of processor time"};
    }
  }
}

}  // namespace shiplog
