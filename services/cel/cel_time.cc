#include "services/cel/cel_time.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>

#include "events/base/go_duration.h"
#include "events/base/utf8.h"

namespace shiplog::cel {
namespace {

constexpr int64_t kFirstSecond = -62135596800;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59Z
constexpr int64_t kNanosOfSecond = 1'000'000'000;

/// Reads a text from its front.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : rest_{text} {}
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool digits(size_t count, int& into) {
    if (rest_.size() < count) return false;
    into = 0;
    for (size_t i = 0; i < count; ++i) {
      if (std::isdigit(static_cast<unsigned char>(rest_[i])) == 0) return false;
      into = into * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }
  /// ".25": digits beyond the ninth are cut off.
  bool fraction(int32_t& nanos) {
    int32_t unit = 100'000'000;
    size_t at = 0;
    for (; at < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[at])) != 0; ++at) {
      nanos += (rest_[at] - '0') * unit;
      unit /= 10;
    }
    rest_.remove_prefix(at);
    return at > 0;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Error no_timestamp(std::string_view text) { return {ErrorCode::kBadRequest, quoted(text) + " is no time of RFC 3339"}; }

}  // namespace

std::optional<CelTimestamp> checked_timestamp(int64_t seconds, int64_t nanos) {
  seconds += nanos / kNanosOfSecond;
  nanos %= kNanosOfSecond;
  if (nanos < 0) {
    nanos += kNanosOfSecond;
    --seconds;
  }
  if (seconds < kFirstSecond || seconds > kLastSecond) return std::nullopt;
  return CelTimestamp{seconds, static_cast<int32_t>(nanos)};
}

Result<CelTimestamp> parse_cel_timestamp(std::string_view text) {
  TimeText in{text};
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int32_t nanos = 0;
  if (!in.digits(4, year) || !in.take('-') || !in.digits(2, month) || !in.take('-') || !in.digits(2, day)) {
    return no_timestamp(text);
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || year == 0) return no_timestamp(text);
  int64_t seconds = std::chrono::sys_days{date}.time_since_epoch().count() * int64_t{86400};
  if (in.empty()) return CelTimestamp{seconds, 0};
  if ((!in.take('T') && !in.take('t')) || !in.digits(2, hour) || !in.take(':') || !in.digits(2, minute) ||
      !in.take(':') || !in.digits(2, second) || hour > 23 || minute > 59 || second > 59) {
    return no_timestamp(text);
  }
  if (in.take('.') && !in.fraction(nanos)) return no_timestamp(text);
  seconds += hour * 3600 + minute * 60 + second;
  if (!in.take('Z') && !in.take('z')) {
    const bool east = in.take('+');
    if (!east && !in.take('-')) return no_timestamp(text);
    int hours = 0, minutes = 0;
    if (!in.digits(2, hours) || !in.take(':') || !in.digits(2, minutes) || hours > 23 || minutes > 59) {
      return no_timestamp(text);
    }
    const int offset = hours * 3600 + minutes * 60;
    seconds += east ? -offset : offset;
  }
  const auto checked = checked_timestamp(seconds, nanos);
  if (!in.empty() || !checked) return no_timestamp(text);
  return *checked;
}

Result<CelDuration> parse_cel_duration(std::string_view text) {
  const auto nanoseconds = parse_go_duration(text);
  if (!nanoseconds) {
    return Error{ErrorCode::kBadRequest, "time: invalid duration " + quoted(text)};
  }
  return CelDuration{*nanoseconds};
}

std::string cel_timestamp_text(CelTimestamp at) {
  const int64_t days = at.seconds >= 0 ? at.seconds / 86400 : (at.seconds - 86399) / 86400;
  const auto in_day = static_cast<int>(at.seconds - days * 86400);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), in_day / 3600, in_day / 60 % 60,
                in_day % 60);
  std::string out = text.data();
  if (at.nanos != 0) {
    std::snprintf(text.data(), text.size(), ".%09d", at.nanos);
    out += text.data();
    while (out.back() == '0') out.pop_back();
  }
  return out + "Z";
}

std::string cel_duration_text(CelDuration duration) {
  const bool negative = duration.nanos < 0;
  const uint64_t nanos = negative ? 0 - static_cast<uint64_t>(duration.nanos) : static_cast<uint64_t>(duration.nanos);
  std::string text = (negative ? "-" : "") + std::to_string(nanos / static_cast<uint64_t>(kNanosOfSecond));
  if (const auto fraction = nanos % static_cast<uint64_t>(kNanosOfSecond); fraction != 0) {
    std::string digits = std::to_string(fraction);
    text += "." + std::string(9 - digits.size(), '0') + digits;
    while (text.back() == '0') text.pop_back();
  }
  return text + "s";
}

}  // namespace shiplog::cel
