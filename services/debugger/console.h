#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/debugger/rerun.h"
#include "services/debugger/session.h"
#include "services/debugger/words.h"

namespace shiplog::debugger {

/// What commands need from outside. What is empty makes its command an error.
struct ConsoleHooks {
  /// Has another build of shiplogctl decide the entry at the offset again, as of a revision. The text is printed.
  std::function<Result<std::string>(const std::string& program, Offset offset, Revision as_of)> rerun_with = {};
  /// Starts gdb, which stops in a function while the entry at the offset is decided again.
  std::function<Result<void>(Offset offset, const std::string& function)> gdb = {};
  /// Reads the value of an option of shiplogd that decisions read.
  std::function<Result<OptionSetting>(const std::string& name, const std::string& text)> parse_option = {};
  /// Waits until the journal may have grown. False: the user has interrupted.
  std::function<bool()> wait = {};
  /// Prints what `follow` finds while it runs.
  std::function<void(const std::string&)> print = {};
};

struct Reply {
  std::string text;  ///< fit for a terminal; ends with a line end unless it is empty
  bool quit = false;
};

/// The commands of the debugger: one line in, text out.
class Console {
 public:
  static constexpr size_t kMostListed = 1000;

  Console(Session& session, const Decides& decides, ConsoleHooks hooks = {})
      : session_{session}, decides_{decides}, hooks_{std::move(hooks)} {}

  /// Runs one line. An empty one, and one that begins with #, does nothing. Errors: kBadRequest, no such command or
  /// wrong words; those of the session. A rerun that differs from what was recorded is no error.
  Result<Reply> run(std::string_view line);

  /// What happened and where the cursor is.
  std::string report(const Stop& stop) const;
  /// The entry at the cursor, and those that led to it, as positions; the nearest first. It ends with one that has no
  /// cause, or whose cause lies before where the debugger began.
  Result<std::vector<size_t>> causes();
  /// The names of all commands, sorted.
  static std::vector<std::string> commands();

 private:
  using CommandWords = std::vector<CommandWord>;
  using Run = Result<std::string> (Console::*)(const CommandWords& words);
  struct Command {
    const char* name;
    const char* alias;
    const char* usage;
    const char* what;
    Run run;
  };
  static const std::vector<Command>& table();
  static const Command* find(std::string_view name);

  // console.cc
  Result<std::string> help(const CommandWords& words);
  Result<std::string> quit(const CommandWords& words);
  // console_move.cc
  Result<std::string> step(const CommandWords& words);
  Result<std::string> step_back(const CommandWords& words);
  Result<std::string> next(const CommandWords& words);
  Result<std::string> next_back(const CommandWords& words);
  Result<std::string> resume(const CommandWords& words);
  Result<std::string> resume_back(const CommandWords& words);
  Result<std::string> until(const CommandWords& words);
  Result<std::string> until_back(const CommandWords& words);
  Result<std::string> go_to(const CommandWords& words);
  Result<std::string> add_break(const CommandWords& words);
  Result<std::string> delete_break(const CommandWords& words);
  Result<std::string> refresh(const CommandWords& words);
  Result<std::string> follow(const CommandWords& words);
  Result<std::string> move_by(const CommandWords& words, bool forwards);
  Result<std::string> move_to_decision(bool forwards);
  Result<std::string> run_until(const CommandWords& words, bool forwards);
  // console_show.cc
  Result<std::string> info(const CommandWords& words);
  Result<std::string> entry(const CommandWords& words);
  Result<std::string> list(const CommandWords& words);
  Result<std::string> get(const CommandWords& words);
  Result<std::string> diff(const CommandWords& words);
  Result<std::string> why(const CommandWords& words);
  Result<std::string> show_causes(const CommandWords& words);
  // console_rerun.cc
  Result<std::string> inputs(const CommandWords& words);
  Result<std::string> set(const CommandWords& words);
  Result<std::string> unset(const CommandWords& words);
  Result<std::string> remove(const CommandWords& words);
  Result<std::string> reset(const CommandWords& words);
  Result<std::string> run_again(const CommandWords& words);
  Result<std::string> start_gdb(const CommandWords& words);

  /// The entry at the cursor. Error: kBadRequest, the cursor is before the first one.
  Result<const Entry*> current() const;
  /// The state that the decision at the cursor was computed from.
  Result<const State*> decided_from();
  Result<Inputs> inputs_of_decision();
  /// One more change of the inputs, if it can be made.
  Result<std::string> change_inputs(const State& as_of, InputChange change);
  /// The one object that a pattern means in a state.
  static Result<ObjectKey> only_object(const State& state, const ObjectPattern& pattern);
  Result<std::optional<size_t>> cause_of(size_t position, const Entry& entry);

  Session& session_;
  const Decides& decides_;
  const ConsoleHooks hooks_;
  std::string line_;                  // that runs
  std::vector<InputChange> changes_;  // of the inputs of the decision at changes_at_
  size_t changes_at_ = 0;
  bool quit_ = false;
};

}  // namespace shiplog::debugger
