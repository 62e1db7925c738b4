#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "services/cel/expression.h"

namespace shiplog::cel {

/// What the parameters of an overload's types stand for in one call.
using CelTypeBindings = std::map<std::string, CelType>;

/// Whether a value of type `actual` may be used where `formal` is wanted. Binds the parameters of `formal`.
bool is_assignable(const CelType& actual, const CelType& formal, CelTypeBindings& bindings);
bool is_assignable(const CelType& actual, const CelType& formal);

/// The type with what its parameters stand for; dyn for those that are not bound.
CelType substituted(const CelType& type, const CelTypeBindings& bindings);

/// The signatures of an operator; they have no implementation.
const std::vector<CelOverload>& operator_signatures(CelOperator operation);

/// Whether a value has the kind of a declared type, as far as one can see without looking into lists and maps.
bool has_kind(const CelValue& value, const CelType& type);

}  // namespace shiplog::cel
