#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// Runs scripts in separate processes (`shiplogd interpret`), which are started with the first call and killed when a
/// call takes too long. Calls are limited by the processor time they use, so none fails because the machine is busy.
/// Threads: run() from any; `done` is called on a thread of the sandbox, or not at all after the sandbox was destroyed.
class Sandbox {
 public:
  struct Options {
    std::string program = "/proc/self/exe";  ///< shiplogd
    size_t processes = 2;
    Millis processor{1'000};  ///< of one call
    Millis longest{20'000};   ///< wall-clock limit: for a machine so busy that the process does not run
    const Clock* clock = nullptr;
  };
  struct Outcome {
    Value results;  ///< as interpreter::ScriptOutcome
    bool asked_time = false;
    UtcMillis now;  ///< the time that the script saw
    size_t bytes = 0;
  };
  /// Why a call has no results. kInvalid: the script's own error. kTooLarge: it exceeded its limit of steps or memory.
  /// kTimeout: it was killed for the processor time it used, or it ended its process. kUnavailable: it could not be
  /// run; it may be retried.
  struct Failure : Error {
    Failure(Error error, std::string the_exceeded = "")  // NOLINT(google-explicit-constructor)
        : Error{std::move(error)}, exceeded{std::move(the_exceeded)} {}
    std::string exceeded;  ///< with kTooLarge and kTimeout: interpreter::Overrun::reason
  };
  template <class T>
  using CallResult = boost::outcome_v2::basic_result<T, Failure, boost::outcome_v2::policy::terminate>;
  using Done = std::function<void(CallResult<Outcome>)>;

  explicit Sandbox(Options options);
  /// Kills running scripts.
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// `queue`: queues are served in turn, independently of how many calls each contains.
  void run(const std::string& queue, Value request, Done done);

  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  uint64_t killed() const { return killed_.load(std::memory_order_relaxed); }

 private:
  struct Call {
    Value request;
    Done done;
  };
  struct Process;
  void work();
  bool next(Call& call);
  CallResult<Outcome> call_process(Process& process, const Call& call);
  CallResult<std::string> exchange(Process& process, const std::string& message);

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::deque<Call>> queues_;
  std::string last_queue_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> calls_{0}, killed_{0};
  std::vector<std::thread> threads_;
};

}  // namespace shiplog
