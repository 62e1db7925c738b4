#include "services/adapters/pki/detached_signature.h"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog {

std::string detached_signature(std::string_view content, std::string_view key_id, std::string_view secret) {
  const std::string header = base64url_encode(to_json(Value::object({{"alg", "HS256"}, {"kid", key_id}})));
  const std::string signed_text = header + "." + base64url_encode(content);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), digest.data(), &size);
  return header + ".." + base64url_encode({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace shiplog
