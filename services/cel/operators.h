#pragma once

#include "services/cel/expression.h"

namespace shiplog::cel {

/// The result of an operator, or an error value: "division by zero", "integer overflow", "no such overload". None of
/// the operands is an error. Charges what upstream charges, and what the sizes of the operands make it cost besides.
CelValue operate(CelOperator operation, const CelValue& a, const CelValue& b, CelMeter& meter);

/// `!a` and `-a`.
CelValue operate(CelOperator operation, const CelValue& a, CelMeter& meter);

/// The cost of reading `size` bytes or code points once: a tenth, rounded up.
uint64_t reading_cost(uint64_t size);

}  // namespace shiplog::cel
