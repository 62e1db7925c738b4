#pragma once

#include <memory>

#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "distributor": what the templates of bindings with propagateDeps refer to goes where they go
/// (B-28 to B-36). Upstream's dependencies distributor. `resolver`, which outlives the service, calls interpreter
/// webhooks; without one what needs them is not decided.
std::unique_ptr<Role> make_distributor_role(QuestionResolver* resolver = nullptr);

}  // namespace shiplog
