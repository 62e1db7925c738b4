#pragma once

#include <memory>

#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "scheduler": bindings into placements. Keys are ResourceBindings and ClusterResourceBindings.
/// `estimators`, which outlives the service, calls the estimators of members, which have so long to answer (S-71);
/// nullptr: room is judged by the clusters' summaries alone.
std::unique_ptr<Role> make_scheduler_role(QuestionResolver* estimators = nullptr,
                                          Millis estimators_have = Millis{3'000});

}  // namespace shiplog
