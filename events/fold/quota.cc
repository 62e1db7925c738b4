#include "events/fold/apply.h"

namespace shiplog {

Applied apply(Staged& staged, const QuotaUsageChanged& event) {
  return edit(staged, event.quota, [&](Value& quota) {
    Value& status = quota.edit("status");
    status.set("overall", event.overall);
    status.set("overallUsed", event.used);
    if (!event.aggregated.is_null()) status.set("aggregatedStatus", event.aggregated);
  });
}

Applied apply(Staged& staged, const QuotaRefused& event) {
  return edit(staged, event.binding, [&](Value& binding) {
    set_condition(binding, "Scheduled", "False", "QuotaExceeded", event.message, staged.time());
  });
}

}  // namespace shiplog
