#pragma once

#include <memory>

#include "services/api/request_context.h"
#include "services/programs/member/log_lines.h"
#include "services/programs/member/pod_requests.h"
#include "services/programs/member/pod_sessions.h"

namespace shiplog::member {

/// Answers with the log, from the first line that is asked for; one that is followed ends when the pod is deleted.
/// Threads: the executor's.
void stream_log(PodSessions& sessions, const std::shared_ptr<ResponseWriter>& writer, const std::string& pod_uid,
                LogLines lines, const LogOptions& options);

}  // namespace shiplog::member
