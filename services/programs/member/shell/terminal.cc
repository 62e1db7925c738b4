#include "services/programs/member/shell/terminal.h"

namespace shiplog::member {
namespace {

constexpr char kInterrupt = 3;
constexpr char kEnd = 4;
constexpr char kBell = 7;
constexpr char kBackspace = 8;
constexpr char kKillLine = 21;
constexpr char kEscape = 27;
constexpr char kDelete = 127;

}  // namespace

std::string LineDiscipline::type(std::string_view keys) {
  std::string echo;
  for (const char key : keys) {
    if (key == '\r' || key == '\n') {
      ready_ += std::exchange(line_, {}) + "\n";
      echo += "\r\n";
    } else if (key == kInterrupt) {
      line_.clear();
      ready_.clear();
      interrupted_ = true;
      echo += "^C\r\n";
    } else if (key == kEnd) {
      ready_ += std::exchange(line_, {});
      ended_ = ended_ || ready_.empty();
    } else if (key == kBackspace || key == kDelete) {
      if (line_.empty()) continue;
      // A character of several bytes goes as a whole.
      while (line_.size() > 1 && (static_cast<unsigned char>(line_.back()) & 0xc0U) == 0x80U) line_.pop_back();
      line_.pop_back();
      echo += "\b \b";
    } else if (key == kKillLine) {
      for (size_t count = line_.size(); count > 0; --count) echo += "\b \b";
      line_.clear();
    } else if (key == kEscape || key == '\t') {
      echo += kBell;  // no history, no completion
    } else if (line_.size() < kMostHeld) {
      line_ += key;
      echo += key;
    }
  }
  return echo;
}

std::string LineDiscipline::shown(std::string_view text) {
  std::string with_returns;
  with_returns.reserve(text.size() + 8);
  for (const char c : text) {
    if (c == '\n') with_returns += '\r';
    with_returns += c;
  }
  return with_returns;
}

}  // namespace shiplog::member
