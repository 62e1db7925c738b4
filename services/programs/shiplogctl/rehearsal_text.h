#pragma once

#include <cstddef>
#include <string>

#include "events/base/value.h"
#include "services/programs/shiplogctl/terminal.h"

// A rehearsal's report, as JSON (to_value(RehearsalReport)), for people.
namespace shiplog::ctl {

/// What happens in two or three lines, then the workloads, what does not fit, quotas and evictions, the timeline.
/// `rows`: of the list of workloads; 0: all.
std::string rehearsal_text(const Value& report, size_t rows, const Terminal& terminal = {});

/// The same over time as a picture: how many workloads are unhealthy, and what happens when. A document of its own,
/// without scripts and references.
std::string rehearsal_svg(const Value& report);

/// "0s", "40s", "5m30s".
std::string after_text(const Value& seconds);

}  // namespace shiplog::ctl
