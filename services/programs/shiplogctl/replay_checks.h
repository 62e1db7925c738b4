#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "events/decision.h"
#include "services/programs/shiplogctl/replay.h"

namespace shiplog::ctl {

/// What a recorded decision is when it is made again: a Decision to compare it with, or why it cannot be made.
using DecidedAgain = std::variant<Decision, Difference>;

/// Decides again what `record` holds, on the state it was computed from.
DecidedAgain decide_again(const Decides& decides, const State& as_of, const ReplayRecord& record);

/// A difference of events, explanations or expectations; nullopt: it is the same.
std::optional<Difference> difference_of(const ReplayRecord& record, DecidedAgain again);

/// Events in short.
std::string described_events(const std::vector<Event>& events);

/// A difference without its two texts.
Difference difference_about(const ReplayRecord& record);

struct CheckedRecord {
  ReplayRecord record;
  std::optional<DecidedAgain> again;  ///< nullopt: it is no decision, or not one that is made again
};

/// Compares decisions, and frees records, on a thread of its own, beside the fold.
class ReplayChecks {
 public:
  ReplayChecks() : thread_{[this] { run(); }} {}
  ~ReplayChecks();
  ReplayChecks(const ReplayChecks&) = delete;
  ReplayChecks& operator=(const ReplayChecks&) = delete;

  /// Waits while many records are not compared yet.
  void add(CheckedRecord checked);
  /// The differences that were found since the last call, in the order of add().
  std::vector<Difference> found();
  /// The same, once all is compared.
  std::vector<Difference> finish();

 private:
  static constexpr size_t kBatch = 256;
  static constexpr size_t kBatches = 16;
  using Batch = std::vector<CheckedRecord>;

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
