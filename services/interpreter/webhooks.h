#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/state/answers.h"
#include "events/state/state.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::interpreter {

/// The type that State keeps ResourceInterpreterWebhookConfigurations under.
inline constexpr const char* kWebhookType = kInterpreterWebhookType;

/// The webhook that is asked an operation about a kind.
struct Webhook {
  std::string id;  ///< "<configuration>/<webhook>"
  Value entry;     ///< of the configuration
  std::string where() const { return "interpreter webhook " + id; }
};

/// Of those whose rules match, the one with the smallest id (L-18). nullopt: none is asked. Nobody is asked about
/// Secrets: what is in them must not leave the vault, and State has them sealed.
std::optional<Webhook> webhook_for(const State& state, const Value& object, Operation operation);

/// Whether some rule of this configuration is for objects of this one's kind.
bool has_rule_for(const Value& configuration, const Value& object);

/// Whether some rule of this configuration names core/v1 Secrets, not by `*`.
bool names_secrets(const Value& configuration);

/// What else than the object goes into a question (L-19).
struct Extra {
  std::string qualifier = kNoQualifier;  ///< tells questions about the same object apart
  Value fields = Value::object();        ///< of the request
  bool in_basis = false;                 ///< `fields` change the answer without telling questions apart
};

/// The recorded answer; the question, as long as there is none. Error: kInvalid, a webhook that does not speak
/// v1alpha1.
Interpreted<Value> answer_of(const State& state, const Webhook& webhook, Operation operation, const ObjectKey& key,
                             const Value& object, const Extra& extra);

/// The question where the answer is not kept, but passed on at once: what is asked about objects of members.
Uninterpreted ask_about_member(const Webhook& webhook, Operation operation, const Value& object, const Extra& extra);

/// The ResourceInterpreterContext that puts the question; `uid` comes back with the answer (L-19).
Value context_of(const Question& question, const std::string& uid);

/// What a ResourceInterpreterContext says to the question (L-20): the part of it that is kept.
///   InterpretReplica    {replicas, replicaRequirements?}
///   InterpretComponent  list of {name, replicas, replicaRequirements?}
///   InterpretDependency list of {apiVersion, kind, namespace, name | labelSelector}
///   InterpretStatus     the status; InterpretHealth: a bool
///   ReviseReplica, Retain  the RFC 6902 patch, which applies to what was sent; null: as it was
///   AggregateStatus     the status of the patched object
/// Error: kUnavailable, it is no answer to this question, or the webhook says that it failed.
Result<Value> read_answer(const Question& question, const Value& context, const std::string& uid);

}  // namespace shiplog::interpreter
