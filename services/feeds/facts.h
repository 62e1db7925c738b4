#pragma once

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/event.h"

namespace shiplog::feeds {

/// {"type", "namespace", "name"}; null for an empty key.
Value to_value(const ObjectKey& key);

/// The fields of an event as event_fields.h lists them. Pure. Whatever JSON an event contains is as in the journal:
/// sealed text is still in it.
Value facts_of(const Event& event);

}  // namespace shiplog::feeds
