#include "services/cel/cel_time.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>

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

Error no_timestamp(std::string_view text) {
  return {ErrorCode::kBadRequest, "\"" + std::string{text} + "\" is no time of RFC 3339"};
}

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
  const Error wrong{ErrorCode::kBadRequest, "time: invalid duration \"" + std::string{text} + "\""};
  std::string_view rest = text;
  const bool negative = rest.starts_with("-");
  if (negative || rest.starts_with("+")) rest.remove_prefix(1);
  if (rest == "0") return CelDuration{0};
  if (rest.empty()) return wrong;
  static constexpr std::array<std::pair<std::string_view, int64_t>, 8> kUnits = {{{"ns", 1},
                                                                                  {"us", 1000},
                                                                                  {"\u00b5s", 1000},
                                                                                  {"\u03bcs", 1000},
                                                                                  {"ms", 1'000'000},
                                                                                  {"s", kNanosOfSecond},
                                                                                  {"m", 60 * kNanosOfSecond},
                                                                                  {"h", 3600 * kNanosOfSecond}}};
  __extension__ typedef __int128 Wide;  // an alias declaration takes no __extension__ with -Wpedantic
  Wide total = 0;
  while (!rest.empty()) {
    Wide number = 0;
    Wide scale = 1;
    size_t at = 0;
    bool digits = false;
    bool point = false;
    for (; at < rest.size() && (rest[at] == '.' || std::isdigit(static_cast<unsigned char>(rest[at])) != 0); ++at) {
      if (rest[at] == '.') {
        if (point) return wrong;
        point = true;
        continue;
      }
      digits = true;
      // Digits of a fraction below a nanosecond of any unit do not count.
      if (point && scale >= Wide{1'000'000'000'000'000}) continue;
      number = number * 10 + (rest[at] - '0');
      if (point) scale *= 10;
      if (number > (Wide{1} << 80)) return wrong;
    }
    if (!digits) return wrong;
    rest.remove_prefix(at);
    int64_t unit = 0;
    size_t longest = 0;
    for (const auto& [name, nanos] : kUnits) {
      if (rest.starts_with(name) && name.size() > longest) {
        longest = name.size();
        unit = nanos;
      }
    }
    if (unit == 0) return wrong;
    rest.remove_prefix(longest);
    total += number * unit / scale;
    if (total > (Wide{1} << 63)) return wrong;
  }
  if (total == (Wide{1} << 63) && !negative) return wrong;
  return CelDuration{static_cast<int64_t>(negative ? -total : total)};
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
