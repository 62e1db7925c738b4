#include "services/cel/cel_libraries.h"
#include "services/cel/library/libraries.h"

namespace shiplog::cel {

const CelFunctions& kubernetes_functions() {
  static const CelFunctions kFunctions = [] {
    CelFunctions functions;
    add_standard_functions(functions);
    add_library_functions(functions);
    return functions;
  }();
  return kFunctions;
}

}  // namespace shiplog::cel
