#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/patch/patch.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

bool has_directive(const Value& patch) {
  for (const auto& member : patch.members()) {
    if (member.key().starts_with('$') || has_directive(member.value)) return true;
  }
  for (const Value& item : patch.items()) {
    if (has_directive(item)) return true;
  }
  return false;
}

}  // namespace

// The object, which determines the kind, and the patch.
SHIPLOG_FUZZ_TARGET(strategic_merge_patch) {
  const auto part = fuzz::parts(input, 2);
  const Value object = fuzz::json_or_null(part[0]);
  const Value patch = fuzz::json_or_null(part[1]);
  const Schema& schema = *fuzz::kind_of(object).schema;
  const std::string before = to_json(object);
  const auto patched = api::apply_strategic_merge_patch(object, patch, schema);
  SHIPLOG_CHECK(to_json(object) == before, "a patch does not change its input");
  const auto again = api::apply_strategic_merge_patch(object, patch, schema);
  SHIPLOG_CHECK(again.has_value() == patched.has_value(), "a patch can be applied always or never");
  if (!patched) {
    SHIPLOG_CHECK(patched.error().code == ErrorCode::kBadRequest && !patched.error().message.empty(),
                  "a patch that cannot be applied is a bad request with a message");
    return;
  }
  SHIPLOG_CHECK(again.value() == patched.value(), "a patch gives the same every time");
  const auto stored = parse_stored_json(to_json(patched.value()));
  SHIPLOG_CHECK(stored && stored.value() == patched.value(), "the result of a patch can be stored");
  // Directives can have another effect the second time (delete, then append), and so can a list that the schema does
  // not contain.
  if (has_directive(patch) || !validate(schema, patched.value()).empty() || !validate(schema, object).empty()) return;
  const auto twice = api::apply_strategic_merge_patch(patched.value(), patch, schema);
  SHIPLOG_CHECK(twice && twice.value() == patched.value(), "a patch without directives applied twice is applied once");
}

}  // namespace shiplog
