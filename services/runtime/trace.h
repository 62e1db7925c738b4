#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/random.h"

namespace shiplog {

/// What a request, the entries that follow from it and the calls to other systems have in common: a trace of W3C Trace
/// Context, level 1. It identifies, and gives no rights: a client may choose any id, also one that is in use.
struct TraceContext {
  std::string id;          ///< 32 lower-case hexadecimal digits; empty: none has begun
  bool sampled = false;    ///< the caller may have recorded its part
  std::string state = {};  ///< `tracestate` of the request, for calls made on its behalf; not in the journal
  bool operator==(const TraceContext&) const = default;
};

/// The longest `tracestate` that is passed on.
inline constexpr size_t kMostTraceState = 512;

/// Reads the header `traceparent`. Of a version later than 00, the fields of 00 are read. nullopt: it is not valid.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// Whether a `tracestate` header may be passed on: at most 32 members of the form key=value, 512 bytes together.
bool is_tracestate(std::string_view text);

/// As the journal keeps it in Cause::trace_id: the id, and "-01" if it is sampled, as in `traceparent`.
std::string journaled(const TraceContext& trace);
/// Reads what journaled() writes. Of an entry without a trace: an empty one.
TraceContext trace_from_journal(std::string_view text);

TraceContext new_trace(Random& random);

/// The header `traceparent` of a call: version 00, with a new span id.
std::string traceparent_of(const TraceContext& trace, Random& random);

}  // namespace shiplog
