#include "services/cel/library/net_address.h"

#include <algorithm>
#include <cstdio>

#include "services/cel/library/go_text.h"

namespace shiplog::cel {
namespace {

/// What is wrong and where; both empty: nothing.
struct AddressProblem {
  std::string message;
  std::string at;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

AddressProblem read_v4(std::string_view text, uint8_t* into) {
  int value = 0;
  int position = 0;
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      if (digits == 1 && value == 0) return {"IPv4 field has octet with leading zero", ""};
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return {"IPv4 field has value >255", ""};
    } else if (c == '.') {
      if (i == 0 || i + 1 == text.size() || text[i - 1] == '.') {
        return {"IPv4 field must have at least one digit", std::string{text.substr(i)}};
      }
      if (position == 3) return {"IPv4 address too long", ""};
      into[position++] = static_cast<uint8_t>(value);
      value = 0;
      digits = 0;
    } else {
      return {"unexpected character", std::string{text.substr(i)}};
    }
  }
  if (position < 3) return {"IPv4 address too short", ""};
  into[3] = static_cast<uint8_t>(value);
  return {};
}

/// `text` without a zone.
AddressProblem read_v6(std::string_view text, std::array<uint8_t, 16>& into) {
  const auto problem = [](const char* message, std::string_view at) {
    return AddressProblem{message, std::string{at}};
  };
  std::string_view rest = text;
  int ellipsis = -1;
  int i = 0;
  if (rest.starts_with("::")) {
    ellipsis = 0;
    rest.remove_prefix(2);
    if (rest.empty()) return {};
  }
  while (i < 16) {
    size_t off = 0;
    uint32_t group = 0;
    for (; off < rest.size() && hex_digit(rest[off]) >= 0; ++off) {
      group = group * 16 + static_cast<uint32_t>(hex_digit(rest[off]));
      if (off > 3) return problem("each group must have 4 or less digits", rest);
    }
    if (off == 0) return problem("each colon-separated field must have at least one digit", rest);
    if (off < rest.size() && rest[off] == '.') {
      if (ellipsis < 0 && i != 12) {
        return problem("embedded IPv4 address must replace the final 2 fields of the address", rest);
      }
      if (i + 4 > 16) {
        return problem("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      }
      if (auto bad = read_v4(rest, into.data() + i); !bad.message.empty()) return bad;
      rest = {};
      i += 4;
      break;
    }
    into[static_cast<size_t>(i)] = static_cast<uint8_t>(group >> 8U);
    into[static_cast<size_t>(i) + 1] = static_cast<uint8_t>(group & 0xFFU);
    i += 2;
    rest.remove_prefix(off);
    if (rest.empty()) break;
    if (rest[0] != ':') return problem("unexpected character, want colon", rest);
    if (rest.size() == 1) return problem("colon must be followed by more characters", rest);
    rest.remove_prefix(1);
    if (rest[0] == ':') {
      if (ellipsis >= 0) return problem("multiple :: in address", rest);
      ellipsis = i;
      rest.remove_prefix(1);
      if (rest.empty()) break;
    }
  }
  if (!rest.empty()) return problem("trailing garbage after address", rest);
  if (i < 16) {
    if (ellipsis < 0) return problem("address string too short", "");
    const auto middle = into.begin() + ellipsis;
    std::rotate(middle, into.begin() + i, into.end());
  } else if (ellipsis >= 0) {
    return problem("the :: must expand to at least one field of zeros", "");
  }
  return {};
}

struct ReadAddress {
  NetAddress address;
  bool zone = false;
};

/// Error: as netip.ParseAddr words it.
Result<ReadAddress> read_address(std::string_view text) {
  const auto failure = [&](const AddressProblem& problem) {
    return Error{ErrorCode::kInvalid, "ParseAddr(" + go_quoted(text) + "): " + problem.message +
                                          (problem.at.empty() ? "" : " (at " + go_quoted(problem.at) + ")")};
  };
  const size_t first = text.find_first_of(".:%");
  if (first == std::string_view::npos) return failure({"unable to parse IP", ""});
  if (text[first] == '%') return failure({"missing IPv6 address", ""});
  ReadAddress read;
  if (text[first] == '.') {
    read.address.v4 = true;
    if (auto bad = read_v4(text, read.address.bytes.data()); !bad.message.empty()) return failure(bad);
    return read;
  }
  std::string_view body = text;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    body = text.substr(0, percent);
    read.zone = true;
    if (percent + 1 == text.size()) return failure({"zone must be a non-empty string", ""});
  }
  if (auto bad = read_v6(body, read.address.bytes); !bad.message.empty()) return failure(bad);
  return read;
}

bool is_mapped(const NetAddress& address) {
  return !address.v4 &&
         std::all_of(address.bytes.begin(), address.bytes.begin() + 10, [](uint8_t b) { return b == 0; }) &&
         address.bytes[10] == 0xFF && address.bytes[11] == 0xFF;
}

bool same_bits(const NetAddress& a, const NetAddress& b, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(whole), b.bytes.begin())) return false;
  const int left = bits % 8;
  return left == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - left) == 0;
}

}  // namespace

bool NetAddress::is_unspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

bool NetAddress::is_loopback() const {
  if (v4) return bytes[0] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t b) { return b == 0; }) && bytes[15] == 1;
}

bool NetAddress::is_multicast() const { return v4 ? bytes[0] >> 4U == 0xE : bytes[0] == 0xFF; }

bool NetAddress::is_link_local_multicast() const {
  if (v4) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xFF && (bytes[1] & 0x0FU) == 2;
}

bool NetAddress::is_link_local_unicast() const {
  if (v4) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0U) == 0x80;
}

bool NetAddress::is_global_unicast() const {
  const bool broadcast = v4 && std::all_of(bytes.begin(), bytes.begin() + 4, [](uint8_t b) { return b == 255; });
  return !broadcast && !is_unspecified() && !is_loopback() && !is_multicast() && !is_link_local_unicast();
}

std::string NetAddress::text() const {
  std::string out;
  if (v4) {
    for (size_t i = 0; i < 4; ++i) out += (i == 0 ? "" : ".") + std::to_string(bytes[i]);
    return out;
  }
  const auto group = [&](size_t i) { return static_cast<unsigned>(bytes[2 * i] << 8U | bytes[2 * i + 1]); };
  // The first of the longest runs of at least two zeros is left out.
  size_t run_at = 8;
  size_t run = 1;
  for (size_t i = 0; i < 8;) {
    size_t end = i;
    while (end < 8 && group(end) == 0) ++end;
    if (end - i > run) {
      run = end - i;
      run_at = i;
    }
    i = std::max(end, i + 1);
  }
  for (size_t i = 0; i < 8; ++i) {
    if (i == run_at) {
      out += "::";
      i += run - 1;
      continue;
    }
    if (i > 0 && i != run_at + run) out += ":";
    char digits[8];
    std::snprintf(digits, sizeof digits, "%x", group(i));
    out += digits;
  }
  return out;
}

Result<NetAddress> parse_net_address(std::string_view text) {
  const auto read = read_address(text);
  if (!read) {
    return Error{ErrorCode::kInvalid, "IP Address " + go_quoted(text) +
                                          " parse error during conversion from string: " + read.error().message};
  }
  if (read.value().zone) {
    return Error{ErrorCode::kInvalid, "IP address " + go_quoted(text) + " with zone value is not allowed"};
  }
  if (is_mapped(read.value().address)) {
    return Error{ErrorCode::kInvalid, "IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed"};
  }
  return read.value().address;
}

bool NetPrefix::contains(const NetAddress& other) const {
  return other.v4 == address.v4 && same_bits(address, other, length);
}

bool NetPrefix::contains(const NetPrefix& other) const { return length <= other.length && contains(other.address); }

NetPrefix NetPrefix::masked() const {
  NetPrefix prefix = *this;
  for (int bit = length; bit < 128; ++bit) {
    prefix.address.bytes[static_cast<size_t>(bit / 8)] &= static_cast<uint8_t>(~(0x80U >> (bit % 8)));
  }
  return prefix;
}

std::string NetPrefix::text() const { return address.text() + "/" + std::to_string(length); }

Result<NetPrefix> parse_net_prefix(std::string_view text) {
  const auto failure = [&](const std::string& why) {
    return Error{ErrorCode::kInvalid, "network address parse error during conversion from string: netip.ParsePrefix(" +
                                          go_quoted(text) + "): " + why};
  };
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return failure("no '/'");
  const auto read = read_address(text.substr(0, slash));
  if (!read) return failure(read.error().message);
  if (read.value().zone) return failure("IPv6 zones cannot be present in a prefix");
  const std::string_view digits = text.substr(slash + 1);
  const bool number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
                      (digits.size() == 1 || digits[0] != '0');
  if (!number) return failure("bad bits after slash: " + go_quoted(digits));
  NetPrefix prefix{read.value().address, digits.size() > 3 ? 999 : std::stoi(std::string{digits})};
  if (prefix.length > prefix.address.bits()) return failure("prefix length out of range");
  if (is_mapped(prefix.address)) {
    return Error{ErrorCode::kInvalid, "IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed"};
  }
  return prefix;
}

}  // namespace shiplog::cel
