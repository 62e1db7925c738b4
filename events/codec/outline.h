#pragma once

#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/event.h"

namespace shiplog {

/// What an entry's bytes show without decoding its events: for headers and filters.
struct Outline {
  EntryId id;
  std::vector<Family> families;  ///< each once, in the order of the events
};

/// The id alone, at little cost; empty when these are not the bytes of an entry. Threads: any.
EntryId entry_id_in(std::string_view bytes);

/// Reads what encode() wrote. Of bytes that are no entry, what there is; decode() judges. Threads: any.
Outline outline(std::string_view bytes);

}  // namespace shiplog
