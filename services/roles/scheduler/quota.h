#pragma once

#include <optional>
#include <vector>

#include "events/quota.h"
#include "events/scheduling.h"
#include "events/state/binding.h"
#include "events/state/state.h"

namespace shiplog::scheduler {

/// Why these targets would not fit a FederatedResourceQuota of the namespace, judged as the fold will judge it: the
/// fold decides, this spares the journal placements that it is bound to refuse.
std::optional<QuotaRefused> exceeds_quota(const State& state, const Binding& binding,
                                          const std::vector<Target>& targets);

}  // namespace shiplog::scheduler
