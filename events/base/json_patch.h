#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// RFC 6902. Errors: kBadRequest, the patch is malformed; kInvalid, an operation cannot be applied or a test fails;
/// kTooLarge, more than 10,000 operations (HTTP-9).
Result<Value> apply_json_patch(const Value& object, const Value& patch);

/// An RFC 6901 pointer, step by step, with ~0 and ~1 read; nullopt when it is none.
using JsonPointer = std::vector<std::string>;
std::optional<JsonPointer> parse_json_pointer(std::string_view text);
/// What the pointer leads to; nullptr when there is nothing.
const Value* find_at(const Value& document, const JsonPointer& pointer);
/// The same for writing. The pointer is known to lead somewhere.
Value& edit_at(Value& document, const JsonPointer& pointer);

}  // namespace shiplog
