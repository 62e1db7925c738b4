#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/hash.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// What happened, line by line, and the first rule that was broken.
class Trace {
 public:
  Trace(const Timeline& timeline, bool print) : timeline_{timeline}, print_{print} {}

  void line(std::string_view actor, std::string_view text);
  /// `rule` is one word: "hash", "lost", "twice", "fence", "quota", "replay", "idle", "converge", ...
  void broken(std::string_view rule, std::string text);

  const std::optional<std::string>& failure() const { return failure_; }
  /// Of all lines so far: equal for equal runs.
  Hash128 digest() const { return digest_; }
  /// The newest lines.
  const std::deque<std::string>& tail() const { return tail_; }

 private:
  const Timeline& timeline_;
  bool print_;
  Hash128 digest_;
  std::deque<std::string> tail_;
  std::optional<std::string> failure_;
};

}  // namespace shiplog::simulation
