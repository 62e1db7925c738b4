#include "services/debugger/console.h"

#include <algorithm>

#include "events/base/utf8.h"
#include "services/debugger/entry_view.h"

namespace shiplog::debugger {

const std::vector<Console::Command>& Console::table() {
  static const std::vector<Command> commands = {
      {"back", "rs", "back [N | revision]", "go N entries back (1), or to the revision before", &Console::step_back},
      {"break", "b", "break [CONDITION]", "stop where the condition holds; without one list the breakpoints",
       &Console::add_break},
      {"causes", "", "causes", "show the entries that led to this one", &Console::show_causes},
      {"continue", "c", "continue", "run on to a breakpoint or to the end", &Console::resume},
      {"delete", "", "delete N", "delete a breakpoint", &Console::delete_break},
      {"diff", "d", "diff", "show which fields the entry has changed", &Console::diff},
      {"entry", "e", "entry [-o yaml|json]", "show the entry: who, when, why, what", &Console::entry},
      {"follow", "", "follow", "run on, and wait for new entries, until a breakpoint or an interrupt",
       &Console::follow},
      {"gdb", "", "gdb", "decide again in gdb, which stops in the decide function", &Console::start_gdb},
      {"get", "", "get OBJECT|KIND [PATH] [-o yaml|json] [--inputs]",
       "show objects as of the cursor; with --inputs as the decision has read them", &Console::get},
      {"goto", "g", "goto first | last | entry N | revision N | offset N | time T", "move the cursor", &Console::go_to},
      {"help", "h", "help [COMMAND]", "list the commands", &Console::help},
      {"info", "i", "info", "show where the cursor is", &Console::info},
      {"inputs", "", "inputs", "show what the decision was computed from", &Console::inputs},
      {"list", "l", "list [N]", "list the N entries before the cursor and at it (10)", &Console::list},
      {"next", "n", "next", "go to the next decision", &Console::next},
      {"previous", "rn", "previous", "go back to the decision before", &Console::next_back},
      {"quit", "q", "quit", "end the debugger", &Console::quit},
      {"refresh", "", "refresh", "look for new entries of a journal that is written to", &Console::refresh},
      {"remove", "", "remove OBJECT", "leave an object out of the inputs of `rerun`", &Console::remove},
      {"rerun", "r", "rerun [--with PROGRAM]",
       "decide again with the inputs as recorded and as changed, or with another build", &Console::run_again},
      {"reset", "", "reset", "take back all changes of the inputs", &Console::reset},
      {"reverse-continue", "rc", "reverse-continue", "run back to a breakpoint or to the beginning",
       &Console::resume_back},
      {"reverse-until", "ru", "reverse-until CONDITION", "run back to where the condition holds", &Console::until_back},
      {"set", "", "set OBJECT PATH VALUE | gate NAME true|false | option NAME VALUE,... | time T",
       "change the inputs of `rerun`", &Console::set},
      {"step", "s", "step [N | revision]", "go N entries on (1), or to the next revision", &Console::step},
      {"unset", "", "unset OBJECT PATH", "remove a field from the inputs of `rerun`", &Console::unset},
      {"until", "u", "until CONDITION", "run on to where the condition holds", &Console::until},
      {"why", "w", "why", "show the explanation of the decision", &Console::why}};
  return commands;
}

std::vector<std::string> Console::commands() {
  std::vector<std::string> names;
  for (const Command& command : table()) names.emplace_back(command.name);
  return names;
}

const Console::Command* Console::find(std::string_view name) {
  for (const Command& command : table()) {
    if (name == command.name || (command.alias[0] != '\0' && name == command.alias)) return &command;
  }
  return nullptr;
}

Result<Reply> Console::run(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || line[begin] == '#') return Reply{};
  SHIPLOG_TRY(const auto words, words_of(line));
  const Command* command = find(words.front().text);
  if (command == nullptr) {
    return Error{ErrorCode::kBadRequest, "there is no command " + quoted(words.front().text) + ": `help` lists them"};
  }
  line_ = line;
  auto text = (this->*command->run)(words);
  if (!text) return Error{text.error().code, without_controls(text.error().message)};
  return Reply{without_controls(text.value()), quit_};
}

Result<std::string> Console::help(const CommandWords& words) {
  std::string text;
  if (words.size() > 1) {
    const Command* command = find(words[1].text);
    if (command == nullptr) return Error{ErrorCode::kBadRequest, "there is no command " + quoted(words[1].text)};
    text = std::string{command->usage} + "\n  " + command->what + "\n";
    if (command->alias[0] != '\0') text += "  short: " + std::string{command->alias} + "\n";
    return text;
  }
  for (const Command& command : table()) {
    std::string line = "  " + std::string{command.name} + (command.alias[0] == '\0' ? "" : ", ") + command.alias;
    line.append(line.size() < 24 ? 24 - line.size() : 1, ' ');
    text += line + command.what + "\n";
  }
  return text +
         "An empty line repeats the last command. The conditions are in docs/guide/debugger.md, for example:\n"
         "  break object Deployment default/web .spec.replicas > 3\n"
         "  break binding default/web-deployment loses member1 or refused\n";
}

Result<std::string> Console::quit(const CommandWords& /*words*/) {
  quit_ = true;
  return std::string{};
}

Result<const Entry*> Console::current() const {
  const Entry* entry = session_.timeline().record().entry.get();
  if (entry == nullptr) return Error{ErrorCode::kBadRequest, "the cursor is before the first entry: use `step`"};
  return entry;
}

std::string Console::report(const Stop& stop) const {
  const JournalTimeline& timeline = session_.timeline();
  std::string text;
  switch (stop.reason) {
    case Stop::Reason::kMoved:
      break;
    case Stop::Reason::kCondition:
      for (const int number : stop.breakpoints) text += "breakpoint " + std::to_string(number) + "\n";
      break;
    case Stop::Reason::kBeginning:
      text = "the beginning is reached\n";
      break;
    case Stop::Reason::kEnd:
      text = "the end of the journal is reached\n";
      break;
    case Stop::Reason::kInterrupted:
      text = "interrupted\n";
      break;
  }
  return text + entry_line(timeline.position(), timeline.moment()) + "\n";
}

}  // namespace shiplog::debugger
