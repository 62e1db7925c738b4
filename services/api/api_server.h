#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/adapters/vault/vault.h"
#include "services/api/catalogue.h"
#include "services/api/insight/why.h"
#include "services/api/seats.h"
#include "services/api/store.h"
#include "services/http/server.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {

class Access;
class ServiceAllocator;
class TokenSigner;
class Webhooks;

/// The Kubernetes API over HTTPS: discovery, objects, watches. Any number may serve one journal: order is the
/// journal's. Threads: start() and stop() from the owner's.
class ApiServer {
 public:
  struct Options {
    HttpServer::Options http;  ///< refusal and on_trouble are filled in here
    Store* record = nullptr;
    Store* ephemera = nullptr;  ///< Lease and Event; may be the same as `record`
    Catalogue* catalogue = nullptr;
    Clock* clock = nullptr;
    Random* random = nullptr;       ///< thread-safe
    Vault* vault = nullptr;         ///< may be nullptr: nothing is sealed
    Metrics* metrics = nullptr;     ///< may be nullptr: none are served
    Access* access = nullptr;       ///< may be nullptr: only system:masters may do anything
    TokenSigner* tokens = nullptr;  ///< may be nullptr: no service account tokens are issued or accepted
    std::string authority_pem;      ///< the certificate that clients trust this server by; empty: nobody is told
    Webhooks* webhooks = nullptr;   ///< may be nullptr: no admission webhooks are called
    /// Refused where an object names an address in them; nullptr: none.
    std::shared_ptr<const Networks> denied_networks;
    bool anonymous = false;  ///< requests without credentials are system:anonymous's; else they get 401
    Seats::Limits limits;    ///< do not bind system:masters, who must get in when others flood
    std::string version = "0.1.0";
    /// Deployments, StatefulSets and DaemonSets have views of their rollout history (views/views.h); not in a cluster
    /// whose controllers make real ReplicaSets and ControllerRevisions.
    bool revision_views = false;
    /// May be nullptr: Services get no addresses from this server (a trial member's controller gives them).
    ServiceAllocator* addresses = nullptr;
    Remedies remedies;  ///< asked by /shiplog/v1/why; may be empty
    RoleStates roles;   ///< which roles are led; may be empty
    /// Answered by /readyz besides the caught-up checks: empty means ready, else why not.
    std::function<std::string()> not_ready;
    /// Why the thread that folds counts as stuck, when one thing may keep it busy for so long; empty: it does not.
    /// Answered by /readyz and, for longer, /livez.
    std::function<std::string(Millis longest)> stuck;
    /// Sees every request before it is handled: true when it has taken the request over (a member's switches).
    std::function<bool(const HttpRequest&, const std::shared_ptr<ResponseWriter>&)> intercept;
  };

  static Result<std::unique_ptr<ApiServer>> start(Options options);
  ~ApiServer();

  /// Handles a request that `intercept` took over, as if it had just come in.
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer);

  std::string url() const;
  uint16_t port() const;
  /// Ends watches, finishes requests, until `deadline`.
  void stop(Millis deadline);

 private:
  struct Impl;
  explicit ApiServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::api
