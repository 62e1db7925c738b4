#pragma once

namespace shiplog {

/// Prints the broken invariant with its place and ends the process. Stopping is safe: the journal is intact.
[[noreturn]] void check_failed(const char* condition, const char* sentence, const char* file, int line);

}  // namespace shiplog

/// An invariant that holds unless the program is wrong. On in every build type.
#define SHIPLOG_CHECK(condition, sentence) \
  (static_cast<bool>(condition) ? void(0) : ::shiplog::check_failed(#condition, sentence, __FILE__, __LINE__))
