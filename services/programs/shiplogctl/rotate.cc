#include <chrono>
#include <ostream>
#include <thread>

#include "services/adapters/members/member_target.h"
#include "services/programs/shiplogctl/join.h"

namespace shiplog::ctl {
namespace {

constexpr auto kRevokedPoll = std::chrono::milliseconds{500};
/// API servers cache the validation of a token for some seconds.
constexpr auto kRevoked = std::chrono::seconds{30};

/// Waits until the member no longer accepts the old token.
Result<void> expect_refused(const std::string& name, ClientTarget old) {
  old.certificate_pem.clear();
  old.key_pem.clear();
  SHIPLOG_TRY(auto former, ServerConnection::open("member cluster " + name, old));
  const auto deadline = std::chrono::steady_clock::now() + kRevoked;
  while (true) {
    const auto answer = former.get("/api/v1/namespaces/kube-system");
    if (!answer && answer.error().code == ErrorCode::kUnauthorized) return ok();
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error{ErrorCode::kInternal, "cluster(" + name +
                                             ") has new credentials, but the member still accepts the old token 30 s "
                                             "after its Secret was deleted"};
    }
    std::this_thread::sleep_for(kRevokedPoll);
  }
}

/// Sets both Secret references in the Cluster: one that was joined by other means may lack the impersonator's.
Result<void> refer(ServerConnection& plane, const RotateOptions& options, const Value& cluster) {
  const auto reference = [&](const std::string& name) {
    return Value::object({{"namespace", options.ns}, {"name", name}});
  };
  const Value spec = Value::object(
      {{"secretRef", reference(options.name)}, {"impersonatorSecretRef", reference(options.name + "-impersonator")}});
  if (cluster["spec"]["secretRef"] == spec["secretRef"] &&
      cluster["spec"]["impersonatorSecretRef"] == spec["impersonatorSecretRef"]) {
    return ok();
  }
  const auto patched = plane.merge_patch(std::string{kClusters} + "/" + options.name, Value::object({{"spec", spec}}));
  if (!patched) return patched.error().context("naming the new Secrets in the Cluster");
  return ok();
}

Result<void> rotate(ServerConnection& plane, ServerConnection& member, const RotateOptions& options,
                    const Value& cluster, std::ostream& out, std::ostream& progress) {
  const auto stored = stored_target(plane, cluster);
  const std::string impersonator_before =
      secret_of_token(stored_token(plane, cluster["spec"]["impersonatorSecretRef"]));

  SHIPLOG_TRY(grant_access(member, options.name, options.ns));
  SHIPLOG_TRY(const IssuedToken impersonator, issue_token(member, options.ns, kImpersonator));
  SHIPLOG_TRY(const IssuedToken own, issue_token(member, options.ns, account_of(options.name)));
  ClientTarget target = member_target(cluster["spec"]);
  target.ca_pem = stored ? stored->ca_pem : member.target().ca_pem;
  target.server_name = stored ? stored->server_name : member.target().server_name;
  // Verified before it is used.
  ClientTarget tried = target;
  tried.bearer_token = own.token;
  SHIPLOG_TRY(auto with_new, ServerConnection::open("member cluster " + options.name, tried));
  const auto answer = with_new.get("/api/v1/namespaces/kube-system");
  if (!answer) return answer.error().context("trying the new credentials; the old ones are still in use");

  const JoinOptions names{.name = options.name, .ns = options.ns};
  SHIPLOG_TRY(ensure_namespace(plane, options.ns));
  SHIPLOG_TRY(put_secret(plane, impersonator_secret(names, impersonator), SecretOwner::kAny));
  SHIPLOG_TRY(put_secret(plane, credentials_secret(names, target, own), SecretOwner::kAny));
  SHIPLOG_TRY(refer(plane, options, cluster));
  SHIPLOG_TRY(wait_until_ready(plane, options.name, options.wait_seconds,
                               "cluster(" + options.name + ") has new credentials and the old ones are not revoked",
                               progress));
  progress << "both tokens are valid for " << options.grace_seconds
           << " s, until every process of the control plane uses the new one" << std::endl;
  std::this_thread::sleep_for(std::chrono::seconds{options.grace_seconds});

  if (!impersonator_before.empty()) {
    SHIPLOG_TRY(revoke_token(with_new, options.ns, impersonator_before));
  }
  const std::string before = stored ? secret_of_token(stored->bearer_token) : "";
  if (!before.empty()) {
    SHIPLOG_TRY(revoke_token(with_new, options.ns, before));
    ClientTarget old = target;
    old.bearer_token = stored->bearer_token;
    SHIPLOG_TRY(expect_refused(options.name, old));
  } else if (stored) {
    progress << "the credentials used so far were not issued by the member for its control plane, so they cannot be "
                "revoked here: they are valid until they expire"
             << std::endl;
  }
  out << "cluster(" << options.name << ") has new credentials" << (before.empty() ? "" : "; the old token is revoked")
      << std::endl;
  return ok();
}

}  // namespace

Result<void> rotate_credentials(ServerConnection& plane, ServerConnection* member, const RotateOptions& options,
                                std::ostream& out, std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  const auto cluster = plane.get(std::string{kClusters} + "/" + options.name);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound, "there is no cluster " + options.name + " in the fleet"};
  }
  if (!cluster) return cluster.error();
  if (member != nullptr) {
    SHIPLOG_TRY(const Value system, member->get("/api/v1/namespaces/kube-system"));
    if (system["metadata"]["uid"] != cluster.value()["spec"]["id"]) {
      return Error{ErrorCode::kInvalid, "the kubeconfig leads to another cluster than " + options.name +
                                            ", whose ID is " + cluster.value()["spec"]["id"].str()};
    }
    return rotate(plane, *member, options, cluster.value(), out, progress);
  }
  const auto stored = stored_target(plane, cluster.value());
  if (!stored) {
    return Error{ErrorCode::kNotFound, "cluster(" + options.name +
                                           ") has no credentials in the control plane: give the member's kubeconfig "
                                           "with --cluster-kubeconfig"};
  }
  SHIPLOG_TRY(auto own, ServerConnection::open("member cluster " + options.name, *stored));
  return rotate(plane, own, options, cluster.value(), out, progress);
}

}  // namespace shiplog::ctl
