#include <string>

#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"

namespace shiplog::member {

Result<Decided> decide_claim(const State& state, const ObjectKey& key, UtcMillis) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  Changes changes;
  Value bound = object->value;
  if (bound["spec"]["volumeName"].is_empty()) {
    bound.edit("spec").set("volumeName", "pvc-" + bound["metadata"]["uid"].str());
  }
  Value& status = bound.edit("status");
  status.set("phase", "Bound");
  status.set("accessModes", bound["spec"]["accessModes"]);
  status.set("capacity", Value::object({{"storage", bound["spec"]["resources"]["requests"]["storage"]}}));
  changes.update(key, *object, std::move(bound));
  return changes.take();
}

}  // namespace shiplog::member
