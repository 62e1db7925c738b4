#include <fstream>
#include <iostream>
#include <istream>
#include <ostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "services/debugger/condition.h"
#include "services/programs/shiplogctl/debug.h"
#include "services/programs/shiplogctl/debug_dap.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

Result<void> add_lines(const std::string& file, std::vector<std::string>& commands) {
  std::ifstream in{file};
  if (!in) return Error{ErrorCode::kNotFound, "-x: the file " + file + " cannot be read"};
  for (std::string line; std::getline(in, line);) commands.push_back(line);
  if (in.bad()) return Error{ErrorCode::kIo, "-x: the file " + file + " cannot be read"};
  return ok();
}

/// The commands of -x and -ex in the order in which they were given.
Result<std::vector<std::string>> debugger_commands(const CLI::App& sub) {
  std::vector<std::string> commands;
  std::map<const CLI::Option*, size_t> used;
  for (const CLI::Option* option : sub.parse_order()) {
    const bool file = option->check_name("-x");
    if (!file && !option->check_name("--ex")) continue;
    const std::string& value = option->results()[used[option]++];
    if (file) {
      SHIPLOG_TRY(add_lines(value, commands));
    } else {
      commands.push_back(value);
    }
  }
  return commands;
}

std::string own_program() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string{path, static_cast<size_t>(length)} : "shiplogctl";
}

void add_journal_options(CLI::App& sub, ReplayCommandOptions& options, bool required) {
  auto* journal = sub.add_option("--journal", options.journal,
                                 "The journal (it may be in use): a file, the folder of a process, or an address")
                      ->type_name("FILE|FOLDER|sqlite:FILE|kafka:BROKER,.../FLEET");
  if (required) journal->required();
  sub.add_option("--kafka-option", options.kafka, "A setting of librdkafka; can be repeated")->type_name("KEY=VALUE");
  sub.add_option("--snapshot", options.snapshot,
                 "Start from this snapshot [of a trimmed journal: one in the folder snapshots beside its file]")
      ->type_name("FILE");
}

}  // namespace

void Program::add_debug() {
  auto* sub =
      add(*app_, "debug", "Step through a journal, forwards and backwards, and decide again", [this]() -> Result<int> {
        DebugOptions options = debug_;
        options.program = own_program();
        if (options.dap) return debug_dap(backing_, options.journal, to_);
        usage_ = true;
        if (options.journal.journal.empty()) return Error{ErrorCode::kBadRequest, "--journal is required"};
        usage_ = false;
        SHIPLOG_TRY(options.journal.journal, journal_address(options.journal.journal));
        SHIPLOG_TRY(options.commands, debugger_commands(*app_->get_subcommand("debug")));
        return debug(backing_, options, std::cin, ::isatty(STDIN_FILENO) != 0, to_);
      });
  add_journal_options(*sub, debug_.journal, false);
  sub->add_option("-x", script_files_, "Run the commands of this file; can be repeated")->type_name("FILE");
  sub->add_option("--ex", script_commands_, "Run this command; can be repeated, and written -ex")->type_name("COMMAND");
  sub->add_flag("--batch", debug_.batch, "End after these commands; the exit code is 1 if one has failed");
  auto* gdb = sub->add_flag("--gdb", debug_.gdb,
                            "After these commands, decide again in gdb, which stops in the decide function");
  sub->add_flag("--dap", debug_.dap, "Speak the Debug Adapter Protocol on standard input and output, for editors")
      ->excludes(gdb);
}

void Program::add_bisect() {
  auto* sub =
      add(*app_, "bisect", "Find the first entry of a journal at which a condition holds", [this]() -> Result<int> {
        usage_ = true;
        SHIPLOG_TRY(debugger::BreakCondition::parse(bisect_.condition));
        usage_ = false;
        BisectOptions options = bisect_;
        SHIPLOG_TRY(options.journal.journal, journal_address(options.journal.journal));
        return bisect(backing_, options, to_);
      });
  sub->add_option("CONDITION", bisect_.condition,
                  "As for `break` of shiplogctl debug: object Deployment default/web .spec.replicas == 3")
      ->required();
  add_journal_options(*sub, bisect_.journal, true);
  auto* first = sub->add_flag("--first", bisect_.first,
                              "Read every entry: the condition may hold, end and hold again (default: once it holds it "
                              "does not end, so snapshots show where to look)");
  sub->add_flag("--all", bisect_.all, "Print every entry at which the condition begins to hold")->excludes(first);
  sub->add_option("--limit", bisect_.limit, "With --all: at most this many; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output(*sub, bisect_.output, {"json"});
}

}  // namespace shiplog::ctl
