#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shiplog::interpreter::lua {

/// Lua's patterns (Lua 5.1 manual, 5.4.1), matched under a limit: a pattern with several repetitions may take
/// exponential time, and Lua's own matcher cannot be interrupted.
class Pattern {
 public:
  /// Thrown for an invalid pattern, with the reason.
  struct Malformed {
    std::string why;
  };
  /// Thrown when the limit is reached.
  struct TooLong {};

  struct Capture {
    size_t at = 0;
    size_t length = 0;
    enum class Kind { kOpen, kText, kPosition } kind = Kind::kOpen;
  };

  /// `steps` is counted down; at 0 the match is abandoned. All three arguments must outlive this object.
  Pattern(std::string_view text, std::string_view pattern, int64_t& steps)
      : text_{text}, pattern_{pattern}, steps_{steps} {}

  static constexpr size_t kNoMatch = static_cast<size_t>(-1);
  /// Matches exactly at `at`, from the pattern's position `from` on. Returns the end of the match, or kNoMatch.
  size_t match(size_t at, size_t from = 0);

  size_t captures() const { return count_; }
  const Capture& capture(size_t index) const { return captures_[index]; }

 private:
  static constexpr size_t kMostCaptures = 32;
  static constexpr int kDeepest = 200;

  size_t run(size_t at, size_t p, int depth);
  void step();
  void spend(size_t bytes) const;
  size_t item_end(size_t p) const;
  bool single(size_t at, size_t p, size_t end) const;
  bool in_set(unsigned char c, size_t p, size_t end) const;
  size_t longest(size_t at, size_t p, size_t end, int depth);
  size_t shortest(size_t at, size_t p, size_t end, int depth);
  size_t open(size_t at, size_t p, Capture::Kind kind, int depth);
  size_t close(size_t at, size_t p, int depth);
  size_t balanced(size_t at, size_t p) const;
  size_t repeated(size_t at, char digit);

  std::string_view text_, pattern_;
  int64_t& steps_;
  std::array<Capture, kMostCaptures> captures_;
  size_t count_ = 0;
};

}  // namespace shiplog::interpreter::lua
