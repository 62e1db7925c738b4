#include <optional>
#include <string_view>

#include "events/base/merged_members.h"
#include "services/api/patch/patch.h"

namespace shiplog::api {
namespace {

/// RFC 7386, section 2. What is no object counts as an empty one.
Value merged(const Value& target, const Value& patch) {
  if (!patch.is_object()) return patch;
  return merged_members(target, patch, [](std::string_view, const Value* old, const Value& value) {
    static const Value kNothing;
    return value.is_null() ? std::nullopt : std::optional{merged(old == nullptr ? kNothing : *old, value)};
  });
}

}  // namespace

Result<Value> apply_merge_patch(const Value& object, const Value& patch) {
  if (!patch.is_object()) return Error{ErrorCode::kBadRequest, "a merge patch must be a JSON object"};
  return merged(object, patch);
}

}  // namespace shiplog::api
