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
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// Runs scripts in processes of their own (`shiplogd interpret`), which are started with the first call and killed when
/// a call takes too long. What limits a call is the processor time it takes, so a busy machine stops none.
/// Threads: run() from any; `done` is called on a thread of the sandbox, or not at all once the sandbox is gone.
class Sandbox {
 public:
  struct Options {
    std::string program = "/proc/self/exe";  ///< shiplogd
    size_t processes = 2;
    Millis processor{1'000};  ///< of one call
    Millis longest{20'000};   ///< by the clock: for a machine that gives the process no time
    const Clock* clock = nullptr;
  };
  struct Outcome {
    Value results;  ///< as interpreter::ScriptOutcome
    bool asked_time = false;
    UtcMillis now;  ///< what the script saw as the time
    size_t bytes = 0;
  };
  /// kInvalid: the script's own error. kTooLarge: it went beyond its steps or memory. kTimeout: it was killed for the
  /// processor time it took, or has ended its process. kUnavailable: it could not be run; later it may be.
  using Done = std::function<void(Result<Outcome>)>;

  explicit Sandbox(Options options);
  /// Kills what runs.
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// `line`: calls of one line take their turn with those of others, whatever their number.
  void run(const std::string& line, Value request, Done done);

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
  Result<Outcome> make(Process& process, const Call& call);
  Result<std::string> exchange(Process& process, const std::string& message);

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::deque<Call>> lines_;
  std::string last_line_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> calls_{0}, killed_{0};
  std::vector<std::thread> threads_;
};

}  // namespace shiplog
