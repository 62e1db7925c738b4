#include "tests/support/process.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shiplog::e2e {
namespace {

using Clock = std::chrono::steady_clock;

/// argv or envp: pointers into the strings, which must stay.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const Environment& extra) {
  Environment merged;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view pair{*at};
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos) merged[std::string{pair.substr(0, equals)}] = pair.substr(equals + 1);
  }
  for (const auto& [name, value] : extra) merged[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

/// Starts a program with these three files as its standard ones.
pid_t spawn(std::vector<std::string> command, const Environment& extra, int in, int out, int err) {
  std::vector<std::string> environment = environment_with(extra);
  const std::vector<char*> argv = pointers(command);
  const std::vector<char*> envp = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  // Only what is safe between fork and exec in a program with threads.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::execvpe(argv[0], argv.data(), envp.data());
  constexpr std::string_view kSorry = "the program cannot be started\n";
  if (::write(2, kSorry.data(), kSorry.size()) < 0) ::_exit(126);
  ::_exit(127);
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() {
    close(read);
    close(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

}  // namespace

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!holds()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return true;
}

Process::Process(std::vector<std::string> command, const Environment& extra, std::string log) : log_{std::move(log)} {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int file = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  pid_ = spawn(std::move(command), extra, null, file, file);
  ended_ = pid_ <= 0;
  ::close(null);
  ::close(file);
}

Process::~Process() { kill(); }

bool Process::running() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

void Process::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
  ended_ = true;
}

bool Process::freeze() {
  if (!running()) return false;
  ::kill(pid_, SIGSTOP);
  // Linux reports the stop when the last thread has stopped.
  int status = 0;
  if (::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status)) return true;
  status_ = status;
  ended_ = true;
  return false;
}

void Process::thaw() { ::kill(pid_, SIGCONT); }

int Process::terminate(std::chrono::milliseconds patience) {
  if (running()) ::kill(pid_, SIGTERM);
  if (!eventually([this] { return !running(); }, patience)) {
    kill();
    return -1;
  }
  return exit_code(status_);
}

bool Ran::says(std::string_view words) const {
  return out.find(words) != std::string::npos || err.find(words) != std::string::npos;
}

std::ostream& operator<<(std::ostream& stream, const Ran& ran) {
  return stream << "$ " << ran.command << "\n"
                << ran.out << ran.err << (ran.code == -1 ? "(took too long, killed)" : "(exit code ")
                << (ran.code == -1 ? std::string{} : std::to_string(ran.code) + ")") << "\n";
}

Ran run(const std::vector<std::string>& command, const Environment& extra, const std::string& input,
        std::chrono::milliseconds patience) {
  Ran ran;
  for (const std::string& word : command) ran.command += (ran.command.empty() ? "" : " ") + word;
  Pipe in, out, err;
  const auto deadline = Clock::now() + patience;
  const pid_t pid = spawn(command, extra, in.read, out.write, err.write);
  if (pid < 0) return ran;
  Pipe::close(in.read);
  Pipe::close(out.write);
  Pipe::close(err.write);
  ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  ::signal(SIGPIPE, SIG_IGN);  // a program may end before it has read everything
  std::string_view left = input;
  while (out.read >= 0 || err.read >= 0) {
    if (left.empty()) Pipe::close(in.write);
    const auto remaining = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd files[3] = {{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    if (remaining <= 0 || ::poll(files, 3, static_cast<int>(remaining)) == 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      return ran;
    }
    if (files[0].revents != 0) {
      const ssize_t wrote = ::write(in.write, left.data(), left.size());
      if (wrote < 0 && errno != EAGAIN) left = {};  // it does not want to know the rest
      if (wrote > 0) left.remove_prefix(static_cast<size_t>(wrote));
    }
    const auto drain = [](pollfd& file, int& fd, std::string& into) {
      if (file.revents == 0) return;
      char buffer[65536];
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got > 0) into.append(buffer, static_cast<size_t>(got));
      if (got == 0) Pipe::close(fd);
    };
    drain(files[1], out.read, ran.out);
    drain(files[2], err.read, ran.err);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ran.code = exit_code(status);
  return ran;
}

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
}

}  // namespace shiplog::e2e
