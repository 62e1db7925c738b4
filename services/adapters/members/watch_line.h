#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// A line of a watch, `{"type": ..., "object": {...}}`, without object.metadata.managedFields: often half of the text,
/// and no role reads it. The bytes are removed before the text is parsed. Returns `line` itself if there is nothing to
/// remove, or if the text has white space between its tokens; else a view of `buffer`, which is overwritten.
std::string_view without_managed_fields(std::string_view line, std::string& buffer);

}  // namespace shiplog
