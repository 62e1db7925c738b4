#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/http/http.h"
#include "services/runtime/executor.h"

namespace shiplog {

class ResponseWriter;

/// How a trial member misbehaves. Seen and changed while it runs, at /member/v1/switches (GET; PUT or PATCH with the
/// fields to change), which answers whatever the switches say:
///
///   {"latencyMs": 0,          every other request waits this long
///    "refuse": "none",        "writes", "all" (503), or an HTTP status from 400 on that every request gets
///    "flapSeconds": 0,        up for so long, down for so long, and so on, beginning up; 0: not
///    "down": false,           connections break off, watches end
///    "readyDelayMs": 500}     from a pod's placement to its being ready; of pods that are not ready yet
///
/// Threads: any.
class Switches : public std::enable_shared_from_this<Switches> {
 public:
  struct Settings {
    Millis latency{0};
    std::string refuse = "none";
    int64_t flap_seconds = 0;
    bool down = false;
    Millis ready_delay{500};
    bool operator==(const Settings&) const = default;
  };
  using Handler = std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>)>;

  static constexpr const char* kPath = "/member/v1/switches";

  /// Error: kInvalid, naming the field. The executor has the timers; it must outlive this.
  static Result<std::shared_ptr<Switches>> make(Executor& executor, Settings settings);

  /// Where a request goes on that `latencyMs` has held up. Until it is told, a latency cannot be set.
  void resume_with(Handler handler);

  /// ApiServer::Options::intercept: true when the request is taken over.
  bool intercept(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer);

  Settings settings() const;
  /// Changes what the JSON object names. Error: kInvalid, naming the field; nothing has changed then.
  Result<void> change(const Value& fields);
  Millis ready_delay() const;
  /// Connections break off now: switched off, or in the lower half of flapping.
  bool is_down() const;

 private:
  explicit Switches(Executor& executor) : executor_{executor} {}
  Result<void> apply(Settings settings);
  bool down_at(UtcMillis now) const;
  void serve(const HttpRequest& request, ResponseWriter& writer);
  void remember_watch(const std::shared_ptr<ResponseWriter>& writer);
  void end_watches();
  void arm_flapping(uint64_t round);

  Executor& executor_;
  mutable std::mutex mutex_;
  Settings settings_;
  UtcMillis flapping_since_;
  uint64_t round_ = 0;  // of flapping: timers of an older round do nothing
  Handler resume_;
  std::vector<std::weak_ptr<ResponseWriter>> watches_;
};

/// The same as JSON, and back onto `settings`. Error: kInvalid, naming the field.
Value to_value(const Switches::Settings& settings);
Result<Switches::Settings> changed(Switches::Settings settings, const Value& fields);

}  // namespace shiplog
