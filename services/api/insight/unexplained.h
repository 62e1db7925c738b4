#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog::api {

/// What a binding tells of the policy that has it, where the explanation of that decision is no longer kept; empty: no
/// policy has it.
std::string unexplained_policy(const Value& binding);

/// The same of its placement; empty: this control plane's scheduler has not placed it.
std::string unexplained_placement(const Value& binding);

}  // namespace shiplog::api
