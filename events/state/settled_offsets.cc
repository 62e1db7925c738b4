#include "events/state/settled_offsets.h"

#include <algorithm>

namespace shiplog {
namespace {

/// The first range that ends at `offset` or later.
auto find_range(auto& ranges, int64_t offset) {
  return std::ranges::lower_bound(ranges, offset, {}, &SettledOffsets::Range::second);
}

}  // namespace

SettledOffsets::SettledOffsets(int64_t done_before, const std::vector<Range>& ranges) : done_before_{done_before} {
  ranges_ = ranges;
  std::ranges::sort(ranges_);
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().second + 1) {
      merged.back().second = std::max(merged.back().second, range.second);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
  raise(done_before);
}

bool SettledOffsets::contains(int64_t offset) const {
  if (offset < done_before_) return true;
  const auto range = find_range(ranges_, offset);
  return range != ranges_.end() && range->first <= offset;
}

bool SettledOffsets::full(int64_t offset) const {
  if (ranges_.size() < kMostRanges || contains(offset)) return false;
  const auto next = find_range(ranges_, offset);
  const bool extends_next = next != ranges_.end() && next->first == offset + 1;
  const bool extends_previous = next != ranges_.begin() && std::prev(next)->second == offset - 1;
  return !extends_next && !extends_previous;
}

void SettledOffsets::insert(int64_t offset) {
  if (contains(offset)) return;
  auto next = find_range(ranges_, offset);
  const bool extends_next = next != ranges_.end() && next->first == offset + 1;
  const bool extends_previous = next != ranges_.begin() && std::prev(next)->second == offset - 1;
  if (extends_next && extends_previous) {
    std::prev(next)->second = next->second;
    ranges_.erase(next);
  } else if (extends_next) {
    next->first = offset;
  } else if (extends_previous) {
    std::prev(next)->second = offset;
  } else {
    ranges_.insert(next, {offset, offset});
  }
}

void SettledOffsets::raise(int64_t done_before) {
  done_before_ = std::max(done_before_, done_before);
  const auto first = find_range(ranges_, done_before_);
  ranges_.erase(ranges_.begin(), first);
  if (!ranges_.empty()) ranges_.front().first = std::max(ranges_.front().first, done_before_);
}

}  // namespace shiplog
