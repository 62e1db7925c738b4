#pragma once

#include <functional>
#include <memory>

#include "services/adapters/members/members.h"
#include "services/interpreter/customizations.h"
#include "services/roles/collector/summary_change.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// See collector::MemberWatches::Unread.
using UnreadStatus =
    std::function<void(const ObjectKey& work, interpreter::InterpreterOperation operation, const Error& error)>;

/// Role "collector": observes the members and their objects, and aggregates status to bindings and templates. `members`
/// outlives the service, and so does `resolver`, which calls interpreter webhooks; without one what needs them stays as
/// it is. `counts_resources`: nodes and pods of members are counted into the status of Clusters (CL-21).
struct CollectorSettings {
  bool counts_resources = true;
  collector::SummaryThresholds summaries = {};                  ///< when these counts are reported
  Millis probe_every{10'000};                                   ///< CL-16
  Millis success_threshold{30'000}, failure_threshold{30'000};  ///< of flips of the condition Ready (1.15)
  /// It runs in the agent of its only member. There bindings are unknown, so that reports always name the generation
  /// that they are of; and the revisions on the member's objects are those of the control plane, not of the state here,
  /// which is never behind what is dispatched.
  bool in_member = false;
};
std::unique_ptr<Role> make_collector_role(Members& members, QuestionResolver* resolver, UnreadStatus unread,
                                          const CollectorSettings& settings);
std::unique_ptr<Role> make_collector_role(Members& members, QuestionResolver* resolver = nullptr,
                                          UnreadStatus unread = {}, bool counts_resources = true);

}  // namespace shiplog
