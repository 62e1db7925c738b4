#include <iterator>
#include <utility>

#include "events/fold/apply.h"

namespace shiplog {
namespace {

constexpr const char* kApplied = "Applied";

/// A result of an older generation of a Work is no result of the present one.
bool outdated(const Staged& staged, const ObjectKey& work, int64_t generation) {
  const Value* object = staged.find(work);
  return object != nullptr && (*object)["metadata"]["generation"].as_int() > generation;
}

Refusal older_generation(const ObjectKey& work) {
  return {ErrorCode::kConflict, to_string(work) + " has a newer generation"};
}

void set_observed_generation(Value& object, std::string_view type, int64_t generation) {
  for (Value& condition : object.edit("status").edit("conditions").edit_items()) {
    if (condition["type"].as_string() == type) condition.set("observedGeneration", generation);
  }
}

/// Condition Applied, with the generation that it is about: it shows whether there is work left.
void set_applied(Value& work, std::string_view status, std::string_view reason, std::string_view message,
                 int64_t generation, UtcMillis time) {
  set_condition(work, kApplied, status, reason, message, time);
  set_observed_generation(work, kApplied, generation);
}

/// The Work of the same binding for another cluster, next to this one; null: there is none.
const Value& sibling_of(const State& state, const ObjectKey& key, const Value& work) {
  static const Value kNone;
  for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
    const auto id = label_of(work, label);
    if (id.empty()) continue;
    const auto& all = state.labelled(label, id);
    const auto own = all.find(key);
    if (own == all.end()) continue;
    if (own != all.begin() && std::prev(own)->type == type::kWork) return state.value_of(*std::prev(own));
    if (std::next(own) != all.end() && std::next(own)->type == type::kWork) return state.value_of(*std::next(own));
  }
  return kNone;
}

/// What members report of one template is often equal, but for times.
void share_status(const Staged& staged, const ObjectKey& key, Value& work) {
  if (!staged.shares_parts()) return;
  work.edit("status").share_with(sibling_of(staged.state(), key, work)["status"]);
}

}  // namespace

Applied apply(Staged& staged, const WorkRendered& event) {
  const Value* before = staged.find(event.work);
  if (before == nullptr) {
    Value made = event.value;
    made.edit("metadata").set("generation", 1);
    return staged.create(event.work, std::move(made));
  }
  if (deleting(*before)) return refusal_about(event.work, ErrorCode::kConflict, "is being deleted");
  Value after = event.value;
  if (const Value* status = before->find("status")) {
    after.set("status", *status);
  } else {
    after.erase("status");
  }
  return staged.update(event.work, std::move(after));
}

Applied apply(Staged& staged, const WorkRemoved& event) { return staged.remove(event.work); }

Applied apply(Staged& staged, const WorkApplied& event) {
  if (outdated(staged, event.work, event.generation)) return older_generation(event.work);
  return edit(staged, event.work, [&](Value& work) {
    set_applied(work, "True", "AppliedSuccessful", event.message, event.generation, staged.time());
  });
}

Applied apply(Staged& staged, const WorkApplyFailed& event) {
  if (outdated(staged, event.work, event.generation)) return older_generation(event.work);
  return edit(staged, event.work, [&](Value& work) {
    set_applied(work, "False", event.reason, event.message, event.generation, staged.time());
  });
}

Applied apply(Staged& staged, const WorkStatusObserved& event) {
  return edit(staged, event.work, [&](Value& work) {
    work.edit("status").set("manifestStatuses", event.manifest_statuses);
    if (event.generation > 0) {
      set_condition(work, kStatusCollectedCondition, "True", "StatusCollected",
                    "The status is that of the manifests of the observed generation.", staged.time());
      set_observed_generation(work, kStatusCollectedCondition, event.generation);
    }
    share_status(staged, event.work, work);
  });
}

Applied apply(Staged& staged, const StatusAggregated& event) {
  const Applied refused = edit(staged, event.binding, [&](Value& binding) {
    binding.edit("status").set("aggregatedStatus", event.aggregated_status);
    set_condition(binding, "FullyApplied", event.fully_applied ? "True" : "False", event.reason, event.message,
                  staged.time());
  });
  if (refused || event.template_object.empty()) return refused;
  return edit(staged, event.template_object, [&](Value& object) { object.set("status", event.template_status); });
}

Applied apply(Staged& staged, const WorksSynced& event) {
  return edit(staged, event.object, [&](Value& object) {
    set_condition(object, kWorksSyncedCondition, event.succeeded ? "True" : "False", event.reason, event.message,
                  staged.time());
    if (event.generation > 0) set_observed_generation(object, kWorksSyncedCondition, event.generation);
  });
}

}  // namespace shiplog
