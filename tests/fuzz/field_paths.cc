#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/apply/field_set.h"
#include "services/api/table/json_path.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

/// The paths of a set of fields in the form of managedFields.
void check_sets(const Value& left, const Value& right) {
  const auto a = api::from_fields_v1(left);
  const auto b = api::from_fields_v1(right);
  if (!a || !b) return;
  const auto again = api::from_fields_v1(api::to_fields_v1(a.value()));
  SHIPLOG_CHECK(again && again.value() == a.value(), "a set of fields can be written and read again");
  SHIPLOG_CHECK(api::unite(a.value(), a.value()) == a.value(), "a set with itself is itself");
  SHIPLOG_CHECK(api::intersect(a.value(), a.value()) == a.value(), "the intersection of a set with itself is the set");
  SHIPLOG_CHECK(api::subtract(a.value(), a.value()).empty(), "a set without itself is empty");
  const api::FieldSet shared = api::intersect(a.value(), b.value());
  SHIPLOG_CHECK(shared == api::intersect(b.value(), a.value()), "intersection is commutative");
  const api::FieldSet all = api::unite(a.value(), b.value());
  SHIPLOG_CHECK(all == api::unite(b.value(), a.value()), "union is commutative");
  SHIPLOG_CHECK(api::unite(api::subtract(a.value(), b.value()), shared) == a.value(),
                "a set is the union of intersection and difference");
  SHIPLOG_CHECK(api::subtract(all, b.value()) == api::subtract(a.value(), b.value()),
                "the difference of the union and a set is the difference");
  SHIPLOG_CHECK(api::paths_of(all).size() <= api::paths_of(a.value()).size() + api::paths_of(b.value()).size(),
                "every path is in one of the sets");
}

/// The path of a printer column: it finds values of the object, and the same ones every time.
void check_json_path(const Value& object, std::string_view path) {
  const auto found = api::json_path(object, path);
  SHIPLOG_CHECK(found == api::json_path(object, path), "a path finds the same every time");
  for (const Value* value : found) SHIPLOG_CHECK(to_json(*value).size() > 0, "a result is a value");
}

}  // namespace

// Two sets of fields in the form of managedFields, the path of a printer column, and an object.
SHIPLOG_FUZZ_TARGET(field_paths) {
  const auto part = fuzz::parts(input, 4);
  check_sets(fuzz::json_or_null(part[0]), fuzz::json_or_null(part[1]));
  check_json_path(fuzz::json_or_null(part[3]), part[2]);
}

}  // namespace shiplog
