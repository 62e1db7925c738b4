#pragma once

#include <string>
#include <vector>

#include "events/decision.h"
#include "events/state/binding.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::dispatcher {

/// Annotation of a template: "true": evictions with purge mode Directly never let two copies run at once; "false": they
/// may. Without it StatefulSets never run twice.
inline constexpr const char* kSingleCopyAnnotation = "workload.shiplog.io/single-copy";

/// A workload that must never run twice leaves a cluster. Each step is an event, HandoverStepTaken.
///
///   evicted ──Stop──► its Work there is rendered without replicas ──Confirm──► no replica is left ──Start──► the Works
///   of the new clusters are written
///
/// The stopped object stays in the member until the eviction is over: it carries the revision of the Work that stopped
/// it, so a former dispatcher, which acts upon an older one, can neither change nor create it. A kind that cannot be
/// scaled is deleted instead, and the removal of its Work is the confirmation.
struct Handover {
  std::string cluster;
  std::string step;  ///< taken last; empty: none
};

/// Those of a binding that are under way, by cluster. One that has not confirmed that the old copy stopped stays even
/// if its eviction task is removed.
std::vector<Handover> handovers_of(const State& state, const ObjectKey& key, const Value& binding);

/// The Work without replicas; nullopt: its kind cannot be scaled.
interpreter::Interpreted<std::optional<Value>> stopped_work(const State& state, const Value& work, UtcMillis now);

/// The member has applied the Work, and reports that no replica of the object is left.
bool nothing_runs(const Value& work, const Value& resource);

}  // namespace shiplog::dispatcher
