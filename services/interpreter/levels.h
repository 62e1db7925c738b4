#pragma once

#include <string>

#include "events/state/state.h"
#include "services/interpreter/customizations.h"

namespace shiplog::interpreter {

/// The level that implements an operation for the object's kind, as display text: "ResourceInterpreterCustomization
/// NAME, healthInterpretation", "interpreter webhook CONFIGURATION/NAME", "the third-party rules compiled in" or "the
/// native rules".
std::string interpreted_by(const State& state, const Value& object, InterpreterOperation operation);

}  // namespace shiplog::interpreter
