#pragma once

#include "services/cel/cel_function.h"

/// The function libraries that Kubernetes adds to the language. Each adds its functions.
namespace shiplog::cel {

void add_regex_functions(CelFunctions& functions);     ///< matches, find, findAll
void add_time_functions(CelFunctions& functions);      ///< getFullYear and the like
void add_optional_functions(CelFunctions& functions);  ///< optional.of, hasValue, orValue and the like
void add_string_functions(CelFunctions& functions);    ///< charAt, indexOf, replace, split and the like
void add_format_functions(CelFunctions& functions);    ///< "%s".format(...)
void add_list_functions(CelFunctions& functions);      ///< sum, min, isSorted, sort, distinct and the like
void add_set_functions(CelFunctions& functions);       ///< sets.contains and the like
void add_url_functions(CelFunctions& functions);
void add_quantity_functions(CelFunctions& functions);
void add_network_functions(CelFunctions& functions);  ///< ip, cidr
void add_semver_functions(CelFunctions& functions);
void add_named_format_functions(CelFunctions& functions);  ///< format.dns1123Label() and the like
void add_authorizer_functions(CelFunctions& functions);    ///< of authorizer.h

/// All of them.
void add_library_functions(CelFunctions& functions);

}  // namespace shiplog::cel
