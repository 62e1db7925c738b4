#pragma once

#include "services/cel/cel_function.h"

namespace shiplog::cel {

// Each adds its functions.
/// Conversions, size, matches and so on of the language's definition (cel-spec).
void add_standard_functions(CelFunctions& functions);

/// All that Kubernetes offers: the standard functions and the libraries. Made once.
const CelFunctions& kubernetes_functions();

}  // namespace shiplog::cel
