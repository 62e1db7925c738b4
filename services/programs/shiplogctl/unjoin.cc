#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "events/state/condition.h"
#include "services/programs/shiplogctl/join.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

// True: the Cluster is removed.
Result<bool> wait_until_gone(ServerConnection& plane, const std::string& name, int64_t seconds,
                             std::ostream& progress) {
  const auto deadline = Steady::now() + std::chrono::seconds{seconds};
  auto report_at = Steady::now() + kReportEvery;
  while (true) {
    const auto cluster = plane.get(std::string{kClusters} + "/" + name);
    if (!cluster && cluster.error().code == ErrorCode::kNotFound) return true;
    if (!cluster) return cluster.error();
    const auto now = Steady::now();
    if (now >= deadline) return false;
    if (now >= report_at) {
      progress << "waiting for cluster(" << name << ") to be removed: " << what_holds(plane, cluster.value())
               << std::endl;
      report_at = now + kReportEvery;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Result<void> strip_finalizers(ServerConnection& plane, const std::string& path) {
  const Value none = Value::object({{"metadata", Value::object({{"finalizers", nullptr}})}});
  const auto patched = plane.merge_patch(path, none);
  if (patched || patched.error().code == ErrorCode::kNotFound) return ok();
  return patched.error().context("removing the finalizers of " + path);
}

/// The namespace need not wait any more for what is in it.
Result<void> finalize(ServerConnection& plane, const std::string& path) {
  SHIPLOG_TRY(strip_finalizers(plane, path));
  for (int tries = 10;; --tries) {
    auto ns = plane.get(path);
    if (!ns && ns.error().code == ErrorCode::kNotFound) return ok();
    if (!ns) return ns.error();
    ns.value().edit("spec").set("finalizers", Value::array());
    const auto finalized = plane.replace(path + "/finalize", ns.value());
    if (finalized || finalized.error().code == ErrorCode::kNotFound) return ok();
    // The control plane empties it at the same time.
    if (finalized.error().code == ErrorCode::kConflict && tries > 1) continue;
    return finalized.error().context("removing the finalizers of " + path);
  }
}

// For a member that no longer exists: its objects remain there.
Result<void> force_out(ServerConnection& plane, const std::string& name) {
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + name + "/works";
  SHIPLOG_TRY(const Value list, plane.get(works));
  for (const Value& work : list["items"].items()) {
    SHIPLOG_TRY(strip_finalizers(plane, works + "/" + work["metadata"]["name"].str()));
  }
  SHIPLOG_TRY(finalize(plane, "/api/v1/namespaces/karmada-es-" + name));
  return strip_finalizers(plane, std::string{kClusters} + "/" + name);
}

/// Removes the accounts from the member. With the user's own connection this must succeed, unless it is forced; the
/// stored credentials may no longer work. The remaining objects are reported to the user.
Result<void> withdraw(ServerConnection* member, const std::optional<ClientTarget>& stored, const UnjoinOptions& options,
                      const std::string& impersonator_secret, std::ostream& progress) {
  Result<void> done = Error{ErrorCode::kNotFound, "its credentials do not exist"};
  if (member != nullptr) {
    done = withdraw_access(*member, options.name, options.ns, impersonator_secret);
    if (!done && !options.force) return done;
  } else if (stored) {
    auto own = ServerConnection::open("member cluster " + options.name, *stored);
    done =
        own ? withdraw_access(own.value(), options.name, options.ns, impersonator_secret) : Result<void>{own.error()};
  }
  if (!done) {
    progress << "the control plane's accounts remain in the member (" << done.error().message
             << "): run `kubectl delete clusterrole " << role_of(options.name) << "` there, which removes them"
             << std::endl;
  }
  return ok();
}

/// There is no Cluster: it was deleted by other means, or its removal went on after an earlier command had ceased to
/// wait. The accounts in the member may as well be those of another control plane that knows it by the same name.
Result<void> remove_accounts(ServerConnection* member, const UnjoinOptions& options, std::ostream& out) {
  std::string message = "no cluster object " + options.name + " found in karmada control Plane";
  if (member == nullptr) return Error{ErrorCode::kNotFound, message};
  const auto role = member->get("/apis/rbac.authorization.k8s.io/v1/clusterroles/" + role_of(options.name));
  if (!role && role.error().code != ErrorCode::kNotFound) return role.error();
  if (!role) return Error{ErrorCode::kNotFound, message};
  if (!options.force) {
    return Error{ErrorCode::kNotFound, message +
                                           "; the accounts of a control plane that joined the member by this name are "
                                           "still there: if no other one uses them, remove them with --force"};
  }
  if (!options.dry_run) {
    SHIPLOG_TRY(withdraw_access(*member, options.name, options.ns, ""));
  }
  out << "the accounts of cluster(" << options.name << ") "
      << (options.dry_run ? "would be removed from the member (dry run)" : "are removed from the member") << std::endl;
  return ok();
}

}  // namespace

std::string what_holds(ServerConnection& plane, const Value& cluster) {
  const std::string name = cluster["metadata"]["name"].str();
  const auto space = plane.get("/api/v1/namespaces/karmada-es-" + name);
  if (space) return "its workloads are being removed (kubectl get works -n karmada-es-" + name + ")";
  for (const char* kind : {"resourcebindings", "clusterresourcebindings"}) {
    const auto bindings = plane.get(std::string{"/apis/work.karmada.io/v1alpha2/"} + kind);
    if (!bindings) continue;
    if (std::string blocking = bindings_on(bindings.value(), name); !blocking.empty()) return blocking;
  }
  std::string finalizers;
  for (const Value& finalizer : cluster["metadata"]["finalizers"].items()) {
    finalizers += (finalizers.empty() ? "" : ", ") + finalizer.str();
  }
  return finalizers.empty() ? "it is being removed" : "remaining finalizers: " + finalizers;
}

std::string bindings_on(const Value& bindings, const std::string& cluster) {
  constexpr size_t kMostNamed = 3;
  size_t found = 0;
  std::string text;
  for (const Value& binding : bindings["items"].items()) {
    const auto targets = binding["spec"]["clusters"].items();
    if (std::ranges::none_of(targets, [&](const Value& target) { return target["name"].as_string() == cluster; }))
      continue;
    if (++found > kMostNamed) continue;
    const std::string ns = binding["metadata"]["namespace"].str();
    text += (found == 1 ? "" : "; ") + (ns.empty() ? "" : ns + "/") + binding["metadata"]["name"].str();
    const Value& scheduled = condition_of(binding, "Scheduled");
    if (!scheduled.is_null() && scheduled["status"].as_string() != "True") {
      text += " (" + scheduled["reason"].str() + ": " + scheduled["message"].str() + ")";
    }
  }
  if (found == 0) return "";
  if (found > kMostNamed) text += "; and " + std::to_string(found - kMostNamed) + " more";
  return "bindings that are placed on it and cannot be placed elsewhere: " + text;
}

Result<void> unjoin(ServerConnection& plane, ServerConnection* member, const UnjoinOptions& options, std::ostream& out,
                    std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  const std::string path = std::string{kClusters} + "/" + options.name;
  const auto cluster = plane.get(path);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) return remove_accounts(member, options, out);
  if (!cluster) return cluster.error();
  if (cluster.value()["spec"]["syncMode"].as_string() == "Pull") {
    return Error{ErrorCode::kInvalid, "cluster " + options.name +
                                          " is a Pull mode member cluster, please use command `unregister` if you want "
                                          "to continue unregistering the cluster"};
  }
  if (options.dry_run) {
    out << "cluster(" << options.name << ") would be unjoined (dry run)" << std::endl;
    return ok();
  }
  // Read before they are removed with the Cluster.
  const auto stored = stored_target(plane, cluster.value());
  const std::string impersonator =
      secret_of_token(stored_token(plane, cluster.value()["spec"]["impersonatorSecretRef"]));
  const auto deleted = plane.remove(path);
  if (!deleted && deleted.error().code != ErrorCode::kNotFound) return deleted.error();
  SHIPLOG_TRY(bool gone, wait_until_gone(plane, options.name, options.wait_seconds, progress));
  if (!gone && options.force) {
    progress << "forcing cluster(" << options.name << ") out: workloads of the fleet remain on it" << std::endl;
    SHIPLOG_TRY(force_out(plane, options.name));
    SHIPLOG_TRY(gone, wait_until_gone(plane, options.name, options.wait_seconds, progress));
  }
  if (!gone) {
    return Error{ErrorCode::kTimeout,
                 "cluster(" + options.name + ") still exists after " + std::to_string(options.wait_seconds) +
                     " s: its removal continues; wait with --wait, or use --force if the member no longer exists"};
  }
  for (const std::string& name : {options.name, options.name + "-impersonator"}) {
    const auto secret = plane.remove(secrets_of(options.ns) + "/" + name);
    if (!secret && secret.error().code != ErrorCode::kNotFound) {
      return secret.error().context("deleting the credentials");
    }
  }
  SHIPLOG_TRY(withdraw(member, stored, options, impersonator, progress));
  out << "cluster(" << options.name << ") is unjoined successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
