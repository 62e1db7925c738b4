#include "events/state/pod_template.h"

#include <string_view>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/json.h"

namespace shiplog {

std::string template_hash(const Value& pod_template) { return template_hash_of_json(to_json(pod_template)); }

std::string template_hash_of_json(std::string_view json) {
  // Kubernetes' alphabet for generated names: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t bits = siphash128(json).lo;
  std::string hash;
  for (int i = 0; i < 10; ++i, bits /= kAlphabet.size()) hash += kAlphabet[bits % kAlphabet.size()];
  return hash;
}

std::string template_view_uid(std::string_view workload_uid, std::string_view template_hash) {
  const Hash128 hash = siphash128(std::string{workload_uid} + "/" + std::string{template_hash});
  EntryId id;
  for (size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<uint8_t>(hash.hi >> (8 * i));
    id.bytes[8 + i] = static_cast<uint8_t>(hash.lo >> (8 * i));
  }
  std::string uid = uid_from(id, 0);
  uid[14] = '4';
  return uid;
}

}  // namespace shiplog
