#pragma once

#include <functional>
#include <memory>

#include "events/explain/fact.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Called when a step found that the referrers of an attached binding disagree, and nothing was to be changed: the
/// entries report the others (B-34).
using ReportConflict = std::function<void(const State& state, const ObjectKey& attached,
                                          const DependencyPolicyConflict& conflict, UtcMillis now)>;

/// Role "distributor": what the templates of bindings with propagateDeps refer to goes where they go
/// (B-28 to B-36). Upstream's dependencies distributor. `resolver`, which outlives the service, calls interpreter
/// webhooks; without one what needs them is not decided.
std::unique_ptr<Role> make_distributor_role(QuestionResolver* resolver = nullptr, ReportConflict report = {});

}  // namespace shiplog
