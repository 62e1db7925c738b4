#include "tests/simulation/shrink.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace shiplog::simulation {

std::string manner_of(const std::string& failure) {
  std::istringstream words{failure};
  std::string manner;
  for (std::string word; words >> word;) {
    const bool plain = std::ranges::all_of(word, [](unsigned char letter) {
      return std::isalpha(letter) != 0 || letter == ':' || letter == ',' || letter == ';' || letter == '\'';
    });
    if (plain) manner += (manner.empty() ? "" : " ") + word;
  }
  // What follows is about the objects of that one world.
  return manner.substr(0, 60);
}

Shrunk shrink(const Script& script, const std::string& failure, Sabotage sabotage, size_t most_runs,
              const std::function<void(size_t steps)>& tried) {
  const std::string manner = manner_of(failure);
  Shrunk best{script, failure, 0};
  const auto fails = [&](const Script& candidate) {
    ++best.runs;
    const SimulationReport report = run(candidate, {.sabotage = sabotage});
    if (tried) tried(best.script.steps.size());
    if (!report.failure || manner_of(*report.failure) != manner) return false;
    best.failure = *report.failure;
    return true;
  };
  // Everything after the failure, and the time in which nothing happens, may be superfluous: that results by itself.
  size_t part = std::max<size_t>(1, best.script.steps.size() / 2);
  while (best.runs < most_runs) {
    bool less = false;
    for (size_t from = 0; from < best.script.steps.size() && best.runs < most_runs;) {
      Script candidate = best.script;
      const auto begin = candidate.steps.begin() + static_cast<std::ptrdiff_t>(from);
      const size_t count = std::min(part, candidate.steps.size() - from);
      candidate.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      if (fails(candidate)) {
        best.script = std::move(candidate);
        less = true;
      } else {
        from += count;
      }
    }
    if (part == 1 && !less) break;
    if (part > 1) part = std::max<size_t>(1, part / 2);
  }
  return best;
}

}  // namespace shiplog::simulation
