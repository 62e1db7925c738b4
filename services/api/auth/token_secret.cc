#include "services/api/auth/token_secret.h"

#include "events/base/base64.h"
#include "events/state/object.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/token_signer.h"

namespace shiplog::api {
namespace {

constexpr const char* kNameOf = "kubernetes.io/service-account.name";
constexpr const char* kUidOf = "kubernetes.io/service-account.uid";

}  // namespace

bool is_token_secret(const Value& secret) {
  return secret["type"].as_string() == "kubernetes.io/service-account-token";
}

Result<Value> with_token(const StoredObjects& objects, const TokenSigner& tokens, const std::string& authority_pem,
                         const ObjectKey& key, Value secret) {
  const ObjectKey account{"serviceaccounts", key.ns, std::string{annotation_of(secret, kNameOf)}};
  const auto found = objects.find(account);
  if (!found && found.error().code == ErrorCode::kNotFound) return secret;
  if (!found) return found.error();
  if (deleting(found.value())) return secret;
  const std::string uid{uid_of(found.value())};
  SHIPLOG_TRY(const auto token, tokens.sign(lasting_claims_of({"ServiceAccount", account, uid}, key.name)));
  Value& data = secret.edit("data");
  data.set("token", base64_encode(token));
  data.set("namespace", base64_encode(key.ns));
  if (!authority_pem.empty()) data.set("ca.crt", base64_encode(authority_pem));
  secret.edit("metadata").edit("annotations").set(kUidOf, uid);
  return secret;
}

}  // namespace shiplog::api
