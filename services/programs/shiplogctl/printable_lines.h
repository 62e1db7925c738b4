#pragma once

#include <string>
#include <string_view>

#include "events/base/utf8.h"

namespace shiplog::ctl {

/// What a server or another user may have written, without what controls a terminal; its lines stay.
inline std::string printable_lines(std::string_view text, size_t longest_line = 4096) {
  std::string shown;
  while (true) {
    const size_t end = text.find('\n');
    shown += printable(text.substr(0, end), longest_line);
    if (end == std::string_view::npos) return shown;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace shiplog::ctl
