#include <optional>

#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/apply/fields.h"
#include "services/api/apply/managed_fields.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

api::FieldWriter writer(const char* manager, const Kind& kind, int64_t when) {
  return {manager, kind.api_version(), "", UtcMillis{1'700'000'000'000 + when * 1000}};
}

void check_managers(const Value& object) {
  for (const Value& entry : object["metadata"]["managedFields"].items()) {
    const auto fields = api::from_fields_v1(entry["fieldsV1"]);
    SHIPLOG_CHECK(fields.has_value(), "the fields that are written down can be read");
    SHIPLOG_CHECK(api::to_fields_v1(fields.value()) == entry["fieldsV1"], "and are written the same way");
  }
}

/// nullopt if it cannot be computed for these objects.
std::optional<Value> applied(const api::FieldWriter& by, const Kind& kind, const Value& live, const Value& patch,
                             bool force) {
  const auto result = api::apply_fields(by, kind, live, patch, force);
  const auto again = api::apply_fields(by, kind, live, patch, force);
  SHIPLOG_CHECK(result.has_value() == again.has_value(), "an apply is possible always or never");
  if (!result) return std::nullopt;
  const api::Applied& outcome = result.value();
  SHIPLOG_CHECK(outcome.object == again.value().object && outcome.conflicts.size() == again.value().conflicts.size(),
                "an apply gives the same every time");
  if (!outcome.conflicts.empty()) {
    SHIPLOG_CHECK(!force, "an apply by force has no conflicts");
    SHIPLOG_CHECK(!api::conflict_error(outcome.conflicts).message.empty(), "conflicts have a message");
    return std::nullopt;
  }
  check_managers(outcome.object);
  auto later = by;
  later.now = UtcMillis{by.now.value + 60'000};
  const auto same = api::apply_fields(later, kind, outcome.object, patch, force);
  SHIPLOG_CHECK(same && same.value().conflicts.empty() && same.value().object == outcome.object,
                "an apply applied twice is applied once");
  return outcome.object;
}

}  // namespace

// The object that a first manager applies, which determines the kind; the changes of a second; the object that a third
// applies.
SHIPLOG_FUZZ_TARGET(apply_patch) {
  const auto part = fuzz::parts(input, 3);
  const Value first = fuzz::json_or_null(part[0]);
  const Value second = fuzz::json_or_null(part[1]);
  const Value third = fuzz::json_or_null(part[2]);
  if (!first.is_object()) return;
  const Kind& kind = fuzz::kind_of(first);

  auto live = applied(writer("first", kind, 0), kind, Value{}, first, false);
  if (!live) return;
  if (second.is_object()) {
    const Value updated = api::track_update(writer("second", kind, 1), kind, *live, second);
    check_managers(updated);
    SHIPLOG_CHECK(api::track_update(writer("second", kind, 2), kind, updated, updated) == updated,
                  "an update that changes nothing changes no owner");
    live = updated;
  }
  if (!third.is_object()) return;
  (void)applied(writer("third", kind, 3), kind, *live, third, false);
  const auto forced = applied(writer("third", kind, 4), kind, *live, third, true);
  if (!forced) return;
  const auto wanted = api::fields_of(third, *kind.schema);
  const auto owned = api::fields_of(*forced, *kind.schema);
  if (wanted && owned) {
    // managedFields, name and similar fields cannot be applied.
    const auto of = [](const api::FieldSet& set) {
      const api::FieldSet* spec = set.find("f:spec");
      return spec == nullptr ? api::FieldSet{} : *spec;
    };
    SHIPLOG_CHECK(api::subtract(of(wanted.value()), of(owned.value())).empty(), "the forced fields are owned");
  }
}

}  // namespace shiplog
