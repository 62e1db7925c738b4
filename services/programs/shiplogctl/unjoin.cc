#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "events/state/condition.h"
#include "services/programs/shiplogctl/join.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds{250};
constexpr auto kReport = std::chrono::seconds{5};

// What a Cluster that is being deleted still waits for: its Works, then the bindings, then whoever set a finalizer.
std::string what_holds(Connection& plane, const Value& cluster) {
  const std::string name = cluster["metadata"]["name"].str();
  const auto space = plane.get("/api/v1/namespaces/karmada-es-" + name);
  if (space) return "what it runs is being taken back (kubectl get works -n karmada-es-" + name + ")";
  for (const char* kind : {"resourcebindings", "clusterresourcebindings"}) {
    const auto bindings = plane.get(std::string{"/apis/work.karmada.io/v1alpha2/"} + kind);
    if (!bindings) continue;
    if (std::string words = bindings_on(bindings.value(), name); !words.empty()) return words;
  }
  std::string finalizers;
  for (const Value& one : cluster["metadata"]["finalizers"].items()) {
    finalizers += (finalizers.empty() ? "" : ", ") + one.str();
  }
  return finalizers.empty() ? "it is being removed" : "finalizers left: " + finalizers;
}

// true: the Cluster is gone.
Result<bool> wait_until_gone(Connection& plane, const std::string& name, int64_t seconds, std::ostream& progress) {
  const auto deadline = Steady::now() + std::chrono::seconds{seconds};
  auto report_at = Steady::now() + kReport;
  while (true) {
    const auto cluster = plane.get(std::string{kClusters} + "/" + name);
    if (!cluster && cluster.error().code == ErrorCode::kNotFound) return true;
    if (!cluster) return cluster.error();
    const auto now = Steady::now();
    if (now >= deadline) return false;
    if (now >= report_at) {
      progress << "waiting for cluster(" << name << ") to be removed: " << what_holds(plane, cluster.value())
               << std::endl;
      report_at = now + kReport;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Result<void> strip_finalizers(Connection& plane, const std::string& path) {
  const Value none = Value::object({{"metadata", Value::object({{"finalizers", nullptr}})}});
  const auto patched = plane.merge_patch(path, none);
  if (patched || patched.error().code == ErrorCode::kNotFound) return ok();
  return patched.error().context("taking the finalizers from " + path);
}

// For a member that is gone for good: what it made stays there.
Result<void> force_out(Connection& plane, const std::string& name) {
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + name + "/works";
  SHIPLOG_TRY(const Value list, plane.get(works));
  for (const Value& work : list["items"].items()) {
    SHIPLOG_TRY(strip_finalizers(plane, works + "/" + work["metadata"]["name"].str()));
  }
  SHIPLOG_TRY(strip_finalizers(plane, "/api/v1/namespaces/karmada-es-" + name));
  return strip_finalizers(plane, std::string{kClusters} + "/" + name);
}

/// Takes the accounts out of the member. The user's own connection must succeed; the stored credentials may be of no
/// more use, and then the user is shown what is left.
Result<void> withdraw(Connection* member, const std::optional<ClientTarget>& stored, const UnjoinOptions& options,
                      const std::string& impersonator_secret, std::ostream& progress) {
  if (member != nullptr) return withdraw_access(*member, options.name, options.ns, impersonator_secret);
  Result<void> done = Error{ErrorCode::kNotFound, "its credentials are gone"};
  if (stored) {
    auto own = Connection::open("member cluster " + options.name, *stored);
    done =
        own ? withdraw_access(own.value(), options.name, options.ns, impersonator_secret) : Result<void>{own.error()};
  }
  if (!done) {
    progress << "what the control plane logged in with is left in the member (" << done.error().message
             << "): run `kubectl delete clusterrole " << role_of(options.name) << "` there, which takes the rest along"
             << std::endl;
  }
  return ok();
}

}  // namespace

std::string bindings_on(const Value& bindings, const std::string& cluster) {
  constexpr size_t kMostNamed = 3;
  size_t found = 0;
  std::string words;
  for (const Value& binding : bindings["items"].items()) {
    const auto targets = binding["spec"]["clusters"].items();
    if (std::ranges::none_of(targets, [&](const Value& one) { return one["name"].as_string() == cluster; })) continue;
    if (++found > kMostNamed) continue;
    const std::string ns = binding["metadata"]["namespace"].str();
    words += (found == 1 ? "" : "; ") + (ns.empty() ? "" : ns + "/") + binding["metadata"]["name"].str();
    const Value& scheduled = condition_of(binding, "Scheduled");
    if (!scheduled.is_null() && scheduled["status"].as_string() != "True") {
      words += " (" + scheduled["reason"].str() + ": " + scheduled["message"].str() + ")";
    }
  }
  if (found == 0) return "";
  if (found > kMostNamed) words += "; and " + std::to_string(found - kMostNamed) + " more";
  return "bindings that are placed on it and find no other place: " + words;
}

Result<void> unjoin(Connection& plane, Connection* member, const UnjoinOptions& options, std::ostream& out,
                    std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  const std::string path = std::string{kClusters} + "/" + options.name;
  const auto cluster = plane.get(path);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound, "no cluster object " + options.name + " found in karmada control Plane"};
  }
  if (!cluster) return cluster.error();
  if (cluster.value()["spec"]["syncMode"].as_string() == "Pull") {
    return Error{
        ErrorCode::kInvalid,
        "cluster " + options.name + " is a Pull mode member cluster, please use command 'unregister' of karmadactl"};
  }
  if (options.dry_run) {
    out << "cluster(" << options.name << ") would be unjoined (dry run)" << std::endl;
    return ok();
  }
  // Read before they go with the Cluster.
  const auto stored = stored_target(plane, cluster.value());
  const std::string impersonator =
      secret_of_token(stored_token(plane, cluster.value()["spec"]["impersonatorSecretRef"]));
  const auto deleted = plane.remove(path);
  if (!deleted && deleted.error().code != ErrorCode::kNotFound) return deleted.error();
  SHIPLOG_TRY(bool gone, wait_until_gone(plane, options.name, options.wait_seconds, progress));
  if (!gone && options.force) {
    progress << "forcing cluster(" << options.name << ") out: what it runs of ours stays there" << std::endl;
    SHIPLOG_TRY(force_out(plane, options.name));
    SHIPLOG_TRY(gone, wait_until_gone(plane, options.name, options.wait_seconds, progress));
  }
  if (!gone) {
    return Error{ErrorCode::kTimeout,
                 "cluster(" + options.name + ") is still there after " + std::to_string(options.wait_seconds) +
                     " s: its removal continues; wait with --wait, or use --force when the member is gone for good"};
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
