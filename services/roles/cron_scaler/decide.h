#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/decision.h"
#include "services/cron/time_zone.h"

namespace shiplog::cron_scaler {

inline constexpr const char* kCronFederatedHpa = "cronfederatedhpas.autoscaling.karmada.io";
/// Of --controllers; on by default.
inline constexpr const char* kController = "cronFederatedHorizontalPodAutoscaler";
/// A run that could not be made in time, because no process led or its clock stood still, is made up for this long.
inline constexpr Millis kMadeUpFor{5 * 60 * 1000};

/// The zone of that name ("": UTC). Error: why there is none.
using FindTimeZone = std::function<Result<std::shared_ptr<const cron::TimeZone>>(const std::string& name)>;

/// The runs of a CronFederatedHPA that are due, and when the next one of each rule is (5.9.1 to 5.9.4). Of rules that
/// are due together the one with the earlier time is carried out first, then the one that stands first.
///
/// - Owns: the replicas of scale targets when a rule is due; the status of CronFederatedHPAs.
/// - Trigger: a CronFederatedHPA changes, and time (status.executionHistories[].nextExecutionTime).
/// - Failures: a target that cannot be scaled, a rule that cannot be started (status, and an Event).
///
/// Pure, but for the zones: they are of the machine. So its entries are observations, which a replay does not repeat.
///
///   rule: suspended ◄──► waiting for nextExecutionTime ──due──► carried out, or failed ──► waiting
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const FindTimeZone& find_time_zone);

}  // namespace shiplog::cron_scaler
