#pragma once

#include "events/decision.h"

namespace shiplog::serviceaccount_token {

inline constexpr const char* kServiceAccounts = "serviceaccounts";
/// Annotations of such a Secret: the account that it is the token of.
inline constexpr const char* kNameAnnotation = "kubernetes.io/service-account.name";
inline constexpr const char* kUidAnnotation = "kubernetes.io/service-account.uid";

/// A Secret that carries the token of a ServiceAccount for as long as both exist (AUTHN-4): the legacy way, which
/// karmadactl join and many a CI system still use. The API server fills in the token when it is created.
bool is_token_secret(const Value& secret);

/// Deletes one such Secret whose account was deleted, is another one of that name, or was never there. Pure; other keys
/// need no decision.
///
/// - Owns: the end of Secrets of type kubernetes.io/service-account-token.
/// - Trigger: the Secret changes, or its account is removed.
/// - Failures: none of its own. Refused when the Secret has moved on: it is decided again.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::serviceaccount_token
