#pragma once

#include <memory>

#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "binder": templates and policies into ResourceBindings. Keys are policies and templates.
/// `resolver`, which outlives the service, calls interpreter webhooks; without one no decision that needs them is made.
std::unique_ptr<Role> make_binder_role(QuestionResolver* resolver = nullptr);

}  // namespace shiplog
