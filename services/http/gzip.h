#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// The bytes as one gzip member (RFC 1952), compressed for speed.
std::string gzip(std::string_view bytes);

/// A request with this Accept-Encoding header takes gzip (RFC 9110, 12.5.3).
bool takes_gzip(std::string_view accept_encoding);

}  // namespace shiplog
