#include "events/kinds/pattern.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>

#include <re2/re2.h>

namespace shiplog {
namespace {

// RE2 takes linear time for every expression, whereas backtracking engines take as much time as the author of a hostile
// expression wants. Its syntax is that of Go's regexp, which the API server uses.
using Expression = std::shared_ptr<const RE2>;

size_t bytes_of(const RE2& expression) {
  constexpr size_t kInstruction = 16;
  return static_cast<size_t>(expression.ProgramSize()) * kInstruction;
}

/// The expressions that were used last: CustomResourceDefinitions change over time.
class PatternCache {
 public:
  Expression find(std::string_view pattern) {
    const std::scoped_lock lock{mutex_};
    const auto found = by_pattern_.find(pattern);
    if (found == by_pattern_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().expression;
  }

  void add(const std::string& pattern, Expression expression) {
    const std::scoped_lock lock{mutex_};
    if (by_pattern_.contains(pattern)) return;  // another thread was faster
    const size_t bytes = kOverhead + pattern.size() + bytes_of(*expression);
    entries_.push_front({pattern, std::move(expression), bytes});
    by_pattern_.emplace(entries_.front().pattern, entries_.begin());
    bytes_ += bytes;
    while (bytes_ > kMostBytes || entries_.size() > kMostEntries) forget_oldest();
  }

 private:
  static constexpr size_t kMostBytes = 32U << 20U;
  static constexpr size_t kMostEntries = 1000;  // each may use more memory while it matches
  static constexpr size_t kOverhead = 1024;

  struct Entry {
    std::string pattern;
    Expression expression;
    size_t bytes = 0;
  };

  void forget_oldest() {
    bytes_ -= entries_.back().bytes;
    by_pattern_.erase(entries_.back().pattern);
    entries_.pop_back();
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  size_t bytes_ = 0;
  std::map<std::string_view, std::list<Entry>::iterator> by_pattern_;  // whose texts are those of the entries
};

/// nullptr: it is not valid.
Expression compiled(const std::string& pattern, std::string* why) {
  static PatternCache cache;
  if (Expression known = cache.find(pattern)) return known;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<int64_t>(kMostPatternBytes));
  // While no lock is held: it may take milliseconds.
  auto made = std::make_shared<const RE2>(pattern, options);
  if (!made->ok()) {
    if (why != nullptr) *why = made->error();
    return nullptr;
  }
  cache.add(pattern, made);
  return made;
}

}  // namespace

bool is_pattern(const std::string& pattern, std::string* why) { return compiled(pattern, why) != nullptr; }

std::optional<size_t> pattern_bytes(const std::string& pattern, std::string* why) {
  const Expression expression = compiled(pattern, why);
  return expression == nullptr ? std::nullopt : std::optional{bytes_of(*expression)};
}

bool pattern_matches(const std::string& pattern, std::string_view text) {
  const Expression expression = compiled(pattern, nullptr);
  return expression != nullptr && RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, *expression);
}

}  // namespace shiplog
