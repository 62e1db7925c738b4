#pragma once

#include <string>
#include <string_view>

namespace shiplog::ctl {

/// RFC 4648 with padding, in one line: how a Secret carries its data.
std::string base64(std::string_view bytes);

}  // namespace shiplog::ctl
