#include "services/api/auth/token_secret.h"

#include "events/base/base64.h"
#include "events/state/object.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/token_signer.h"
#include "services/roles/serviceaccount_token/decide.h"

namespace shiplog::api {

using serviceaccount_token::kNameAnnotation;
using serviceaccount_token::kServiceAccounts;
using serviceaccount_token::kUidAnnotation;

Result<Value> with_token(const StoredObjects& objects, const TokenSigner& tokens, const std::string& authority_pem,
                         const ObjectKey& key, Value secret) {
  const ObjectKey account{kServiceAccounts, key.ns, std::string{annotation_of(secret, kNameAnnotation)}};
  const auto found = objects.find(account);
  if (!found && found.error().code == ErrorCode::kNotFound) return secret;
  if (!found) return found.error();
  if (deleting(found.value())) return secret;
  const std::string uid{uid_of(found.value())};
  SHIPLOG_TRY(const auto token, tokens.sign(lasting_claims_of({"ServiceAccount", account, uid}, key.name.str())));
  Value& data = secret.edit("data");
  data.set("token", base64_encode(token));
  data.set("namespace", base64_encode(key.ns));
  if (!authority_pem.empty()) data.set("ca.crt", base64_encode(authority_pem));
  secret.edit("metadata").edit("annotations").set(kUidAnnotation, uid);
  return secret;
}

}  // namespace shiplog::api
