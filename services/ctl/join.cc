#include "services/ctl/join.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "events/base/base64.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
constexpr size_t kLongestName = 48;
constexpr auto kPoll = std::chrono::milliseconds{250};
constexpr auto kReport = std::chrono::seconds{5};

std::string secrets_of(const std::string& ns) { return "/api/v1/namespaces/" + ns + "/secrets"; }

Result<void> ensure_namespace(Connection& plane, const std::string& ns) {
  // Asked first: a create that is refused would stand in the audit trail for ever.
  const auto there = plane.get("/api/v1/namespaces/" + ns);
  if (there) return ok();
  if (there.error().code != ErrorCode::kNotFound) return there.error();
  const Value object =
      Value::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Value::object({{"name", ns}})}});
  const auto created = plane.create("/api/v1/namespaces", object);
  if (created || created.error().code == ErrorCode::kAlreadyExists) return ok();
  return created.error().context("creating namespace " + ns);
}

// A Secret may be left of an earlier attempt: it is replaced, as only a Cluster says that a member is in the fleet.
Result<void> put_secret(Connection& plane, const std::string& ns, const std::string& name, const Value& secret) {
  const auto created = plane.create(secrets_of(ns), secret);
  if (created) return ok();
  if (created.error().code != ErrorCode::kAlreadyExists) return created.error().context("storing the credentials");
  const auto replaced = plane.replace(secrets_of(ns) + "/" + name, secret);
  if (!replaced) return replaced.error().context("storing the credentials");
  return ok();
}

const Value& ready_condition(const Value& cluster) {
  static const Value kNone;
  for (const Value& condition : cluster["status"]["conditions"].items()) {
    if (condition["type"].as_string() == "Ready") return condition;
  }
  return kNone;
}

std::string why_not_ready(const Value& cluster) {
  const Value& condition = ready_condition(cluster);
  if (condition.is_null()) return "nobody has looked at it yet: is a shiplogd with the role collector running?";
  return condition["reason"].str() + ": " + condition["message"].str();
}

Result<void> wait_until_ready(Connection& plane, const JoinOptions& options, std::ostream& progress) {
  const auto deadline = Steady::now() + std::chrono::seconds{options.wait_seconds};
  auto report_at = Steady::now() + kReport;
  while (true) {
    SHIPLOG_TRY(const Value cluster, plane.get(std::string{kClusters} + "/" + options.name));
    if (ready_condition(cluster)["status"].as_string() == "True") return ok();
    const auto now = Steady::now();
    if (now >= deadline) {
      return Error{ErrorCode::kTimeout, "cluster(" + options.name + ") is joined, but not ready after " +
                                            std::to_string(options.wait_seconds) + " s: " + why_not_ready(cluster)};
    }
    if (now >= report_at) {
      progress << "waiting for cluster(" << options.name << ") to become ready: " << why_not_ready(cluster)
               << std::endl;
      report_at = now + kReport;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Result<void> refuse_twice(Connection& plane, const std::string& name, const std::string& id) {
  SHIPLOG_TRY(const Value clusters, plane.get(kClusters));
  for (const Value& cluster : clusters["items"].items()) {
    const std::string other = cluster["metadata"]["name"].str();
    if (other == name) {
      return Error{ErrorCode::kAlreadyExists, "the cluster " + name + " has already been joined: run `unjoin " + name +
                                                  "` first, or choose another name"};
    }
    if (cluster["spec"]["id"].as_string() == id) {
      return Error{ErrorCode::kAlreadyExists,
                   "the same cluster has already been joined as " + other + " (ID " + id + ")"};
    }
  }
  return ok();
}

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
    for (const Value& condition : binding["status"]["conditions"].items()) {
      if (condition["type"].as_string() != "Scheduled" || condition["status"].as_string() == "True") continue;
      words += " (" + condition["reason"].str() + ": " + condition["message"].str() + ")";
    }
  }
  if (found == 0) return "";
  if (found > kMostNamed) words += "; and " + std::to_string(found - kMostNamed) + " more";
  return "bindings that are placed on it and find no other place: " + words;
}

Result<void> check_cluster_name(const std::string& name) {
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::kInvalid, "invalid cluster name(" + name + "): " + why};
  };
  if (name.empty()) return Error{ErrorCode::kInvalid, "cluster name is required"};
  if (name.size() > kLongestName) return wrong("must be no more than " + std::to_string(kLongestName) + " characters");
  const auto inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!std::ranges::all_of(name, inner) || name.front() == '-' || name.back() == '-') {
    return wrong("only lower case letters, digits and '-', which may stand neither first nor last");
  }
  return ok();
}

Result<Value> credentials_secret(const JoinOptions& options, const ClientTarget& member) {
  Value data = Value::object();
  if (!member.ca_pem.empty()) data.set("caBundle", base64_encode(member.ca_pem));
  if (!member.bearer_token.empty()) {
    data.set("token", base64_encode(member.bearer_token));
  } else if (!member.certificate_pem.empty()) {
    data.set("client-certificate-data", base64_encode(member.certificate_pem));
    data.set("client-key-data", base64_encode(member.key_pem));
  } else {
    return Error{
        ErrorCode::kInvalid,
        "the member's kubeconfig has neither a token nor a client certificate: the control plane could not log in"};
  }
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"type", "Opaque"},
                        {"metadata", Value::object({{"name", options.name}, {"namespace", options.ns}})},
                        {"data", std::move(data)}});
}

Value cluster_object(const JoinOptions& options, const ClientTarget& member, const std::string& id) {
  Value spec = Value::object({{"id", id},
                              {"syncMode", "Push"},
                              {"apiEndpoint", member.url},
                              {"secretRef", Value::object({{"namespace", options.ns}, {"name", options.name}})}});
  if (member.insecure) spec.set("insecureSkipTLSVerification", true);
  if (!options.provider.empty()) spec.set("provider", options.provider);
  if (!options.region.empty()) spec.set("region", options.region);
  for (const std::string& zone : options.zones) spec.edit("zones").push_back(zone);
  return Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                        {"kind", "Cluster"},
                        {"metadata", Value::object({{"name", options.name}})},
                        {"spec", std::move(spec)}});
}

Result<void> join(Connection& plane, Connection& member, const JoinOptions& options, std::ostream& out,
                  std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  if (!member.target().server_name.empty()) {
    return Error{ErrorCode::kInvalid,
                 "the member's kubeconfig sets tls-server-name, which a Cluster cannot carry: give "
                 "its server certificate the name in `server`"};
  }
  auto system = member.get("/api/v1/namespaces/kube-system");
  if (!system && system.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 member.target().url + " has no namespace kube-system: is it a Kubernetes cluster?"};
  }
  if (!system) return system.error();
  const std::string id = system.value()["metadata"]["uid"].str();
  SHIPLOG_TRY(refuse_twice(plane, options.name, id));
  SHIPLOG_TRY(const Value secret, credentials_secret(options, member.target()));
  const Value cluster = cluster_object(options, member.target(), id);
  if (options.dry_run) {
    out << "cluster(" << options.name << ") would be joined (dry run)" << std::endl;
    return ok();
  }
  SHIPLOG_TRY(ensure_namespace(plane, options.ns));
  SHIPLOG_TRY(put_secret(plane, options.ns, options.name, secret));
  auto created = plane.create(kClusters, cluster);
  if (!created) return created.error().context("creating the Cluster");
  // The credentials belong to the Cluster and go with it, also when it is deleted by other means.
  const Value owner = Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                     {"kind", "Cluster"},
                                     {"name", options.name},
                                     {"uid", created.value()["metadata"]["uid"]}});
  const auto owned =
      plane.merge_patch(secrets_of(options.ns) + "/" + options.name,
                        Value::object({{"metadata", Value::object({{"ownerReferences", Value::array({owner})}})}}));
  if (!owned) return owned.error().context("tying the credentials to the Cluster");
  if (options.wait_seconds > 0) {
    SHIPLOG_TRY(wait_until_ready(plane, options, progress));
  }
  out << "cluster(" << options.name << ") is joined successfully" << std::endl;
  return ok();
}

Result<void> unjoin(Connection& plane, const UnjoinOptions& options, std::ostream& out, std::ostream& progress) {
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
                     " s: its removal goes on; wait with --wait, or use --force when the member is gone for good"};
  }
  const auto secret = plane.remove(secrets_of(options.ns) + "/" + options.name);
  if (!secret && secret.error().code != ErrorCode::kNotFound) return secret.error().context("deleting the credentials");
  out << "cluster(" << options.name << ") is unjoined successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
