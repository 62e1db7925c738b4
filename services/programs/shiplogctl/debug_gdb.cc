#include "services/programs/shiplogctl/debug_gdb.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace shiplog::ctl {
namespace {

std::vector<std::string> command_of(const GdbRun& run) {
  // Nothing but the entry is decided again in that process, so the first stop in the function is the one.
  std::vector<std::string> words{"gdb",
                                 "-q",
                                 "-iex",
                                 "set debuginfod enabled off",
                                 "-ex",
                                 "set breakpoint pending off",
                                 "-ex",
                                 "break " + run.function,
                                 "-ex",
                                 "run",
                                 "--args",
                                 run.program,
                                 "debug",
                                 "--batch",
                                 "--journal=" + run.journal.journal};
  for (const std::string& setting : run.journal.kafka) words.push_back("--kafka-option=" + setting);
  if (!run.journal.snapshot.empty()) words.push_back("--snapshot=" + run.journal.snapshot);
  words.insert(words.end(), {"--ex", "goto offset " + std::to_string(run.offset.value), "--ex", "rerun"});
  return words;
}

/// Whether the file has a table of its functions. gdb would otherwise report that there is no such function, and run
/// on.
bool has_symbols(const std::string& program) {
  std::ifstream file{program, std::ios::binary};
  Elf64_Ehdr header = {};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  for (unsigned number = 0; number < header.e_shnum; ++number) {
    Elf64_Shdr section = {};
    file.seekg(static_cast<std::streamoff>(header.e_shoff + size_t{number} * header.e_shentsize));
    if (!file.read(reinterpret_cast<char*>(&section), sizeof section)) return false;
    if (section.sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

}  // namespace

Result<void> run_gdb(const GdbRun& run) {
  if (!has_symbols(run.program)) {
    return Error{ErrorCode::kUnavailable, run.program +
                                              " was stripped of its symbols, so that gdb finds no functions in it: use "
                                              "a shiplogctl that is built from source"};
  }
  auto words = command_of(run);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // An interrupt is meant for gdb: this process only waits for it.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &before);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, "gdb", nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (failed == 0) {
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::sigaction(SIGINT, &before, nullptr);
  if (failed == ENOENT) {
    return Error{ErrorCode::kNotFound, "gdb is not installed: install the package gdb (Debian: apt-get install gdb)"};
  }
  if (failed != 0) return Error{ErrorCode::kIo, std::string{"gdb cannot be started: "} + std::strerror(failed)};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Error{ErrorCode::kIo, "gdb has ended with an error; it was to stop in " + run.function};
  }
  return ok();
}

}  // namespace shiplog::ctl
