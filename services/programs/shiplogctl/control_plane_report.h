#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// Journal, projection, state and the answering server in a line each, of /shiplog/v1/status; empty for null.
std::string control_plane_text(const Value& control_plane, UtcMillis now);
/// The table of roles. Queues of roles that another process leads are marked "-"; empty for null.
std::string roles_text(const Value& control_plane, UtcMillis now, const Terminal& terminal);

/// "slot 3", "slots 0,1", "slots 0-3,7": of ascending numbers.
std::string slots_text(const std::vector<int64_t>& slots);

/// [{name, ready, reason, message, since}] of Clusters.
Value cluster_states(const Value& clusters);

}  // namespace shiplog::ctl
