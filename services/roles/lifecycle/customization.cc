#include "services/interpreter/customizations.h"
#include "services/interpreter/quarantine.h"
#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {

Decided decide_customization(const ObjectKey& key, const Object& customization, UtcMillis now) {
  if (!interpreter::quarantine_is_over(customization.value)) return Nothing{};
  return decide_one(StatusUpdated{key, interpreter::without_quarantine(customization.value, now)},
                    {key, customization.revision});
}

}  // namespace shiplog::lifecycle
