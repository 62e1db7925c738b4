#include "services/programs/shiplogctl/replay_with.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace shiplog::ctl {
namespace {

/// A program whose output is read through a pipe.
class OtherBuild {
 public:
  static Result<std::unique_ptr<OtherBuild>> start(std::vector<std::string> words) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_run(words[0], errno);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto program = std::unique_ptr<OtherBuild>{new OtherBuild};
    const int failed = ::posix_spawnp(&program->pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    program->output_ = ::fdopen(ends[0], "r");
    if (failed != 0) return cannot_run(words[0], failed);
    return program;
  }
  ~OtherBuild() {
    if (output_ != nullptr) std::fclose(output_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  OtherBuild(const OtherBuild&) = delete;
  OtherBuild& operator=(const OtherBuild&) = delete;

  /// False: the output has ended.
  bool line(std::string& into) {
    char* text = nullptr;
    size_t room = 0;
    const ssize_t length = ::getline(&text, &room, output_);
    if (length > 0) into.assign(text, static_cast<size_t>(length) - (text[length - 1] == '\n' ? 1 : 0));
    std::free(text);
    return length > 0;
  }
  /// The exit code; 128 and the signal that killed it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  OtherBuild() = default;
  static Error cannot_run(const std::string& program, int why) {
    return {ErrorCode::kIo, "--with=" + program + " cannot be run: " + std::strerror(why)};
  }

  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace

Result<bool> replay_with(const std::string& program, const ReplayCommandOptions& options, const std::string& snapshot,
                         std::ostream& out) {
  std::vector<std::string> words{program, "replay", "--verify", "--journal=" + options.journal};
  for (const std::string& setting : options.kafka) words.push_back("--kafka-option=" + setting);
  if (options.to) words.push_back("--to=" + std::to_string(*options.to));
  if (!snapshot.empty()) words.push_back("--snapshot=" + snapshot);
  SHIPLOG_TRY(const auto other, OtherBuild::start(std::move(words)));
  uint64_t differences = 0;
  bool replayed = false;
  for (std::string line; other->line(line);) {
    if (line.starts_with("DIFFERENT ")) ++differences;
    if (line.starts_with("state hash ")) replayed = true;
    out << "other: " << line << "\n";
  }
  const int code = other->wait();
  out << "other: " << program << " would make " << differences << " of the recorded decisions differently" << std::endl;
  if (!replayed || (code != 0 && differences == 0)) {
    return Error{ErrorCode::kInternal, program + " did not replay the journal (exit code " + std::to_string(code) +
                                           "): its reason is above; do not upgrade to it"};
  }
  return differences == 0;
}

}  // namespace shiplog::ctl
