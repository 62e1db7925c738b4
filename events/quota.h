#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/explanation.h"

namespace shiplog {

/// What a FederatedResourceQuota's namespace uses now. Folds into status.overall and status.overallUsed. What counts
/// for refusing is the fold's own sum, not this.
struct QuotaUsageChanged {
  ObjectKey quota;
  Value overall;  ///< {"cpu": "10", ...} as in the spec
  Value used;
  Value aggregated = {};  ///< status.aggregatedStatus, from the ResourceQuotas in members; null: not collected
  bool operator==(const QuotaUsageChanged&) const = default;
};

/// A placement did not fit a quota: the binding's Scheduled condition becomes False with reason QuotaExceeded.
struct QuotaRefused {
  ObjectKey binding;
  ObjectKey quota;
  std::string message;
  int64_t observed_generation = 0;
  Explanation why = {};  ///< summary: QuotaExceeded
  bool operator==(const QuotaRefused&) const = default;
};

}  // namespace shiplog
