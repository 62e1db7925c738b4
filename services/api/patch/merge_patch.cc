#include "events/base/merge_patch.h"

#include "services/api/patch/patch.h"

namespace shiplog::api {

Result<Value> apply_merge_patch(const Value& object, const Value& patch) {
  if (!patch.is_object()) return Error{ErrorCode::kBadRequest, "a merge patch must be a JSON object"};
  return merge_patched(object, patch);
}

}  // namespace shiplog::api
