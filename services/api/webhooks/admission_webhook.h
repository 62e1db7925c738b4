#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "events/state/policy.h"
#include "services/api/expressions/admission_expression.h"

namespace shiplog::api {

/// One webhook of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, ready to match.
struct AdmissionWebhook {
  struct Rule {
    std::vector<std::string> operations, groups, versions, resources;
    std::string scope;                    ///< "*", "Cluster", "Namespaced"
    std::vector<std::string> names = {};  ///< of objects; empty: any. Of admission policies only
    bool operator==(const Rule&) const = default;
  };
  std::string configuration;  ///< the object it stands in
  std::string name;
  bool mutating = false;
  bool fails_closed = true;     ///< failurePolicy Fail
  bool equivalent = true;       ///< matchPolicy Equivalent
  bool reinvoked = false;       ///< reinvocationPolicy IfNeeded
  bool fit_for_dry_run = true;  ///< sideEffects None or NoneOnDryRun
  int64_t timeout_seconds = 10;
  std::vector<std::string> review_versions;
  std::vector<Rule> rules;
  LabelSelector namespaces, objects;
  bool any_namespace = true;               ///< the namespaceSelector is empty
  Value client;                            ///< clientConfig
  std::vector<MatchCondition> conditions;  ///< of the requests that it is called about
};

/// A rule from its JSON.
AdmissionWebhook::Rule rule_of(const Value& rule);

/// The webhooks of one stored configuration, in its order.
std::vector<AdmissionWebhook> webhooks_of(const Value& configuration, bool mutating);

/// What a webhook is to admit: the request of an AdmissionReview.
struct AdmissionRequest {
  const Kinds* kinds = nullptr;
  const Kind* kind = nullptr;
  std::string operation;  ///< CREATE, UPDATE, DELETE
  std::string subresource;
  std::string ns;  ///< of a Namespace: its name
  std::string name;
  Value in_namespace;  ///< the Namespace that the object is in; null: it is in none
  Value object;        ///< null on DELETE
  Value old;           ///< null on CREATE
  Value form;          ///< of a subresource with a body of its own: that one's group, version and kind; else null
  bool dry_run = false;
  Value options;  ///< CreateOptions, UpdateOptions or DeleteOptions
  Value user;     ///< authentication.k8s.io UserInfo
};

/// The kind in whose version the webhook is to see the request: the request's own, or, of a hook with
/// matchPolicy Equivalent, another version of the same resource. nullptr: its rules do not match. Looks at no selector.
const Kind* matched_kind(const AdmissionWebhook& webhook, const AdmissionRequest& about);

/// Whether the webhook is to be called: its rules and selectors match.
bool is_selected(const AdmissionWebhook& webhook, const AdmissionRequest& about);

/// Whether only the conversion webhook of the definition can make the version that is to be seen: see matched_kind().
bool needs_conversion(const AdmissionRequest& about, const Kind& wanted);
/// Why a webhook or policy with these rules cannot see the request then. `what`: "admission webhooks".
std::string unconverted(const AdmissionRequest& about, const Kind& wanted, const std::string& what);

/// What expressions see of the request: objects in the version of `wanted`; see matched_kind(). Without ns and params.
ExpressionInput expression_input(const AdmissionRequest& about, const Kind& wanted,
                                 std::shared_ptr<const cel::CelAuthorizer> authorizer);

/// Kinds that no webhook is called for: they configure webhooks, and a webhook could block its own removal.
bool is_beyond_webhooks(const Kind& kind);

}  // namespace shiplog::api
