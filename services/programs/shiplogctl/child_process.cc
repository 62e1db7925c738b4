#include "services/programs/shiplogctl/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/base/check.h"

extern char** environ;

namespace shiplog::ctl {
namespace {

std::vector<char*> arguments_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

/// Our variables, but those in `others`, and then these.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& others) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view ours = *variable;
    const auto same_name = [&](const auto& other) { return ours.starts_with(other.first + "="); };
    if (std::ranges::none_of(others, same_name)) variables.emplace_back(ours);
  }
  for (const auto& [name, value] : others) variables.push_back(name + "=" + value);
  return variables;
}

Error failed(const std::string& program, int error) {
  if (error == ENOENT) return {ErrorCode::kNotFound, program + " is not installed: it is not on the PATH"};
  return {ErrorCode::kIo, "cannot run " + program + ": " + std::strerror(error)};
}

/// A pipe whose ends are closed.
class ChildPipe {
 public:
  ~ChildPipe() {
    close_end(0);
    close_end(1);
  }
  ChildPipe() = default;
  ChildPipe(const ChildPipe&) = delete;
  ChildPipe& operator=(const ChildPipe&) = delete;
  bool open() { return ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_end(size_t end) {
    if (ends_.at(end) >= 0) ::close(ends_.at(end));
    ends_.at(end) = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

void write_all(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(fd, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // the program has stopped reading: its exit code tells
    written += static_cast<size_t>(count);
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& words, const ChildSettings& settings) {
  const auto& input = settings.input;
  const bool capture = settings.capture;
  SHIPLOG_CHECK(!words.empty() && !(input && !input->empty() && capture), "no child writes to us while we write to it");
  ChildPipe in;
  ChildPipe out;
  if ((input && !in.open()) || (capture && !out.open())) return failed(words.front(), errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input) ::posix_spawn_file_actions_adddup2(&actions, in.read_end(), STDIN_FILENO);
  if (capture) ::posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  pid_t pid = 0;
  auto arguments = arguments_of(words);
  const std::vector<std::string> variables = environment_with(settings.env);
  auto environment = arguments_of(variables);
  const int error =
      ::posix_spawnp(&pid, words.front().c_str(), &actions, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed(words.front(), error);
  ChildResult result;
  in.close_end(0);
  out.close_end(1);
  if (input) write_all(in.write_end(), *input);
  in.close_end(1);
  if (capture) result.out = read_all(out.read_end());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Error become(const std::vector<std::string>& words) {
  auto arguments = arguments_of(words);
  ::execvp(words.front().c_str(), arguments.data());
  return failed(words.front(), errno);
}

}  // namespace shiplog::ctl
