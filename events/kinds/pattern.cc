#include "events/kinds/pattern.h"

#include <map>
#include <memory>
#include <mutex>

#include <boost/regex.hpp>

namespace shiplog {
namespace {

// Boost's engine and not <regex>: libstdc++ recurses once a character, so that a long string would end the process.
using Expression = std::shared_ptr<const boost::regex>;

struct Cache {
  static constexpr size_t kMost = 1000;  // CustomResourceDefinitions come and go
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
  Expression made;
  try {
    made = std::make_shared<const boost::regex>(pattern, boost::regex::perl | boost::regex::no_mod_m);
  } catch (const std::runtime_error& error) {
    if (why != nullptr) *why = error.what();
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
  if (expression == nullptr) return false;
  try {
    return boost::regex_search(text.begin(), text.end(), *expression);
  } catch (const std::runtime_error&) {
    return false;  // the engine's bound on work
  }
}

}  // namespace shiplog
