#include "services/cel/operators.h"

#include <algorithm>
#include <limits>

#include "services/cel/cel_time.h"

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

CelValue overflow(const char* what = "integer overflow") { return CelValue::error(what); }
CelValue timestamp_overflow() { return CelValue::error("timestamp overflow"); }

template <class Number, class Make>
CelValue whole_arithmetic(CelOperator operation, Number a, Number b, Make make, const char* too_large) {
  Number result = 0;
  switch (operation) {
    case CelOperator::kAdd:
      return __builtin_add_overflow(a, b, &result) ? overflow(too_large) : make(result);
    case CelOperator::kSubtract:
      return __builtin_sub_overflow(a, b, &result) ? overflow(too_large) : make(result);
    case CelOperator::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? overflow(too_large) : make(result);
    case CelOperator::kDivide:
    case CelOperator::kModulo: {
      const bool modulo = operation == CelOperator::kModulo;
      if (b == 0) return CelValue::error(modulo ? "modulus by zero" : "division by zero");
      if constexpr (std::numeric_limits<Number>::is_signed) {
        if (a == std::numeric_limits<Number>::min() && b == -1) return overflow(too_large);
      }
      return make(modulo ? a % b : a / b);
    }
    case CelOperator::kNot:
    case CelOperator::kNegate:
    case CelOperator::kEqual:
    case CelOperator::kNotEqual:
    case CelOperator::kLess:
    case CelOperator::kLessOrEqual:
    case CelOperator::kGreater:
    case CelOperator::kGreaterOrEqual:
    case CelOperator::kIn:
      return CelValue::no_such_overload();
  }
  return CelValue::no_such_overload();
}

CelValue double_arithmetic(CelOperator operation, double a, double b) {
  if (operation == CelOperator::kAdd) return CelValue::real(a + b);
  if (operation == CelOperator::kSubtract) return CelValue::real(a - b);
  if (operation == CelOperator::kMultiply) return CelValue::real(a * b);
  if (operation == CelOperator::kDivide) return CelValue::real(a / b);
  return CelValue::no_such_overload();
}

/// A timestamp moved by a duration.
CelValue moved(CelTimestamp at, CelDuration by, bool back) {
  const int64_t seconds = by.nanos / 1'000'000'000;
  const int64_t nanos = by.nanos % 1'000'000'000;
  const auto result = checked_timestamp(at.seconds + (back ? -seconds : seconds), at.nanos + (back ? -nanos : nanos));
  return result ? CelValue::timestamp(*result) : timestamp_overflow();
}

CelValue between(CelTimestamp later, CelTimestamp earlier) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(later.seconds - earlier.seconds, int64_t{1'000'000'000}, &nanos) ||
      __builtin_add_overflow(nanos, int64_t{later.nanos} - earlier.nanos, &nanos)) {
    return overflow("duration overflow");
  }
  return CelValue::duration({nanos});
}

/// Of timestamps and durations.
CelValue time_arithmetic(CelOperator operation, const CelValue& a, const CelValue& b) {
  const bool add = operation == CelOperator::kAdd;
  if (!add && operation != CelOperator::kSubtract) return CelValue::no_such_overload();
  if (a.is(Kind::kTimestamp) && b.is(Kind::kDuration)) return moved(a.as_timestamp(), b.as_duration(), !add);
  if (a.is(Kind::kDuration) && b.is(Kind::kTimestamp) && add) return moved(b.as_timestamp(), a.as_duration(), false);
  if (a.is(Kind::kTimestamp) && b.is(Kind::kTimestamp) && !add) return between(a.as_timestamp(), b.as_timestamp());
  if (a.is(Kind::kDuration) && b.is(Kind::kDuration)) {
    return whole_arithmetic(
        operation, a.as_duration().nanos, b.as_duration().nanos,
        [](int64_t nanos) { return CelValue::duration({nanos}); }, "duration overflow");
  }
  return CelValue::no_such_overload();
}

CelValue concatenation(const CelValue& a, const CelValue& b, CelMeter& meter) {
  if (a.is(Kind::kList)) {
    // Upstream's lists remember their parts, for a cost of 1. Here the items are copied.
    if (!meter.charge(1 + a.as_list().size() + b.as_list().size())) return CelValue::no_such_overload();
    if (auto united = a.as_list().plus(b.as_list(), meter)) return *std::move(united);
    std::vector<CelValue> items;
    items.reserve(a.as_list().size() + b.as_list().size());
    for (const CelList* list : {&a.as_list(), &b.as_list()}) {
      for (size_t i = 0; i < list->size(); ++i) items.push_back(list->at(i));
    }
    return CelValue::list(std::move(items));
  }
  if (!meter.charge(reading_cost(a.as_string().size() + b.as_string().size()))) return CelValue::no_such_overload();
  std::string text{a.as_string()};
  text += b.as_string();
  return a.is(Kind::kString) ? CelValue::string(text) : CelValue::bytes(text);
}

CelValue arithmetic(CelOperator operation, const CelValue& a, const CelValue& b, CelMeter& meter) {
  const bool same = a.kind() == b.kind();
  const bool joins = a.is(Kind::kList) || a.is(Kind::kString) || a.is(Kind::kBytes);
  if (same && joins && operation == CelOperator::kAdd) return concatenation(a, b, meter);
  meter.charge(1);
  if (same && a.is(Kind::kInt)) {
    return whole_arithmetic(operation, a.as_int(), b.as_int(), CelValue::integer, "integer overflow");
  }
  if (same && a.is(Kind::kUint)) {
    return whole_arithmetic(operation, a.as_uint(), b.as_uint(), CelValue::unsigned_integer,
                            "unsigned integer overflow");
  }
  if (same && a.is(Kind::kDouble)) return double_arithmetic(operation, a.as_double(), b.as_double());
  return time_arithmetic(operation, a, b);
}

/// What upstream charges for a comparison: a tenth of the smaller size. To count the code points of a text reads all of
/// it: those of the longer one are counted only if they may be fewer.
uint64_t comparison_cost(const CelValue& a, const CelValue& b) {
  constexpr size_t kLongestCodePoint = 4;
  const auto most = [](const CelValue& value) { return value.is(Kind::kString) ? text_size(value) : cost_size(value); };
  const auto least = [&](const CelValue& value) {
    return value.is(Kind::kString) ? most(value) / kLongestCodePoint : most(value);
  };
  const bool a_is_smaller = most(a) < most(b);
  const uint64_t size = cost_size(a_is_smaller ? a : b);
  const CelValue& larger = a_is_smaller ? b : a;
  return reading_cost(least(larger) >= size ? size : std::min(size, cost_size(larger)));
}

CelValue order(CelOperator operation, const CelValue& a, const CelValue& b, CelMeter& meter) {
  meter.charge(comparison_cost(a, b));
  const auto compared = compare(a, b);
  if (!compared) {
    const auto is_double = [](const CelValue& value) { return value.is(Kind::kDouble); };
    const auto is_number = [&](const CelValue& v) { return is_double(v) || v.is(Kind::kInt) || v.is(Kind::kUint); };
    // NaN is in no order with any number.
    if (is_number(a) && is_number(b)) return CelValue::boolean(false);
    return CelValue::no_such_overload();
  }
  if (operation == CelOperator::kLess) return CelValue::boolean(*compared < 0);
  if (operation == CelOperator::kLessOrEqual) return CelValue::boolean(*compared <= 0);
  if (operation == CelOperator::kGreater) return CelValue::boolean(*compared > 0);
  return CelValue::boolean(*compared >= 0);
}

CelValue membership(const CelValue& item, const CelValue& in, CelMeter& meter) {
  if (in.is(Kind::kMap)) {
    if (!meter.charge(1 + text_size(item) / kBytesOfUnit)) return CelValue::no_such_overload();
    return CelValue::boolean(in.as_map().find(item).has_value());
  }
  if (!in.is(Kind::kList)) return CelValue::no_such_overload();
  const CelList& list = in.as_list();
  if (!meter.charge(list.size())) return CelValue::no_such_overload();
  for (size_t i = 0; i < list.size() && !meter.exceeded(); ++i) {
    if (equal(list.at(i), item, meter)) return CelValue::boolean(true);
  }
  return CelValue::boolean(false);
}

}  // namespace

uint64_t reading_cost(uint64_t size) { return size / 10 + (size % 10 == 0 ? 0 : 1); }

CelValue operate(CelOperator operation, const CelValue& a, const CelValue& b, CelMeter& meter) {
  switch (operation) {
    case CelOperator::kEqual:
    case CelOperator::kNotEqual:
      meter.charge(comparison_cost(a, b));
      return CelValue::boolean(equal(a, b, meter) == (operation == CelOperator::kEqual));
    case CelOperator::kLess:
    case CelOperator::kLessOrEqual:
    case CelOperator::kGreater:
    case CelOperator::kGreaterOrEqual:
      return order(operation, a, b, meter);
    case CelOperator::kIn:
      return membership(a, b, meter);
    case CelOperator::kAdd:
    case CelOperator::kSubtract:
    case CelOperator::kMultiply:
    case CelOperator::kDivide:
    case CelOperator::kModulo:
      return arithmetic(operation, a, b, meter);
    case CelOperator::kNot:
    case CelOperator::kNegate:
      break;
  }
  return CelValue::no_such_overload();
}

CelValue operate(CelOperator operation, const CelValue& a, CelMeter& meter) {
  meter.charge(1);
  if (operation == CelOperator::kNot) {
    return a.is(Kind::kBool) ? CelValue::boolean(!a.as_bool()) : CelValue::no_such_overload();
  }
  if (a.is(Kind::kDouble)) return CelValue::real(-a.as_double());
  if (!a.is(Kind::kInt)) return CelValue::no_such_overload();
  return a.as_int() == std::numeric_limits<int64_t>::min() ? overflow() : CelValue::integer(-a.as_int());
}

}  // namespace shiplog::cel
