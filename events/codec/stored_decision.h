#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/entry.h"

// A decision as the journal keeps it, for a reader that makes it again: where the result is what the bytes hold, they
// need not be decoded.
namespace shiplog {

/// If these are the bytes of a decision (request.verb is "decide"), the entry without its events. nullopt: it is
/// another entry; or one that decode() alone can judge, because its bytes are not as encode() arranges them, it has no
/// events, or one of them is of family control.
std::optional<Entry> decode_without_events(std::string_view bytes);

/// Whether the events in the bytes of such a decision are exactly these. False is also the answer where decoding is
/// needed to see it: of kinds that roles seldom decide, and where text was repaired (codec.h).
bool holds_events(std::string_view bytes, const std::vector<Event>& events);

}  // namespace shiplog
