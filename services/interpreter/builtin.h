#pragma once

#include <optional>

#include "services/interpreter/customizations.h"

namespace shiplog::interpreter {

/// The compiled-in script of a third-party kind (L-23), if it has the operation's function. Generated from
/// thirdparty/<group>/<version>/<Kind>.lua.
std::optional<InterpreterScript> built_in(const Value& object, InterpreterOperation operation);

/// All kinds with a compiled-in script, as "apps.kruise.io/v1alpha1/CloneSet".
std::vector<std::string> built_in_kinds();

}  // namespace shiplog::interpreter
