#pragma once

#include <cstdint>
#include <string>

#include "events/base/value.h"

namespace shiplog::collector {

/// One entry of Work.status.manifestStatuses (T-2).
Value manifest_status(int64_t ordinal, const Value& manifest, const Value& status, const std::string& health);

/// The entry is about this manifest: same kind, namespace and name.
bool is_about(const Value& manifest_status, const Value& manifest);

}  // namespace shiplog::collector
