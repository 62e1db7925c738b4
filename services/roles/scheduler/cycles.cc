#include "services/roles/scheduler/cycles.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "events/state/binding.h"
#include "events/state/placement.h"
#include "services/roles/scheduler/trigger.h"

namespace shiplog::scheduler {
namespace {

constexpr Millis kAwaitEstimators{1'000};
constexpr Millis kAfterRefusal{50};

}  // namespace

std::optional<StatusUpdated> unchanged_cycle(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return std::nullopt;
  const Binding binding = binding_from(key, object->value);
  if (!is_schedulable(binding) || !binding.placement.is_object() || binding.scheduled_status != "True") {
    return std::nullopt;
  }
  const auto placement = placement_from(binding.placement);
  if (!placement || !trigger_of(state, binding, placement.value(), now)) return std::nullopt;
  const std::string time = rfc3339(now);
  if (binding.last_scheduled_time == time) return std::nullopt;
  StatusUpdated noted{key, object->value};
  noted.value.edit("status").set("lastScheduledTime", time);
  return noted;
}

void ClusterCycles::begin() { *begun_ = {.acting = true, .keys = {}}; }

void ClusterCycles::end() { *begun_ = {}; }

void ClusterCycles::add(std::vector<ObjectKey>& wake, size_t first) {
  if (!begun_->acting || first == wake.size()) return;
  begun_->keys.insert(wake.begin() + static_cast<std::ptrdiff_t>(first), wake.end());
  wake.push_back(key());
}

void ClusterCycles::record(const TaskPtr& task, const Decide& decide) {
  const State& state = task->state();
  std::set<ObjectKey>& keys = begun_->keys;
  DecisionBuilder observed{begun_->at_once};
  std::set<ObjectKey> covered;
  for (auto at = keys.begin(); at != keys.end();) {
    const auto decided = decide(state, *at, task->now());
    if (decided && std::holds_alternative<NeedsAnswers>(decided.value())) {
      ++at;  // the binding's own step asks
      continue;
    }
    const bool settled = decided && !std::holds_alternative<Decision>(decided.value());
    if (auto noted = settled ? unchanged_cycle(state, *at, task->now()) : std::nullopt) {
      if (!observed.try_add(*std::move(noted), {*at, state.revision_of(*at)})) break;
      covered.insert(*at);
    }
    at = keys.erase(at);
  }
  auto built = std::move(observed).build();
  auto* entry = std::get_if<Decision>(&built);
  if (entry == nullptr) return task->done(keys.empty() ? Millis{0} : kAwaitEstimators);
  task->append_observation(
      std::move(*entry), [begun = begun_, task, covered = std::move(covered)](const Result<Revision>& folded) {
        begun->at_once = folded ? std::min(kMostAtOnce, 2 * begun->at_once) : std::max<size_t>(1, begun->at_once / 4);
        if (!folded && begun->acting) begun->keys.insert(covered.begin(), covered.end());
        const Millis next = folded ? Millis{1} : kAfterRefusal;
        task->done(begun->keys.empty() ? Millis{0} : next);
      });
}

}  // namespace shiplog::scheduler
