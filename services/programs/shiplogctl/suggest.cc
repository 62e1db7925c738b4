#include "services/programs/shiplogctl/suggest.h"

#include <algorithm>
#include <numeric>

namespace shiplog::ctl {
namespace {

/// The number of edits (insert, delete, replace, transpose) from one word to the other.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before_last(to.size() + 1);
  std::vector<size_t> last(to.size() + 1);
  std::vector<size_t> row(to.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  constexpr size_t kLongest = 64;  // longer words are not typing errors
  if (word.empty() || word.size() > kLongest) return "";
  std::string best;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const size_t edits = begins ? 1 : distance(word, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  const std::string suggestion = nearest(word, words);
  return suggestion.empty() ? "" : "; did you mean \"" + suggestion + "\"?";
}

}  // namespace shiplog::ctl
