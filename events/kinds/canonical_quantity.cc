#include "events/kinds/canonical_quantity.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/quantity.h"

namespace shiplog {
namespace {

enum class Notation { kDecimal, kBinary, kExponent };

/// mantissa * 10^tens * 1024^kibis
struct Number {
  int64_t mantissa = 0;
  int64_t tens = 0;
  int kibis = 0;
  Notation notation = Notation::kDecimal;
};

/// The signed number in front of a suffix, which is left in `text`.
std::optional<Number> take_mantissa(std::string_view& text) {
  constexpr int kMostDigits = 15;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Number number;
  int digits = 0;
  bool any = false;
  bool point = false;
  for (; !text.empty() && (is_digit(text.front()) || (text.front() == '.' && !point)); text.remove_prefix(1)) {
    if (text.front() == '.') {
      point = true;
      continue;
    }
    any = true;
    if (digits > 0 || text.front() != '0') ++digits;
    if (digits > kMostDigits) return std::nullopt;
    number.mantissa = number.mantissa * 10 + (text.front() - '0');
    if (point) --number.tens;
  }
  if (!any) return std::nullopt;
  if (negative) number.mantissa = -number.mantissa;
  return number;
}

std::optional<Number> with_suffix(Number number, std::string_view suffix) {
  constexpr std::string_view kDecimal = "num kMGTPE";  // from 10^-9 on, in steps of a thousand
  constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.empty()) return number;
  if (suffix.size() == 1 && suffix != " ") {
    const size_t place = kDecimal.find(suffix.front());
    if (place == std::string_view::npos) return std::nullopt;
    number.tens += 3 * static_cast<int64_t>(place) - 9;
    return number;
  }
  if (suffix.size() == 2 && suffix.back() == 'i') {
    const size_t place = kBinary.find(suffix.front());
    if (place == std::string_view::npos) return std::nullopt;
    number.kibis = static_cast<int>(place) + 1;
    number.notation = Notation::kBinary;
    return number;
  }
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.size() > 1 && suffix.front() == '+' && is_digit(suffix[1])) suffix.remove_prefix(1);
  int64_t exponent = 0;
  const char* end = suffix.data() + suffix.size();
  const auto read = std::from_chars(suffix.data(), end, exponent);
  constexpr int64_t kFar = 100;
  if (read.ec != std::errc{} || read.ptr != end || exponent > kFar || exponent < -kFar) return std::nullopt;
  number.tens += exponent;
  number.notation = Notation::kExponent;
  return number;
}

/// nullopt: it has a finer fraction, or does not fit.
std::optional<Quantity> exactly(const Number& number) {
  constexpr Quantity::Int kMost = Quantity::Int{std::numeric_limits<int64_t>::max()} * 1000;
  Quantity::Int milli = number.mantissa;
  const auto times = [&](Quantity::Int factor) { return !__builtin_mul_overflow(milli, factor, &milli); };
  for (int i = 0; i < number.kibis; ++i) {
    if (!times(1024)) return std::nullopt;
  }
  int64_t tens = number.tens + 3;
  for (; tens > 0 && milli != 0; --tens) {
    if (!times(10) || milli > kMost || milli < -kMost) return std::nullopt;
  }
  for (; tens < 0 && milli != 0; ++tens) {
    if (milli % 10 != 0) return std::nullopt;
    milli /= 10;
  }
  if (milli > kMost || milli < -kMost) return std::nullopt;
  return Quantity::from_milli(milli);
}

std::string in_exponents(std::string decimal) {
  constexpr std::string_view kSuffixes = "m kMGTPE";
  const size_t place = decimal.empty() ? std::string_view::npos : kSuffixes.find(decimal.back());
  if (place == std::string_view::npos) return decimal;
  decimal.back() = 'e';
  return decimal + std::to_string(3 * static_cast<int>(place) - 3);
}

std::optional<std::string> canonical_text(std::string_view text) {
  auto number = take_mantissa(text);
  if (number) number = with_suffix(*number, text);
  const auto quantity = number ? exactly(*number) : std::nullopt;
  if (!quantity) return std::nullopt;
  if (number->notation == Notation::kBinary) return to_string(*quantity, QuantityFormat::kBinary);
  std::string decimal = to_string(*quantity);
  return number->notation == Notation::kExponent ? in_exponents(std::move(decimal)) : decimal;
}

std::optional<Value> canonicalized(const Schema& schema, const Value& value) {
  if (schema.format == "quantity") return canonical_quantity(value);
  if (value.is_array() && schema.items != nullptr) {
    std::optional<Value> result;
    for (size_t i = 0; i < value.size(); ++i) {
      auto item = canonicalized(*schema.items, value[i]);
      if (!item) continue;
      if (!result) result = value;
      result->edit_items()[i] = *std::move(item);
    }
    return result;
  }
  std::optional<Value> result;
  for (const auto& member : value.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    auto changed = below == nullptr ? std::nullopt : canonicalized(*below, member.value);
    if (!changed) continue;
    if (!result) result = value;
    result->set(member.key(), *std::move(changed));
  }
  return result;
}

}  // namespace

std::optional<Value> canonical_quantity(const Value& value) {
  if (!value.is_string() && !value.is_number()) return std::nullopt;
  std::string text = value.is_string() ? value.str() : to_json(value);
  auto canonical = canonical_text(text);
  if (!canonical) return value.is_number() ? std::optional{Value{std::move(text)}} : std::nullopt;
  if (value.is_string() && *canonical == text) return std::nullopt;
  return Value{*std::move(canonical)};
}

Result<Quantity> quantity_in(const Value& value) {
  return value.is_string() ? parse_quantity(value.as_string()) : parse_quantity(to_json(value));
}

Value with_canonical_quantities(const Schema& schema, Value value) {
  auto changed = canonicalized(schema, value);
  return changed ? *std::move(changed) : value;
}

}  // namespace shiplog
