#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::debugger {

/// Cuts the bytes of the Debug Adapter Protocol into messages: headers, of which Content-Length counts, an empty line,
/// and so many bytes.
class FrameReader {
 public:
  static constexpr size_t kLongestHeaders = 4096;
  static constexpr size_t kLargestMessage = size_t{4} << 20U;

  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The next message; nullopt: more bytes are needed. Error: kBadRequest or kTooLarge; the end of the message is not
  /// known then, so that nothing behind it can be read.
  Result<std::optional<std::string>> next();

 private:
  std::string buffer_;
};

/// The message with its header.
std::string frame(std::string_view message);

}  // namespace shiplog::debugger
