#include "services/programs/shiplogctl/register.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <utility>

#include "events/base/base64.h"
#include "events/base/yaml.h"
#include "events/state/agent_identity.h"
#include "events/state/condition.h"
#include "services/adapters/pki/detached_signature.h"
#include "services/adapters/pki/new_request.h"
#include "services/http/kubeconfig.h"
#include "services/http/tls.h"
#include "services/programs/shiplogctl/join.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;
using Objects = std::vector<std::pair<std::string, Value>>;

constexpr auto kDiscoveryPoll = std::chrono::seconds{1};
constexpr const char* kClusterInfo = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr const char* kSigner = "kubernetes.io/kube-apiserver-client";
constexpr int64_t kCertificateWaitSeconds = 300;
/// What is approved without an administrator is approved sooner.
constexpr auto kApprovedByItself = std::chrono::seconds{2};
constexpr const char* kStep = "[karmada-agent-start] ";

std::string suffix(Random& random) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 5; ++i) text += kLetters[random.next() % kLetters.size()];
  return text;
}

Result<void> preflight(ServerConnection& member, const RegisterOptions& options, std::ostream& out) {
  out << "[preflight] Running pre-flight checks" << std::endl;
  const std::string core = "/api/v1/namespaces/" + options.ns;
  const std::pair<std::string, std::string> in_the_way[] = {
      {core + "/secrets/" + kAgentKubeconfig, options.ns + "/" + kAgentKubeconfig + " Secret"},
      {core + "/serviceaccounts/" + kAgentAccount, options.ns + "/" + kAgentAccount + " ServiceAccount"},
      {"/apis/apps/v1/namespaces/" + options.ns + "/deployments/" + kAgentName,
       options.ns + "/" + kAgentName + " Deployment"}};
  std::string found;
  for (const auto& [path, what] : in_the_way) {
    const auto there = member.get(path);
    if (there) found += (found.empty() ? "" : ", ") + what;
    if (!there && there.error().code != ErrorCode::kNotFound) return there.error().context("[preflight] " + what);
  }
  if (!found.empty()) {
    return Error{ErrorCode::kAlreadyExists,
                 "[preflight] already exists in the member: " + found +
                     ". The cluster is registered, or was: run `unregister` first, or delete these objects. If only "
                     "the certificate of its agent has expired, add --renew"};
  }
  out << "[preflight] All pre-flight checks were passed" << std::endl;
  return ok();
}

/// Reads cluster-info until it is signed for the token.
Result<std::pair<Value, ClientTarget>> discover(const ClientTarget& target, const BootstrapToken& token,
                                                int64_t seconds, std::ostream& progress) {
  const auto deadline = Steady::now() + std::chrono::seconds{seconds};
  bool reported = false;
  while (true) {
    Result<ClientTarget> found = Error{ErrorCode::kUnavailable, ""};
    Value info;
    if (auto plane = ServerConnection::open("the control plane", target)) {
      auto read = plane.value().get(kClusterInfo);
      found = read ? discovered(read.value(), token) : Result<ClientTarget>{read.error()};
      if (read) info = std::move(read).value();
    } else {
      found = plane.error();
    }
    if (found) return std::pair{std::move(info), std::move(found).value()};
    const ErrorCode code = found.error().code;
    const bool may_come =
        code == ErrorCode::kNotFound || code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout;
    if (!may_come || Steady::now() >= deadline) {
      return found.error().context("couldn't validate the identity of the API Server");
    }
    if (!std::exchange(reported, true)) {
      progress << "waiting for the control plane: " << found.error().message << std::endl;
    }
    std::this_thread::sleep_for(kDiscoveryPoll);
  }
}

/// The authority of the control plane: signed by the token, pinned unless that is waived, and the same over a verified
/// connection.
Result<std::string> authority_of(const RegisterOptions& options, const BootstrapToken& token, std::ostream& progress) {
  ClientTarget target;
  target.url = "https://" + options.endpoint;
  target.insecure = true;  // what is read is verified by the token
  SHIPLOG_TRY(const auto first, discover(target, token, options.discovery_seconds, progress));
  const std::string& authority = first.second.ca_pem;
  if (options.ca_pins.empty()) return authority;
  SHIPLOG_TRY(const std::string pin, public_key_pin(authority));
  if (std::ranges::find(options.ca_pins, pin) == options.ca_pins.end()) {
    return Error{ErrorCode::kForbidden, "the authority of the control plane is " + pin +
                                            ", which is none of --discovery-token-ca-cert-hash: this is another "
                                            "control plane, or another server answers in its place"};
  }
  target.insecure = false;
  target.ca_pem = authority;
  SHIPLOG_TRY(const auto again, discover(target, token, options.discovery_seconds, progress));
  if (again.first["data"]["kubeconfig"] != first.first["data"]["kubeconfig"]) {
    return Error{
        ErrorCode::kForbidden,
        "cluster-info differs over a verified connection: another server answers in place of the control plane"};
  }
  return authority;
}

/// A certificate for a user of the agents' group, which the control plane approves by itself, except in a renewal.
Result<KeyPair> certificate_for(ServerConnection& plane, const std::string& user, const std::string& name,
                                int64_t seconds, std::ostream& progress) {
  SHIPLOG_TRY(const NewRequest made, new_request(user, {agent_identity::kGroup}));
  Value request = Value::object({{"apiVersion", "certificates.k8s.io/v1"},
                                 {"kind", "CertificateSigningRequest"},
                                 {"metadata", Value::object({{"name", name}})}});
  request.set("spec",
              Value::object({{"request", base64_encode(made.request_pem)},
                             {"signerName", kSigner},
                             {"expirationSeconds", seconds},
                             {"usages", Value::array({"digital signature", "key encipherment", "client auth"})}}));
  SHIPLOG_TRY(plane.create(kRequests, request));
  const auto begin = Steady::now();
  const auto deadline = begin + std::chrono::seconds{kCertificateWaitSeconds};
  bool reported = false;
  while (true) {
    SHIPLOG_TRY(const Value now, plane.get(std::string{kRequests} + "/" + name));
    if (const auto pem = base64_decode(now["status"]["certificate"].as_string()); pem && !pem->empty()) {
      return KeyPair{*pem, made.key_pem};
    }
    for (const char* end : {"Denied", "Failed"}) {
      if (const Value& condition = condition_of(now, end); !condition.is_null()) {
        return Error{ErrorCode::kForbidden,
                     "the request for the certificate of " + user + " is " + end + ": " + condition["message"].str()};
      }
    }
    if (Steady::now() >= deadline) {
      return Error{ErrorCode::kTimeout,
                   "no certificate for " + user + ": the request " + name +
                       " is not approved. An administrator can approve it: kubectl certificate approve " + name};
    }
    if (Steady::now() - begin >= kApprovedByItself && !std::exchange(reported, true)) {
      progress << "waiting for an administrator of the control plane: kubectl certificate approve " << name
               << std::endl;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

ClientTarget access_with(ClientTarget target, const KeyPair& credentials) {
  target.bearer_token.clear();
  target.certificate_pem = credentials.certificate_pem;
  target.key_pem = credentials.key_pem;
  return target;
}

Result<ServerConnection> connect_as(const ClientTarget& plane, const KeyPair& credentials) {
  return ServerConnection::open("the control plane", access_with(plane, credentials));
}

/// Creates them in order; those that are there already stay as they are. `made` gets what was created.
Result<void> create_all(ServerConnection& server, const Objects& objects, Objects& made) {
  for (const auto& object : objects) {
    const auto created = server.create(object.first, object.second);
    if (created) made.push_back(object);
    if (!created && created.error().code != ErrorCode::kAlreadyExists) {
      return created.error().context("creating " + object.second["kind"].str() + " " +
                                     object.second["metadata"]["name"].str());
    }
  }
  return ok();
}

void remove_all(ServerConnection& server, const Objects& made, std::ostream& progress) {
  for (auto object = made.rbegin(); object != made.rend(); ++object) {
    if (object->second["kind"].as_string() == "Namespace") continue;
    const auto removed = server.remove(path_of(*object));
    if (!removed && removed.error().code != ErrorCode::kNotFound) {
      progress << path_of(*object) << " remains: " << removed.error().message << std::endl;
    }
  }
}

/// The roles of the agent, made by an identity that may do nothing else.
Result<ServerConnection> make_roles(ServerConnection& bootstrap, const RegisterOptions& options, Random& random,
                                    std::ostream& out, Objects& made) {
  const std::string name = "agent-rbac-generator-" + options.name + suffix(random);
  SHIPLOG_TRY(const KeyPair credentials,
              certificate_for(bootstrap, agent_identity::kRbacGenerator, name, options.certificate_seconds, out));
  SHIPLOG_TRY(auto generator, connect_as(bootstrap.target(), credentials));
  const auto make = [&]() -> Result<void> {
    out << kStep << "Waiting to check cluster exists" << std::endl;
    const auto cluster = generator.get(std::string{kClusters} + "/" + options.name);
    if (cluster) {
      return Error{ErrorCode::kAlreadyExists,
                   "failed to register as cluster with name " + options.name + " already exists"};
    }
    if (cluster.error().code != ErrorCode::kNotFound) return cluster.error();
    out << kStep << "Assign the necessary RBAC permissions to the agent" << std::endl;
    return create_all(generator, agent_roles(options.name, options.cluster_ns), made);
  };
  const auto done = make();
  const auto removed = generator.remove(std::string{kRequests} + "/" + name);
  if (!done) {
    remove_all(generator, made, out);
    return done.error();
  }
  if (!removed && removed.error().code != ErrorCode::kNotFound) {
    out << "the request " << name << " remains: " << removed.error().message << std::endl;
  }
  return generator;
}

Result<void> wait_for_agent(ServerConnection& member, const RegisterOptions& options) {
  const std::string path = "/apis/apps/v1/namespaces/" + options.ns + "/deployments/" + kAgentName;
  const auto deadline = Steady::now() + std::chrono::seconds{options.discovery_seconds};
  while (true) {
    SHIPLOG_TRY(const Value now, member.get(path));
    if (now["status"]["availableReplicas"].as_int() >= options.replicas) return ok();
    if (Steady::now() >= deadline) {
      return Error{ErrorCode::kTimeout, "the Deployment " + options.ns + "/" + kAgentName +
                                            " is not available: kubectl describe deployment tells why"};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

/// The agent in the member, or what a user needs to run it.
Result<void> put_agent(ServerConnection& member, const RegisterOptions& options, const ClientTarget& access,
                       std::ostream& out, Objects& made) {
  out << kStep << "Waiting the necessary secret and RBAC" << std::endl;
  const std::string kubeconfig = kubeconfig_text(agent_identity::user_of(options.name), access);
  SHIPLOG_TRY(create_all(member, agent_objects(options, kubeconfig, member.target().url), made));
  if (!options.kubeconfig_out.empty()) {
    SHIPLOG_TRY(write_kubeconfig(options.kubeconfig_out, agent_identity::user_of(options.name), access));
  }
  if (options.image.empty()) return ok();
  out << kStep << "Waiting karmada-agent Deployment" << std::endl;
  return wait_for_agent(member, options);
}

/// Where an agent reads its access: the Secret of the member, unless it was removed there, and the file. Agents notice.
Result<void> replace_access(ServerConnection& member, const RegisterOptions& options, const ClientTarget& access,
                            std::ostream& out) {
  const std::string user = agent_identity::user_of(options.name);
  const std::string path = "/api/v1/namespaces/" + options.ns + "/secrets/" + kAgentKubeconfig;
  auto secret = member.get(path);
  if (!secret && secret.error().code != ErrorCode::kNotFound) return secret.error();
  if (secret) {
    secret.value().edit("data").set(kAgentKubeconfig, base64_encode(kubeconfig_text(user, access)));
    SHIPLOG_TRY(member.replace(path, secret.value()));
  }
  if (!options.kubeconfig_out.empty()) {
    SHIPLOG_TRY(write_kubeconfig(options.kubeconfig_out, user, access));
  }
  out << "\nthe agent of cluster(" << options.name << ") has a new certificate, in "
      << (secret ? "Secret " + options.ns + "/" + kAgentKubeconfig + " of the member" : "")
      << (secret && !options.kubeconfig_out.empty() ? " and in " : "") << options.kubeconfig_out << std::endl;
  return ok();
}

}  // namespace

Result<void> check_register_options(const RegisterOptions& options) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  if (options.token.empty()) return Error{ErrorCode::kInvalid, "token is required"};
  SHIPLOG_TRY(parse_token(options.token));
  if (options.ca_pins.empty() && !options.unsafe_without_pins) {
    return Error{ErrorCode::kInvalid,
                 "need to verify CACertHashes, or set --discovery-token-unsafe-skip-ca-verification=true"};
  }
  for (const std::string& pin : options.ca_pins) {
    constexpr size_t kDigits = 64;
    const std::string_view digits = std::string_view{pin}.substr(std::min<size_t>(pin.size(), 7));
    const bool hexadecimal =
        std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (!pin.starts_with("sha256:") || digits.size() != kDigits || !hexadecimal) {
      return Error{ErrorCode::kInvalid,
                   "--discovery-token-ca-cert-hash " + pin + " is not of the form sha256: and 64 hexadecimal digits"};
    }
  }
  if (options.image.empty() && options.kubeconfig_out.empty()) {
    return Error{ErrorCode::kInvalid,
                 "give --karmada-agent-image, or --agent-kubeconfig-out for an agent that is run "
                 "by hand"};
  }
  return ok();
}

Result<ClientTarget> discovered(const Value& cluster_info, const BootstrapToken& token) {
  const Value& data = cluster_info["data"];
  const std::string kubeconfig = data["kubeconfig"].str();
  const std::string signature = data["jws-kubeconfig-" + token.id].str();
  if (kubeconfig.empty() || signature.empty()) {
    return Error{ErrorCode::kNotFound, "cluster-info is not signed for the token " + token.id +
                                           ": it does not exist, has expired, or is not for signing"};
  }
  if (detached_signature(kubeconfig, token.id, token.secret) != signature) {
    return Error{ErrorCode::kForbidden,
                 "cluster-info is signed with another secret: the token is wrong, or this is another control plane"};
  }
  // Not as a user's kubeconfig: it must not name files.
  SHIPLOG_TRY(const auto documents, parse_yaml_stream(kubeconfig));
  const Value clusters = documents.size() == 1 ? documents.front()["clusters"] : Value{};
  if (clusters.size() != 1) {
    return Error{ErrorCode::kInvalid,
                 "cluster-info names " + std::to_string(clusters.size()) + " clusters, expected is one"};
  }
  const Value& cluster = clusters[0]["cluster"];
  ClientTarget target;
  target.url = cluster["server"].str();
  target.ca_pem = base64_decode(cluster["certificate-authority-data"].as_string()).value_or("");
  if (target.ca_pem.empty()) return Error{ErrorCode::kInvalid, "cluster-info names no certificate authority"};
  return target;
}

Result<void> register_cluster_pull(ServerConnection& member, const std::string& member_kubeconfig,
                                   const RegisterOptions& options, Random& random, std::ostream& out,
                                   std::ostream& progress) {
  SHIPLOG_TRY(check_register_options(options));
  SHIPLOG_TRY(const BootstrapToken token, parse_token(options.token));
  if (!options.renews) {
    SHIPLOG_TRY(preflight(member, options, out));
  }
  if (options.dry_run) return ok();
  out << kStep << "Waiting to perform the TLS Bootstrap" << std::endl;
  ClientTarget target;
  target.url = "https://" + options.endpoint;
  SHIPLOG_TRY(target.ca_pem, authority_of(options, token, progress));
  target.bearer_token = options.token;
  SHIPLOG_TRY(auto bootstrap, ServerConnection::open("the control plane", target));

  const auto credentials = [&] {
    out << kStep << "Waiting to construct karmada-agent kubeconfig" << std::endl;
    return certificate_for(bootstrap, agent_identity::user_of(options.name), options.name + "-" + suffix(random),
                           options.certificate_seconds, progress);
  };
  if (options.renews) {
    SHIPLOG_TRY(const KeyPair renewed, credentials());
    return replace_access(member, options, access_with(target, renewed), out);
  }
  Objects roles;
  SHIPLOG_TRY(auto generator, make_roles(bootstrap, options, random, out, roles));
  Objects in_member;
  const auto rest = [&]() -> Result<void> {
    SHIPLOG_TRY(const KeyPair made, credentials());
    return put_agent(member, options, access_with(target, made), out, in_member);
  };
  if (const auto done = rest(); !done) {
    progress << "register failed and started deleting the created resources" << std::endl;
    remove_all(member, in_member, progress);
    remove_all(generator, roles, progress);
    return done.error();
  }
  if (options.image.empty()) {
    out << "\ncluster(" << options.name << ") is registered. Start its agent, which joins it:\n  "
        << agent_command(options, member_kubeconfig) << std::endl;
    return ok();
  }
  out << "\ncluster(" << options.name << ") is joined successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
