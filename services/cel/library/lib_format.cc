#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "events/base/utf8.h"
#include "services/cel/cel_time.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/go_text.h"
#include "services/cel/library/libraries.h"

// "...".format([...]). Source: cel-go, ext/formatting.go, whose clauses %f and %e are written without a language's
// separators, as cel-spec has it.

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

constexpr int64_t kMostPrecision = 100;

/// What a clause makes of an argument; Error: kInvalid, in cel-go's words.
using Text = Result<std::string>;

Error wrong(const std::string& why, const CelValue& value) {
  const char* protobuf = value.is(Kind::kDuration)    ? "google.protobuf.Duration"
                         : value.is(Kind::kTimestamp) ? "google.protobuf.Timestamp"
                                                      : nullptr;
  return {ErrorCode::kInvalid, why + ", was given " + (protobuf == nullptr ? value.type_of().text() : protobuf)};
}

std::string printed(const char* form, double value, int64_t precision) {
  std::string out(static_cast<size_t>(precision) + 340, '\0');
  const int size = std::snprintf(out.data(), out.size(), form, static_cast<int>(precision), value);
  out.resize(static_cast<size_t>(std::max(size, 0)));
  return out;
}

Text plain(const CelValue& value, CelMeter& meter);

/// An item of a list or map, as an expression would have it.
Text literal(const CelValue& value, CelMeter& meter) {
  switch (value.kind()) {
    case Kind::kString:
      return go_quoted(value.as_string());
    case Kind::kBytes:
      return "b" + go_quoted(value.as_string());
    case Kind::kTimestamp:
      return "timestamp(" + go_quoted(cel_timestamp_text(value.as_timestamp())) + ")";
    case Kind::kDuration:
      return "duration(" + go_quoted(cel_duration_text(value.as_duration())) + ")";
    case Kind::kDouble:
      if (!std::isfinite(value.as_double())) return go_quoted(go_double(value.as_double()));
      return printed("%.*f", value.as_double(), 6);
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kType:
    case Kind::kOptional:
    case Kind::kExtension:
    case Kind::kError:
      return plain(value, meter);
  }
  return plain(value, meter);
}

Error too_long() { return {ErrorCode::kInvalid, "the text is too long"}; }

Text list_text(const CelList& list, CelMeter& meter) {
  const CelDescent descent{meter};
  if (!affordable(meter, 1)) return too_long();
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    SHIPLOG_TRY(const std::string item, literal(list.at(i), meter));
    if (!affordable(meter, 1 + item.size() / 10)) return too_long();
    out += (i == 0 ? "" : ", ") + item;
  }
  return out + "]";
}

Text map_text(const CelMap& map, CelMeter& meter) {
  const CelDescent descent{meter};
  if (!affordable(meter, 1 + map.size() / kItemsOfUnit)) return too_long();
  std::vector<std::pair<std::string, std::string>> entries;
  for (const CelValue& key : map.keys()) {
    const bool fits = key.is(Kind::kString) || key.is(Kind::kBool) || key.is(Kind::kInt) || key.is(Kind::kUint);
    if (!fits) {
      return Error{ErrorCode::kInvalid, "no formatting function for map key of type " + key.type_of().text()};
    }
    const auto value = map.find(key);
    if (!value) continue;
    SHIPLOG_TRY(std::string key_text, literal(key, meter));
    SHIPLOG_TRY(std::string value_text, literal(*value, meter));
    if (!affordable(meter, 1 + (key_text.size() + value_text.size()) / 10)) return too_long();
    entries.emplace_back(std::move(key_text), std::move(value_text));
  }
  std::ranges::sort(entries);
  std::string out = "{";
  for (const auto& [key, value] : entries) out += (out.size() == 1 ? "" : ", ") + key + ":" + value;
  return out + "}";
}

/// %s
Text plain(const CelValue& value, CelMeter& meter) {
  switch (value.kind()) {
    case Kind::kNull:
      return std::string{"null"};
    case Kind::kBool:
      return std::string{value.as_bool() ? "true" : "false"};
    case Kind::kInt:
      return std::to_string(value.as_int());
    case Kind::kUint:
      return std::to_string(value.as_uint());
    case Kind::kDouble:
      return go_double(value.as_double());
    case Kind::kString:
      return std::string{value.as_string()};
    case Kind::kBytes:
      if (!is_utf8(value.as_string())) return Error{ErrorCode::kInvalid, "could not convert argument to string"};
      return std::string{value.as_string()};
    case Kind::kTimestamp:
      return cel_timestamp_text(value.as_timestamp());
    case Kind::kDuration:
      return cel_duration_text(value.as_duration());
    case Kind::kType:
      return value.as_type().text();
    case Kind::kList:
      return list_text(value.as_list(), meter);
    case Kind::kMap:
      return map_text(value.as_map(), meter);
    case Kind::kOptional:
    case Kind::kExtension:
    case Kind::kError:
      break;
  }
  return wrong(
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
      "and timestamps",
      value);
}

Text decimal(const CelValue& value) {
  if (value.is(Kind::kInt)) return std::to_string(value.as_int());
  if (value.is(Kind::kUint)) return std::to_string(value.as_uint());
  return wrong("decimal clause can only be used on integers", value);
}

/// A whole number in base 2, 8 or 16.
std::string in_base(uint64_t number, bool negative, unsigned base, bool upper) {
  // A name for them: GCC 12 with sanitizers reads beyond a literal that is chosen and indexed at once.
  const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  do {
    out += digits[number % base];
    number /= base;
  } while (number > 0);
  if (negative) out += '-';
  std::ranges::reverse(out);
  return out;
}

std::optional<std::string> number_in_base(const CelValue& value, unsigned base, bool upper) {
  if (value.is(Kind::kUint)) return in_base(value.as_uint(), false, base, upper);
  if (!value.is(Kind::kInt)) return std::nullopt;
  const bool negative = value.as_int() < 0;
  const auto bits = static_cast<uint64_t>(value.as_int());
  return in_base(negative ? 0 - bits : bits, negative, base, upper);
}

Text binary(const CelValue& value) {
  if (value.is(Kind::kBool)) return std::string{value.as_bool() ? "1" : "0"};
  if (auto number = number_in_base(value, 2, false)) return *std::move(number);
  return wrong("only integers and bools can be formatted as binary", value);
}

Text octal(const CelValue& value) {
  if (auto number = number_in_base(value, 8, false)) return *std::move(number);
  return wrong("octal clause can only be used on integers", value);
}

Text hex(const CelValue& value, bool upper) {
  if (auto number = number_in_base(value, 16, upper)) return *std::move(number);
  if (!value.is(Kind::kString) && !value.is(Kind::kBytes)) {
    return wrong("only integers, byte buffers, and strings can be formatted as hex", value);
  }
  const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  for (const char c : value.as_string()) {
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 0xFU];
  }
  return out;
}

/// %f and %e, which also take the names of what is no finite number.
Text fraction(const CelValue& value, const char* form, const char* clause, int64_t precision) {
  if (value.is(Kind::kString)) {
    for (const char* name : {"NaN", "Infinity", "-Infinity"}) {
      if (value.as_string() == name) return std::string{name};
    }
  }
  if (!value.is(Kind::kDouble)) return wrong(std::string{clause} + " clause can only be used on doubles", value);
  const double number = value.as_double();
  if (std::isnan(number)) return std::string{"NaN"};
  if (std::isinf(number)) return std::string{number > 0 ? "Infinity" : "-Infinity"};
  return printed(form, number, precision);
}

Text clause_text(char clause, int64_t precision, const CelValue& value, CelMeter& meter) {
  switch (clause) {
    case 's':
      return plain(value, meter);
    case 'd':
      return decimal(value);
    case 'f':
      return fraction(value, "%.*f", "fixed-point", precision);
    case 'e':
      return fraction(value, "%.*e", "scientific", precision);
    case 'b':
      return binary(value);
    case 'o':
      return octal(value);
    case 'x':
      return hex(value, false);
    default:
      return hex(value, true);
  }
}

/// Of "%.3f": 3, and what is left of the text. Error: in cel-go's words.
Result<int64_t> take_precision(std::string_view& text) {
  constexpr int64_t kDefault = 6;
  if (!text.starts_with('.')) return kDefault;
  text.remove_prefix(1);
  const size_t end = text.find_first_not_of("0123456789");
  if (end == std::string_view::npos) {
    return Error{ErrorCode::kInvalid, "could not find end of precision specifier"};
  }
  const std::string digits{text.substr(0, end)};
  text.remove_prefix(end);
  if (digits.empty()) {
    return Error{ErrorCode::kInvalid,
                 "error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax"};
  }
  const int64_t precision = digits.size() > 9 ? INT64_MAX : std::stoll(digits);
  if (precision > kMostPrecision) {
    return Error{ErrorCode::kInvalid,
                 "precision " + digits + " exceeds maximum allowed precision " + std::to_string(kMostPrecision)};
  }
  return precision;
}

Text formatted(std::string_view text, const CelList& values, CelMeter& meter) {
  std::string out;
  for (size_t index = 0; !text.empty();) {
    const size_t percent = std::min(text.find('%'), text.size());
    out += text.substr(0, percent);
    text.remove_prefix(percent);
    if (text.starts_with("%%")) {
      out += '%';
      text.remove_prefix(2);
      continue;
    }
    if (text.empty()) break;
    if (index >= values.size()) {
      return Error{ErrorCode::kInvalid, "index " + std::to_string(index) + " out of range"};
    }
    text.remove_prefix(1);
    if (text.empty()) return Error{ErrorCode::kInvalid, "unexpected end of string"};
    const auto precision = take_precision(text);
    if (!precision) {
      return Error{ErrorCode::kInvalid,
                   "could not parse formatting clause: error while parsing precision: " + precision.error().message};
    }
    const char clause = text[0];
    text.remove_prefix(1);
    if (std::string_view{"sdfebxXo"}.find(clause) == std::string_view::npos) {
      return Error{ErrorCode::kInvalid, "could not parse formatting clause: unrecognized formatting clause " +
                                            go_quoted(std::string_view{&clause, 1})};
    }
    const auto made = clause_text(clause, precision.value(), values.at(index++), meter);
    if (!made) return Error{ErrorCode::kInvalid, "error during formatting: " + made.error().message};
    if (!affordable(meter, made.value().size() / 10)) return too_long();
    out += made.value();
  }
  return out;
}

}  // namespace

void add_format_functions(CelFunctions& functions) {
  add_member(
      functions, "format", {CelKind::kString, CelType::list(CelKind::kDyn)}, CelKind::kString,
      [](CelArguments a, CelMeter& meter) {
        auto text = formatted(a[0].as_string(), a[1].as_list(), meter);
        return text ? CelValue::string(text.value()) : CelValue::error(text.error().message);
      },
      cost_of_reading(0));
}

}  // namespace shiplog::cel
