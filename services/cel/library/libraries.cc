#include "services/cel/library/libraries.h"

namespace shiplog::cel {

void add_library_functions(CelFunctions& functions) {
  add_regex_functions(functions);
  add_time_functions(functions);
  add_optional_functions(functions);
  add_string_functions(functions);
  add_format_functions(functions);
  add_list_functions(functions);
  add_set_functions(functions);
  add_url_functions(functions);
  add_quantity_functions(functions);
  add_network_functions(functions);
  add_semver_functions(functions);
  add_named_format_functions(functions);
  add_authorizer_functions(functions);
}

}  // namespace shiplog::cel
