#include "events/base/ids.h"

#include <cstring>

#include "events/base/hash.h"
#include "events/base/utf8.h"

namespace shiplog {
namespace {

void append_hex(uint8_t byte, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

}  // namespace

std::string to_string(const EntryId& id) {
  std::string text;
  text.reserve(2 * id.bytes.size());
  for (const uint8_t byte : id.bytes) append_hex(byte, text);
  return text;
}

std::string uid_from(const EntryId& id, size_t event_index) {
  std::string seed{"uid"};
  seed.append(id.bytes.begin(), id.bytes.end());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    seed += static_cast<char>(static_cast<uint64_t>(event_index) >> shift & 0xffU);
  }
  Hash128 hash = siphash128(seed);
  hash.hi = (hash.hi & ~uint64_t{0xf000}) | 0x8000;                    // version 8
  hash.lo = (hash.lo & ~(uint64_t{3} << 62U)) | (uint64_t{2} << 62U);  // the RFC's variant
  std::string uid = to_string(hash);
  for (const size_t dash : {8U, 13U, 18U, 23U}) uid.insert(dash, 1, '-');
  return uid;
}

std::string to_string(const ObjectKey& key) {
  std::string text;
  text.reserve(key.type.size() + key.ns.size() + key.name.size() + 2);
  text += key.type;
  if (!key.ns.empty()) (text += '/') += key.ns;
  (text += '/') += key.name;
  return text;
}

Result<ObjectKey> parse_object_key(std::string_view text) {
  const auto wrong = [&] {
    return Error{ErrorCode::kBadRequest, "object key " + quoted(text) + " is not type/name or type/namespace/name"};
  };
  const size_t first = text.find('/');
  if (first == std::string_view::npos) return wrong();
  ObjectKey key{.type = text.substr(0, first), .ns = {}, .name = {}};
  std::string_view rest = text.substr(first + 1);
  if (const size_t second = rest.find('/'); second != std::string_view::npos) {
    key.ns = rest.substr(0, second);
    rest.remove_prefix(second + 1);
    if (key.ns.empty()) return wrong();
  }
  key.name = rest;
  if (key.type.empty() || key.name.empty() || key.name.find('/') != std::string::npos) return wrong();
  return key;
}

}  // namespace shiplog

size_t std::hash<shiplog::EntryId>::operator()(const shiplog::EntryId& id) const noexcept {
  // Random already, unless a client chose it badly: both halves count.
  uint64_t halves[2];
  static_assert(sizeof halves == sizeof id.bytes);
  std::memcpy(halves, id.bytes.data(), sizeof halves);
  return halves[0] ^ (halves[1] * 0x9e3779b97f4a7c15);
}

size_t std::hash<shiplog::ObjectKey>::operator()(const shiplog::ObjectKey& key) const {
  const std::hash<std::string_view> part;
  size_t mixed = part(key.name.view());
  for (const std::string_view next : {key.ns.view(), key.type.view()}) mixed = mixed * 0x9e3779b97f4a7c15 + part(next);
  return mixed;
}
