#pragma once

#include <string>

#include "services/http/http.h"

namespace shiplog {

/// A response up to and with the empty line: status line, Date, `headers`, then `framing` (whole lines) and the
/// Connection header when `connection` is not empty. Fields of `headers` that are the server's own business are left
/// out. Internal to services/http.
std::string response_head(int status, const HttpHeaders& headers, const std::string& framing,
                          const std::string& connection);

}  // namespace shiplog
