#pragma once

#include <vector>

#include "events/explain/fact.h"

namespace shiplog::samples {

/// For tests: one fact of every type, every member set to something other than its default. A type without a sample
/// does not compile. Clusters are the first two of an explanation. Golden bytes hold them, so a sample never changes.
std::vector<Fact> every_fact();

}  // namespace shiplog::samples
