#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/kinds/schema.h"

namespace shiplog::api {

/// The fieldPath of a rule, ".a.b['c']", as errors name the field: "a.b[c]" if c is a key of a map, "a.b.c" if it is a
/// field. nullopt: it is not well formed, or leads to no field of the schema.
std::optional<std::string> rule_field_path(std::string_view text, const Schema& schema);

}  // namespace shiplog::api
