#include "events/request_source.h"

#include "events/base/hash.h"

namespace shiplog {

EntryId request_key(std::string_view user, std::string_view id) {
  // The length keeps "a" with "bc" apart from "ab" with "c".
  std::string text = std::to_string(user.size());
  text += ':';
  text += user;
  text += id;
  const Hash128 hash = siphash128(text);
  EntryId key;
  for (size_t byte = 0; byte < 8; ++byte) {
    key.bytes[byte] = static_cast<uint8_t>(hash.hi >> (56 - 8 * byte));
    key.bytes[8 + byte] = static_cast<uint8_t>(hash.lo >> (56 - 8 * byte));
  }
  return key;
}

std::string record_of(const RequestSource& source) {
  return source.topic + "/" + std::to_string(source.partition) + "/" + std::to_string(source.offset);
}

}  // namespace shiplog
