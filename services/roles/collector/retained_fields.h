#pragma once

#include "events/base/value.h"

namespace shiplog::collector {

/// A member's object with the manifest's values in the fields that its kind retains from the member (E-21), so that
/// only other fields can differ from the manifest. `kept`: the manifest with the retained fields of the member. Pure. A
/// field that has neither the manifest's nor the kept value stays as it is.
Value without_retained(const Value& observed, const Value& manifest, const Value& kept);

/// The object without fields that members set after its creation, that are immutable from then on, and that are not
/// retained. Those that the manifest has are kept.
Value without_filled_in(Value observed, const Value& manifest);

}  // namespace shiplog::collector
