#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/programs/member/log_lines.h"
#include "services/programs/member/pod_sessions.h"
#include "services/programs/member/shell/shell.h"
#include "services/programs/member/streams/command_streams.h"

namespace shiplog::member {

/// One exec or attach.
struct PodCommand {
  std::string pod_uid;
  std::string container;
  std::vector<std::string> words;  ///< the program and its arguments; of an attach: what the container runs
  std::optional<LogLines> log;     ///< of an attach to a container that reads no input: what it writes
  ShellContainer shell;
  FileTree image;
};

/// Runs the command for the client behind the streams, until it ends, the client disconnects or the pod is deleted.
/// Threads: the executor's.
void run_command(PodSessions& sessions, std::shared_ptr<CommandStreams> streams, StreamChoice choice,
                 PodCommand command);

}  // namespace shiplog::member
