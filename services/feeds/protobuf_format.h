#pragma once

#include <string>

#include "services/feeds/cloud_event.h"

namespace shiplog::feeds {

/// CloudEvents' Protobuf format (schemas/feeds/cloudevent.proto). The data is JSON, as text. Equal events give equal
/// bytes.
std::string to_protobuf(const CloudEvent& event);

}  // namespace shiplog::feeds
