#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/networks.h"
#include "events/base/random.h"
#include "events/base/time.h"
#include "services/adapters/vault/vault.h"
#include "services/api/admission_policies/admission_policies.h"
#include "services/api/aggregation/aggregated_versions.h"
#include "services/api/auth/reviews.h"
#include "services/api/concurrency_limiter.h"
#include "services/api/conversion/converter.h"
#include "services/api/custom_rules/rule_set.h"
#include "services/api/deadlines.h"
#include "services/api/denials/denials.h"
#include "services/api/expressions/request_authorizer.h"
#include "services/api/insight/why.h"
#include "services/api/kind_registry.h"
#include "services/api/large_requests.h"
#include "services/api/past/past.h"
#include "services/api/pod_security/secured_namespaces.h"
#include "services/api/request_context.h"
#include "services/api/store.h"
#include "services/api/stored_objects.h"
#include "services/api/webhooks/call.h"
#include "services/http/server.h"
#include "services/runtime/health.h"

namespace shiplog {
class MemberTunnels;
}  // namespace shiplog

namespace shiplog::proof {
class NoteSigner;
}  // namespace shiplog::proof

namespace shiplog {
class MemberClients;
}  // namespace shiplog

namespace shiplog::api {

class Access;
class Aggregation;
class AccessWebhook;
class Auditor;
class SearchCache;
class ServiceAllocator;
class TokenAuthenticator;
class TokenSigner;

/// What the ResourceQuotas of its namespace mean for a new pod.
struct PodAdmission {
  std::string refusal;         ///< the whole message; "": the pod is admitted
  std::vector<Value> charged;  ///< the quotas that count it, with its usage in their status
};

struct ServerOptions {
  HttpServer::Options http;  ///< refusal and on_trouble are filled in by ApiServer
  Store* record = nullptr;
  Store* ephemera = nullptr;  ///< Lease and Event; may be the same as `record`
  KindRegistry* kinds = nullptr;
  Clock* clock = nullptr;
  Random* random = nullptr;       ///< thread-safe
  Vault* vault = nullptr;         ///< may be nullptr: nothing is sealed
  Access* access = nullptr;       ///< may be nullptr: only system:masters may do anything
  TokenSigner* tokens = nullptr;  ///< may be nullptr: no service account tokens are issued or accepted
  /// Asked, in order, about bearer tokens that are not the fleet's own.
  std::vector<TokenAuthenticator*> token_authenticators;
  const AccessWebhook* access_webhook = nullptr;  ///< asked for permission besides RBAC; may be nullptr
  bool webhook_before_rbac = false;
  Auditor* auditor = nullptr;  ///< may be nullptr: there is no audit log besides the journal
  std::string authority_pem;   ///< the certificate that clients trust this server by; empty: it is in no Secret
  /// The servers of APIServices; may be nullptr: no requests are passed on to them.
  Aggregation* aggregation = nullptr;
  Webhooks* webhooks = nullptr;                        ///< may be nullptr: no admission webhooks are called
  const AdmissionPoliciesInForce* policies = nullptr;  ///< may be nullptr: no ValidatingAdmissionPolicy is applied
  const AdmissionPoliciesInForce* mutating_policies = nullptr;  ///< the same of MutatingAdmissionPolicies
  /// May be nullptr: no labels of Pod Security are applied.
  const SecuredNamespaces* secured_namespaces = nullptr;
  /// Refused where an object names an address in them; nullptr: none.
  std::shared_ptr<const Networks> denied_networks;
  bool anonymous = false;             ///< requests without credentials are system:anonymous's; else they get 401
  ConcurrencyLimiter::Limits limits;  ///< do not bind system:masters, who must be served under overload
  std::string version = "0.1.0";
  /// Roles act on policies and templates, so that policies get a finalizer, deletions are protected, and Deployments,
  /// StatefulSets and DaemonSets have views of their rollout history (views/views.h). false: a cluster with controllers
  /// of its own, which make real ReplicaSets and ControllerRevisions.
  bool control_plane = false;
  /// May be nullptr: Services get no addresses from this server (a trial member's controller gives them).
  ServiceAllocator* addresses = nullptr;
  Remedies remedies;      ///< called by /shiplog/v1/why; may be empty
  RoleStates roles;       ///< which roles are led; may be empty
  ProcessSource process;  ///< figures of this process; may be empty
  /// Signs checkpoints of the record's tree; may be nullptr: there is no tree.
  std::shared_ptr<const proof::NoteSigner> signer;
  MemberTunnels* tunnels = nullptr;  ///< outlives the server; may be nullptr: agents open none here
  MemberClients* members = nullptr;  ///< may be nullptr: there is no cluster proxy
  SearchCache* search = nullptr;     ///< may be nullptr: search and proxying of search.karmada.io are not served
  HealthChecks health;               ///< of /readyz, /livez and /healthz; may be empty
  /// Serves /shiplog/v1/requests and what is below it; may be empty. False: there is nothing at the path.
  std::function<bool(const RequestContextPtr&)> requests;
  /// Judges new pods by the ResourceQuotas of their namespace; may be empty: quotas do not limit them. Threads: any.
  std::function<PodAdmission(const Value& pod, const std::vector<Value>& quotas)> admit_pod;
  /// Serves log, exec, attach and portforward of a pod; empty: this server has no nodes. Called on a worker.
  std::function<void(const RequestContextPtr&, const Value& pod, const StoredObjects&)> pod_actions;
  /// The objects of a kind of metrics.k8s.io, of a namespace or of all (""), which are computed when they are read;
  /// empty: there are no such kinds. Called on a worker.
  std::function<Result<std::vector<Value>>(const Kind&, const std::string& ns, const StoredObjects&)> metrics;
  /// Sees every request before it is handled: true when it has taken the request over (a member's switches).
  std::function<bool(const HttpRequest&, const std::shared_ptr<ResponseWriter>&)> intercept;
};

class Watches;

/// What the handlers of one server share.
struct Server : std::enable_shared_from_this<Server> {
  ServerOptions options;
  StoredObjects objects;
  std::function<void(std::function<void()>)> post_blocking;  ///< runs work that may block on the workers
  /// Evaluates admission policies, which may take long, on threads of its own: reads, tokens and watches of all users
  /// need the workers. May be empty: policies are evaluated where the request is.
  std::function<void(std::function<void()>)> post_evaluation;
  std::unique_ptr<LargeRequests> large;
  std::unique_ptr<ConcurrencyLimiter> limiter;
  std::shared_ptr<Denials> denials;
  std::shared_ptr<Deadlines> deadlines;
  std::unique_ptr<PastReader> past;
  Watches* watches = nullptr;
  std::shared_ptr<Converter> converter = std::make_shared<Converter>();
  std::shared_ptr<RuleCache> custom_rules = std::make_shared<RuleCache>();

  Store& store(const Kind& kind) const { return objects.store(kind); }
  /// The kinds that the request may be about.
  std::shared_ptr<const Kinds> kinds_of(const RequestContext& context) const {
    return context.past ? context.past->past->kinds : options.kinds->current();
  }
  /// The time that ages are counted to.
  UtcMillis time_of(const RequestContext& context) const {
    return context.past ? context.past->past->time : options.clock->now();
  }
  /// What other servers answer for; nullptr: nothing, as for a request about the past.
  std::shared_ptr<const AggregatedVersions> elsewhere(const RequestContext& context) const;
  TokenSources token_sources() const { return {&objects, options.tokens, options.clock}; }
  /// Calls on behalf of the request.
  WebhookCalls webhook_calls(const RequestContext& context) const {
    return {options.webhooks,
            &objects,
            options.random,
            post_blocking,
            context.trace,
            std::make_shared<RequestAuthorizer>(options.access, context.user),
            context.arrived + std::chrono::milliseconds{context.timeout.value}};
  }

  /// The object in the version of the request's kind, opened. Errors: kNotFound in kubectl's words; kMethodNotAllowed,
  /// it is a read-only view (views/views.h). Blocks on the projection.
  Result<Value> current(const RequestContext& context, const ObjectKey& key) const;
  /// The error for an object that is not stored.
  Error absent(const RequestContext& context, const ObjectKey& key) const;
};
using ServerPtr = std::shared_ptr<Server>;

/// Runs `work` where it may block: on the workers or, of a large request, on the thread of these.
void post_blocking(const Server& server, const RequestContext& context, std::function<void()> work);

/// Calls `then` there once the store of the request's kind, or the record, is current: reads are linearizable. An error
/// is answered.
void when_current(const ServerPtr& server, const RequestContextPtr& context, std::function<void()> then);

/// An entry of the user of the request, for the request.
Entry entry_for(const Server& server, const RequestContext& context, const std::string& verb);

}  // namespace shiplog::api
