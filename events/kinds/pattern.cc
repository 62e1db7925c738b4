#include "events/kinds/pattern.h"

#include <map>
#include <memory>
#include <mutex>

#include <re2/re2.h>

namespace shiplog {
namespace {

// RE2 takes linear time for every expression, whereas backtracking engines take as much time as the author of a hostile
// expression wants. Its syntax is that of Go's regexp, which the API server uses.
using Expression = std::shared_ptr<const RE2>;

/// Size limit of a compiled expression in bytes, which determines the cost per character.
constexpr int64_t kMostMemory = 1 << 20;

struct Cache {
  static constexpr size_t kMost = 1000;  // CustomResourceDefinitions change over time
  std::mutex mutex;
  std::map<std::string, Expression, std::less<>> expressions;
};

Cache& cache() {
  static Cache shared;
  return shared;
}

Expression compiled(const std::string& pattern, std::string* why) {
  const std::scoped_lock lock{cache().mutex};
  auto& known = cache().expressions;
  const auto found = known.find(pattern);
  if (found != known.end()) return found->second;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  auto made = std::make_shared<const RE2>(pattern, options);
  if (!made->ok()) {
    if (why != nullptr) *why = made->error();
    return nullptr;
  }
  if (known.size() >= Cache::kMost) known.clear();
  known.emplace(pattern, made);
  return made;
}

}  // namespace

bool is_pattern(const std::string& pattern, std::string* why) { return compiled(pattern, why) != nullptr; }

bool pattern_matches(const std::string& pattern, std::string_view text) {
  const Expression expression = compiled(pattern, nullptr);
  return expression != nullptr && RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, *expression);
}

}  // namespace shiplog
