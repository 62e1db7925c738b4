#include "services/roles/apiservice_availability/decide.h"

#include "events/state/condition.h"
#include "events/state/object.h"

namespace shiplog::apiservice_availability {
namespace {

constexpr Millis kObserveAgainAfter{1'000};

bool shows(const Value& condition, const Availability& found) {
  return condition["status"].as_string() == (found.available ? "True" : "False") &&
         condition["reason"].as_string() == found.reason && condition["message"].as_string() == found.message;
}

}  // namespace

Decided decide(const State& state, const ObjectKey& key, UtcMillis now, const Observe& observe) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value) || object->value["spec"]["service"].is_null()) return Nothing{};
  const LookAgain later{now + kObserveAgainAfter};
  const auto found = observe ? observe(key.name.str()) : std::nullopt;
  if (!found || shows(condition_of(object->value, "Available"), *found)) return later;
  Value changed = object->value;
  set_condition(changed, "Available", found->available ? "True" : "False", found->reason, found->message, now);
  Decision decision{{StatusUpdated{key, std::move(changed)}}, {{key, object->revision}}};
  decision.look_again = later.at;
  return decision;
}

}  // namespace shiplog::apiservice_availability
