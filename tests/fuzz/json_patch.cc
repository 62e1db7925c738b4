#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/patch/patch.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {

namespace {

void check(const Value& object, const Value& patch, JsonPatchRules rules) {
  const std::string before = to_json(object);
  const auto patched = apply_json_patch(object, patch, rules);
  SHIPLOG_CHECK(to_json(object) == before, "a patch does not change its input");
  const auto again = apply_json_patch(object, patch, rules);
  SHIPLOG_CHECK(again.has_value() == patched.has_value(), "a patch can be applied always or never");
  if (!patched) {
    SHIPLOG_CHECK(!patched.error().message.empty(), "a patch that cannot be applied has an error message");
    return;
  }
  SHIPLOG_CHECK(again.value() == patched.value(), "a patch gives the same every time");
  const auto stored = parse_stored_json(to_json(patched.value()));
  SHIPLOG_CHECK(stored && stored.value() == patched.value(), "the result of a patch can be stored");
  const Value whole = Value::array({Value::object({{"op", "replace"}, {"path", ""}, {"value", patched.value()}})});
  const auto replaced = apply_json_patch(object, whole, rules);
  SHIPLOG_CHECK(replaced && replaced.value() == patched.value(), "the whole object can be replaced");
}

}  // namespace

// The object and the patch.
SHIPLOG_FUZZ_TARGET(json_patch) {
  const auto part = fuzz::parts(input, 2);
  const Value object = fuzz::json_or_null(part[0]);
  const Value patch = fuzz::json_or_null(part[1]);
  check(object, patch, JsonPatchRules::kStandard);
  check(object, patch, JsonPatchRules::kKubernetes);
}

}  // namespace shiplog
