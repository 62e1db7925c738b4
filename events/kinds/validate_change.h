#pragma once

#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// The violations of `value` that a change from `old` is to blame for: none within a field or element that is the same
/// in both, as it was admitted by another schema. Elements of map lists correspond by their keys, in whatever order;
/// those of other lists do not correspond. Duplicate elements are reported only if `old` has none.
/// Source: the feature CRDValidationRatcheting of Kubernetes.
std::vector<FieldCause> validate_change(const Schema& schema, const Value& old, const Value& value);

}  // namespace shiplog
