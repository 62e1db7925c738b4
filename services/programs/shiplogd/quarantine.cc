#include "services/programs/shiplogd/quarantine.h"

#include <algorithm>

#include "services/interpreter/customizations.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr const char* kComponent = "resource-interpreter";

}  // namespace

void Quarantine::add(const Question& question, const interpreter::Overrun& overrun, std::function<void()> then) {
  const Value& of = question.address;
  const ObjectKey key{interpreter::kCustomizationType, "", of["name"].str()};
  const Object* customization = options_.record->state().find(key);
  // What overran is not there any more, or is another text by now.
  if (customization == nullptr || customization->value["metadata"]["uid"] != of["uid"] ||
      customization->value["metadata"]["generation"].as_int() != of["generation"].as_int()) {
    return then();
  }
  Value after = interpreter::with_quarantine(customization->value, overrun, options_.clock->now());
  if (after == customization->value) return then();
  log::warn("interpreter.quarantined",
            {log::kv("customization", key.name), log::kv("operation", overrun.operation),
             log::kv("namespace", overrun.ns), log::kv("reason", overrun.reason), log::kv("message", overrun.message)});
  const std::string where = overrun.ns.empty() ? "" : " for objects in namespace " + overrun.ns;
  options_.recorder->record_events({{customization->value, kComponent, true, "InterpreterQuarantined",
                                     overrun.operation + " is not interpreted by this customization any more" + where +
                                         " until its spec changes: " + overrun.message}},
                                   options_.clock->now());
  const Decision observed{{StatusUpdated{key, std::move(after)}}, {{key, customization->revision}}};
  const auto recorded = [then](const Result<Outcome>& outcome) {
    if (!outcome) log::warn("interpreter.quarantine_failed", {log::kv("reason", outcome.error().message)});
    then();  // not recorded: it overruns again, and is recorded then
  };
  append_without_lease(*options_.record, {.service = "api", .user_agent = options_.user_agent}, observed, recorded);
}

void Quarantine::load(const State& state) {
  uint64_t functions = 0;
  for (const auto& [name, customization] : state.objects(interpreter::kCustomizationType)) {
    functions += customization.value["status"]["quarantine"].size();
  }
  functions_.store(functions, std::memory_order_relaxed);
}

void Quarantine::on_folded(const State& state, const DecodedRecord& /*record*/, const Folded& folded) {
  const auto counts = [](const Change& change) { return change.object.type == interpreter::kCustomizationType; };
  if (std::ranges::any_of(folded.changes, counts)) load(state);
}

}  // namespace shiplog
