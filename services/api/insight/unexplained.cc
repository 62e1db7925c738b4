#include "services/api/insight/unexplained.h"

#include "events/state/claim.h"
#include "events/state/condition.h"
#include "events/state/other_scheduler.h"
#include "services/api/insight/targets_changed.h"

namespace shiplog::api {
namespace {

constexpr const char* kDeleted = "why is not known any more: that decision has been deleted (--decision-retention)";

}  // namespace

std::string unexplained_policy(const Value& binding) {
  const auto claim = claim_of(binding);
  if (!claim) return "";
  const std::string name = claim->policy.name.str();
  return (claim->policy.ns.empty() ? "ClusterPropagationPolicy " + name
                                   : "PropagationPolicy " + claim->policy.ns.str() + "/" + name) +
         " has it; " + kDeleted;
}

std::string unexplained_placement(const Value& binding) {
  if (condition_of(binding, "Scheduled").is_null() || !other_scheduler_text(binding).empty()) return "";
  const Value& targets = binding["spec"]["clusters"];
  return (targets.size() == 0 ? "it is placed on no cluster; " : "it is placed on " + targets_text(targets) + "; ") +
         kDeleted;
}

}  // namespace shiplog::api
