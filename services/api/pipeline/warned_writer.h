#pragma once

#include <memory>
#include <string>

#include "services/http/server.h"

namespace shiplog::api {

/// `writer`, every answer of which has this value of the header Warning too.
std::shared_ptr<ResponseWriter> warned(std::shared_ptr<ResponseWriter> writer, std::string warning);

}  // namespace shiplog::api
