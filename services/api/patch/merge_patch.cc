#include "services/api/patch/patch.h"

namespace shiplog::api {
namespace {

/// RFC 7386, section 2.
void merge(Value& target, const Value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Value::object();
  for (const auto& member : patch.members()) {
    if (member.value.is_null()) {
      target.erase(member.key());
    } else {
      merge(target.edit(member.key()), member.value);
    }
  }
}

}  // namespace

Result<Value> apply_merge_patch(const Value& object, const Value& patch) {
  if (!patch.is_object()) return Error{ErrorCode::kBadRequest, "a merge patch must be a JSON object"};
  Value merged = object;
  merge(merged, patch);
  return merged;
}

}  // namespace shiplog::api
