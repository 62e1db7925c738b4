#include "services/debugger/rerun.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/codec/codec.h"
#include "events/event.h"
#include "events/explanation_compare.h"
#include "events/fold/fold.h"
#include "events/slots.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "services/api/insight/diff.h"
#include "services/debugger/entry_view.h"
#include "services/feeds/facts.h"

namespace shiplog::debugger {
namespace {

/// All of an event: its facts, and the object that it has.
Value whole(const Event& event) {
  Value value = Value::object({{"event", std::string{name_of(event)}}, {"facts", feeds::facts_of(event)}});
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { Value{one.value}; }) value.set("value", one.value);
      },
      event);
  return value;
}

std::string line_of(const api::FieldChange& change) {
  return "    " + change.path + ": " + (change.before.empty() ? "(none)" : change.before) + " -> " +
         (change.after.empty() ? "(none)" : change.after);
}

void compare_events(const std::vector<Event>& recorded, const std::vector<Event>& again,
                    std::vector<std::string>& lines) {
  const size_t common = std::min(recorded.size(), again.size());
  for (size_t index = 0; index < common; ++index) {
    if (recorded[index] == again[index]) continue;
    const bool same_in_short = in_short(recorded[index]) == in_short(again[index]);
    lines.push_back("  event " + std::to_string(index + 1) + ":");
    if (same_in_short) {
      lines.push_back("    " + in_short(recorded[index]));
    } else {
      lines.push_back("    recorded: " + in_short(recorded[index]));
      lines.push_back("    now:      " + in_short(again[index]));
    }
    if (recorded[index].index() != again[index].index()) continue;
    for (const auto& change : api::diff(whole(recorded[index]), whole(again[index]))) lines.push_back(line_of(change));
  }
  for (size_t index = common; index < recorded.size(); ++index) {
    lines.push_back("  only recorded: " + in_short(recorded[index]));
  }
  for (size_t index = common; index < again.size(); ++index) lines.push_back("  only now: " + in_short(again[index]));
}

void compare_expects(const std::vector<Expect>& recorded, const std::vector<Expect>& again,
                     std::vector<std::string>& lines) {
  const auto add = [&](const std::vector<Expect>& from, const std::vector<Expect>& other, const std::string& what) {
    for (const Expect& expect : from) {
      if (std::ranges::find(other, expect) != other.end()) continue;
      lines.push_back("  " + what + " expects " + to_string(expect.object) + " at revision " +
                      std::to_string(expect.revision.value));
    }
  };
  add(recorded, again, "recorded:");
  add(again, recorded, "now:");
}

Error no_object(const ObjectKey& key) {
  return {ErrorCode::kNotFound, "the state that was decided from has no " + to_string(key)};
}

/// `number`: of the change, so that no two entries are the same.
Result<void> change_setting(const InputChange& change, size_t number, State& state) {
  Entry entry;
  entry.id.bytes.fill(0xdb);  // of no journal
  entry.id.bytes[0] = static_cast<uint8_t>(number);
  entry.id.bytes[1] = static_cast<uint8_t>(number >> 8U);
  entry.time = state.time();
  entry.fold_version = state.fold_version();
  if (change.kind == InputChange::Kind::kGate) {
    if (!is_feature_gate(change.gate)) {
      return Error{ErrorCode::kNotFound, "there is no feature gate " + quoted(change.gate)};
    }
    FeatureGates gates = state.recorded_gates();
    set_feature_gate(gates, change.gate, change.on);
    entry.events.emplace_back(FeatureGatesSet{names_of(gates)});
  } else {
    FleetOptions options = state.options();
    if (!set_fleet_option(options, change.option)) {
      return Error{ErrorCode::kNotFound, "there is no option " + quoted(change.option.name) + " that decisions read"};
    }
    entry.events.emplace_back(OptionsSet{settings_of(options)});
  }
  const Folded folded = fold(state, entry);
  if (folded.stop) return Error{ErrorCode::kBadRequest, *folded.stop};
  if (folded.refusal) return Error{ErrorCode::kBadRequest, folded.refusal->reason};
  return ok();
}

Result<void> change_object(const InputChange& change, std::map<ObjectKey, Object>& changed, const State& as_of) {
  const Object* object = as_of.find(change.object);
  if (object == nullptr) return no_object(change.object);
  Object& copy = changed.try_emplace(change.object, *object).first->second;
  if (change.kind == InputChange::Kind::kRemove) {
    copy.value = Value{};
    return ok();
  }
  if (copy.value.is_null()) return no_object(change.object);
  if (change.kind == InputChange::Kind::kUnset) return change.path->erase(copy.value);
  return change.path->set(copy.value, change.value);
}

}  // namespace

bool is_decision(const Entry& entry) { return entry.request.verb == "decide"; }

std::string InputChange::text() const {
  switch (kind) {
    case Kind::kSet:
      return "set " + to_string(object) + " " + path->text() + " " + to_json(value);
    case Kind::kUnset:
      return "unset " + to_string(object) + " " + path->text();
    case Kind::kRemove:
      return "remove " + to_string(object);
    case Kind::kGate:
      return "set gate " + gate + (on ? " true" : " false");
    case Kind::kOption: {
      std::string values;
      for (const std::string& each : option.values) values += (values.empty() ? " " : ",") + each;
      return "set option " + option.name + values;
    }
    case Kind::kTime:
      return "set time " + rfc3339_millis(time);
  }
  return "";
}

Result<Inputs> changed_inputs(const State& as_of, UtcMillis now, const std::vector<InputChange>& changes) {
  Inputs inputs{State{as_of}, now};
  std::map<ObjectKey, Object> changed;
  for (size_t number = 0; number < changes.size(); ++number) {
    const InputChange& change = changes[number];
    switch (change.kind) {
      case InputChange::Kind::kTime:
        inputs.now = change.time;
        break;
      case InputChange::Kind::kGate:
      case InputChange::Kind::kOption: {
        SHIPLOG_TRY(change_setting(change, number, inputs.state));
        break;
      }
      case InputChange::Kind::kSet:
      case InputChange::Kind::kUnset:
      case InputChange::Kind::kRemove: {
        SHIPLOG_TRY(change_object(change, changed, as_of));
        break;
      }
    }
  }
  if (changed.empty()) return inputs;
  std::vector<std::pair<ObjectKey, Object>> objects;
  for (const std::string& type : inputs.state.types()) {
    for (const auto& [name, object] : inputs.state.objects(type)) {
      ObjectKey key{type, name.ns, name.name};
      const auto found = changed.find(key);
      if (found == changed.end()) {
        objects.emplace_back(std::move(key), object);
      } else if (!found->second.value.is_null()) {
        objects.emplace_back(std::move(key), found->second);
      }
    }
  }
  State made;
  State::restore(inputs.state.meta(), std::move(objects), {}, made);  // its hash is another one, as it should be
  inputs.state = std::move(made);
  return inputs;
}

Result<Rerun> rerun(const Decides& decides, const State& as_of, const Entry& entry, UtcMillis now) {
  if (!is_decision(entry)) {
    return Error{ErrorCode::kBadRequest, "no service decided this entry: `next` goes to the next decision"};
  }
  Rerun result;
  result.role = role_of_lease(entry.fence.service);
  result.key = entry.request.path;
  const auto decide = decides.find(result.role);
  if (decide == decides.end()) {
    return Error{ErrorCode::kNotFound, "no role " + quoted(entry.fence.service) + " of this build can decide it again"};
  }
  auto key = parse_object_key(entry.request.path);
  if (!key) return key.error().context("the key of the decision");
  const auto decided = decide->second(as_of, key.value(), now);
  if (!decided) {
    result.outcome = "an error: " + decided.error().message;
    result.differences.push_back("  no decision, but " + result.outcome);
    return result;
  }
  Decision again;
  if (const auto* needs = std::get_if<NeedsAnswers>(&decided.value())) {
    result.outcome = std::to_string(needs->questions.size()) + " questions to ask outside: " + needs->why;
    result.differences.push_back("  no decision, but " + result.outcome);
    return result;
  }
  if (const auto* look = std::get_if<LookAgain>(&decided.value())) {
    result.outcome = "nothing before " + rfc3339_millis(look->at);
  } else if (const auto* decision = std::get_if<Decision>(&decided.value())) {
    again = *decision;
    result.outcome =
        "a decision with " + std::to_string(again.events.size()) + (again.events.size() == 1 ? " event" : " events");
  } else {
    result.outcome = "nothing to do";
  }
  take_form_of(entry.events, again.events);
  Entry twin = entry;
  twin.events = again.events;
  twin.expects = again.expects;
  // The journal keeps text that is no UTF-8 in a repaired form, so equal bytes are equal, too.
  result.same = twin == entry || encode(twin) == encode(entry);
  if (result.same) return result;
  compare_events(entry.events, again.events, result.differences);
  compare_expects(entry.expects, again.expects, result.differences);
  return result;
}

std::string decide_function(std::string_view role) {
  std::string name{role};
  std::ranges::replace(name, '-', '_');
  return "shiplog::" + name + "::decide";
}

}  // namespace shiplog::debugger
