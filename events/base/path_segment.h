#pragma once

#include <string>
#include <string_view>

#include "events/base/percent_encoding.h"

namespace shiplog {

/// A name as one segment of a URL's path: what RFC 3986 does not allow there is escaped, so that a name with ? or #, as
/// a Role may have, neither ends the path nor the request line.
inline std::string path_segment(std::string_view name) { return percent_encoded(name, "-._~!$&'()*+,;=:@"); }

}  // namespace shiplog
