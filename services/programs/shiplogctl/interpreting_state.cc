#include "services/programs/shiplogctl/interpreting_state.h"

#include "services/interpreter/customizations.h"
#include "services/interpreter/webhooks.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kConfig = "/apis/config.karmada.io/v1alpha1/";

std::vector<Value> items_of(const Value& list) { return {list["items"].items().begin(), list["items"].items().end()}; }

}  // namespace

State interpreting_state(const std::vector<Value>& customizations, const std::vector<Value>& webhooks) {
  std::vector<std::pair<ObjectKey, Object>> objects;
  const auto add = [&](const char* type, const std::vector<Value>& values) {
    for (const Value& value : values) {
      objects.emplace_back(ObjectKey{type, "", value["metadata"]["name"].str()},
                           Object{.revision = {}, .value = value, .hash = {}});
    }
  };
  add(interpreter::kCustomizationType, customizations);
  add(interpreter::kWebhookType, webhooks);
  State state;
  (void)State::restore({}, std::move(objects), {}, state);  // there is no recorded hash to compare with
  return state;
}

Result<State> read_interpreting_state(ServerConnection& plane) {
  SHIPLOG_TRY(const Value customizations, plane.get(std::string{kConfig} + "resourceinterpretercustomizations"));
  SHIPLOG_TRY(const Value webhooks, plane.get(std::string{kConfig} + "resourceinterpreterwebhookconfigurations"));
  return interpreting_state(items_of(customizations), items_of(webhooks));
}

}  // namespace shiplog::ctl
