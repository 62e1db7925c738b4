#pragma once

#include <string_view>
#include <vector>

#include "events/base/value.h"

namespace shiplog::api {

/// The JSONPath of additionalPrinterColumns: .name, ['name'], [2], [-1], [*] and [?(@.type=="Ready")] (also !=, and
/// @.path alone for "there is one"). What is missing, or a path that cannot be read, gives nothing. The pointers are
/// valid as long as `object`.
std::vector<const Value*> json_path(const Value& object, std::string_view path);

}  // namespace shiplog::api
