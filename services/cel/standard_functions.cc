// The functions of the language's definition (cel-spec doc/langdef.md, "List of Standard Definitions").
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

#include "events/base/utf8.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/cel_time.h"
#include "services/cel/library/go_text.h"
#include "services/cel/operators.h"

namespace shiplog::cel {
namespace {

using Arguments = std::span<const CelValue>;
using TypeKind = CelType::Kind;

void add(CelFunctions& functions, const char* name, std::vector<CelType> arguments, CelType result,
         CelValue (*call)(const CelValue& argument), CelCost cost = {}) {
  CelOverload overload;
  overload.arguments = std::move(arguments);
  overload.result = std::move(result);
  overload.call = [call](Arguments given, CelMeter&) { return call(given[0]); };
  overload.cost = std::move(cost);
  functions.add(name, std::move(overload));
}

uint64_t cost_of_reading_first(Arguments arguments, const CelValue&) { return reading_cost(cost_size(arguments[0])); }

CelValue integer_overflow() { return CelValue::error("integer overflow"); }

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

CelValue conversion_error(const CelValue& from, const char* to) {
  return CelValue::error("type conversion error from '" + from.type_of().text() + "' to '" + to + "'");
}

CelValue int_of_double(const CelValue& value) {
  const double number = value.as_double();
  // As upstream: the ends of int64 are no doubles, so these are excluded.
  if (!(number > -0x1p63 && number < 0x1p63)) return integer_overflow();
  return CelValue::integer(static_cast<int64_t>(number));
}

CelValue int_of_uint(const CelValue& value) {
  if (value.as_uint() > INT64_MAX) return integer_overflow();
  return CelValue::integer(static_cast<int64_t>(value.as_uint()));
}

CelValue int_of_string(const CelValue& value) {
  const auto read = parsed<int64_t>(value.as_string());
  return read ? CelValue::integer(*read) : conversion_error(value, "int");
}

CelValue uint_of_int(const CelValue& value) {
  if (value.as_int() < 0) return CelValue::error("unsigned integer overflow");
  return CelValue::unsigned_integer(static_cast<uint64_t>(value.as_int()));
}

CelValue uint_of_double(const CelValue& value) {
  const double number = value.as_double();
  if (!(number >= 0 && number < 0x1p64)) return CelValue::error("unsigned integer overflow");
  return CelValue::unsigned_integer(static_cast<uint64_t>(number));
}

CelValue uint_of_string(const CelValue& value) {
  const auto read = parsed<uint64_t>(value.as_string());
  return read ? CelValue::unsigned_integer(*read) : conversion_error(value, "uint");
}

CelValue double_of_string(const CelValue& value) {
  const auto read = parsed<double>(value.as_string());
  return read ? CelValue::real(*read) : conversion_error(value, "double");
}

CelValue bool_of_string(const CelValue& value) {
  const std::string_view text = value.as_string();
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return CelValue::boolean(true);
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return CelValue::boolean(false);
  }
  return conversion_error(value, "bool");
}

CelValue string_of_bytes(const CelValue& value) {
  if (!is_utf8(value.as_string())) return CelValue::error("invalid UTF-8 in bytes, cannot convert to string");
  return CelValue::string(value.as_string());
}

CelValue itself(const CelValue& value) { return value; }

void add_number_conversions(CelFunctions& functions) {
  add(functions, "int", {TypeKind::kInt}, TypeKind::kInt, itself);
  add(functions, "int", {TypeKind::kUint}, TypeKind::kInt, int_of_uint);
  add(functions, "int", {TypeKind::kDouble}, TypeKind::kInt, int_of_double);
  add(functions, "int", {TypeKind::kString}, TypeKind::kInt, int_of_string);
  add(functions, "int", {TypeKind::kTimestamp}, TypeKind::kInt,
      [](const CelValue& value) { return CelValue::integer(value.as_timestamp().seconds); });
  add(functions, "int", {TypeKind::kDuration}, TypeKind::kInt,
      [](const CelValue& value) { return CelValue::integer(value.as_duration().nanos); });
  add(functions, "uint", {TypeKind::kUint}, TypeKind::kUint, itself);
  add(functions, "uint", {TypeKind::kInt}, TypeKind::kUint, uint_of_int);
  add(functions, "uint", {TypeKind::kDouble}, TypeKind::kUint, uint_of_double);
  add(functions, "uint", {TypeKind::kString}, TypeKind::kUint, uint_of_string);
  add(functions, "double", {TypeKind::kDouble}, TypeKind::kDouble, itself);
  add(functions, "double", {TypeKind::kInt}, TypeKind::kDouble,
      [](const CelValue& value) { return CelValue::real(static_cast<double>(value.as_int())); });
  add(functions, "double", {TypeKind::kUint}, TypeKind::kDouble,
      [](const CelValue& value) { return CelValue::real(static_cast<double>(value.as_uint())); });
  add(functions, "double", {TypeKind::kString}, TypeKind::kDouble, double_of_string);
  add(functions, "bool", {TypeKind::kBool}, TypeKind::kBool, itself);
  add(functions, "bool", {TypeKind::kString}, TypeKind::kBool, bool_of_string);
}

void add_text_conversions(CelFunctions& functions) {
  add(functions, "string", {TypeKind::kString}, TypeKind::kString, itself);
  add(functions, "string", {TypeKind::kBool}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(value.as_bool() ? "true" : "false"); });
  add(functions, "string", {TypeKind::kInt}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(std::to_string(value.as_int())); });
  add(functions, "string", {TypeKind::kUint}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(std::to_string(value.as_uint())); });
  add(functions, "string", {TypeKind::kDouble}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(go_double(value.as_double())); });
  add(functions, "string", {TypeKind::kBytes}, TypeKind::kString, string_of_bytes, cost_of_reading_first);
  add(functions, "string", {TypeKind::kTimestamp}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(cel_timestamp_text(value.as_timestamp())); });
  add(functions, "string", {TypeKind::kDuration}, TypeKind::kString,
      [](const CelValue& value) { return CelValue::string(cel_duration_text(value.as_duration())); });
  add(functions, "bytes", {TypeKind::kBytes}, TypeKind::kBytes, itself);
  add(
      functions, "bytes", {TypeKind::kString}, TypeKind::kBytes,
      [](const CelValue& value) { return CelValue::bytes(value.as_string()); }, cost_of_reading_first);
}

CelValue duration_of(const CelValue& text) {
  const auto read = parse_cel_duration(text.as_string());
  return read ? CelValue::duration(read.value()) : CelValue::error(read.error().message);
}

CelValue timestamp_of(const CelValue& text) {
  const auto read = parse_cel_timestamp(text.as_string());
  // A date alone is a timestamp in a schema, but not here.
  if (!read || text.as_string().size() <= 10) {
    return CelValue::error("parsing time \"" + printable(text.as_string()) + "\": it is no time of RFC 3339");
  }
  return CelValue::timestamp(read.value());
}

CelValue timestamp_of_seconds(const CelValue& seconds) {
  const auto at = checked_timestamp(seconds.as_int(), 0);
  return at ? CelValue::timestamp(*at) : CelValue::error("timestamp overflow");
}

/// Of a literal it is computed once, and wrong ones are found when the expression is compiled.
void add_from_literal(CelFunctions& functions, const char* name, CelType result,
                      CelValue (*convert)(const CelValue& text)) {
  CelOverload overload;
  overload.arguments = {TypeKind::kString};
  overload.result = std::move(result);
  overload.call = [convert](Arguments given, CelMeter&) { return convert(given[0]); };
  overload.literal_argument = 0;
  overload.prepare = [convert, name](const CelValue& literal) -> Result<CelPrepared> {
    CelValue value = convert(literal);
    if (value.is_error()) return Error{ErrorCode::kInvalid, "invalid " + std::string{name} + " argument"};
    return CelPrepared{[value = std::move(value)](Arguments, CelMeter&) { return value; }};
  };
  functions.add(name, std::move(overload));
}

void add_time_conversions(CelFunctions& functions) {
  add(functions, "duration", {TypeKind::kDuration}, TypeKind::kDuration, itself);
  add_from_literal(functions, "duration", TypeKind::kDuration, duration_of);
  add(functions, "duration", {TypeKind::kInt}, TypeKind::kDuration,
      [](const CelValue& nanos) { return CelValue::duration({nanos.as_int()}); });
  add(functions, "timestamp", {TypeKind::kTimestamp}, TypeKind::kTimestamp, itself);
  add_from_literal(functions, "timestamp", TypeKind::kTimestamp, timestamp_of);
  add(functions, "timestamp", {TypeKind::kInt}, TypeKind::kTimestamp, timestamp_of_seconds);
}

CelValue size_of(const CelValue& value) { return CelValue::integer(static_cast<int64_t>(cost_size(value))); }

void add_size(CelFunctions& functions) {
  const std::vector<CelType> sized = {TypeKind::kString, TypeKind::kBytes, CelType::list(CelType::parameter("A")),
                                      CelType::map(CelType::parameter("A"), CelType::parameter("B"))};
  for (const bool member : {false, true}) {
    for (const CelType& type : sized) {
      CelOverload overload;
      overload.arguments = {type};
      overload.result = TypeKind::kInt;
      overload.member = member;
      overload.call = [](Arguments given, CelMeter&) { return size_of(given[0]); };
      functions.add("size", std::move(overload));
    }
  }
}

void add_text_test(CelFunctions& functions, const char* name,
                   bool (*test)(std::string_view text, std::string_view part), CelCost cost) {
  CelOverload overload;
  overload.arguments = {TypeKind::kString, TypeKind::kString};
  overload.result = TypeKind::kBool;
  overload.member = true;
  overload.call = [test](Arguments given, CelMeter&) {
    return CelValue::boolean(test(given[0].as_string(), given[1].as_string()));
  };
  overload.cost = std::move(cost);
  functions.add(name, std::move(overload));
}

void add_text_tests(CelFunctions& functions) {
  add_text_test(
      functions, "startsWith", [](std::string_view text, std::string_view part) { return text.starts_with(part); },
      cost_of_reading_first);
  add_text_test(
      functions, "endsWith", [](std::string_view text, std::string_view part) { return text.ends_with(part); },
      cost_of_reading_first);
  CelOverload contains;
  contains.arguments = {TypeKind::kString, TypeKind::kString};
  contains.result = TypeKind::kBool;
  contains.member = true;
  contains.cost = [](Arguments, const CelValue&) -> uint64_t { return 0; };
  contains.call = [](Arguments given, CelMeter& meter) {
    // Before the search: it may compare each byte of one text with each of the other.
    if (!meter.charge(reading_cost(cost_size(given[0])) * reading_cost(cost_size(given[1])))) {
      return CelValue::no_such_overload();
    }
    return CelValue::boolean(given[0].as_string().find(given[1].as_string()) != std::string_view::npos);
  };
  functions.add("contains", std::move(contains));
}

void add_type_functions(CelFunctions& functions) {
  const CelType a = CelType::parameter("A");
  add(functions, "dyn", {a}, {}, itself);
  add(functions, "type", {a}, CelType::type_of(a),
      [](const CelValue& value) { return CelValue::type(value.type_of()); });
  for (const TypeKind kind :
       {TypeKind::kBool, TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble, TypeKind::kString, TypeKind::kBytes}) {
    functions.add_type(CelType{kind}.text(), kind);
  }
  functions.add_type("null_type", TypeKind::kNull);
  functions.add_type("list", CelType::list({}));
  functions.add_type("map", CelType::map({}, {}));
  functions.add_type("type", CelType::type_of({}));
  functions.add_type("google.protobuf.Timestamp", TypeKind::kTimestamp);
  functions.add_type("google.protobuf.Duration", TypeKind::kDuration);
}

}  // namespace

void add_standard_functions(CelFunctions& functions) {
  add_type_functions(functions);
  add_number_conversions(functions);
  add_text_conversions(functions);
  add_time_conversions(functions);
  add_size(functions);
  add_text_tests(functions);
}

}  // namespace shiplog::cel
