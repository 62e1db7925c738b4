#pragma once

#include <string>
#include <string_view>

namespace shiplog::spdy {

/// What zlib starts from in every header block of SPDY/3 (draft-mbelshe-httpbis-spdy-00, section 2.6.10.1).
const std::string& header_dictionary();

}  // namespace shiplog::spdy
