#pragma once

#include "events/base/json_patch.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog::api {

using shiplog::apply_json_patch;

/// RFC 7386. Error: kBadRequest unless the patch is an object.
Result<Value> apply_merge_patch(const Value& object, const Value& patch);

/// Kubernetes' strategic merge patch: lists merge by the keys the schema names, and by the directives $patch,
/// $deleteFromPrimitiveList/, $setElementOrder/ and $retainKeys. Error: kBadRequest, naming the field.
Result<Value> apply_strategic_merge_patch(const Value& object, const Value& patch, const Schema& schema);

}  // namespace shiplog::api
