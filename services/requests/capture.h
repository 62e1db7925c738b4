#pragma once

#include <functional>
#include <memory>

#include "services/http/server.h"

namespace shiplog::requests {

/// A ResponseWriter that hands the whole answer to a function: once, also when it is destroyed without an answer (500).
std::shared_ptr<ResponseWriter> capture(std::function<void(HttpResponse)> done);

}  // namespace shiplog::requests
