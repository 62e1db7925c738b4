#include "services/roles/agent_csr_approving/decide.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "events/base/base64.h"
#include "events/state/agent_identity.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "events/state/policy_author.h"

namespace shiplog::agent_csr_approving {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSigner = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kTokenUser = "system:bootstrap:";

bool usages_fit(const Value& usages) {
  std::set<std::string_view> named;
  for (const Value& usage : usages.items()) named.insert(usage.as_string());
  named.erase("key encipherment");
  return named == std::set{"client auth"sv, "digital signature"sv};
}

/// 1.8.1
bool is_for_agent(const Value& spec, const CertificateRequest& request) {
  return request.organizations == std::vector<std::string>{agent_identity::kGroup} &&
         request.common_name.starts_with(agent_identity::kUserPrefix) && request.dns_names.empty() &&
         request.emails.empty() && request.ip_addresses.empty() && request.uris.empty() && usages_fit(spec["usages"]);
}

rbac::User requester(const Value& spec) {
  rbac::User user;
  user.name = spec["username"].str();
  user.uid = spec["uid"].str();
  for (const Value& group : spec["groups"].items()) user.groups.push_back(group.str());
  return user;
}

/// 1.8.3
bool may_create(const State& state, const rbac::User& user, const char* subresource) {
  rbac::Attributes wanted;
  wanted.verb = "create";
  wanted.group = "certificates.k8s.io";
  wanted.resource = "certificatesigningrequests";
  wanted.subresource = subresource;
  return permits(state, user, wanted);
}

bool has_cluster(const State& state, const std::string& name) {
  return state.find({type::kCluster, "", name}) != nullptr;
}

/// The token may have been deleted while the request was pending.
bool token_is_there(const State& state, std::string_view user) {
  if (!user.starts_with(kTokenUser)) return true;
  user.remove_prefix(kTokenUser.size());
  const Object* secret = state.find({type::kSecret, "kube-system", "bootstrap-token-" + std::string{user}});
  return secret != nullptr && !deleting(secret->value);
}

/// What the condition reports; nullptr: it is not approved.
const char* approval(const State& state, const rbac::User& user, const std::string& common_name) {
  const auto cluster = agent_identity::cluster_of(common_name);
  const bool registered = cluster && has_cluster(state, *cluster);
  if (user.name == common_name) {
    return registered && may_create(state, user, "selfclusteragent")
               ? "Auto approving self karmada agent certificate after SubjectAccessReview."
               : nullptr;
  }
  return !registered && token_is_there(state, user.name) && may_create(state, user, "clusteragent")
             ? "Auto approving karmada agent certificate after SubjectAccessReview."
             : nullptr;
}

Value approved(Value request, const char* message, UtcMillis now) {
  request.edit("status")
      .edit("conditions")
      .push_back(Value::object({{"type", "Approved"},
                                {"status", "True"},
                                {"reason", "AutoApproved"},
                                {"message", message},
                                {"lastUpdateTime", rfc3339(now)},
                                {"lastTransitionTime", rfc3339(now)}}));
  return request;
}

}  // namespace

bool pending(const Value& request) {
  return request["spec"]["signerName"].as_string() == kSigner && request["status"]["certificate"].is_empty() &&
         condition_of(request, "Approved").is_null() && condition_of(request, "Denied").is_null() &&
         condition_of(request, "Failed").is_null();
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const ReadRequest& read) {
  const Object* request = key.type == kRequests ? state.find(key) : nullptr;
  if (request == nullptr || deleting(request->value) || !pending(request->value)) return Nothing{};
  const Value& spec = request->value["spec"];
  const auto inspected = read(base64_decode(spec["request"].as_string()).value_or(""));
  if (!inspected || !is_for_agent(spec, *inspected)) return Nothing{};
  const char* message = approval(state, requester(spec), inspected->common_name);
  if (message == nullptr) return Nothing{};
  return decide_one(StatusUpdated{key, approved(request->value, message, now)}, {key, request->revision});
}

}  // namespace shiplog::agent_csr_approving
