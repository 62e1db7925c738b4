#pragma once

#include <optional>

#include "events/base/value.h"

namespace shiplog {

/// `target` with a JSON merge patch applied (RFC 7386, section 2). A target that is no object counts as an empty one.
/// What the patch leaves alone is shared with the target.
Value merge_patched(const Value& target, const Value& patch);

/// The smallest merge patch that makes `after` of `before`: {} when they are equal. nullopt: there is none, since
/// `after` is no object or has a member that is null where a patch would remove it.
std::optional<Value> merge_patch(const Value& before, const Value& after);

}  // namespace shiplog
