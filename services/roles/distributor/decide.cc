#include "services/roles/distributor/decide.h"

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/bound_template.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/distributor/attached.h"

namespace shiplog::distributor {
namespace {

/// Nothing is propagated any more: once no binding is attached to this one, the finalizer is removed (B-35).
void let_go(const State& state, const ObjectKey& key, const Object& object, Decision& decision) {
  const std::string mark = depended_by_label(key);
  for (const ObjectKey& attached : state.dependencies().attached_to(key)) {
    // They are released each in a step of its own.
    if (state.value_of(attached)["metadata"]["labels"].contains(mark)) return;
  }
  Value freed = object.value;
  Value& metadata = freed.edit("metadata");
  std::erase_if(metadata.edit("finalizers").edit_items(),
                [](const Value& finalizer) { return finalizer.as_string() == kDistributorFinalizer; });
  if (metadata["finalizers"].size() == 0) metadata.erase("finalizers");
  decision.events.push_back(ObjectUpdated{key, std::move(freed)});
  decision.expects.push_back({key, object.revision});
}

DependencyFound found_in(const std::string& ns, const interpreter::Dependency& dependency) {
  const bool by_name = !dependency.name.empty();
  return {dependency.kind, dependency.ns, dependency.name, by_name ? "" : to_json(dependency.label_selector),
          dependency.ns == ns};
}

/// Records what the template refers to (B-29).
interpreter::Interpreted<void> resolve(const State& state, const ObjectKey& key, const Object& object, UtcMillis now,
                                       Decision& decision) {
  const Value& spec = object.value["spec"];
  const bool recorded = has_finalizer(object.value, kDistributorFinalizer);
  if (!spec["propagateDeps"].as_bool() || deleting(object.value)) {
    if (recorded) let_go(state, key, object, decision);
    return ok();
  }
  if (!recorded && spec["clusters"].size() == 0) return ok();  // B-28: not before it is placed
  // D-39: a binding whose policy was deleted stays as it was, and so do its dependencies.
  if (recorded && !binding_from(key, object.value).claimed) return ok();
  const auto bound = bound_template(state, key, spec["resource"]);
  if (!bound || !bound.value()) return ok();
  const Value& source = state.value_of(*bound.value());
  if (source.is_null()) return ok();
  SHIPLOG_TRY(const auto found, interpreter::dependencies(state, source, now));
  if (!found) return ok();
  Value list = interpreter::to_value(*found);
  if (recorded && annotation_of(object.value, kDependenciesAnnotation) == to_json(list)) return ok();
  Explanation why;
  why.summary =
      DependenciesFound{source["kind"].str(), source["metadata"]["name"].str(), static_cast<int64_t>(found->size())};
  for (const interpreter::Dependency& dependency : *found) why.steps.emplace_back(found_in(key.ns.str(), dependency));
  why.inputs_digest = to_string(siphash128(to_json(source["spec"])));
  decision.events.push_back(DependenciesResolved{key, std::move(list), std::move(why)});
  decision.expects.push_back({key, object.revision});
  return ok();
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  if (key.type != type::kResourceBinding) return Nothing{};
  Decision decision;
  // First as what others refer to: an interpreter that fails on its own template must not hold that up.
  follow(state, key, decision);
  if (const Object* object = state.find(key); object != nullptr && decision.events.empty()) {
    const auto resolved = resolve(state, key, *object, now, decision);
    if (!resolved) return interpreter::decided(resolved.error());
  }
  if (decision.events.empty()) return Nothing{};
  decision.look_again = now;
  return decision;
}

}  // namespace shiplog::distributor
