#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "services/runtime/folded_batch.h"

namespace shiplog {

class Projections;

/// Writes these batches, oldest first, in one transaction. Errors: those of Projections::apply().
Result<void> write_batches(Projections& projections, const std::vector<std::shared_ptr<const FoldedBatch>>& batches);

/// What is folded and answered, but not in the projection yet. A thread of its own writes it some milliseconds later,
/// so that the writes of a client which sends one after the other share a transaction. Who reads the projection calls
/// flush() first, and so sees everything that was answered. What a crash loses is folded again from the journal.
/// Nothing is written after what could not be.
/// Threads: any.
class ProjectionQueue {
 public:
  struct Options {
    std::string name;  ///< of the journal, in metrics
    Projections* projections = nullptr;
    std::chrono::milliseconds longest{50};  ///< an entry waits
    size_t enough = 128;                    ///< so many entries are written at once
    size_t enough_bytes = size_t{4} << 20U;
    size_t most = 1024;  ///< see has_room()
  };
  explicit ProjectionQueue(Options options);
  /// As stop().
  ~ProjectionQueue();
  ProjectionQueue(const ProjectionQueue&) = delete;
  ProjectionQueue& operator=(const ProjectionQueue&) = delete;

  /// Calls back once, on any thread, when something cannot be written. To be called before add().
  void when_failed(std::function<void(const Error&)> failed);

  /// Of one thread: the batches are in the order of the journal.
  void add(std::shared_ptr<const FoldedBatch> batch);
  /// Fewer than `most` entries wait.
  bool has_room() const;
  /// Calls back as soon as that holds: here, or on the thread that writes. Never after a failure.
  void when_room(std::function<void()> then);

  /// The newest change of an object among what waits.
  struct Waiting {
    std::shared_ptr<const Change> change;  ///< nullptr: none waits, so that the projection has its newest version
    bool known = true;                     ///< false: too much waits to look through, or it cannot be written
  };
  Waiting waiting(const ObjectKey& object) const;

  /// Returns when everything that was added before is in the projection, and writes it if no other thread does. Errors:
  /// something could not be written.
  Result<void> flush();
  /// Runs this while nothing else writes the projection, after everything that was added before.
  template <class F>
  auto with_projection(F&& use) -> decltype(use(std::declval<Projections&>())) {
    const Writing writing{*this};
    SHIPLOG_TRY(write_waiting());
    return use(*options_.projections);
  }

  /// Writes what waits, and ends the thread.
  void stop();

 private:
  struct Impl;
  /// Held by the one thread that writes.
  class Writing {
   public:
    explicit Writing(ProjectionQueue& queue);
    ~Writing();
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

   private:
    Impl& impl_;
  };
  Result<void> write_waiting();
  void run();

  const Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
