#pragma once

#include <chrono>
#include <cstddef>

namespace shiplog::api {

/// When statements may begin, so that there are moments in which none reads: only then can SQLite start the
/// projection's write-ahead log over, which would grow without end under statements that overlap. Threads: one at a
/// time.
class ReadingTurns {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Beyond this, statements that read without a break are joined by no other.
  static constexpr std::chrono::milliseconds kLongestTogether{10'000};
  /// The break, for the writer to notice: it tries with every batch.
  static constexpr std::chrono::milliseconds kBreak{200};

  bool may_begin(Time now) const {
    if (running_ > 0) return now - since_ < kLongestTogether;
    return now >= free_at_;
  }
  void begin(Time now) {
    if (running_++ == 0) since_ = now;
  }
  void end(Time now) {
    if (--running_ > 0) return;
    // Short ones leave gaps by themselves.
    free_at_ = now - since_ < kLongestTogether ? now : now + kBreak;
  }

 private:
  size_t running_ = 0;
  Time since_, free_at_;
};

}  // namespace shiplog::api
