#pragma once

#include <string>

#include "events/state/state.h"
#include "services/interpreter/customizations.h"

namespace shiplog::interpreter {

/// Which level answers an operation about the object's kind, for people: "ResourceInterpreterCustomization NAME,
/// healthInterpretation", "interpreter webhook CONFIGURATION/NAME", "the third-party rules compiled in" or "the native
/// rules".
std::string interpreted_by(const State& state, const Value& object, Operation operation);

}  // namespace shiplog::interpreter
