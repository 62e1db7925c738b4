#include <charconv>

#include "events/base/utf8.h"
#include "services/debugger/console.h"
#include "services/debugger/entry_view.h"

namespace shiplog::debugger {
namespace {

Error move_usage(const std::string& words) { return {ErrorCode::kBadRequest, words}; }

Result<uint64_t> number_from(const CommandWord& word) {
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), number);
  if (failed != std::errc{} || end != word.text.data() + word.text.size() || number > uint64_t{1} << 62U) {
    return move_usage("column " + std::to_string(word.column) + ": expected a number, found " + quoted(word.text));
  }
  return number;
}

/// What stands behind the command's name, as it was written: conditions have words and columns of their own.
std::string rest_of(const std::string& line, const std::vector<CommandWord>& words) {
  return words.size() < 2 ? "" : line.substr(words[1].column - 1);
}

}  // namespace

Result<std::string> Console::move_by(const CommandWords& words, bool forwards) {
  if (words.size() > 1 && words[1].text == "revision") {
    SHIPLOG_TRY(const Stop stop, forwards ? session_.step_revision() : session_.step_revision_back());
    return report(stop);
  }
  uint64_t count = 1;
  if (words.size() > 1) {
    SHIPLOG_TRY(count, number_from(words[1]));
  }
  SHIPLOG_TRY(const Stop stop, forwards ? session_.step(count) : session_.step_back(count));
  return report(stop);
}

Result<std::string> Console::step(const CommandWords& words) { return move_by(words, true); }
Result<std::string> Console::step_back(const CommandWords& words) { return move_by(words, false); }

Result<std::string> Console::move_to_decision(bool forwards) {
  SHIPLOG_TRY(const BreakCondition decision, BreakCondition::parse("decision"));
  SHIPLOG_TRY(const Stop stop, session_.resume_until(decision, forwards));
  return report(stop);
}

Result<std::string> Console::next(const CommandWords& /*words*/) { return move_to_decision(true); }
Result<std::string> Console::next_back(const CommandWords& /*words*/) { return move_to_decision(false); }

Result<std::string> Console::resume(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const Stop stop, session_.resume(true));
  return report(stop);
}

Result<std::string> Console::resume_back(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const Stop stop, session_.resume(false));
  return report(stop);
}

Result<std::string> Console::run_until(const CommandWords& words, bool forwards) {
  if (words.size() < 2) return move_usage("a condition is missing: until CONDITION");
  SHIPLOG_TRY(const BreakCondition condition, BreakCondition::parse(rest_of(line_, words)));
  SHIPLOG_TRY(const Stop stop, session_.resume_until(condition, forwards));
  return report(stop);
}

Result<std::string> Console::until(const CommandWords& words) { return run_until(words, true); }
Result<std::string> Console::until_back(const CommandWords& words) { return run_until(words, false); }

Result<std::string> Console::go_to(const CommandWords& words) {
  const std::string what = words.size() > 1 ? words[1].text : "";
  if (what == "first" || what == "last") {
    SHIPLOG_TRY(const Stop stop, what == "first" ? session_.go_to_position(0) : session_.go_to_end());
    return report({stop.reason == Stop::Reason::kEnd ? Stop::Reason::kMoved : stop.reason, {}});
  }
  if (words.size() != 3) return move_usage("goto first | last | entry N | revision N | offset N | time T");
  if (what == "time") {
    SHIPLOG_TRY(const UtcMillis time, parse_rfc3339(words[2].text));
    SHIPLOG_TRY(const Stop stop, session_.go_to_time(time));
    return report({stop.reason == Stop::Reason::kEnd ? Stop::Reason::kMoved : stop.reason, {}});
  }
  SHIPLOG_TRY(const uint64_t number, number_from(words[2]));
  const auto go = [&]() -> Result<Stop> {
    if (what == "entry") return session_.go_to_position(number);
    if (what == "revision") return session_.go_to_revision(Revision{number});
    if (what == "offset") return session_.go_to_offset(Offset{static_cast<int64_t>(number)});
    return move_usage("column " + std::to_string(words[1].column) +
                      ": expected first, last, entry, revision, offset or time, found " + quoted(what));
  };
  SHIPLOG_TRY(const Stop stop, go());
  return report(stop);
}

Result<std::string> Console::add_break(const CommandWords& words) {
  std::string text;
  if (words.size() < 2) {
    for (const Breakpoint& each : session_.breakpoints()) {
      text += std::to_string(each.number) + ": " + each.condition.text() + "\n";
    }
    return text.empty() ? "no breakpoints\n" : text;
  }
  SHIPLOG_TRY(BreakCondition condition, BreakCondition::parse(rest_of(line_, words)));
  text = condition.text();
  return "breakpoint " + std::to_string(session_.add_breakpoint(std::move(condition))) + ": " + text + "\n";
}

Result<std::string> Console::delete_break(const CommandWords& words) {
  if (words.size() != 2) return move_usage("the number of a breakpoint is missing: delete N");
  SHIPLOG_TRY(const uint64_t number, number_from(words[1]));
  if (number > 1'000'000 || !session_.delete_breakpoint(static_cast<int>(number))) {
    return Error{ErrorCode::kNotFound, "there is no breakpoint " + words[1].text + ": `break` lists them"};
  }
  return std::string{};
}

Result<std::string> Console::refresh(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const bool grown, session_.timeline().reader().refresh());
  return std::string{grown ? "there are new entries\n" : "there is nothing new\n"};
}

Result<std::string> Console::follow(const CommandWords& /*words*/) {
  if (!hooks_.wait) return Error{ErrorCode::kUnavailable, "follow needs the program shiplogctl debug"};
  while (true) {
    SHIPLOG_TRY(const Stop stop, session_.resume(true));
    if (stop.reason != Stop::Reason::kEnd) return report(stop);
    if (hooks_.print && session_.timeline().position() > 0) hooks_.print(without_controls(report({})));
    while (true) {
      if (!hooks_.wait()) return report({Stop::Reason::kInterrupted, {}});
      SHIPLOG_TRY(const bool grown, session_.timeline().reader().refresh());
      if (grown) break;
    }
  }
}

}  // namespace shiplog::debugger
