#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// The functions of optional values. Source: cel-go, cel/library.go (OptionalTypes).

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

/// Whether it is the zero of its type, or empty.
bool is_zero(const CelValue& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.as_bool();
    case Kind::kInt:
      return value.as_int() == 0;
    case Kind::kUint:
      return value.as_uint() == 0;
    case Kind::kDouble:
      return value.as_double() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.as_string().empty();
    case Kind::kList:
      return value.as_list().size() == 0;
    case Kind::kMap:
      return value.as_map().size() == 0;
    case Kind::kDuration:
      return value.as_duration().nanos == 0;
    // Go's zero time is that of the year 1.
    case Kind::kTimestamp:
      return value.as_timestamp() == CelTimestamp{-62135596800, 0};
    case Kind::kOptional:
      return value.as_optional() == nullptr;
    case Kind::kType:
    case Kind::kExtension:
    case Kind::kError:
      return false;
  }
  return false;
}

CelValue unwrapped_items(CelArguments a, CelMeter&) {
  const CelList& list = a[0].as_list();
  std::vector<CelValue> items;
  for (size_t i = 0; i < list.size(); ++i) {
    const CelValue item = list.at(i);
    if (!item.is(Kind::kOptional)) return CelValue::no_such_overload();
    if (item.as_optional() != nullptr) items.push_back(*item.as_optional());
  }
  return CelValue::list(std::move(items));
}

}  // namespace

void add_optional_functions(CelFunctions& functions) {
  const CelType value = CelType::parameter("V");
  const CelType optional = CelType::optional(value);
  add_function(functions, "optional.of", {value}, optional,
               [](CelArguments a, CelMeter&) { return CelValue::some(a[0]); });
  add_function(functions, "optional.ofNonZeroValue", {value}, optional,
               [](CelArguments a, CelMeter&) { return is_zero(a[0]) ? CelValue::none() : CelValue::some(a[0]); });
  add_function(functions, "optional.none", {}, optional, [](CelArguments, CelMeter&) { return CelValue::none(); });
  add_member(functions, "hasValue", {optional}, CelKind::kBool,
             [](CelArguments a, CelMeter&) { return CelValue::boolean(a[0].as_optional() != nullptr); });
  add_member(functions, "value", {optional}, value, [](CelArguments a, CelMeter&) {
    return a[0].as_optional() == nullptr ? CelValue::error("optional.none() dereference") : *a[0].as_optional();
  });
  add_member(functions, "or", {optional, optional}, optional,
             [](CelArguments a, CelMeter&) { return a[0].as_optional() == nullptr ? a[1] : a[0]; });
  add_member(functions, "orValue", {optional, value}, value,
             [](CelArguments a, CelMeter&) { return a[0].as_optional() == nullptr ? a[1] : *a[0].as_optional(); });
  add_function(functions, "optional.unwrap", {CelType::list(optional)}, CelType::list(value), unwrapped_items,
               cost_of_items(0));
  add_member(functions, "unwrapOpt", {CelType::list(optional)}, CelType::list(value), unwrapped_items,
             cost_of_items(0));
}

}  // namespace shiplog::cel
