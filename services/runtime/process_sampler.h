#pragma once

#include <functional>
#include <memory>

#include "services/runtime/executor.h"
#include "services/runtime/process_figures.h"

namespace shiplog {

/// Takes the figures of this process once a second. Threads: now() any; the rest the executor.
class ProcessSampler {
 public:
  struct Options {
    Executor* executor = nullptr;
    std::function<uint64_t()> entries_folded;         ///< since the start
    std::function<std::vector<RoleFigures>()> roles;  ///< called on the executor
    Millis every{1000};
    size_t samples = 10;  ///< of the rate
  };
  explicit ProcessSampler(Options options);

  void start();
  /// `started`, the rate and the roles. Before the first sample: zeros.
  ProcessFigures now() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
