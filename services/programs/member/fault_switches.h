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

/// Simulated faults of a trial member. They are read and changed while it runs, at /member/v1/switches (GET; PUT or
/// PATCH with the fields to change), which answers regardless of the switches:
///
///   {"latencyMs": 0,          delay of every other request
///    "refuse": "none",        "writes", "all" (503), or an HTTP status from 400 on that every request gets
///    "flapSeconds": 0,        alternately up and down for this long each, starting with up; 0: off
///    "down": false,           connections are closed, watches end
///    "readyDelayMs": 500}     from a pod's placement until it is ready; for pods that are not ready yet
///
/// Threads: any.
class FaultSwitches : public std::enable_shared_from_this<FaultSwitches> {
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

  /// Error: kInvalid, naming the field. The executor runs the timers and must outlive this object.
  static Result<std::shared_ptr<FaultSwitches>> make(Executor& executor, Settings settings);

  /// The handler that continues requests delayed by `latencyMs`. A latency cannot be set before.
  void resume_with(Handler handler);

  /// ApiServer::Options::intercept: true if the request was handled here.
  bool intercept(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer);

  Settings settings() const;
  /// Changes the fields of the JSON object. Error: kInvalid, naming the field; then nothing has changed.
  Result<void> change(const Value& fields);
  Millis ready_delay() const;
  /// Connections are closed now: switched off, or in the down phase of flapping.
  bool is_down() const;

 private:
  explicit FaultSwitches(Executor& executor) : executor_{executor} {}
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

/// The settings as JSON, and `settings` changed by JSON fields. Error: kInvalid, naming the field.
Value to_value(const FaultSwitches::Settings& settings);
Result<FaultSwitches::Settings> changed(FaultSwitches::Settings settings, const Value& fields);

}  // namespace shiplog
