#pragma once

#include <memory>

#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "binder": templates and policies into ResourceBindings. Keys are policies and templates.
/// `resolver`, which outlives the service, asks interpreter webhooks; without one what needs them is not decided.
std::unique_ptr<Role> make_binder_role(QuestionResolver* resolver = nullptr);

}  // namespace shiplog
