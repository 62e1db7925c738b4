#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/decision.h"
#include "events/state/new_work.h"
#include "events/state/work.h"
#include "services/roles/dispatcher/render.h"

// Works in a decision, whatever they are rendered from.

namespace shiplog::dispatcher {

/// New Works can be put there: the cluster stays, and its execution space exists and stays too.
inline bool open_for_works(const State& state, const std::string& cluster) {
  const Cluster* known = state.cluster(cluster);
  if (known == nullptr || known->deleting) return false;
  const Object* space = state.find({type::kNamespace, "", execution_space(cluster)});
  return space != nullptr && !deleting(space->value);
}

/// The status of Works that are made at one moment: one Value for all of them.
class NewWorkStatus {
 public:
  explicit NewWorkStatus(UtcMillis now) : now_{now} {}
  const Value& of(bool suspended) {
    Value& status = suspended ? suspended_ : dispatched_;
    if (status.is_null()) {
      status = Value::object({{"conditions", Value::array({dispatching_condition(suspended, now_)})}});
    }
    return status;
  }

 private:
  UtcMillis now_;
  Value suspended_, dispatched_;
};

/// Renders one Work, unless it already is as it should be. A Work that is being deleted is waited for (B-25). False:
/// the decision is full.
template <class Render>
bool put_work(const State& state, const ObjectKey& work, ManifestRendered summary, std::vector<Fact> steps,
              Render render, NewWorkStatus& status, DecisionBuilder& decision) {
  const Object* present = state.find(work);
  const Value& before = present == nullptr ? state.value_of(work) : present->value;
  if (deleting(before)) return true;
  Value rendered = render(before);
  if (rendered == before) return true;
  if (present == nullptr) {
    // E-3: true from the beginning, so it is part of the new Work. Later it is written when it flips (apply_work.cc).
    rendered.set("status", status.of(rendered["spec"]["suspendDispatching"].as_bool()));
  }
  Explanation why;
  why.summary = std::move(summary);
  why.steps = std::move(steps);
  why.inputs_digest = to_string(siphash128(to_json(rendered["spec"])));
  return decision.try_add(WorkRendered{work, std::move(rendered), std::move(why)},
                          {work, present == nullptr ? Revision{} : present->revision});
}

/// False: the decision is full.
inline bool delete_work(const State& state, const ObjectKey& work, DecisionBuilder& decision) {
  const Object* object = state.find(work);
  if (object == nullptr || deleting(object->value)) return true;
  return decision.try_add(DeletionRequested{.object = work}, {work, object->revision});
}

}  // namespace shiplog::dispatcher
