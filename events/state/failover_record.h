#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

class State;

/// What the control plane remembers of the failovers of a binding, in an internal object of its own that is deleted
/// with the binding. History, snapshots and the state hash treat it like any other object.
///   {timers: {CLUSTER: since, ms}, handovers: {CLUSTER: {step, at}}}
inline constexpr const char* kFailoverRecordType = "failoverrecords.control.shiplog.io";
inline constexpr const char* kFailoverRecordKind = "FailoverRecord";
ObjectKey failover_record_key(const ObjectKey& binding);
/// The record of a binding; null when there is none.
const Value& failover_record_of(const State& state, const ObjectKey& binding);
/// The binding that a record belongs to.
ObjectKey binding_of_failover_record(const ObjectKey& record);

/// Since when the binding's workload is unhealthy in a cluster; nullopt: it is not known to be.
std::optional<UtcMillis> unhealthy_since(const State& state, const ObjectKey& binding, std::string_view cluster);
/// The last step of moving the binding's workload off a cluster ("Stop", "Confirm", "Start"); empty: none was taken.
std::string handover_step(const State& state, const ObjectKey& binding, std::string_view cluster);

}  // namespace shiplog
