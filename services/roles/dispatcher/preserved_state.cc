#include "services/roles/dispatcher/preserved_state.h"

#include "events/base/utf8.h"
#include "events/state/state_preservation.h"
#include "services/roles/dispatcher/authority.h"

namespace shiplog::dispatcher {
namespace {

constexpr size_t kLongestQuote = 100;

}  // namespace

Result<Value> with_preserved_state(const State& state, const Value& binding_spec, const std::string& cluster,
                                   const Value& object, Value manifest) {
  const Value preserved = labels_to_inject(state.gates().stateful_failover, binding_spec, cluster);
  if (preserved.is_null()) return manifest;
  // One map of all labels: what is recorded as managed later is what stands here, and goes with the task.
  for (const auto& label : preserved.members()) {
    if (is_control_plane_label(label.key())) continue;
    if (const auto problem = wrong_label_value(label.value.as_string())) {
      return Error{ErrorCode::kInvalid, "preservedLabelState of the eviction task: \"" +
                                            printable(label.value.str(), kLongestQuote) + "\" is no value for label " +
                                            printable(std::string{label.key()}, kLongestQuote) + ": " + *problem};
    }
    manifest.edit("metadata").edit("labels").set(label.key(), label.value);
  }
  SHIPLOG_TRY(check_authority(object, manifest));
  return manifest;
}

}  // namespace shiplog::dispatcher
