#include "services/api/admission/event_rules.h"

#include <string>
#include <string_view>
#include <utility>

#include "events/base/names.h"
#include "services/api/admission/rules.h"

// Events. Source: EVENT-2; pkg/apis/core/validation/events.go of Kubernetes, whose errors name the fields of the stored
// form, but for that of the controller.

namespace shiplog::api {
namespace {

/// A field in a version of the API, and in errors.
struct EventField {
  const char* name;
  const char* reported;
};

void check_length(const Value& text, const char* field, size_t most, Causes& causes) {
  if (text.as_string().size() <= most) return;
  causes.invalid(field, Value{""}, "can have at most " + std::to_string(most) + " characters");
}

/// What an Event states that has an eventTime: one of the newer clients. `controller`, `note`: the names of these
/// fields.
void check_newer_event(const Value& event, const char* controller, const char* note, Causes& causes) {
  constexpr size_t kMostCharacters = 128, kMostOfNote = 1024;
  const Value& by = event[controller];
  if (by.is_empty()) causes.required(controller);
  if (const auto problem = qualified_name_problem(by.as_string())) {
    causes.invalid(controller, Value{by.as_string()}, *problem);
  }
  for (const char* name : {"reportingInstance", "action", "reason"}) {
    if (event[name].is_empty()) causes.required(name);
    check_length(event[name], name, kMostCharacters, causes);
  }
  check_length(event[note], "message", kMostOfNote, causes);
}

void check_series(const Value& series, Causes& causes) {
  if (series.is_null()) return;
  if (series["count"].as_int() < 2) causes.invalid("series.count", Value{""}, "should be at least 2");
  if (series["lastObservedTime"].is_empty()) causes.required("series.lastObservedTime");
}

/// The namespace of an Event is that of the object that it is about. Events of the older form, without eventTime, must
/// name it.
void check_involved(const Value& event, Causes& causes) {
  const bool older = event["eventTime"].is_empty();
  const Value& involved = event["involvedObject"]["namespace"];
  const std::string_view own = event["metadata"]["namespace"].as_string();
  const bool matches =
      involved.is_empty() ? own == "default" || own == "kube-system" : !older || involved.as_string() == own;
  if (matches) return;
  causes.invalid("involvedObject.namespace", Value{involved.as_string()}, "does not match event.namespace");
}

void check_event_values(const Value& event, Causes& causes) {
  if (!event["eventTime"].is_empty()) check_newer_event(event, "reportingComponent", "message", causes);
}

void check_event(const Value& object, const Write& write, Causes& causes) {
  check_involved(object, causes);
  check_new(object, old_of(write), check_event_values, causes);
}

void check_new_strict_event(const Value& event, Causes& causes) {
  const Value& own_name = event["metadata"]["name"];
  if (const auto problem = own_name.is_empty() ? std::nullopt : subdomain_problem(own_name.as_string())) {
    causes.invalid("metadata.name", own_name, *problem);
  }
  if (event["eventTime"].is_empty()) causes.required("eventTime");
  check_newer_event(event, "reportingController", "note", causes);
  check_series(event["series"], causes);
  const std::string_view type = event["type"].as_string();
  if (type != "Normal" && type != "Warning") {
    causes.invalid("type", Value{""}, "has invalid value: " + std::string{type});
  }
  static constexpr EventField kDeprecated[] = {{"deprecatedFirstTimestamp", "firstTimestamp"},
                                               {"deprecatedLastTimestamp", "lastTimestamp"},
                                               {"deprecatedCount", "count"},
                                               {"deprecatedSource", "source"}};
  for (const auto& [name, reported] : kDeprecated) {
    if (!event[name].is_empty()) causes.invalid(reported, Value{""}, "needs to be unset");
  }
}

/// Clients write the time more or less precisely.
bool same_time(const Value& a, const Value& b) {
  const auto one = parse_rfc3339(a.as_string());
  const auto other = parse_rfc3339(b.as_string());
  return one && other && one.value() == other.value();
}

}  // namespace

void check_strict_event(const Value& event, const Value* old, Causes& causes) {
  if (old == nullptr) return check_new_strict_event(event, causes);
  if (event["series"] != (*old)["series"]) check_series(event["series"], causes);
  static constexpr EventField kImmutable[] = {{"regarding", "involvedObject"},
                                              {"reason", "reason"},
                                              {"note", "message"},
                                              {"deprecatedSource", "source"},
                                              {"deprecatedFirstTimestamp", "firstTimestamp"},
                                              {"deprecatedLastTimestamp", "lastTimestamp"},
                                              {"deprecatedCount", "count"},
                                              {"type", "type"},
                                              {"eventTime", "eventTime"},
                                              {"action", "action"},
                                              {"related", "related"},
                                              {"reportingController", "reportingController"},
                                              {"reportingInstance", "reportingInstance"}};
  for (const auto& [name, reported] : kImmutable) {
    const Value& before = (*old)[name];
    const Value& after = event[name];
    if (before == after || (before.is_empty() && after.is_empty()) || same_time(before, after)) continue;
    causes.invalid(reported, after, "field is immutable");
  }
}

const std::vector<Rules>& event_rules() {
  static const std::vector<Rules> kRules = {{.type = "events", .check = check_event}};
  return kRules;
}

}  // namespace shiplog::api
