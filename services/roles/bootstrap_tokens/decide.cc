#include "services/roles/bootstrap_tokens/decide.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "events/base/base64.h"
#include "events/state/object.h"
#include "services/roles/bootstrap_tokens/token.h"

namespace shiplog::bootstrap_tokens {
namespace {

constexpr const char* kConfigMaps = "configmaps";
constexpr const char* kPublicNamespace = "kube-public";
constexpr const char* kTokenNamespace = "kube-system";
constexpr std::string_view kSignature = "jws-kubeconfig-";

/// What is left of the tokens at `now`.
struct TokensLeft {
  std::vector<TokenSecret> valid;
  std::vector<std::pair<ObjectKey, Revision>> expired;
  std::optional<UtcMillis> next;  ///< when the next one expires
};

TokensLeft tokens_at(const State& state, UtcMillis now, const Surroundings& surroundings) {
  TokensLeft tokens;
  for (const auto& [name, object] : state.objects(type::kSecret, kTokenNamespace)) {
    const ObjectKey key{type::kSecret, name.ns, name.name};
    if (!is_token_secret(key, object.value) || deleting(object.value)) continue;
    const auto opened = surroundings.open(object.value);
    if (!opened) continue;
    auto token = token_from(key, opened.value());
    if (!token) continue;
    if (token->expires && *token->expires <= now) {
      tokens.expired.emplace_back(key, object.revision);
      continue;
    }
    if (token->expires && (!tokens.next || *token->expires < *tokens.next)) tokens.next = token->expires;
    tokens.valid.push_back(std::move(*token));
  }
  return tokens;
}

/// `data` with what is owned here as it should be.
Value data_of(Value data, const TokensLeft& tokens, const Surroundings& surroundings) {
  if (!data.is_object()) data = Value::object();
  std::vector<std::string> signatures;
  for (const auto& member : data.members()) {
    if (member.key().starts_with(kSignature)) signatures.emplace_back(member.key());
  }
  for (const std::string& name : signatures) data.erase(name);
  const std::string kubeconfig = kubeconfig_of(surroundings.server_url, surroundings.authority_pem);
  data.set("kubeconfig", kubeconfig);
  for (const TokenSecret& token : tokens.valid) {
    if (!token.signs) continue;
    data.set(std::string{kSignature} + token.id, surroundings.sign(kubeconfig, token.id, token.secret));
  }
  return data;
}

}  // namespace

ObjectKey cluster_info_key() { return {kConfigMaps, kPublicNamespace, "cluster-info"}; }

bool concerns(const ObjectKey& key, const Value& object) {
  const bool place = key.type == type::kNamespace && key.name == kPublicNamespace;
  return place || key == cluster_info_key() || is_token_secret(key, object);
}

std::string kubeconfig_of(const std::string& server_url, const std::string& authority_pem) {
  return "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: " + base64_encode(authority_pem) +
         "\n    server: " + server_url +
         "\n  name: \"\"\ncontexts: null\ncurrent-context: \"\"\nkind: Config\npreferences: {}\nusers: null\n";
}

bool has_place(const State& state) { return state.find({type::kNamespace, "", kPublicNamespace}) != nullptr; }

Decided decide(const State& state, UtcMillis now, const Surroundings& surroundings) {
  const TokensLeft tokens = tokens_at(state, now, surroundings);
  DecisionBuilder decision;
  const ObjectKey key = cluster_info_key();
  const Object* there = state.find(key);
  if (there == nullptr) {
    Value made = Value::object({{"apiVersion", "v1"},
                                {"kind", "ConfigMap"},
                                {"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}});
    made.set("data", data_of(Value::object(), tokens, surroundings));
    decision.add(ObjectCreated{key, std::move(made)}, {key, Revision{}});
  } else if (!deleting(there->value)) {
    Value data = data_of(there->value["data"], tokens, surroundings);
    if (data != there->value["data"]) {
      Value update = there->value;
      update.set("data", std::move(data));
      decision.add(ObjectUpdated{key, std::move(update)}, {key, there->revision});
    }
  }
  bool all = true;
  for (const auto& [token, revision] : tokens.expired) {
    all = all && decision.try_add(DeletionRequested{token, 0, "Background"}, {token, revision});
  }
  if (decision.empty()) return tokens.next ? Decided{LookAgain{*tokens.next}} : Decided{Nothing{}};
  if (!all) return std::move(decision).build_and_look_again(now);
  return tokens.next ? std::move(decision).build_and_look_again(*tokens.next) : std::move(decision).build();
}

}  // namespace shiplog::bootstrap_tokens
