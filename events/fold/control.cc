#include "events/fold/apply.h"
#include "events/state/feature_gates.h"

namespace shiplog {

// An object like any other, so that gates have a revision: a decision is run again with those that it was made with.
Applied apply(Staged& staged, const FeatureGatesSet& event) {
  Value on = Value::array();
  for (const std::string& name : event.on) on.push_back(name);
  const ObjectKey key = feature_gates_key();
  if (staged.find(key) != nullptr) {
    return edit(staged, key, [&](Value& gates) { gates.edit("spec").set("on", on); });
  }
  Value made = Value::object({{"apiVersion", "control.shiplog.io/v1"}, {"kind", "FeatureGates"}});
  made.edit("metadata").set("name", key.name);
  made.edit("metadata").set("generation", 1);
  made.edit("spec").set("on", on);
  return staged.create(key, std::move(made));
}

}  // namespace shiplog
