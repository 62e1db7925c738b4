#pragma once

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// Whether `result`, what an override, an interpreter script or an interpreter webhook made of `object`, is still that
/// object: an object with the same apiVersion, kind, metadata.namespace and metadata.name. Otherwise a right to change
/// how one object looks would be a right to write any other. Missing, null and "" are the same namespace or name.
/// Error: kInvalid, naming the fields that differ. It does not quote their new values, which may be data of a Secret.
Result<void> same_identity(const Value& object, const Value& result);

}  // namespace shiplog
