#pragma once

#include <functional>
#include <string>

#include "events/decision.h"

namespace shiplog::bootstrap_tokens {

/// What does not follow from the state.
struct Surroundings {
  std::string server_url;     ///< where the API server is reached
  std::string authority_pem;  ///< the authority that its certificate is of
  /// The Secret in clear text. Error: its key is missing.
  std::function<Result<Value>(const Value& secret)> open;
  /// Of the kubeconfig, by a token.
  std::function<std::string(const std::string& content, const std::string& id, const std::string& secret)> sign;
};

/// Keeps the ConfigMap cluster-info of namespace kube-public, from which a cluster that registers learns where the
/// control plane is, and by whose signature it knows that this is true (1.7.4; AUTHN-6); deletes bootstrap tokens that
/// have expired. Pure. There is one key, the ConfigMap.
///
/// - Owns: its keys `kubeconfig` and `jws-kubeconfig-ID`, one for each token that is for signing; the end of tokens.
/// - Trigger: a Secret of a token or the ConfigMap changes, a token expires, an API server with another address acts.
/// - Failures: a Secret that cannot be opened counts as none: its signature is removed. Refused when one of the objects
///   has moved on: it is decided again.
Decided decide(const State& state, UtcMillis now, const Surroundings& surroundings);

/// The namespace is there, which a process that serves the API makes when it starts.
bool has_place(const State& state);

bool concerns(const ObjectKey& key, const Value& object);
ObjectKey cluster_info_key();

/// The value of `kubeconfig`: one cluster without a name, and no user.
std::string kubeconfig_of(const std::string& server_url, const std::string& authority_pem);

}  // namespace shiplog::bootstrap_tokens
