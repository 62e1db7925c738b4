#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/patch/patch.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

bool has_null(const Value& value) {
  for (const auto& member : value.members()) {
    if (member.value.is_null() || has_null(member.value)) return true;
  }
  return false;
}

}  // namespace

// The object and the patch.
SHIPLOG_FUZZ_TARGET(merge_patch) {
  const auto part = fuzz::parts(input, 2);
  const Value object = fuzz::json_or_null(part[0]);
  const Value patch = fuzz::json_or_null(part[1]);
  const std::string before = to_json(object);
  const auto patched = api::apply_merge_patch(object, patch);
  SHIPLOG_CHECK(patched.has_value() == patch.is_object(), "every object is a merge patch, and nothing else is");
  SHIPLOG_CHECK(to_json(object) == before, "a patch does not change its input");
  if (!patched) return;
  const auto stored = parse_stored_json(to_json(patched.value()));
  SHIPLOG_CHECK(stored && stored.value() == patched.value(), "the result of a patch can be stored");
  const auto twice = api::apply_merge_patch(patched.value(), patch);
  SHIPLOG_CHECK(twice && twice.value() == patched.value(), "a patch applied twice is applied once");
  if (has_null(patched.value())) return;  // a null of the object itself would delete if used as a patch
  const auto itself = api::apply_merge_patch(patched.value(), patched.value());
  SHIPLOG_CHECK(itself && itself.value() == patched.value(), "an object patched with itself is itself");
  const auto fresh = api::apply_merge_patch(Value{}, patched.value());
  SHIPLOG_CHECK(fresh && fresh.value() == patched.value(), "an object is the patch that makes it of nothing");
}

}  // namespace shiplog
