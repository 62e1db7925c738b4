#pragma once

#include <functional>
#include <memory>

#include "services/http/server.h"

namespace shiplog::api {

/// `writer`, which reports its response: `answered` is called once, on any thread, with the status when the whole
/// response or the beginning of a stream is passed to the connection; 101 when the connection is upgraded. 0: the
/// client has disconnected before there was a response.
std::shared_ptr<ResponseWriter> observed(std::shared_ptr<ResponseWriter> writer,
                                         std::function<void(int status)> answered);

}  // namespace shiplog::api
