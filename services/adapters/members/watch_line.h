#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "services/adapters/members/members.h"

namespace shiplog {

/// A line of a watch, `{"type": ..., "object": {...}}`, without object.metadata.managedFields: often half of the text,
/// and no role reads it. The bytes are removed before the text is parsed. Returns `line` itself if there is nothing to
/// remove, or if the text has white space between its tokens; else a view of `buffer`, which is overwritten.
std::string_view without_managed_fields(std::string_view line, std::string& buffer);

/// The type of such a line, and these parts of its object; what is left out is not checked to be JSON. Returns `line`
/// itself for a text with white space between the tokens that are looked at, one with escapes in their names, or one
/// that is not of that form; else a view of `buffer`, which is overwritten.
std::string_view with_parts(std::string_view line, const ObjectParts& parts, std::string& buffer);

/// At least the number of values in a JSON text: one before each comma and bracket, and one more. Those in strings
/// count if they do not make many.
size_t values_in(std::string_view text);

}  // namespace shiplog
