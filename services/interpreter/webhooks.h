#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/state/answers.h"
#include "events/state/state.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::interpreter {

/// The type under which State stores ResourceInterpreterWebhookConfigurations.
inline constexpr const char* kWebhookType = kInterpreterWebhookType;

/// The webhook that is called for an operation on a kind.
struct Webhook {
  std::string id;  ///< "<configuration>/<webhook>"
  Value entry;     ///< of the configuration
  std::string where() const { return "interpreter webhook " + id; }
};

/// Of the webhooks whose rules match, the one with the smallest id (L-18). nullopt: none is called. No webhook is
/// called for Secrets: their data must not leave the vault, and State stores them sealed.
std::optional<Webhook> webhook_for(const State& state, const Value& object, InterpreterOperation operation);

/// Whether a rule of this configuration matches the object's kind.
bool has_rule_for(const Value& configuration, const Value& object);

/// Whether a rule of this configuration names core/v1 Secrets explicitly, not by `*`.
bool names_secrets(const Value& configuration);

/// The content of a question in addition to the object (L-19).
struct Extra {
  std::string qualifier = kNoQualifier;  ///< distinguishes questions about the same object
  Value fields = Value::object();        ///< of the request
  bool in_basis = false;                 ///< `fields` affect the answer but do not distinguish questions
};

/// The recorded answer; the question until there is one. Error: kInvalid, the webhook does not support v1alpha1.
Interpreted<Value> answer_of(const State& state, const Webhook& webhook, InterpreterOperation operation,
                             const ObjectKey& key, const Value& object, const Extra& extra);

/// The question about an object of a member, whose answer is not recorded but used directly.
Uninterpreted ask_about_member(const Webhook& webhook, InterpreterOperation operation, const Value& object,
                               const Extra& extra);

/// The ResourceInterpreterContext that contains the question; the answer must return `uid` (L-19).
Value context_of(const Question& question, const std::string& uid);

/// Reads the answer from a ResourceInterpreterContext (L-20): the part of it that is kept.
///   InterpretReplica    {replicas, replicaRequirements?}
///   InterpretComponent  list of {name, replicas, replicaRequirements?}
///   InterpretDependency list of {apiVersion, kind, namespace, name | labelSelector}
///   InterpretStatus     the status; InterpretHealth: a bool
///   ReviseReplica, Retain  the RFC 6902 patch, for the object that was sent; null: no change
///   AggregateStatus     the status of the patched object
/// Error: kUnavailable, it is not an answer to this question, or the webhook reports a failure.
Result<Value> read_answer(const Question& question, const Value& context, const std::string& uid);

}  // namespace shiplog::interpreter
