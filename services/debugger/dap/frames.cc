#include "services/debugger/dap/frames.h"

#include <charconv>

#include "events/base/ascii.h"
#include "events/base/utf8.h"

namespace shiplog::debugger {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Result<size_t> content_length(std::string_view headers) {
  std::optional<size_t> length;
  while (!headers.empty()) {
    const size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Error{ErrorCode::kBadRequest, "a header line without a colon: " + quoted(line)};
    }
    if (lower_case(trimmed(line.substr(0, colon))) != "content-length") continue;
    const std::string_view digits = trimmed(line.substr(colon + 1));
    size_t number = 0;
    const auto [last, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || last != digits.data() + digits.size() ||
        (failed != std::errc{} && failed != std::errc::result_out_of_range)) {
      return Error{ErrorCode::kBadRequest, "Content-Length " + quoted(digits) + " is not a number"};
    }
    if (failed == std::errc::result_out_of_range || number > FrameReader::kLargestMessage) {
      return Error{ErrorCode::kTooLarge, "Content-Length " + printable(digits) + " is more than " +
                                             std::to_string(FrameReader::kLargestMessage) + " bytes"};
    }
    length = number;
  }
  if (!length) return Error{ErrorCode::kBadRequest, "a message without Content-Length"};
  return *length;
}

}  // namespace

Result<std::optional<std::string>> FrameReader::next() {
  const size_t end = buffer_.find("\r\n\r\n");
  if (end > kLongestHeaders) {  // also if there is none
    if (buffer_.size() <= kLongestHeaders) return std::optional<std::string>{};
    return Error{ErrorCode::kBadRequest,
                 "the headers of a message are longer than " + std::to_string(kLongestHeaders) + " bytes"};
  }
  SHIPLOG_TRY(const size_t length, content_length(std::string_view{buffer_}.substr(0, end)));
  const size_t begin = end + 4;
  if (buffer_.size() - begin < length) return std::optional<std::string>{};
  std::optional<std::string> message{buffer_.substr(begin, length)};
  buffer_.erase(0, begin + length);
  return message;
}

std::string frame(std::string_view message) {
  std::string bytes = "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n";
  bytes += message;
  return bytes;
}

}  // namespace shiplog::debugger
