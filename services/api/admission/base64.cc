#include "services/api/admission/base64.h"

#include <cstdint>

namespace shiplog::api {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

size_t base64_bytes(std::string_view text) {
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() / 4 * 3 - (text.size() >= 4 ? padding : 0);
}

}  // namespace shiplog::api
