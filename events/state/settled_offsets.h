#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shiplog {

/// Which records of one partition of a topic of requests are settled: all before a mark, and some behind it.
class SettledOffsets {
 public:
  /// First and last offset.
  using Range = std::pair<int64_t, int64_t>;
  /// Ranges behind the mark. Consumers keep far below this by not reading further ahead of what is committed.
  static constexpr size_t kMostRanges = 4096;

  SettledOffsets() = default;
  /// Reads what ranges() returned. Ranges that are not in order are merged.
  SettledOffsets(int64_t done_before, const std::vector<Range>& ranges);

  bool contains(int64_t offset) const;
  /// Another offset would need a range beyond kMostRanges.
  bool full(int64_t offset) const;
  void insert(int64_t offset);
  /// Everything before `done_before` is settled. A mark never falls.
  void raise(int64_t done_before);

  int64_t done_before() const { return done_before_; }
  /// Behind the newest offset that is known to be settled: a partition that ends before it is not the one it was.
  int64_t end() const { return ranges_.empty() ? done_before_ : ranges_.back().second + 1; }
  /// In order, none adjacent to the next, all behind the mark.
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const SettledOffsets&) const = default;

 private:
  int64_t done_before_ = 0;
  std::vector<Range> ranges_;
};

/// By topic and partition.
using SettledPartitions = std::map<std::pair<std::string, int32_t>, SettledOffsets>;

}  // namespace shiplog
