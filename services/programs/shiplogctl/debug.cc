#include "services/programs/shiplogctl/debug.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <istream>
#include <memory>
#include <ostream>
#include <sstream>
#include <thread>

#include "services/debugger/console.h"
#include "services/programs/shiplogctl/debug_gdb.h"
#include "services/programs/shiplogctl/replay_beginning.h"
#include "services/programs/shiplogctl/replay_with.h"
#include "services/programs/shiplogd/fleet_options.h"

namespace shiplog::ctl {
namespace {

constexpr std::chrono::milliseconds kPollEvery{200};

/// While it exists, an interrupt from the terminal ends the command that runs instead of the program.
class InterruptsCommand {
 public:
  explicit InterruptsCommand(debugger::Session& session) {
    current_ = &session;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      if (current_ != nullptr) current_->interrupt();
      interrupted_ = 1;
    };
    ::sigaction(SIGINT, &action, &before_);
  }
  ~InterruptsCommand() {
    ::sigaction(SIGINT, &before_, nullptr);
    current_ = nullptr;
  }
  InterruptsCommand(const InterruptsCommand&) = delete;
  InterruptsCommand& operator=(const InterruptsCommand&) = delete;

  static void clear() {
    interrupted_ = 0;
    if (current_ != nullptr) current_->clear_interrupt();
  }
  static bool interrupted() { return interrupted_ != 0; }

 private:
  static inline debugger::Session* volatile current_ = nullptr;
  static inline volatile std::sig_atomic_t interrupted_ = 0;
  struct sigaction before_ = {};
};

debugger::ConsoleHooks hooks_of(const DebugOptions& options, const std::string& snapshot, const Output& to) {
  debugger::ConsoleHooks hooks;
  hooks.print = [&to](const std::string& text) { to.out << text << std::flush; };
  hooks.wait = [] {
    std::this_thread::sleep_for(kPollEvery);
    return !InterruptsCommand::interrupted();
  };
  hooks.parse_option = parse_fleet_option;
  hooks.gdb = [&options, snapshot](Offset offset, const std::string& function) {
    ReplayCommandOptions journal = options.journal;
    journal.snapshot = snapshot;
    return run_gdb({options.program, journal, offset, function});
  };
  hooks.rerun_with = [&options, snapshot](const std::string& program, Offset offset,
                                          Revision as_of) -> Result<std::string> {
    std::ostringstream output;
    ReplayCommandOptions journal = options.journal;
    journal.to = as_of.value + 1;  // it verifies what was decided as of a revision before it goes on from there
    auto same = replay_with(program, journal, snapshot, output);
    if (!same && same.error().code == ErrorCode::kInternal) {
      journal.to.reset();  // perhaps it is the last revision of the journal
      same = replay_with(program, journal, snapshot, output);
    }
    if (!same) return same.error().context(debugger::without_controls(output.str()));
    return differences_at(output.str(), program, offset);
  };
  return hooks;
}

class CommandRunner {
 public:
  CommandRunner(debugger::Console& console, const Output& to) : console_{console}, to_{to} {}

  /// False: the line has ended the debugger.
  bool run(const std::string& line) {
    InterruptsCommand::clear();
    const auto reply = console_.run(line);
    if (!reply) {
      failed_ = true;
      to_.err << "error: " << reply.error().message << std::endl;
      return true;
    }
    to_.out << reply.value().text << std::flush;
    return !reply.value().quit;
  }
  bool failed() const { return failed_; }

 private:
  debugger::Console& console_;
  const Output& to_;
  bool failed_ = false;
};

}  // namespace

std::string differences_at(const std::string& output, const std::string& program, Offset offset) {
  const std::string begin = "other: DIFFERENT at offset " + std::to_string(offset.value) + ",";
  std::istringstream lines{output};
  std::string text;
  int more = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) more = 3;
    if (more-- > 0) text += line.substr(std::string_view{"other: "}.size()) + "\n";
  }
  return program + (text.empty() ? " decides the same as recorded\n" : " decides differently:\n" + text);
}

Result<std::string> journal_address(const std::string& text) {
  if (text.starts_with("sqlite:") || text.starts_with("kafka:")) return text;
  std::error_code failed;
  const auto status = std::filesystem::status(text, failed);
  if (std::filesystem::is_directory(status)) {
    const std::string file = (std::filesystem::path{text} / "journal.db").string();
    if (std::filesystem::exists(file, failed)) return "sqlite:" + file;
    return Error{ErrorCode::kNotFound, "--journal: the folder " + text + " has no journal.db"};
  }
  if (std::filesystem::exists(status)) return "sqlite:" + text;
  return Error{ErrorCode::kNotFound, "--journal: there is no file or folder " + text +
                                         "; name one, or sqlite:FILE or kafka:BROKER,.../FLEET"};
}

Result<std::unique_ptr<debugger::Session>> open_session(const Backing& backing, const ReplayCommandOptions& options,
                                                        std::ostream& progress) {
  SHIPLOG_TRY(auto journal, backing.open_journal(options.journal, options.kafka));
  SHIPLOG_TRY(Beginning beginning, beginning_of(*journal, options, progress));
  SHIPLOG_TRY(auto reader, debugger::JournalReader::open(std::move(journal), beginning.next));
  return std::make_unique<debugger::Session>(debugger::JournalTimeline{std::move(reader), std::move(beginning.state)});
}

Result<int> debug(const Backing& backing, const DebugOptions& options, std::istream& in, bool prompt,
                  const Output& to) {
  SHIPLOG_TRY(const auto session, open_session(backing, options.journal, to.err));
  const InterruptsCommand interrupts{*session};
  debugger::Console console{*session, backing.decides, hooks_of(options, options.journal.snapshot, to)};
  CommandRunner runner{console, to};
  const int failure = 1;
  for (const std::string& line : options.commands) {
    if (!runner.run(line)) return runner.failed() ? failure : 0;
    if (runner.failed() && options.batch) return failure;
  }
  if (options.gdb) {
    runner.run("gdb");
    return runner.failed() ? failure : 0;
  }
  if (options.batch) return runner.failed() ? failure : 0;
  std::string last;
  while (true) {
    if (prompt) to.out << "(shiplog) " << std::flush;
    std::string line;
    if (!std::getline(in, line)) {
      // An interrupt at the prompt ends the line, not the debugger.
      if (!InterruptsCommand::interrupted() || in.eof()) break;
      in.clear();
      InterruptsCommand::clear();
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) line = last;
    if (line.empty()) continue;
    last = line;
    if (!runner.run(line)) break;
  }
  if (prompt) to.out << std::endl;
  // Commands from a file or a pipe are a script, too.
  return runner.failed() && !prompt ? failure : 0;
}

}  // namespace shiplog::ctl
