#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/adapters/members/members.h"
#include "services/adapters/pki/new_request.h"
#include "services/http/client_target.h"
#include "services/http/tls.h"
#include "services/programs/agent/options.h"
#include "services/runtime/executor.h"

namespace shiplog::agent {

/// Whether no more than this part of the certificate's lifetime is left (1.9.2).
bool rotation_due(const CertificateInfo& certificate, double threshold, UtcMillis now);

/// What to do about a certificate that the control plane does not accept any more, as it has expired; nullopt: it has
/// not. Without a certificate there is nothing to expire. `file`: where the agent reads it.
std::optional<Error> expired(const std::string& certificate_pem, const std::string& file, UtcMillis now);

/// The CertificateSigningRequest for a certificate like this one (1.9.3).
Value signing_request(const CertificateInfo& certificate, const std::string& request_pem, const std::string& suffix);

/// Replaces the certificate by which the agent reaches the control plane, before it expires: in the Secret
/// karmada-kubeconfig of the member, if it is there, else in the file of --karmada-kubeconfig. The present one stays in
/// use until the new one is stored. Threads: the executor.
class CertificateRotation {
 public:
  struct Options {
    const AgentOptions* agent = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;
    Members* member = nullptr;  ///< by the cluster's name
    Members* control_plane = nullptr;
    std::string control_plane_name;
    std::function<bool()> registered;  ///< the Cluster of the agent exists
    std::function<const ClientTarget&()> present;
    std::function<void(const ClientTarget& target)> rotated;
    /// Called when it fails, and with nullptr when it has succeeded or nothing is to be done.
    std::function<void(const Error* error)> trouble;
  };
  explicit CertificateRotation(Options options);
  ~CertificateRotation() { *alive_ = false; }
  CertificateRotation(const CertificateRotation&) = delete;
  CertificateRotation& operator=(const CertificateRotation&) = delete;

  /// Checks now, and at every interval.
  void start();

 private:
  void check();
  void request(const CertificateInfo& certificate);
  void wait_for(const std::string& name, UtcMillis until);
  void store(ClientTarget target);
  void store_in_secret(const Value& secret, const ClientTarget& target);
  void store_in_file(const ClientTarget& target);
  void finish(const std::optional<Error>& error);
  void ask(Members& server, const std::string& name, MemberRequest request,
           std::function<void(const Result<MemberResponse>&)> then);
  void later(Millis delay, std::function<void()> run);

  const Options options_;
  std::string key_pem_;  // of the request under way
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::agent
