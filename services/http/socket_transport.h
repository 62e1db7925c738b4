#pragma once

#include <memory>

#include "services/http/io_context.h"
#include "services/http/transport.h"

/// Internal to services/http.
namespace shiplog::net {

/// The transport of a connection that was accepted on the socket's own strand.
std::unique_ptr<Transport> accepted_transport(Socket socket);

}  // namespace shiplog::net
