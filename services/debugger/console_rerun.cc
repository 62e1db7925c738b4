#include "events/base/utf8.h"
#include "events/event.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "services/debugger/console.h"
#include "services/debugger/entry_view.h"

namespace shiplog::debugger {
namespace {

Error rerun_usage(const std::string& words) { return {ErrorCode::kBadRequest, words}; }

std::string rerun_text(const Rerun& result, const std::string& what) {
  std::string text = "role " + result.role + ", key " + result.key + ", " + what + "\n";
  text += "answer: " + result.outcome + "\n";
  if (result.same) return text + "the same as recorded\n";
  text += "DIFFERENT from what was recorded:\n";
  for (const std::string& line : result.differences) text += line + "\n";
  return text;
}

}  // namespace

Result<const State*> Console::decided_from() {
  SHIPLOG_TRY(const Entry* entry, current());
  if (!is_decision(*entry)) return rerun_usage("no service decided this entry: `next` goes to the next decision");
  JournalTimeline& timeline = session_.timeline();
  if (entry->as_of < timeline.first_revision()) {
    return Error{ErrorCode::kGone, "the decision was computed from revision " + std::to_string(entry->as_of.value) +
                                       ", before where the debugger began: name an older snapshot with --snapshot"};
  }
  const auto position = timeline.position_of(entry->as_of);
  if (!position || *position >= timeline.position()) {
    return Error{ErrorCode::kCorrupt, "the decision names revision " + std::to_string(entry->as_of.value) +
                                          " as the one it was computed from, which no entry before it has reached"};
  }
  return timeline.state_at(*position);
}

Result<Inputs> Console::inputs_of_decision() {
  SHIPLOG_TRY(const State* state, decided_from());
  SHIPLOG_TRY(const Entry* entry, current());
  return changed_inputs(*state, entry->time,
                        changes_at_ == session_.timeline().position() ? changes_ : std::vector<InputChange>{});
}

Result<std::string> Console::inputs(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const State* state, decided_from());
  SHIPLOG_TRY(const Entry* entry, current());
  std::string text = "role         " + entry->fence.service + " (epoch " + std::to_string(entry->fence.epoch) +
                     ")\nkey          " + entry->request.path + "\ntime         " + rfc3339_millis(entry->time) +
                     "\nas of        revision " + std::to_string(entry->as_of.value) + "\nstate hash   " +
                     to_string(state->hash()) + "\nfold version " + std::to_string(state->fold_version()) + "\n";
  std::string gates;
  for (const std::string& name : names_of(state->gates())) gates += (gates.empty() ? "" : ", ") + name;
  text += "gates on     " + (gates.empty() ? "none" : gates) + "\n";
  for (const OptionSetting& setting : settings_of(state->options())) {
    std::string values;
    for (const std::string& value : setting.values) values += (values.empty() ? "" : ",") + value;
    text += "option       " + setting.name + "=" + values + "\n";
  }
  for (const Expect& expect : entry->expects) {
    text += "expects      " + to_string(expect.object) + " at revision " + std::to_string(expect.revision.value) + "\n";
  }
  for (const Event& event : entry->events) {
    const Explanation* why = explanation_of(event);
    if (why != nullptr && !why->inputs_digest.empty()) {
      text += "digest       " + why->inputs_digest + " (" + std::string{name_of(event)} + ")\n";
    }
  }
  if (changes_at_ == session_.timeline().position()) {
    for (const InputChange& change : changes_) text += "changed      " + change.text() + "\n";
  }
  return text + "`get OBJECT --inputs` shows an object as the decision has read it\n";
}

Result<std::string> Console::change_inputs(const State& as_of, InputChange change) {
  SHIPLOG_TRY(const Entry* entry, current());
  // Changes belong to one decision.
  auto changes = changes_at_ == session_.timeline().position() ? changes_ : std::vector<InputChange>{};
  changes.push_back(std::move(change));
  SHIPLOG_TRY(changed_inputs(as_of, entry->time, changes));
  changes_ = std::move(changes);
  changes_at_ = session_.timeline().position();
  return changes_.back().text() + "\n";
}

Result<std::string> Console::set(const CommandWords& words) {
  SHIPLOG_TRY(const State* state, decided_from());
  InputChange change;
  const std::string what = words.size() > 1 ? words[1].text : "";
  if (what == "time" && words.size() == 3) {
    change.kind = InputChange::Kind::kTime;
    SHIPLOG_TRY(change.time, parse_rfc3339(words[2].text));
  } else if (what == "gate" && words.size() == 4) {
    change.kind = InputChange::Kind::kGate;
    change.gate = words[2].text;
    change.on = words[3].text == "true";
    if (!change.on && words[3].text != "false") {
      return rerun_usage("column " + std::to_string(words[3].column) + ": expected true or false");
    }
  } else if (what == "option" && words.size() == 4) {
    if (!hooks_.parse_option) return Error{ErrorCode::kUnavailable, "options need the program shiplogctl debug"};
    change.kind = InputChange::Kind::kOption;
    SHIPLOG_TRY(change.option, hooks_.parse_option(words[2].text, words[3].text));
  } else {
    size_t at = 1;
    SHIPLOG_TRY(const ObjectPattern pattern, parse_object(words, at));
    SHIPLOG_TRY(change.object, only_object(*state, pattern));
    if (at >= words.size()) return rerun_usage("a path and a value are missing: set OBJECT PATH VALUE");
    SHIPLOG_TRY(change.path, ValuePath::parse(words[at++].text));
    if (at < words.size() && words[at].kind == CommandWord::Kind::kSign && words[at].text == "=") ++at;
    if (at + 1 != words.size()) return rerun_usage("expected one value behind the path; text with blanks is quoted");
    change.value = value_of(words[at]);
  }
  return change_inputs(*state, std::move(change));
}

Result<std::string> Console::unset(const CommandWords& words) {
  SHIPLOG_TRY(const State* state, decided_from());
  InputChange change;
  change.kind = InputChange::Kind::kUnset;
  size_t at = 1;
  SHIPLOG_TRY(const ObjectPattern pattern, parse_object(words, at));
  SHIPLOG_TRY(change.object, only_object(*state, pattern));
  if (at + 1 != words.size()) return rerun_usage("a path is missing: unset OBJECT PATH");
  SHIPLOG_TRY(change.path, ValuePath::parse(words[at].text));
  return change_inputs(*state, std::move(change));
}

Result<std::string> Console::remove(const CommandWords& words) {
  SHIPLOG_TRY(const State* state, decided_from());
  InputChange change;
  change.kind = InputChange::Kind::kRemove;
  size_t at = 1;
  SHIPLOG_TRY(const ObjectPattern pattern, parse_object(words, at));
  SHIPLOG_TRY(change.object, only_object(*state, pattern));
  return change_inputs(*state, std::move(change));
}

Result<std::string> Console::reset(const CommandWords& /*words*/) {
  changes_.clear();
  return std::string{"the inputs are those that were recorded\n"};
}

Result<std::string> Console::run_again(const CommandWords& words) {
  SHIPLOG_TRY(const State* state, decided_from());
  SHIPLOG_TRY(const Entry* entry, current());
  if (words.size() > 1) {
    if (words[1].text != "--with" || words.size() != 3) return rerun_usage("rerun [--with PROGRAM]");
    if (!hooks_.rerun_with) return Error{ErrorCode::kUnavailable, "--with needs the program shiplogctl debug"};
    return hooks_.rerun_with(words[2].text, session_.timeline().record().offset, entry->as_of);
  }
  const std::string as_of = "as of revision " + std::to_string(entry->as_of.value);
  SHIPLOG_TRY(const Rerun recorded, rerun(decides_, *state, *entry, entry->time));
  std::string text = rerun_text(recorded, as_of + ", with the recorded inputs");
  if (changes_.empty() || changes_at_ != session_.timeline().position()) return text;
  SHIPLOG_TRY(const Inputs inputs, inputs_of_decision());
  SHIPLOG_TRY(const Rerun changed, rerun(decides_, inputs.state, *entry, inputs.now));
  text += "\n" + rerun_text(changed, as_of + ", with these changes");
  for (const InputChange& change : changes_) text += "  " + change.text() + "\n";
  return text;
}

Result<std::string> Console::start_gdb(const CommandWords& /*words*/) {
  SHIPLOG_TRY(decided_from());
  SHIPLOG_TRY(const Entry* entry, current());
  if (!hooks_.gdb) return Error{ErrorCode::kUnavailable, "gdb is started by the program shiplogctl debug"};
  SHIPLOG_TRY(const State* state, decided_from());
  SHIPLOG_TRY(const Rerun result, rerun(decides_, *state, *entry, entry->time));
  SHIPLOG_TRY(hooks_.gdb(session_.timeline().record().offset, decide_function(result.role)));
  return std::string{};
}

}  // namespace shiplog::debugger
