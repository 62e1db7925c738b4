#include "services/interpreter/quarantine.h"

#include <algorithm>

#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"

namespace shiplog::interpreter {
namespace {

constexpr const char* kEverywhere = "*";
constexpr size_t kMostNamespaces = 3;  // with more it applies to all

bool of_this_spec(const Value& customization) {
  return customization["status"]["observedGeneration"].as_int() == customization["metadata"]["generation"].as_int();
}

bool concerns(const Value& entry, std::string_view ns) {
  return std::ranges::any_of(entry["namespaces"].items(), [&](const Value& item) {
    return item.as_string() == ns || item.as_string() == kEverywhere;
  });
}

const char* function_of(std::string_view operation) {
  for (const OperationNames& names : kOperations) {
    if (operation == names.name) return names.function;
  }
  return "";
}

void set_condition(Value& customization, bool quarantined, const std::string& reason, const std::string& message,
                   UtcMillis now) {
  const Value before = condition_of(customization, kQuarantined);
  const char* status = quarantined ? "True" : "False";
  const bool same = before["status"].as_string() == status;
  Value condition = Value::object({{"type", kQuarantined},
                                   {"status", status},
                                   {"reason", reason},
                                   {"message", message},
                                   {"observedGeneration", customization["metadata"]["generation"].as_int()}});
  condition.set("lastTransitionTime", same ? before["lastTransitionTime"] : Value{rfc3339(now)});
  Value& status_of = customization.edit("status");
  remove_condition(status_of, kQuarantined);
  status_of.edit("conditions").push_back(std::move(condition));
}

}  // namespace

bool quarantined(const Value& customization, std::string_view operation, std::string_view ns) {
  const Value& entries = customization["status"]["quarantine"];
  if (entries.size() == 0 || !of_this_spec(customization)) return false;
  return std::ranges::any_of(entries.items(), [&](const Value& entry) {
    return entry["operation"].as_string() == operation && concerns(entry, ns);
  });
}

Value with_quarantine(Value customization, const Overrun& overrun, UtcMillis now) {
  if (quarantined(customization, overrun.operation, overrun.ns)) return customization;
  Value entries = of_this_spec(customization) ? customization["status"]["quarantine"] : Value{};
  if (!entries.is_array()) entries = Value::array();
  Value::Array& all = entries.edit_items();
  auto entry = std::ranges::find_if(
      all, [&](const Value& candidate) { return candidate["operation"].as_string() == overrun.operation; });
  if (entry == all.end()) {
    all.push_back(Value::object({{"operation", overrun.operation},
                                 {"function", function_of(overrun.operation)},
                                 {"namespaces", Value::array()},
                                 {"since", rfc3339(now)}}));
    entry = std::prev(all.end());
  }
  Value namespaces = (*entry)["namespaces"];
  namespaces.push_back(overrun.ns);
  if (namespaces.size() > kMostNamespaces) namespaces = Value::array({Value{kEverywhere}});
  entry->set("namespaces", std::move(namespaces));
  entry->set("reason", overrun.reason);
  entry->set("message", overrun.message);

  std::string functions;
  for (const Value& stopped : all) functions += (functions.empty() ? "" : ", ") + stopped["function"].str();
  const std::string message = "Not run until the spec changes: " + functions + ". " +
                              std::string{function_of(overrun.operation)} + ": " + overrun.message;
  Value& status = customization.edit("status");
  status.set("quarantine", std::move(entries));
  status.set("observedGeneration", customization["metadata"]["generation"].as_int());
  set_condition(customization, true, overrun.reason, message, now);
  return customization;
}

bool quarantine_is_over(const Value& customization) {
  return customization["status"]["quarantine"].size() > 0 && !of_this_spec(customization);
}

Value without_quarantine(Value customization, UtcMillis now) {
  const int64_t generation = customization["metadata"]["generation"].as_int();
  Value& status = customization.edit("status");
  status.erase("quarantine");
  status.set("observedGeneration", generation);
  set_condition(customization, false, "SpecChanged", "No function has exceeded a limit since the spec changed.", now);
  return customization;
}

}  // namespace shiplog::interpreter
