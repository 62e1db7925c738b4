#include "events/base/base64.h"

#include <array>
#include <cstdint>
#include <utility>

namespace shiplog {
namespace {

constexpr uint8_t kNoDigit = 64;

/// The 64 digits, and what each stands for.
class Alphabet {
 public:
  constexpr explicit Alphabet(const char* last_two) {
    for (auto& value : values_) value = kNoDigit;
    size_t size = 0;
    const auto add = [&](char digit) {
      values_[static_cast<unsigned char>(digit)] = static_cast<uint8_t>(size);
      digits_[size++] = digit;
    };
    for (char digit = 'A'; digit <= 'Z'; ++digit) add(digit);
    for (char digit = 'a'; digit <= 'z'; ++digit) add(digit);
    for (char digit = '0'; digit <= '9'; ++digit) add(digit);
    add(last_two[0]);
    add(last_two[1]);
  }
  char digit(uint32_t value) const { return digits_[value & 63U]; }
  uint8_t value(char digit) const { return values_[static_cast<unsigned char>(digit)]; }

 private:
  std::array<char, 64> digits_ = {};
  std::array<uint8_t, 256> values_ = {};
};

constexpr Alphabet kStandard{"+/"};
constexpr Alphabet kUrl{"-_"};

/// Without padding, for which there is room.
std::string digits_of(std::string_view bytes, const Alphabet& alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6;) {
      count -= 6;
      text += alphabet.digit(bits >> count);
    }
  }
  if (count > 0) text += alphabet.digit(bits << (6U - count));
  return text;
}

struct Read {
  std::string bytes;
  uint32_t left_over = 0;  // bits of the last digit that belong to no byte
};

std::optional<Read> read(std::string_view digits, const Alphabet& alphabet) {
  if (digits.size() % 4 == 1) return std::nullopt;
  Read out;
  out.bytes.reserve(digits.size() * 3 / 4);
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : digits) {
    const uint8_t value = alphabet.value(digit);
    if (value == kNoDigit) return std::nullopt;
    bits = (bits << 6U) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.bytes += static_cast<char>((bits >> count) & 255U);
  }
  out.left_over = bits & ((1U << count) - 1U);
  return out;
}

size_t padding_of(std::string_view text) { return text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0; }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text = digits_of(bytes, kStandard);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

size_t base64_decoded_size(std::string_view text) {
  return text.size() < 4 ? 0 : text.size() / 4 * 3 - padding_of(text);
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  text.remove_suffix(padding_of(text));
  auto out = read(text, kStandard);
  if (!out) return std::nullopt;
  return std::move(out->bytes);
}

std::string base64url_encode(std::string_view bytes) { return digits_of(bytes, kUrl); }

std::optional<std::string> base64url_decode(std::string_view text) {
  auto out = read(text, kUrl);
  if (!out || out->left_over != 0) return std::nullopt;
  return std::move(out->bytes);
}

}  // namespace shiplog
