#include "events/base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include "events/base/check.h"
#include "events/base/nano_quantity.h"
#include "events/base/utf8.h"

namespace shiplog {
namespace {

using Int = Quantity::Int;

constexpr Int kInt64Max = std::numeric_limits<int64_t>::max();
constexpr Int kMostBinary = kInt64Max;                                    // units
constexpr Int kMostDecimal = Int{1'000'000'000'000} * 1'000'000'000'000;  // units: room for sums
constexpr Int kMostMilli = ~(Int{1} << 127U);                             // and its negative, so that signs can turn

int64_t saturate(Int value) {
  constexpr Int kMin = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::clamp<Int>(value, kMin, kInt64Max));
}

Quantity bounded(bool overflow, Int value, bool negative) {
  if (overflow) return Quantity::from_milli(negative ? -kMostMilli : kMostMilli);
  return Quantity::from_milli(std::max(value, -kMostMilli));
}

// Away from zero, as apimachinery rounds: a little of a resource must never become none of it.
Int divide_away_from_zero(Int value, Int by) {
  const Int quotient = value / by;
  if (value % by == 0) return quotient;
  return value > 0 ? quotient + 1 : quotient - 1;
}

/// What a suffix multiplies by: 10^tens * 1024^kibis.
struct Scale {
  int64_t tens = 0;
  int kibis = 0;
};

std::optional<Scale> scale_of(std::string_view suffix) {
  constexpr std::string_view kLarge = "KMGTPE";
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const size_t power = kLarge.find(suffix[0]);
    if (power == std::string_view::npos) return std::nullopt;
    return Scale{0, static_cast<int>(power) + 1};
  }
  if (suffix.size() == 1) {
    switch (suffix[0]) {
      case 'n':
        return Scale{-9};
      case 'u':
        return Scale{-6};
      case 'm':
        return Scale{-3};
      case 'k':
        return Scale{3};
      default:
        break;
    }
    const size_t power = kLarge.find(suffix[0]);
    if (power == std::string_view::npos || power == 0) return std::nullopt;  // "K" is not "k"
    return Scale{3 * (static_cast<int64_t>(power) + 1)};
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
  std::string_view exponent = suffix.substr(1);
  if (exponent.size() > 1 && exponent[0] == '+' && exponent[1] != '-') exponent.remove_prefix(1);
  int64_t tens = 0;
  const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), tens);
  if (read.ec != std::errc{} || read.ptr != exponent.data() + exponent.size()) return std::nullopt;
  return Scale{tens};
}

// A decimal number as its digits and the place of its point, so that no scale loses any of it.
struct Decimal {
  std::vector<int> digits;
  int64_t point = 0;  // digits before the decimal point; may lie outside the digits

  void multiply(int factor) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      carry += *digit * factor;
      *digit = carry % 10;
      carry /= 10;
    }
    for (; carry != 0; carry /= 10, ++point) digits.insert(digits.begin(), carry % 10);
  }

  // The whole number, away from zero; capped at `most`.
  Int ceiling(Int most) const {
    Int whole = 0;
    bool rest = false;
    const auto count = static_cast<int64_t>(digits.size());
    for (int64_t index = 0; index < std::max(point, count); ++index) {
      const int digit = index < count ? digits[static_cast<size_t>(index)] : 0;
      if (index >= point) {
        rest = rest || digit != 0;
        continue;
      }
      if (whole == 0 && index >= count) break;  // zero, however many times ten
      whole = whole * 10 + digit;
      if (whole > most) return most;
    }
    // A point left of every digit: 0.000...
    if (point < 0) rest = std::any_of(digits.begin(), digits.end(), [](int digit) { return digit != 0; });
    return std::min<Int>(whole + (rest ? 1 : 0), most);
  }
};

/// The thousandths of a number with at most 12 digits and no point, and with no suffix, m, Ki, Mi or Gi, as nearly all
/// quantities are. nullopt: it has another form, or does not fit.
std::optional<int64_t> plain_milli(std::string_view text) {
  constexpr size_t kMostDigits = 12;
  int64_t number = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits == kMostDigits) return std::nullopt;
    number = number * 10 + (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  const std::string_view suffix = text.substr(digits);
  const auto times = [&](int64_t factor) -> std::optional<int64_t> {
    int64_t product = 0;
    if (__builtin_mul_overflow(number, factor, &product)) return std::nullopt;
    return product;
  };
  if (suffix.empty()) return times(1000);
  if (suffix == "m") return number;
  if (suffix == "Ki") return times(int64_t{1000} << 10U);
  if (suffix == "Mi") return times(int64_t{1000} << 20U);
  if (suffix == "Gi") return times(int64_t{1000} << 30U);
  return std::nullopt;
}

std::string digits_of(Int value) {
  if (value == 0) return "0";
  std::string text;
  const bool negative = value < 0;
  for (; value != 0; value /= 10) {
    const auto digit = static_cast<int>(value % 10);
    text += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

// Divides by `step` while it leaves a whole number and there is a suffix for it.
template <size_t kCount>
std::string with_suffix(Int value, int step, const std::array<const char*, kCount>& suffixes) {
  size_t power = 0;
  while (value != 0 && power + 1 < kCount && value % step == 0) {
    value /= step;
    ++power;
  }
  return digits_of(value) + suffixes[power];
}

/// The number in units of 10^-`places`.
Result<Int> parse_scaled(std::string_view text, int64_t places) {
  const auto wrong = [&] {
    return Error{ErrorCode::kBadRequest,
                 "quantity " + quoted(text) + " is not a number with an optional suffix such as 500m, 2, 1.5Gi or 1e3"};
  };
  std::string_view left = text;
  const bool negative = !left.empty() && left.front() == '-';
  if (!left.empty() && (left.front() == '-' || left.front() == '+')) left.remove_prefix(1);
  Decimal number;
  bool point = false;
  for (; !left.empty(); left.remove_prefix(1)) {
    const char c = left.front();
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      number.digits.push_back(c - '0');
      if (!point) ++number.point;
    } else {
      break;
    }
  }
  if (number.digits.empty()) return wrong();
  const auto scale = scale_of(left);
  if (!scale) return wrong();
  for (int i = 0; i < scale->kibis; ++i) number.multiply(1024);
  // Past these ends an exponent changes nothing any more: all capped, or all rounded to the smallest.
  const auto reach = static_cast<int64_t>(number.digits.size()) + 64;
  number.point += places + std::clamp(scale->tens, -reach, reach);
  Int most = scale->kibis > 0 ? kMostBinary : kMostDecimal;
  for (int64_t i = 0; i < places; ++i) most *= 10;
  const Int scaled = number.ceiling(most);
  return negative ? -scaled : scaled;
}

}  // namespace

int64_t Quantity::units() const { return saturate(divide_away_from_zero(milli_, 1000)); }

int64_t Quantity::milli() const { return saturate(milli_); }

Quantity Quantity::operator+(const Quantity& other) const {
  Int sum = 0;
  const bool overflow = __builtin_add_overflow(milli_, other.milli_, &sum);
  return bounded(overflow, sum, milli_ < 0);
}

Quantity Quantity::operator-(const Quantity& other) const {
  Int difference = 0;
  const bool overflow = __builtin_sub_overflow(milli_, other.milli_, &difference);
  return bounded(overflow, difference, milli_ < 0);
}

Quantity Quantity::operator*(int64_t times) const {
  Int product = 0;
  const bool overflow = __builtin_mul_overflow(milli_, Int{times}, &product);
  return bounded(overflow, product, (milli_ < 0) != (times < 0));
}

int64_t Quantity::divided_by(const Quantity& other) const {
  SHIPLOG_CHECK(other.milli_ > 0, "a quantity is divided by a positive one");
  const Int quotient = milli_ / other.milli_;
  return saturate(milli_ % other.milli_ < 0 ? quotient - 1 : quotient);
}

Result<Quantity> parse_quantity(std::string_view text) {
  if (const auto milli = plain_milli(text)) return Quantity::from_milli(*milli);
  SHIPLOG_TRY(const Int milli, parse_scaled(text, 3));
  return Quantity::from_milli(milli);
}

Result<Int> parse_nano_quantity(std::string_view text) { return parse_scaled(text, 9); }

QuantityFormat quantity_format(std::string_view text) {
  return text.ends_with('i') ? QuantityFormat::kBinary : QuantityFormat::kDecimal;
}

std::string to_string(const Quantity& quantity, QuantityFormat format) {
  constexpr std::array<const char*, 8> kDecimal = {"m", "", "k", "M", "G", "T", "P", "E"};
  constexpr std::array<const char*, 7> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (quantity.is_zero()) return "0";
  const Int milli = quantity.whole_milli();
  const bool large = milli >= 1024 * 1000 || milli <= -1024 * 1000;
  if (format == QuantityFormat::kBinary && large && milli % 1000 == 0) return with_suffix(milli / 1000, 1024, kBinary);
  return with_suffix(milli, 1000, kDecimal);
}

}  // namespace shiplog
