#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/entry.h"

namespace shiplog {

/// The bytes the journal keeps. Equal entries give equal bytes, on every machine. Text that is no UTF-8 (a client's
/// user agent, a member's message) is repaired with U+FFFD, as no reader could take it otherwise; every other entry
/// is the same after decode(). Protobuf, schemas/events/v1/entry.proto.
/// Threads: any.
std::string encode(const Entry& entry);

/// Reads what encode() of this build or of any older one wrote. Fields that a newer build added to kinds known here are
/// skipped: such a build may only give them a meaning after FoldVersionActivated.
/// Errors: kCorrupt, naming the entry, the event and the field: bytes cut short or altered; or an event whose kind only
/// a newer build knows, naming its number and family. Skipping that one would fold on to a wrong state.
/// Threads: any.
Result<Entry> decode(std::string_view bytes);

}  // namespace shiplog
