#include "services/roles/serviceaccount_token/decide.h"

#include "events/state/object.h"

namespace shiplog::serviceaccount_token {

bool is_token_secret(const Value& secret) {
  return secret["type"].as_string() == "kubernetes.io/service-account-token";
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* secret = key.type == type::kSecret ? state.find(key) : nullptr;
  if (secret == nullptr || !is_token_secret(secret->value) || deleting(secret->value)) return Nothing{};
  const Value& account =
      state.value_of({kServiceAccounts, key.ns, std::string{annotation_of(secret->value, kNameAnnotation)}});
  const std::string_view uid = annotation_of(secret->value, kUidAnnotation);  // none: of a build that filled in nothing
  const bool lives = !account.is_null() && !deleting(account) && (uid.empty() || uid == uid_of(account));
  if (lives) return Nothing{};
  return decide_one(DeletionRequested{key, 0, "Background"}, {key, secret->revision});
}

}  // namespace shiplog::serviceaccount_token
