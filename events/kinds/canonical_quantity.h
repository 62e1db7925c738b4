#pragma once

#include <optional>

#include "events/base/quantity.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// A quantity, given as text or as a number, as Kubernetes writes it: a text without a fraction, with the largest
/// suffix of its format that leaves a whole number ("1000m" and 1 are "1", "1024Mi" is "1Gi", 0.5 is "500m"). Texts of
/// other amounts than whole thousandths of up to 15 digits are kept. nullopt: it is so already, or is no quantity.
std::optional<Value> canonical_quantity(const Value& value);

/// A quantity that is given as text or as a number. Error: kBadRequest.
Result<Quantity> quantity_in(const Value& value);

/// The object of a built-in kind with its quantities in this form; the rest is unchanged.
Value with_canonical_quantities(const Schema& schema, Value value);

}  // namespace shiplog
