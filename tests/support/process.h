#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace shiplog::e2e {

using Environment = std::map<std::string, std::string>;

/// How long a test waits for what has to happen: long, as the machine may be busy; nothing waits longer than it must.
inline constexpr std::chrono::seconds kPatience{60};

/// Asks `holds` again and again until it is true or the time is over.
bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience);

/// A program that runs beside the test, its output in a file. It dies with the test whatever happens.
/// Threads: made by the main thread (Linux ends the child with the thread that made it).
class Process {
 public:
  /// Output is appended to `log`. `extra` is put on top of this process's environment.
  Process(std::vector<std::string> command, const Environment& extra, std::string log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  /// kill -9, and waits for the end.
  void kill();
  /// SIGSTOP, and waits until every thread has stopped: what is sent to the process after this is not answered.
  /// False if it has ended.
  bool freeze();
  /// SIGCONT.
  void thaw();
  /// SIGTERM, and waits; the exit code, or -1 when it did not end by itself in time (it is killed then).
  int terminate(std::chrono::milliseconds patience = std::chrono::seconds{30});
  const std::string& log() const { return log_; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::string log_;
};

/// What a command that has ended left behind.
struct Ran {
  std::string command;
  int code = -1;  ///< exit code; 128 + signal; -1: it took too long and was killed
  std::string out, err;
  bool ok() const { return code == 0; }
  /// Somewhere in what it printed.
  bool says(std::string_view words) const;
};
std::ostream& operator<<(std::ostream& stream, const Ran& ran);

/// Runs a command to its end. `input` is its standard input.
Ran run(const std::vector<std::string>& command, const Environment& extra, const std::string& input,
        std::chrono::milliseconds patience);

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view text);

}  // namespace shiplog::e2e
