#pragma once

#include <optional>

#include "services/interpreter/customizations.h"

namespace shiplog::interpreter {

/// The compiled-in script of a third-party kind (L-23), if it has the operation's function.
/// Written from thirdparty/<group>/<version>/<Kind>.lua.
std::optional<Script> built_in(const Value& object, Operation operation);

/// Of all of them: "apps.kruise.io/v1alpha1/CloneSet".
std::vector<std::string> built_in_kinds();

}  // namespace shiplog::interpreter
