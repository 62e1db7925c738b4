#include "events/base/base64.h"

#include <cstdint>

namespace shiplog {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t padding_of(std::string_view text) { return text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0; }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = (bits << 8U) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kAlphabet[(bits >> (18U - 6U * j)) & 63U] : '=';
  }
  return text;
}

size_t base64_decoded_size(std::string_view text) {
  return text.size() < 4 ? 0 : text.size() / 4 * 3 - padding_of(text);
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = padding_of(text);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    uint32_t bits = 0;
    for (size_t j = 0; j < 4; ++j) {
      const size_t digit = j < digits ? kAlphabet.find(text[i + j]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      bits = (bits << 6U) | static_cast<uint32_t>(digit);
    }
    for (size_t j = 0; j + 1 < digits; ++j) bytes += static_cast<char>((bits >> (16U - 8U * j)) & 255U);
  }
  return bytes;
}

}  // namespace shiplog
