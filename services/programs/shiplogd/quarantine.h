#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "events/state/answers.h"
#include "services/interpreter/quarantine.h"
#include "services/roles/recorder/recorder.h"
#include "services/runtime/executor.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Records which functions of customizations are not run any more, in the customization's status. The role "lifecycle"
/// ends a quarantine when the spec changes. Threads: the fold thread; functions() from any.
class Quarantine final : public Observer {
 public:
  struct Options {
    Replica* record = nullptr;
    Recorder* recorder = nullptr;
    const Clock* clock = nullptr;
    std::string user_agent;
  };
  explicit Quarantine(Options options) : options_{std::move(options)} {}

  /// As ScriptResolver::Options::overran.
  void add(const Question& question, const interpreter::Overrun& overrun, std::function<void()> then);
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

  /// How many functions are in quarantine.
  uint64_t functions() const { return functions_.load(std::memory_order_relaxed); }

 private:
  Options options_;
  std::atomic<uint64_t> functions_{0};
};

}  // namespace shiplog
