#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::collector {

// What the control plane keeps of a member's object: the native resource interpreter. Pure.

/// InterpretStatus (behaviour-core 5.1). Null: the object has no status worth keeping. Error: kInvalid, it cannot be
/// told which template generation the status belongs to (T-5); then nothing is stored (T-3).
Result<Value> reflected_status(const Value& object);

/// InterpretHealth: "Healthy", "Unhealthy", or "Unknown" when the object cannot be judged (T-4).
std::string health_of(const Value& object);

/// One entry of Work.status.manifestStatuses (T-2).
Value manifest_status(int64_t ordinal, const Value& manifest, const Value& status, const std::string& health);

/// The entry is about this manifest: same kind, namespace and name.
bool is_about(const Value& manifest_status, const Value& manifest);

}  // namespace shiplog::collector
