#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/programs/member/shell/file_system.h"
#include "services/programs/member/shell/io.h"
#include "services/programs/member/shell/syntax.h"

namespace shiplog::member {

/// What a container is to the commands that run in it.
struct ShellContainer {
  std::string host_name;
  std::map<std::string, std::string> environment;
  std::string directory = "/";
  int64_t user = 0;
  int64_t group = 0;
};

/// What commands need from outside. Threads: the executor's that it belongs to.
struct ShellHost {
  const Clock* clock = nullptr;
  std::shared_ptr<ByteBudget> memory;  ///< of what commands hold, in all containers
  /// Completes after the time, or sooner if the command was interrupted or the client has gone.
  std::function<awaitable<void>(Millis)> sleep;
  /// The client has gone, or has interrupted the command: what runs comes to its end.
  std::function<bool()> stopped;
};

/// The input and the outputs of one command.
struct Streams {
  std::shared_ptr<CommandInput> in;
  std::shared_ptr<CommandOutput> out;
  std::shared_ptr<CommandOutput> error;
};

/// A small shell and the commands that it knows, all within this process: nothing of the machine is reachable from it.
/// Threads: one.
class Shell {
 public:
  Shell(ShellContainer container, FileSystem& files, const ShellHost& host);
  /// A shell that this one starts: with a copy of its environment.
  Shell child() const;

  /// Whether there is a program of that name ("ls", "/bin/ls").
  static bool knows(std::string_view program);
  /// Runs one program with its arguments, and returns its exit code.
  awaitable<int> run_program(std::vector<std::string> words, Streams streams);
  /// Runs a script.
  awaitable<int> run_script(std::string script, Streams streams);
  /// Reads commands from the input until it ends; with a prompt when it is a terminal's.
  awaitable<int> run_interactive(Streams streams, bool prompt);

  // For the commands.
  FileSystem& files() { return files_; }
  const ShellHost& host() const { return host_; }
  /// False: there is no room for it.
  bool set_variable(const std::string& name, std::string value);
  std::map<std::string, std::string>& environment() { return container_.environment; }
  const ShellContainer& container() const { return container_; }
  std::string& directory() { return container_.directory; }
  std::string path(std::string_view of) const { return resolved_path(container_.directory, of); }
  int64_t now_seconds() const { return host_.clock->now().value / 1000; }
  /// `exit` ends the script that it stands in.
  void leave(int code) {
    leaving_ = true;
    last_ = code;
  }
  int last_code() const { return last_; }

 private:
  class Nested;
  awaitable<int> run_pipeline(const CommandPipeline& pipeline, Streams streams);
  awaitable<int> run_simple(const SimpleCommand& command, Streams streams);
  awaitable<Result<std::vector<std::string>>> expand(const Word& word, Streams streams);
  awaitable<Result<std::string>> expand_one(const Word& word, Streams streams);
  awaitable<Result<std::string>> value_of(const WordPart& part, Streams streams);
  awaitable<Result<void>> redirect(const SimpleCommand& command, Streams& streams);
  awaitable<Result<void>> assign(const SimpleCommand& command, const Streams& streams);

  ShellContainer container_;
  FileSystem& files_;
  const ShellHost& host_;
  int last_ = 0;
  int depth_ = 0;
  bool leaving_ = false;
};

/// The lines of an input. Threads: one.
class LineReader {
 public:
  static constexpr size_t kLongestLine = 64 * 1024;
  explicit LineReader(CommandInput& input) : input_{input} {}
  /// Without its newline; false at the end. A longer line is cut into several.
  awaitable<bool> next(std::string& line);

 private:
  CommandInput& input_;
  std::string held_;
  bool ended_ = false;
};

}  // namespace shiplog::member
