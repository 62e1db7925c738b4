#pragma once

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::dispatcher {

/// One rule's overriders on one object, in their order: image, command, args, labels, annotations, field, plaintext
/// (B-19, B-20). Error: kInvalid, naming the overrider and what it could not be applied to; nothing is applied then.
Result<Value> apply_overriders(Value object, const Value& overriders);

}  // namespace shiplog::dispatcher
