#include "services/api/admission/admission.h"

#include <cstdio>
#include <string>

#include "events/base/check.h"
#include "events/base/json.h"
#include "tests/fuzz/edits.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

api::Admission request(const Kind& kind, const Value& object) {
  api::Admission admission;
  admission.kinds = &Kinds::compiled();
  admission.kind = &kind;
  if (kind.namespaced) admission.ns = "default";
  admission.name_suffix = "bcdfg";
  admission.now = UtcMillis{1'700'000'000'000};
  if (!object.is_null()) admission.name = object["metadata"]["name"].str();
  return admission;
}

void must_be_accepted(const Result<Value>& write, const Value& stored, const char* what) {
  if (!write) std::fprintf(stderr, "%s\n%s\n", to_json(stored).c_str(), write.error().message.c_str());
  SHIPLOG_CHECK(write.has_value(), what);
}

/// What is stored can be written as it is: also by clients that change nothing, and by controllers of its status.
void stays_writable(const Kind& kind, const Value& stored) {
  auto unchanged = request(kind, stored);
  const auto again = api::admit_update(unchanged, stored, stored);
  must_be_accepted(again, stored, "what is stored is accepted unchanged");
  // The first update may add defaults, as those of removed labels.
  const auto once_more = api::admit_update(unchanged, again.value(), again.value());
  must_be_accepted(once_more, again.value(), "with its defaults it is accepted unchanged");
  if (once_more.value() != again.value()) {
    std::fprintf(stderr, "%s\n%s\n", to_json(again.value()).c_str(), to_json(once_more.value()).c_str());
  }
  SHIPLOG_CHECK(once_more.value() == again.value(), "what is written unchanged comes to rest");
  if (!kind.has_status) return;
  auto of_status = request(kind, stored);
  must_be_accepted(api::admit_status_update(of_status, stored, stored), stored, "its status is accepted unchanged");
}

}  // namespace

// An object, which determines the kind; how it is changed before it is created; how it is changed afterwards.
SHIPLOG_FUZZ_TARGET(admission) {
  const auto part = fuzz::parts(input, 3);
  Value object = fuzz::json_or_null(part[0]);
  if (!object.is_object()) return;
  const Kind& kind = fuzz::kind_of(object);
  if (kind.is_view()) return;
  fuzz::edit(object, part[1]);
  auto creation = request(kind, Value{});
  const auto created = api::admit_create(creation, object);
  if (!created) {
    SHIPLOG_CHECK(!created.error().message.empty(), "a refusal has a message");
    return;
  }
  Value stored = created.value();
  stored.edit("metadata").set("uid", "uid-1");
  stored.edit("metadata").set("resourceVersion", "7");
  stored.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  stays_writable(kind, stored);

  Value next = stored;
  fuzz::edit(next, part[2]);
  auto update = request(kind, stored);
  if (const auto updated = api::admit_update(update, stored, next)) stays_writable(kind, updated.value());
  if (!kind.has_status) return;
  auto of_status = request(kind, stored);
  if (const auto updated = api::admit_status_update(of_status, stored, next)) stays_writable(kind, updated.value());
}

}  // namespace shiplog
