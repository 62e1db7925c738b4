#include "events/base/networks.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

namespace shiplog {
namespace {

constexpr int kV4Offset = 96;

/// IPv4 address `v4` as a mapped IPv6 one.
std::array<uint8_t, 16> mapped(const uint8_t* v4) {
  std::array<uint8_t, 16> bytes = {};
  bytes[10] = bytes[11] = 0xff;
  std::copy(v4, v4 + 4, bytes.begin() + 12);
  return bytes;
}

bool same_bits(const std::array<uint8_t, 16>& a, const std::array<uint8_t, 16>& b, int bits) {
  for (int bit = 0; bit < bits; ++bit) {
    const auto at = static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((a[at] & mask) != (b[at] & mask)) return false;
  }
  return true;
}

}  // namespace

bool Networks::read(std::string_view text, Bytes& into, bool& v4) {
  const std::string plain{text.substr(0, text.find('%'))};  // without a zone
  std::array<uint8_t, 4> four = {};
  v4 = ::inet_pton(AF_INET, plain.c_str(), four.data()) == 1;
  if (v4) into = mapped(four.data());
  return v4 || ::inet_pton(AF_INET6, plain.c_str(), into.data()) == 1;
}

Result<Networks> Networks::parse(const std::vector<std::string>& words) {
  Networks networks;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    const size_t slash = word.find('/');
    Network network{word, {}, 128};
    bool v4 = false;
    const auto wrong = Error{ErrorCode::kInvalid, "\"" + word +
                                                      "\" is not a network: write 10.0.0.0/8, fd00::/8 or an "
                                                      "address"};
    if (!read(std::string_view{word}.substr(0, slash), network.prefix, v4)) return wrong;
    if (slash != std::string::npos) {
      int bits = 0;
      const char* const end = word.data() + word.size();
      const auto [rest, trouble] = std::from_chars(word.data() + slash + 1, end, bits);
      if (trouble != std::errc{} || rest != end || bits < 0 || bits > (v4 ? 32 : 128)) return wrong;
      network.bits = bits + (v4 ? kV4Offset : 0);
    }
    networks.networks_.push_back(std::move(network));
  }
  return networks;
}

std::string Networks::holding(const Bytes& address) const {
  const auto found = std::ranges::find_if(
      networks_, [&](const Network& network) { return same_bits(network.prefix, address, network.bits); });
  return found == networks_.end() ? "" : found->text;
}

std::string Networks::holding(std::string_view address) const {
  Bytes bytes = {};
  bool v4 = false;
  if (!read(address, bytes, v4)) return "";
  std::string found = holding(bytes);
  if (!found.empty() || v4) return found;
  static constexpr std::array<uint8_t, 12> kNat64 = {0x00, 0x64, 0xff, 0x9b};
  static constexpr std::array<uint8_t, 12> kCompatible = {};
  if (std::memcmp(bytes.data(), kNat64.data(), 12) == 0 || std::memcmp(bytes.data(), kCompatible.data(), 12) == 0) {
    return holding(mapped(bytes.data() + 12));
  }
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return holding(mapped(bytes.data() + 2));  // 6to4
  return "";
}

std::string Networks::holding_host_of(std::string_view url) const {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const size_t user = url.rfind('@'); user != std::string_view::npos) url.remove_prefix(user + 1);
  if (url.starts_with('[')) return holding(url.substr(1, url.find(']') - 1));
  return holding(url.substr(0, url.find(':')));
}

}  // namespace shiplog
