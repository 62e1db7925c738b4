#include <cstdio>
#include <string>

#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/admission/admission.h"
#include "services/api/custom_rules/rule_set.h"
#include "tests/fuzz/edits.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

api::Admission write_of(const Kinds& kinds, const Kind& kind, std::string name) {
  api::Admission admission;
  admission.kinds = &kinds;
  admission.kind = &kind;
  if (!kind.builtin) admission.custom_rules = api::compile_rules(kind.schema);
  if (kind.namespaced) admission.ns = "default";
  admission.name = std::move(name);
  admission.name_suffix = "bcdfg";
  admission.now = UtcMillis{1'700'000'000'000};
  return admission;
}

Value as_stored(Value object) {
  object.edit("metadata").set("uid", "uid-1");
  object.edit("metadata").set("resourceVersion", "7");
  object.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  return object;
}

void comes_to_rest(const Kinds& kinds, const Kind& kind, const Value& stored) {
  auto admission = write_of(kinds, kind, stored["metadata"]["name"].str());
  const auto again = api::admit_update(admission, stored, stored);
  if (!again) std::fprintf(stderr, "%s\n%s\n", to_json(stored).c_str(), again.error().message.c_str());
  SHIPLOG_CHECK(again.has_value(), "a custom resource is accepted unchanged");
  const auto once_more = api::admit_update(admission, again.value(), again.value());
  SHIPLOG_CHECK(once_more && once_more.value() == again.value(), "a custom resource that is not changed comes to rest");
}

}  // namespace

// A definition; how it is changed; an object of its first version; how that is changed before it is created; how it is
// changed afterwards.
SHIPLOG_FUZZ_TARGET(custom_resources) {
  const auto part = fuzz::parts(input, 5);
  Value definition = fuzz::json_or_null(part[0]);
  if (!definition.is_object()) return;
  fuzz::edit(definition, part[1]);
  const Kinds& compiled = Kinds::compiled();
  const Kind& of_definitions = *compiled.find_type("customresourcedefinitions.apiextensions.k8s.io");
  auto creation = write_of(compiled, of_definitions, "");
  const auto admitted = api::admit_create(creation, definition);
  if (!admitted) {
    SHIPLOG_CHECK(!admitted.error().message.empty(), "a definition is refused with a message");
    return;
  }
  comes_to_rest(compiled, of_definitions, as_stored(admitted.value()));
  const auto kinds = kinds_of(admitted.value());
  if (!kinds) std::fprintf(stderr, "%s\n%s\n", to_json(admitted.value()).c_str(), kinds.error().message.c_str());
  SHIPLOG_CHECK(kinds.has_value(), "a definition that was admitted defines its kinds");
  Value object = fuzz::json_or_null(part[2]);
  if (kinds.value().empty() || !object.is_object()) return;

  const Kind& kind = kinds.value().front();
  object.set("apiVersion", kind.api_version());
  object.set("kind", kind.kind);
  fuzz::edit(object, part[3]);
  auto create = write_of(compiled, kind, "");
  const auto created = api::admit_create(create, object);
  if (!created) {
    SHIPLOG_CHECK(!created.error().message.empty(), "a custom resource is refused with a message");
    return;
  }
  const Value stored = as_stored(created.value());
  comes_to_rest(compiled, kind, stored);
  Value next = stored;
  fuzz::edit(next, part[4]);
  auto update = write_of(compiled, kind, stored["metadata"]["name"].str());
  if (const auto updated = api::admit_update(update, stored, next)) comes_to_rest(compiled, kind, updated.value());
  if (!kind.has_status) return;
  if (const auto updated = api::admit_status_update(update, stored, next)) {
    comes_to_rest(compiled, kind, updated.value());
  }
}

}  // namespace shiplog
