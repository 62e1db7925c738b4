#include "tests/simulation/trace.h"

#include <cstdio>
#include <utility>

namespace shiplog::simulation {

void Trace::line(std::string_view actor, std::string_view text) {
  const int64_t at = (timeline_.now() - Timeline::kBegin).value;
  char time[32];
  std::snprintf(time, sizeof time, "%6lld.%03lld  ", static_cast<long long>(at / 1000),
                static_cast<long long>(at % 1000));
  std::string line = time;
  line += actor;
  line.append(actor.size() < 8 ? 8 - actor.size() : 1, ' ');
  line += text;
  digest_ = siphash128(to_string(digest_) + line);
  if (print_) std::printf("%s\n", line.c_str());
  tail_.push_back(std::move(line));
  if (tail_.size() > 60) tail_.pop_front();
}

void Trace::broken(std::string_view rule, std::string text) {
  const std::string what = std::string{rule} + ": " + std::move(text);
  line("BROKEN", what);
  if (!failure_) failure_ = what;
}

}  // namespace shiplog::simulation
