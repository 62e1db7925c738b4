#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

/// How much of a journal is kept: what is younger than an age, or the newest bytes. At most one is set.
struct JournalRetention {
  std::optional<Millis> age = {};
  std::optional<uint64_t> bytes = {};
  bool keeps_all() const { return !age && !bytes; }
};

/// "6h", "30d", "50Gi", "none". Error: kInvalid, naming the option.
Result<JournalRetention> parse_journal_retention(const std::string& option, std::string_view text);
/// An age that nothing reaches.
inline constexpr Millis kForEver{int64_t{1} << 50};
/// "6h", "30d", "none" (nullopt). Error: kInvalid, naming the option.
Result<std::optional<Millis>> parse_age(const std::string& option, std::string_view text);

/// Finds where a journal may be trimmed: a table of some of its records, which grows as the journal is read.
class TrimPoints {
 public:
  /// The next record, in order. The time of its entry is asked for only when the table gets a row.
  template <class TimeOf>
  void add(Offset offset, size_t bytes, const TimeOf& time_of) {
    if (records_++ % kEvery == 0) marks_.push_back({offset, time_of(), bytes_});
    bytes_ += bytes;
  }
  /// Everything before it may go: it is older than the age, or beyond the newest bytes. Offset{0}: nothing may.
  /// `keep_from`: records from this time on stay whatever their age, but for the difference of the processes' clocks.
  Offset point(const JournalRetention& retention, UtcMillis now, std::optional<UtcMillis> keep_from = {}) const;
  /// Forgets what was trimmed.
  void trimmed(Offset before);

 private:
  static constexpr uint64_t kEvery = 64;
  struct Mark {
    Offset offset;
    UtcMillis time;
    uint64_t bytes_before;
  };
  std::deque<Mark> marks_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;  ///< of all records read
};

}  // namespace shiplog
