#pragma once

#include <string>
#include <vector>

#include "events/scheduling.h"
#include "services/roles/scheduler/assign/webster.h"

namespace shiplog::scheduler {

/// "m1:2 m2:1".
std::string in_words(const std::vector<Target>& targets);
/// "9 replicas by weights m1:1 m2:2 give m1:3 m2:6".
std::string division_in_words(int64_t replicas, const std::vector<Weight>& weights, const std::vector<Target>& given);

}  // namespace shiplog::scheduler
