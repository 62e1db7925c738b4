#include "services/programs/repeated_lines.h"

#include <utility>

namespace shiplog {
namespace {

constexpr std::chrono::seconds kRepeatAfter{60};
constexpr size_t kMostLines = 500;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "(after 52ms, 3 identical" -> "(after #ms, # identical"; the numbers of an address or a topic's name stay.
std::string without_counts(std::string_view line) {
  std::string text;
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    while (end < line.size() && is_digit(line[end])) ++end;
    const bool begins_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == '(';
    const bool is_count = end > at && begins_word && (end == line.size() || line[end] == ' ' || line[end] == 'm');
    if (is_count) text += '#';
    if (end == at) ++end;
    if (!is_count) text += line.substr(at, end - at);
    at = end;
  }
  return text;
}

}  // namespace

bool RepeatedLines::is_new(std::string_view line, Time now) {
  std::string text = without_counts(line);
  const std::lock_guard lock{mutex_};
  if (logged_.size() >= kMostLines) {
    std::erase_if(logged_, [&](const auto& other) { return now - other.second >= kRepeatAfter; });
    if (logged_.size() >= kMostLines) logged_.clear();
  }
  const auto [found, added] = logged_.try_emplace(std::move(text), now);
  if (!added && now - found->second < kRepeatAfter) return false;
  found->second = now;
  return true;
}

}  // namespace shiplog
