#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace shiplog::member {

/// The line discipline of a terminal: what the user types is echoed and can be edited, and becomes input when the line
/// is finished. Threads: one.
class LineDiscipline {
 public:
  static constexpr size_t kMostHeld = 64 * 1024;

  /// Takes in what was typed, and returns what the terminal shows for it.
  std::string type(std::string_view keys);
  /// Finished lines.
  std::string take() { return std::exchange(ready_, {}); }
  size_t held_bytes() const { return ready_.size() + line_.size(); }
  /// The user has ended the input (^D on an empty line).
  bool ended() const { return ended_; }
  /// Whether ^C was typed since the last call.
  bool take_interrupt() { return std::exchange(interrupted_, false); }
  /// Newlines as a terminal needs them.
  static std::string shown(std::string_view text);

 private:
  std::string line_;
  std::string ready_;
  bool ended_ = false;
  bool interrupted_ = false;
};

}  // namespace shiplog::member
