#include "services/programs/shiplogctl/ctl.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "services/programs/empty_values.h"
#include "services/programs/option_error.h"
#include "services/programs/shiplogctl/command_line.h"
#include "services/programs/shiplogctl/printable_lines.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

const std::vector<std::string>& families() {
  static const std::vector<std::string> names = {"api",   "scheduling", "dispatch", "taint",
                                                 "quota", "cluster",    "control"};
  return names;
}

std::string choices(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Program::Program(const Backing& backing, const std::string& name, std::ostream& out, std::ostream& err)
    : backing_{backing},
      out_{out},
      err_{err},
      to_{out, err, backing.terminal, backing.progress},
      app_{std::make_unique<CLI::App>("Manages a shiplog control plane: its member clusters and its journal.", name)} {
  app_->require_subcommand(1);
  app_->fallthrough();
  app_->footer("Run `" + app_->get_name() + " COMMAND --help` for the options of a command.");
  app_->set_version_flag("--version", backing.version, "Print the version of this program and exit");
  app_->set_help_flag("-h,--help", "Print this help and exit");
  access_.add_options(*app_);
  add_join();
  add_unjoin();
  add_rotate();
  add_token();
  add_register();
  add_unregister();
  add_get();
  add_kubectl_commands();
  add_apply();
  add_promote();
  add_cordon();
  add_uncordon();
  add_taint();
  add_top();
  add_interpret();
  add_status();
  add_history();
  add_why();
  add_effects();
  add_at_command();
  add_diff();
  add_blame();
  add_produce();
  add_audit();
  add_events();
  add_replay();
  add_debug();
  add_bisect();
  add_rehearse();
  add_journal();
  add_backup();
  add_restore();
  add_version();
  add_completion();
}

Program::~Program() = default;

int Program::complete(std::vector<std::string> words) {
  ctl::complete(*app_, values_, access_, std::move(words), out_);
  return 0;
}

int Program::run(int argc, const char* const* argv) {
  if (const auto passed_on = run_kubectl_command({argv + 1, argv + argc})) return *passed_on;
  try {
    std::vector<std::string> words = with_empty_values({argv + 1, argv + argc});
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app_->parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return written(app_->exit(error, out_, err_));
    const std::string unknown = unknown_word(*app_, std::vector<std::string>(argv + 1, argv + argc));
    err_ << "error: " << (unknown.empty() ? readable_option_error(error.what()) : unknown) << "\nRun `"
         << app_->get_name() << " --help` for usage." << std::endl;
    return 2;
  }
  const auto done = command_();
  if (done) return written(done.value());
  err_ << "error: " << printable_lines(done.error().message) << std::endl;
  return done.error().code == ErrorCode::kBadRequest && usage_ ? 2 : 1;
}

int Program::written(int code) {
  out_.flush();
  // A reader that has seen enough, as `| head`, is no failure.
  if (out_ || (backing_.reader_is_gone && backing_.reader_is_gone())) return code;
  err_ << "error: the output cannot be written completely: look whether its disk is full" << std::endl;
  return code == 0 ? 1 : code;
}

CLI::App* Program::add(CLI::App& parent, const std::string& name, const std::string& what, Command command) {
  auto* sub = parent.add_subcommand(name, what);
  sub->fallthrough();
  sub->footer("Global options (--kubeconfig, --context, -n, --as, --as-group, --as-uid): `" + app_->get_name() +
              " --help`.");
  // The callback of a command runs after those of its subcommands.
  sub->callback([this, sub, command = std::move(command)] {
    if (sub->get_subcommands().empty()) command_ = command;
  });
  return sub;
}

void Program::add_output(CLI::App& sub, std::string& output, const std::vector<std::string>& formats) {
  auto* option = sub.add_option("-o,--output", output, "Output format: " + choices(formats) + " (default: text)")
                     ->check(CLI::IsMember(formats))
                     ->type_name("FORMAT");
  values_[option] = formats;
}

void Program::add_family(CLI::App& sub, std::string& family) {
  values_[sub.add_option("--family", family, "Only entries with an event of this family: " + choices(families()))
              ->type_name("FAMILY")] = families();
}

void Program::add_at(CLI::App& sub, std::string& at) {
  sub.add_option("--at", at, "As of this revision or time: 41, 2024-05-01T12:00:00Z, 2h (before now)")
      ->type_name("REVISION|TIME");
}

void Program::add_version() {
  auto* sub = add(*app_, "version", "Print the versions of this program and of the server", [this]() -> Result<int> {
    SHIPLOG_TRY(print_version(
        backing_.version, [this] { return access_.connect(); }, version_, to_));
    return 0;
  });
  sub->add_flag("--client", version_.client_only, "Do not query the server");
  add_output(*sub, version_.output, {"json", "yaml"});
}

void Program::add_completion() {
  auto* sub = add(*app_, "completion", "Print the script that completes commands in a shell", [this]() -> Result<int> {
    usage_ = true;
    SHIPLOG_TRY(const auto script, completion_script(shell_));
    out_ << script << std::flush;
    return 0;
  });
  sub->add_option("SHELL", shell_, "bash, zsh or fish")->required();
  sub->footer(
      "bash:  source <(shiplogctl completion bash)\nzsh:   source <(shiplogctl completion zsh)\n"
      "fish:  shiplogctl completion fish | source\n"
      "kubectl completes `kubectl shiplog` by itself when kubectl_complete-shiplog is on the PATH.");
}

int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err) {
  const std::string_view invoked = argc > 0 ? argv[0] : "shiplogctl";
  const std::string_view name = invoked.substr(invoked.rfind('/') + 1);
  const bool completes_plugin = name == "kubectl_complete-shiplog";
  Program program{backing, completes_plugin || name == "kubectl-shiplog" ? "kubectl shiplog" : "shiplogctl", out, err};
  const bool completes = argc > 1 && argv[1] == std::string_view{"__complete"};
  if (completes_plugin || completes) return program.complete({argv + (completes ? 2 : 1), argv + argc});
  // As gdb writes it; here a word of one dash has one letter.
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && argv[1] == std::string_view{"debug"}) {
    for (const char*& word : words) word = word == std::string_view{"-ex"} ? "--ex" : word;
  }
  return program.run(argc, words.data());
}

}  // namespace shiplog::ctl
