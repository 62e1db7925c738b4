#include "services/api/token_secrets.h"

#include "events/base/base64.h"
#include "events/state/object.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/token_signer.h"
#include "services/roles/serviceaccount_token/decide.h"

namespace shiplog::api {

using serviceaccount_token::kNameAnnotation;
using serviceaccount_token::kServiceAccounts;
using serviceaccount_token::kUidAnnotation;
Result<Value> with_token(Server& server, const ObjectKey& key, Value secret) {
  const ObjectKey account{kServiceAccounts, key.ns, std::string{annotation_of(secret, kNameAnnotation)}};
  SHIPLOG_TRY(const auto row,
              server.options.record->read([&](const View& view) { return ObjectQuery{view}.get(account); }));
  if (!row) return secret;
  SHIPLOG_TRY(const Value found, server.load(row->json));
  if (deleting(found)) return secret;
  const std::string uid{uid_of(found)};
  SHIPLOG_TRY(const auto token,
              server.options.tokens->sign(lasting_claims_of({"ServiceAccount", account, uid}, key.name)));
  Value& data = secret.edit("data");
  data.set("token", base64_encode(token));
  data.set("namespace", base64_encode(key.ns));
  if (!server.options.authority_pem.empty()) data.set("ca.crt", base64_encode(server.options.authority_pem));
  secret.edit("metadata").edit("annotations").set(kUidAnnotation, uid);
  return secret;
}

}  // namespace shiplog::api
