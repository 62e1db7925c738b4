#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/system.h"
#include "services/adapters/sandbox/script_resolver.h"
#include "services/adapters/webhooks/webhook_resolver.h"
#include "services/programs/agent/api_access.h"
#include "services/programs/agent/collection_mirror.h"
#include "services/programs/agent/fleet_copy.h"
#include "services/programs/agent/options.h"
#include "services/programs/agent/registration.h"
#include "services/programs/agent/rotation.h"
#include "services/programs/agent/tunnel_keeper.h"
#include "services/runtime/health.h"
#include "services/runtime/thread_loop.h"

namespace shiplog::agent {

/// The agent of one member: a small process in or beside it that needs only outgoing HTTPS to the control plane. It
/// enters its Cluster, follows its Works, applies them to the member, and reports what becomes of them. Without the
/// control plane the member's workloads run on as they are. Threads: start(), stop() and health() from any.
///
///   control plane ──list, watch──► FleetCopy ──dispatcher──► member
///        ▲                            │  ▲                     │
///        └──────Uplink◄───────────────┘  └──────collector◄─────┘
class MemberAgent {
 public:
  explicit MemberAgent(AgentOptions options);
  ~MemberAgent();
  MemberAgent(const MemberAgent&) = delete;
  MemberAgent& operator=(const MemberAgent&) = delete;

  /// Errors: a kubeconfig that cannot be used. Whether anything is reachable is found out later.
  Result<void> start();
  void stop();
  std::vector<HealthCheck> health(std::string_view path) const;

 private:
  using Answered = std::function<void(const Result<MemberResponse>&)>;
  void begin();
  void make_copy();
  void reload_credentials();
  void look_for_expiry();
  void ask_control_plane(MemberRequest request, Answered then);
  void ask_member(std::string path, Answered then);
  void identify_member();
  void report_secrets(const Value& cluster, std::function<void()> then);
  void report_secrets_again(const std::string& uid);
  void find_cluster();
  void retry_cluster(const Error& error);
  void take_found(const Result<MemberResponse>& response);
  void take_own(const Value& cluster);
  void create_cluster();
  void follow_cluster();
  void follow_works();
  void follow_customizations(const std::string& type, const std::string& plural);
  std::unique_ptr<CollectionMirror> mirror(const std::string& path, const std::string& query,
                                           std::function<void(std::vector<Value>)> listed,
                                           std::function<void(std::string_view, const Value&)> changed);
  void open_tunnels();
  void use_control_plane(const ClientTarget& target);
  void rotate_certificate();
  void renew_lease();
  void write_lease(const Value& before);
  void trouble(const std::string& what, const Error* error);
  void later(Millis delay, std::function<void()> run);
  MemberDescription describe_member() const;

  const AgentOptions options_;
  SystemRandom random_;
  ThreadLoop loop_;
  std::shared_ptr<IoThreads> io_;
  std::unique_ptr<ApiAccess> control_plane_, member_;
  std::unique_ptr<WebhookResolver> webhooks_;
  std::unique_ptr<ScriptResolver> scripts_;
  std::unique_ptr<FleetCopy> copy_;
  std::unique_ptr<TunnelKeeper> tunnels_;
  std::unique_ptr<CertificateRotation> rotation_;
  ClientTarget control_plane_file_, member_file_;  // as they were read last
  std::vector<std::unique_ptr<CollectionMirror>> mirrors_;
  CollectionMirror* works_ = nullptr;
  std::string member_id_;
  bool secrets_reported_ = false;
  std::string secrets_owner_;  ///< the uid of the Cluster that owns the Secrets; empty: none yet
  bool described_ = false;     ///< the Cluster was brought up to date once
  bool was_ready_ = false;
  int tries_ = 0;
  UtcMillis works_listed_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> following_{false};
  mutable std::mutex troubles_mutex_;
  std::map<std::string, std::string> troubles_;  // what fails now, and why
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::agent
