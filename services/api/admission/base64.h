#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shiplog::api {

/// RFC 4648 section 4, with padding.
std::string base64(std::string_view bytes);
/// How many bytes well-formed base64 stands for.
size_t base64_bytes(std::string_view text);

}  // namespace shiplog::api
