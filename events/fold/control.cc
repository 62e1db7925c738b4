#include "events/fold/apply.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"

namespace shiplog {

namespace {

// An object like any other, so that settings have a revision: a decision is run again with those that it was made with.
Applied put_setting(Staged& staged, const ObjectKey& key, const char* kind, Value spec) {
  if (staged.find(key) != nullptr) {
    return edit(staged, key, [&](Value& object) { object.set("spec", spec); });
  }
  Value made = Value::object({{"apiVersion", "control.shiplog.io/v1"}, {"kind", kind}});
  made.edit("metadata").set("name", key.name);
  made.edit("metadata").set("generation", 1);
  made.set("spec", std::move(spec));
  return staged.create(key, std::move(made));
}

Value to_value(const std::vector<std::string>& words) {
  Value value = Value::array();
  for (const std::string& word : words) value.push_back(word);
  return value;
}

}  // namespace

Applied apply(Staged& staged, const FeatureGatesSet& event) {
  return put_setting(staged, feature_gates_key(), "FeatureGates", Value::object({{"on", to_value(event.on)}}));
}

Applied apply(Staged& staged, const OptionsSet& event) {
  Value spec = Value::object();
  for (const OptionSetting& setting : event.settings) spec.set(setting.name, to_value(setting.values));
  return put_setting(staged, fleet_options_key(), "Options", std::move(spec));
}

}  // namespace shiplog
