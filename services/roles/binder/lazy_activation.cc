#include "services/roles/binder/lazy_activation.h"

#include <charconv>
#include <string>

#include "events/state/new_binding.h"
#include "events/state/object.h"
#include "services/roles/binder/claim.h"

namespace shiplog::binder {
namespace {

std::string note_of(const Policy& policy, Revision revision) {
  return std::to_string(policy.generation) + "@" + std::to_string(revision.value);
}

/// As noted; until it is, the newest change of the policy has to do.
Revision effective_since(const State& state, const Policy& policy) {
  const char* type = policy.cluster_scoped() ? type::kClusterPropagationPolicy : type::kPropagationPolicy;
  const ObjectKey key{type, policy.ns, policy.name};
  const std::string_view note = annotation_of(state.value_of(key), kEffectiveSinceAnnotation);
  const std::string generation = std::to_string(policy.generation) + "@";
  if (!note.starts_with(generation)) return state.revision_of(key);
  Revision noted;
  const auto read = std::from_chars(note.data() + generation.size(), note.data() + note.size(), noted.value);
  return read.ec == std::errc{} ? noted : state.revision_of(key);
}

}  // namespace

bool lazy(const Policy& policy) { return policy.spec["activationPreference"].as_string() == "Lazy"; }

void note_effective_since(Value& wanted, const Policy& policy, Revision revision) {
  if (!lazy(policy)) return erase_annotation(wanted, kEffectiveSinceAnnotation);
  const std::string_view note = annotation_of(wanted, kEffectiveSinceAnnotation);
  if (note.starts_with(std::to_string(policy.generation) + "@")) return;
  wanted.edit("metadata").edit("annotations").set(kEffectiveSinceAnnotation, note_of(policy, revision));
}

bool records_template_digest(const Value& binding, const Value& object) {
  // An attached binding has no placement, and an unclaimed one is maintained by the distributor.
  return binding["spec"]["resource"]["uid"] == object["metadata"]["uid"] && !binding["spec"]["placement"].is_null() &&
         has_claim_metadata(binding);
}

bool touched(const State& state, const Object& object, const Value& binding, const Policy& policy) {
  const std::string digest = template_digest(object.value);
  if (records_template_digest(binding, object.value)) {
    return user_digest(annotation_of(binding, kTemplateDigestAnnotation)) != user_digest(digest);
  }
  const std::string_view noted = annotation_of(object.value, kLazyDigestAnnotation);
  if (!noted.empty()) return noted != user_digest(digest);
  const auto claim = claim_of(object.value);
  // Applied once, but the binding was deleted: it is created again.
  if (claim && claim->policy == State::Name{policy.ns, policy.name}) return true;
  return object.revision > effective_since(state, policy);
}

void set_lazy_claim(Value& object, const Policy& policy, bool digest_recorded) {
  erase_annotation(object, kLazyDigestAnnotation);
  const std::string digest{user_digest(template_digest(object))};
  set_claim(object, policy);
  if (!digest_recorded) object.edit("metadata").edit("annotations").set(kLazyDigestAnnotation, digest);
}

}  // namespace shiplog::binder
