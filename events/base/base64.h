#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog {

/// RFC 4648 section 4, with padding: how JSON carries the bytes of Secrets and ConfigMaps.
std::string base64_encode(std::string_view bytes);
/// nullopt: no well-formed base64 (padding is required, as Go's standard encoding does).
std::optional<std::string> base64_decode(std::string_view text);
/// How many bytes well-formed base64 stands for.
size_t base64_decoded_size(std::string_view text);

/// RFC 4648 section 5, without padding: how tokens carry bytes, in URLs and headers.
std::string base64url_encode(std::string_view bytes);
/// nullopt: not what base64url_encode() writes for any bytes. Bytes have one text only, so that a token does, too.
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace shiplog
