#include <cmath>
#include <optional>

#include "events/base/nano_quantity.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// quantity of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/quantity.go, cost.go; the words of the errors:
// apimachinery's resource.ParseQuantity.

namespace shiplog::cel {
namespace {

const std::string kQuantity = "kubernetes.Quantity";

constexpr int64_t kNanosOfUnit = 1'000'000'000;

/// A quantity as apimachinery compares it: to the billionth.
struct NanoQuantity {
  Quantity::Int nanos = 0;
  auto operator<=>(const NanoQuantity&) const = default;
};

constexpr const char* kNoNumber =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kNoSuffix = "unable to parse quantity's suffix";

/// Why the text is no quantity: Kubernetes tells a wrong suffix from a wrong form.
const char* problem_of(std::string_view text) {
  size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const size_t number = at;
  while (at < text.size() && ((text[at] >= '0' && text[at] <= '9') || text[at] == '.')) ++at;
  const std::string_view suffix = text.substr(at);
  const bool known = suffix.find_first_not_of("eEinumkKMGTP-+0123456789") == std::string_view::npos;
  return at == number || !known ? kNoNumber : kNoSuffix;
}

CelValue quantity_from(std::string_view text) {
  const auto nanos = parse_nano_quantity(text);
  if (!nanos) return CelValue::error(problem_of(text));
  return extension_of(kQuantity, NanoQuantity{nanos.value()});
}

/// nullopt: it has a fraction, or is beyond int64.
std::optional<int64_t> whole(const NanoQuantity& quantity) {
  if (quantity.nanos % kNanosOfUnit != 0) return std::nullopt;
  const auto units = quantity.nanos / kNanosOfUnit;
  if (units > INT64_MAX || units < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(units);
}

Quantity::Int nanos_of(const CelValue& value) {
  if (value.is(CelValue::Kind::kInt)) return Quantity::Int{value.as_int()} * kNanosOfUnit;
  return held<NanoQuantity>(value).nanos;
}

/// The sum, or an error beyond 128 bits: no sum of a few of the largest quantities is there.
CelValue moved(CelArguments a, bool up) {
  Quantity::Int result = 0;
  const bool overflow = up ? __builtin_add_overflow(nanos_of(a[0]), nanos_of(a[1]), &result)
                           : __builtin_sub_overflow(nanos_of(a[0]), nanos_of(a[1]), &result);
  return overflow ? CelValue::error("quantity overflow") : extension_of(kQuantity, NanoQuantity{result});
}

void add_reading(CelFunctions& functions, const CelType& quantity) {
  add_function(
      functions, "quantity", {CelKind::kString}, quantity,
      [](CelArguments a, CelMeter&) { return quantity_from(a[0].as_string()); }, cost_of_reading(0));
  add_function(
      functions, "isQuantity", {CelKind::kString}, CelKind::kBool,
      [](CelArguments a, CelMeter&) {
        return CelValue::boolean(static_cast<bool>(parse_nano_quantity(a[0].as_string())));
      },
      cost_of_reading(0));
  // Upstream declares sign() as a function, not as a member.
  const auto sign = [](CelArguments a, CelMeter&) {
    return CelValue::integer(sign_of(held<NanoQuantity>(a[0]) <=> NanoQuantity{}));
  };
  add_function(functions, "sign", {quantity}, CelKind::kInt, sign);
  add_member(functions, "sign", {quantity}, CelKind::kInt, sign);
  add_member(functions, "isInteger", {quantity}, CelKind::kBool,
             [](CelArguments a, CelMeter&) { return CelValue::boolean(whole(held<NanoQuantity>(a[0])).has_value()); });
  add_member(functions, "asInteger", {quantity}, CelKind::kInt, [](CelArguments a, CelMeter&) {
    const auto units = whole(held<NanoQuantity>(a[0]));
    return units ? CelValue::integer(*units) : CelValue::error("cannot convert value to integer");
  });
  add_member(functions, "asApproximateFloat", {quantity}, CelKind::kDouble, [](CelArguments a, CelMeter&) {
    return CelValue::real(static_cast<double>(held<NanoQuantity>(a[0]).nanos) / static_cast<double>(kNanosOfUnit));
  });
}

}  // namespace

void add_quantity_functions(CelFunctions& functions) {
  const CelType quantity = CelType::extension(kQuantity);
  functions.add_type(kQuantity, quantity);
  add_reading(functions, quantity);
  const auto order = [](CelArguments a) { return held<NanoQuantity>(a[0]) <=> held<NanoQuantity>(a[1]); };
  add_member(functions, "isGreaterThan", {quantity, quantity}, CelKind::kBool,
             [order](CelArguments a, CelMeter&) { return CelValue::boolean(order(a) > 0); });
  add_member(functions, "isLessThan", {quantity, quantity}, CelKind::kBool,
             [order](CelArguments a, CelMeter&) { return CelValue::boolean(order(a) < 0); });
  add_member(functions, "compareTo", {quantity, quantity}, CelKind::kInt,
             [order](CelArguments a, CelMeter&) { return CelValue::integer(sign_of(order(a))); });
  for (const CelType& other : {quantity, CelType{CelKind::kInt}}) {
    add_member(functions, "add", {quantity, other}, quantity, [](CelArguments a, CelMeter&) { return moved(a, true); });
    add_member(functions, "sub", {quantity, other}, quantity,
               [](CelArguments a, CelMeter&) { return moved(a, false); });
  }
}

}  // namespace shiplog::cel
