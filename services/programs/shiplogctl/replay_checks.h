#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "events/decision.h"
#include "services/programs/shiplogctl/replay.h"

namespace shiplog::ctl {

/// A record that was decided again, and what it was decided to be. The threads that fold and that help compare it with
/// the bytes that are recorded, whichever comes first.
struct DecidedComparison {
  enum Stage : uint8_t { kWaiting, kUnderWay, kOver };

  ReplayRecord* record = nullptr;  ///< while it is not over
  DecidedAgain decided = {};
  bool same = false;  ///< its bytes are those that are recorded; then `record` has the events of `decided`
  std::atomic<Stage> stage = kWaiting;
};

/// Compares, unless another thread has begun to. If the bytes are not the same, the record is decoded.
void compare(DecidedComparison& comparison);

/// Compares what `record` was decided to be, or waits for the thread that does. `record.again` is nullptr if it is the
/// same.
void finish_comparison(ReplayRecord& record);

/// Ends a comparison that is no longer needed: `record` may be destroyed then.
void abandon(DecidedComparison& comparison);

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
