#pragma once

#include <cstddef>
#include <string>

#include "events/scheduling.h"

namespace shiplog::codec {

/// Appends the bytes of a message Event (schemas/events/v1/entry.proto): those that the generated classes would write.
/// Without them, as a message for each target of a large fleet would cost more than the decision. Tests compare with
/// protoc's.
void write_event(const PlacementDecided& event, std::string& out);

/// How much room to keep for it.
size_t roughly_encoded_size(const PlacementDecided& event);

}  // namespace shiplog::codec
