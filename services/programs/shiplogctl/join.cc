#include "services/programs/shiplogctl/join.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "events/base/base64.h"
#include "events/state/condition.h"
#include "services/adapters/members/member_target.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kLongestName = 48;
constexpr int kTries = 10;

std::string why_not_ready(const Value& cluster) {
  const Value& condition = condition_of(cluster, "Ready");
  if (condition.is_null()) return "it has not been probed yet: is a shiplogd with the role collector running?";
  return condition["reason"].str() + ": " + condition["message"].str();
}

/// The uid of namespace kube-system, which is what identifies a cluster.
Result<std::string> id_of(ServerConnection& server) {
  SHIPLOG_TRY(const Value system, server.get("/api/v1/namespaces/kube-system"));
  return system["metadata"]["uid"].str();
}

Result<void> refuse_twice(ServerConnection& plane, const std::string& name, const std::string& id) {
  SHIPLOG_TRY(const std::string own, id_of(plane));
  if (own == id) {
    return Error{ErrorCode::kInvalid, "the kubeconfig given for " + name +
                                          " leads to the control plane itself, which cannot be its own member: give "
                                          "the kubeconfig of the member with --cluster-kubeconfig"};
  }
  SHIPLOG_TRY(const Value clusters, plane.get(kClusters));
  return refuse_registered(clusters, name, id);
}

Value secret_of(const JoinOptions& options, const std::string& name, Value data) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"type", "Opaque"},
                        {"metadata", Value::object({{"name", name},
                                                    {"namespace", options.ns},
                                                    {"labels", Value::object({{"karmada.io/system", "true"}})}})},
                        {"data", std::move(data)}});
}

/// Of a Cluster that is there.
bool is_owned(ServerConnection& plane, const Value& secret) {
  for (const Value& owner : secret["metadata"]["ownerReferences"].items()) {
    if (owner["kind"].as_string() == "Cluster" && plane.get(std::string{kClusters} + "/" + owner["name"].str())) {
      return true;
    }
  }
  return false;
}

Error already_exists(const std::string& name) {
  return {ErrorCode::kAlreadyExists, "cluster(" + name + ") already exist"};
}

/// The Cluster owns the credentials, so that they are removed with it, also when it is deleted by other means. They are
/// written again, as a second `join` under this name may have replaced them before the Cluster was there; afterwards
/// it does not.
Result<void> own_secret(ServerConnection& plane, const Value& secret, const Value& cluster) {
  const Value owner = Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                     {"kind", "Cluster"},
                                     {"name", cluster["metadata"]["name"]},
                                     {"uid", cluster["metadata"]["uid"]},
                                     {"controller", true},
                                     {"blockOwnerDeletion", true}});
  const std::string path = secrets_of(secret["metadata"]["namespace"].str()) + "/" + secret["metadata"]["name"].str();
  for (int tries = kTries;; --tries) {
    auto owned = plane.get(path);
    if (owned) {
      owned.value().set("data", secret["data"]);
      owned.value().edit("metadata").set("ownerReferences", Value::array({owner}));
      owned = plane.replace(path, owned.value());
    }
    if (owned) return ok();
    if (owned.error().code != ErrorCode::kConflict || tries == 1) {
      return owned.error().context("making the Cluster the owner of its credentials");
    }
  }
}

Result<Value> register_cluster(ServerConnection& plane, const ClientTarget& member, const JoinOptions& options,
                               const std::string& id, const IssuedToken& own, const IssuedToken& impersonator) {
  SHIPLOG_TRY(ensure_namespace(plane, options.ns));
  const Value secrets[] = {impersonator_secret(options, impersonator), credentials_secret(options, member, own)};
  for (const Value& secret : secrets) {
    const auto put = put_secret(plane, secret, SecretOwner::kNone);
    if (!put && put.error().code == ErrorCode::kAlreadyExists) return already_exists(options.name);
    if (!put) return put.error();
  }
  auto created = plane.create(kClusters, cluster_object(options, member, id));
  if (!created && created.error().code == ErrorCode::kAlreadyExists) return already_exists(options.name);
  if (!created) return created.error().context("creating the Cluster");
  for (const Value& secret : secrets) {
    SHIPLOG_TRY(own_secret(plane, secret, created.value()));
  }
  return created;
}

}  // namespace

std::string secrets_of(const std::string& ns) { return "/api/v1/namespaces/" + ns + "/secrets"; }

Result<void> put_secret(ServerConnection& plane, const Value& secret, SecretOwner owner) {
  const std::string collection = secrets_of(secret["metadata"]["namespace"].str());
  const std::string path = collection + "/" + secret["metadata"]["name"].str();
  const auto existing = plane.get(path);
  if (!existing && existing.error().code != ErrorCode::kNotFound)
    return existing.error().context("reading the credentials");
  if (!existing) {
    const auto created = plane.create(collection, secret);
    if (!created) return created.error().context("storing the credentials");
    return ok();
  }
  // A Secret may remain from an earlier attempt: only a Cluster makes a member part of the fleet.
  if (owner == SecretOwner::kNone && is_owned(plane, existing.value())) {
    return Error{ErrorCode::kAlreadyExists, "the Secret " + path + " is that of another Cluster"};
  }
  Value next = existing.value();
  next.set("data", secret["data"]);
  next.edit("metadata").edit("labels").set("karmada.io/system", "true");
  const auto replaced = plane.replace(path, next);
  if (!replaced) return replaced.error().context("storing the credentials");
  return ok();
}

Result<void> wait_until_ready(ServerConnection& plane, const std::string& name, int64_t seconds,
                              const std::string& what, std::ostream& progress) {
  const auto deadline = Steady::now() + std::chrono::seconds{seconds};
  auto report_at = Steady::now() + kReportEvery;
  while (true) {
    SHIPLOG_TRY(const Value cluster, plane.get(std::string{kClusters} + "/" + name));
    if (condition_holds(cluster, "Ready")) return ok();
    const auto now = Steady::now();
    if (now >= deadline) {
      return Error{ErrorCode::kTimeout,
                   what + ", but not ready after " + std::to_string(seconds) + " s: " + why_not_ready(cluster)};
    }
    if (now >= report_at) {
      progress << "waiting for cluster(" << name << ") to become ready: " << why_not_ready(cluster) << std::endl;
      report_at = now + kReportEvery;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::string stored_token(ServerConnection& plane, const Value& reference) {
  if (reference["name"].is_empty()) return "";
  const auto secret = plane.get(secrets_of(reference["namespace"].str()) + "/" + reference["name"].str());
  return secret ? base64_decode(secret.value()["data"]["token"].as_string()).value_or("") : "";
}

std::optional<ClientTarget> stored_target(ServerConnection& plane, const Value& cluster) {
  const Value& reference = cluster["spec"]["secretRef"];
  const auto secret = plane.get(secrets_of(reference["namespace"].str()) + "/" + reference["name"].str());
  if (!secret) return std::nullopt;
  ClientTarget target = member_target(cluster["spec"]);
  if (!add_credentials(cluster["metadata"]["name"].str(), secret.value(), target)) return std::nullopt;
  if (target.bearer_token.empty() && target.certificate_pem.empty()) return std::nullopt;
  return target;
}

Result<void> check_cluster_name(const std::string& name) {
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::kInvalid, "invalid cluster name(" + name + "): " + why};
  };
  if (name.empty()) return Error{ErrorCode::kInvalid, "cluster name is required"};
  if (name.size() > kLongestName) return wrong("must be no more than " + std::to_string(kLongestName) + " characters");
  const auto inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!std::ranges::all_of(name, inner) || name.front() == '-' || name.back() == '-') {
    return wrong("only lower case letters, digits and '-', which must be neither first nor last");
  }
  return ok();
}

Result<void> refuse_registered(const Value& clusters, const std::string& name, const std::string& id) {
  const auto registered = [&](const std::string& more) {
    return Error{ErrorCode::kAlreadyExists,
                 "the cluster ID " + id + " or the cluster name " + name + " has been registered: " + more};
  };
  for (const Value& cluster : clusters["items"].items()) {
    const std::string other = cluster["metadata"]["name"].str();
    if (other == name) return registered("run `unjoin " + name + "` first, or choose another name");
    if (cluster["spec"]["id"].as_string() == id) return registered("it is the cluster " + other);
  }
  return ok();
}

Value credentials_secret(const JoinOptions& options, const ClientTarget& member, const IssuedToken& issued) {
  Value data = Value::object({{"token", base64_encode(issued.token)}});
  // The CA from the user's kubeconfig; the member's own CA only if verification is disabled.
  const std::string& ca_pem = member.insecure && member.ca_pem.empty() ? issued.ca_pem : member.ca_pem;
  if (!ca_pem.empty()) data.set("caBundle", base64_encode(ca_pem));
  if (!member.server_name.empty()) data.set("tls-server-name", base64_encode(member.server_name));
  return secret_of(options, options.name, std::move(data));
}

Value impersonator_secret(const JoinOptions& options, const IssuedToken& issued) {
  return secret_of(options, options.name + "-impersonator", Value::object({{"token", base64_encode(issued.token)}}));
}

Value cluster_object(const JoinOptions& options, const ClientTarget& member, const std::string& id) {
  const auto reference = [&](const std::string& name) {
    return Value::object({{"namespace", options.ns}, {"name", name}});
  };
  Value spec = Value::object({{"id", id},
                              {"syncMode", "Push"},
                              {"apiEndpoint", member.url},
                              {"secretRef", reference(options.name)},
                              {"impersonatorSecretRef", reference(options.name + "-impersonator")}});
  if (member.insecure) spec.set("insecureSkipTLSVerification", true);
  if (!member.proxy_url.empty()) spec.set("proxyURL", member.proxy_url);
  if (!options.provider.empty()) spec.set("provider", options.provider);
  if (!options.region.empty()) spec.set("region", options.region);
  for (const std::string& zone : options.zones) spec.edit("zones").push_back(zone);
  return Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                        {"kind", "Cluster"},
                        {"metadata", Value::object({{"name", options.name}})},
                        {"spec", std::move(spec)}});
}

Result<void> join(ServerConnection& plane, ServerConnection& member, const JoinOptions& options, std::ostream& out,
                  std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  if (options.ns == "karmada-system") {
    progress
        << "karmada-system is reserved for the control plane: credentials of members should be in another namespace"
        << std::endl;
  }
  const auto found = id_of(member);
  if (!found && found.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 member.target().url + " has no namespace kube-system: is it a Kubernetes cluster?"};
  }
  if (!found) return found.error();
  const std::string& id = found.value();
  SHIPLOG_TRY(refuse_twice(plane, options.name, id));
  if (options.dry_run) {
    out << "cluster(" << options.name << ") would be joined (dry run)" << std::endl;
    return ok();
  }
  SHIPLOG_TRY(grant_access(member, options.name, options.ns));
  SHIPLOG_TRY(const IssuedToken impersonator, issue_token(member, options.ns, kImpersonator));
  const auto own = issue_token(member, options.ns, account_of(options.name));
  const auto joined = own ? register_cluster(plane, member.target(), options, id, own.value(), impersonator)
                          : Result<Value>{own.error()};
  if (!joined) {
    // Unused tokens must not remain valid.
    const auto first = revoke_token(member, options.ns, impersonator.secret);
    const auto second = own ? revoke_token(member, options.ns, own.value().secret) : ok();
    if (!first || !second) {
      progress << "tokens created by this attempt remain in the member, as Secrets of namespace " << options.ns
               << std::endl;
    }
    return joined.error();
  }
  if (options.wait_seconds > 0) {
    SHIPLOG_TRY(wait_until_ready(plane, options.name, options.wait_seconds, "cluster(" + options.name + ") is joined",
                                 progress));
  }
  out << "cluster(" << options.name << ") is joined successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
