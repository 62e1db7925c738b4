#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/event.h"
#include "events/explanation.h"
#include "services/debugger/condition.h"
#include "services/debugger/timeline.h"

namespace shiplog::debugger {

/// "PlacementDecided resourcebindings.work.karmada.io/default/web: m1:2".
std::string in_short(const Event& event);

/// One line: place, time, who, what, and whether it was refused.
std::string entry_line(size_t position, const Moment& moment);

/// Everything of the entry at a moment: who, when, why, as-of, expectations, events with their facts, the result, and
/// which fields of which objects changed. The payload of Secrets is left out.
Value entry_value(size_t position, const Moment& moment);
/// The same in some lines for people, without the facts.
std::string entry_text(size_t position, const Moment& moment);

/// What an entry changed, field by field.
std::string changes_text(const Folded& folded);

/// What was considered: the summary, the steps, and a line for each cluster.
std::string explanation_text(const Explanation& why);
/// That of an event; nullptr: it has none.
const Explanation* explanation_of(const Event& event);

/// An object without what must not be shown.
Value shown(const ObjectKey& key, const Value& object);

}  // namespace shiplog::debugger
