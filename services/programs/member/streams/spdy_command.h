#pragma once

#include "services/programs/member/streams/command_streams.h"

namespace shiplog::member {

/// exec and attach over SPDY/3.1: the client opens a stream each for error, stdin, stdout, stderr and resize. Versions
/// v5 to v1 of channel.k8s.io; before v4 the outcome is a text.
void open_spdy_command(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, StreamChoice choice,
                       Executor& executor, CommandReady ready);

}  // namespace shiplog::member
