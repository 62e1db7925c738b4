#pragma once

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// What events.k8s.io/v1 demands of an Event, which has the fields of that version, besides what core/v1 does. `old`:
/// the Event that this one replaces, in the same form; nullptr: a create. Source: EVENT-2.
void check_strict_event(const Value& event, const Value* old, Causes& causes);

}  // namespace shiplog::api
