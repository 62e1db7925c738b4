#pragma once

#include <string>

#include "events/base/result.h"
#include "events/state/state.h"

namespace shiplog::dispatcher {

/// The manifest of a target after its overrides, with the state that its last failover preserved as labels (3.4.5,
/// 3.4.6). `object`: the template. Labels of the control plane are left out: make_work() sets its own besides.
/// Errors: kInvalid, what the task has is no label (3.4.7); as check_authority().
Result<Value> with_preserved_state(const State& state, const Value& binding_spec, const std::string& cluster,
                                   const Value& object, Value manifest);

}  // namespace shiplog::dispatcher
