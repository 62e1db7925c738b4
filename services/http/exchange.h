#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "services/http/connection.h"

/// Internal to services/http.
namespace shiplog {

/// What a handler answers request number `exchange` of the connection with. `over`: set once that has been answered.
std::shared_ptr<ResponseWriter> response_writer(std::shared_ptr<HttpConnection> connection, uint64_t exchange,
                                                std::shared_ptr<std::atomic<bool>> over);

}  // namespace shiplog
