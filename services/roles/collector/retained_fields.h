#pragma once

#include "events/base/value.h"

namespace shiplog::collector {

/// A member's object with the manifest's values in those fields that its kind keeps from the member (E-21): what is
/// different from the manifest then is no matter of the member's. `kept`: the manifest with the member's fields. Pure.
/// A field that has neither the manifest's nor the kept value stays as it is.
Value without_retained(const Value& observed, const Value& manifest, const Value& kept);

/// The object without the fields that members fill in some time after it was created and that are not retained. Nobody
/// can change them later. Those that the manifest has are kept.
Value without_filled_in(Value observed, const Value& manifest);

}  // namespace shiplog::collector
