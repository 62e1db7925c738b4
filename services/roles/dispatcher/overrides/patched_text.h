#pragma once

#include <string>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::dispatcher {

/// The text of a JSON document, patched with RFC 6902 operations and in canonical form. Numbers that a Value would
/// round keep their text. Errors: those of parse_json and apply_json_patch.
Result<std::string> patched_json(const std::string& text, const Value& patch);

/// The same of a YAML document. Error: also kInvalid, it still has an integer from 2^63 to 2^64, which would be
/// rounded; the message names its place. Other numbers are rounded to doubles, as upstream does.
Result<std::string> patched_yaml(const std::string& text, const Value& patch);

}  // namespace shiplog::dispatcher
