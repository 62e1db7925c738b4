#include "events/state/pod_template.h"

#include <string_view>

#include "events/base/hash.h"
#include "events/base/json.h"

namespace shiplog {

std::string template_hash(const Value& pod_template) {
  // Kubernetes' alphabet for generated names: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t bits = siphash128(to_json(pod_template)).lo;
  std::string hash;
  for (int i = 0; i < 10; ++i, bits /= kAlphabet.size()) hash += kAlphabet[bits % kAlphabet.size()];
  return hash;
}

}  // namespace shiplog
