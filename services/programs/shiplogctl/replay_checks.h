#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "events/decision.h"
#include "services/programs/shiplogctl/replay.h"

namespace shiplog::ctl {

/// Decides again what `record` holds, on the state it was computed from.
DecidedAgain decide_again(const Decides& decides, const State& as_of, const ReplayRecord& record);

/// Whether an undecoded record holds exactly this decision. It is decoded then: `decision` has become its events.
bool take_if_same(ReplayRecord& record, Decision& decision);

/// Decodes the events of an undecoded record. Errors: those of decode().
Result<void> decode_events(ReplayRecord& record);

/// A difference of events, explanations or expectations from what `record`, which is decoded, was decided to be again;
/// nullopt: it is the same.
std::optional<Difference> difference_of(const ReplayRecord& record);

/// Events in short.
std::string described_events(const std::vector<Event>& events);

/// A difference without its two texts.
Difference difference_about(const ReplayRecord& record);

/// Compares decisions whose bytes are not those that are recorded, on a thread of its own, beside the fold.
class ReplayChecks {
 public:
  ReplayChecks() : thread_{[this] { run(); }} {}
  ~ReplayChecks();
  ReplayChecks(const ReplayChecks&) = delete;
  ReplayChecks& operator=(const ReplayChecks&) = delete;

  /// One that was decided again. Waits while many are not compared yet.
  void add(ReplayRecord record);
  /// The differences that were found since the last call, in the order of add().
  std::vector<Difference> found();
  /// The same, once all is compared.
  std::vector<Difference> finish();

 private:
  static constexpr size_t kBatch = 256;
  static constexpr size_t kBatches = 16;
  using Batch = std::vector<ReplayRecord>;

  void run();
  void hand_over();

  Batch filling_;  // of the thread that folds
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  std::vector<Difference> found_;
  bool comparing_ = false;
  bool stopping_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace shiplog::ctl
