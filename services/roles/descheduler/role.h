#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

class QuestionResolver;

/// Role "descheduler": replicas that clusters cannot run. Keys are ResourceBindings. `estimators`: nullptr, there are
/// none, and nothing is descheduled.
std::unique_ptr<Role> make_descheduler_role(QuestionResolver* estimators, Millis estimators_have);

}  // namespace shiplog
