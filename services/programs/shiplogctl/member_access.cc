#include "services/programs/shiplogctl/member_access.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "events/base/base64.h"
#include "events/base/json.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr const char* kRoleBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
constexpr auto kTokenDeadline = std::chrono::seconds{30};
constexpr auto kPoll = std::chrono::milliseconds{250};

std::string core(const std::string& ns, const char* resource) { return "/api/v1/namespaces/" + ns + "/" + resource; }

Value metadata(const std::string& name) {
  return Value::object({{"name", name}, {"labels", Value::object({{"karmada.io/system", "true"}})}});
}

Value account(const std::string& name) {
  return Value::object({{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", metadata(name)}});
}

Value namespace_of(const std::string& name) {
  return Value::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", metadata(name)}});
}

/// Creates the object, or gives the present one these fields.
Result<Value> ensure(Connection& member, const std::string& collection, const Value& object) {
  const std::string name = object["metadata"]["name"].str();
  auto done = member.create(collection, object);
  if (!done && done.error().code == ErrorCode::kAlreadyExists)
    done = member.merge_patch(collection + "/" + name, object);
  if (!done) return done.error().context("creating " + object["kind"].str() + " " + name + " in the member");
  return done;
}

/// Creates what several control planes may use; it goes when the last of its owners has gone. What another tool made
/// has no owners and stays that tool's.
Result<void> ensure_shared(Connection& member, const std::string& collection, Value object, const Value& owner) {
  const std::string path = collection + "/" + object["metadata"]["name"].str();
  const auto there = member.get(path);
  if (!there && there.error().code != ErrorCode::kNotFound) return there.error();
  Value owners = there ? there.value()["metadata"]["ownerReferences"] : Value{};
  const bool ours = std::ranges::any_of(owners.items(), [&](const Value& one) { return one["uid"] == owner["uid"]; });
  if (there && (owners.is_empty() || ours)) return ok();
  if (!owners.is_array()) owners = Value::array();
  owners.push_back(owner);
  object.edit("metadata").set("ownerReferences", std::move(owners));
  SHIPLOG_TRY(ensure(member, collection, object));
  return ok();
}

/// The object no longer goes with the role.
Result<void> disown(Connection& member, const std::string& path, const std::string& role) {
  const auto there = member.get(path);
  if (!there && there.error().code == ErrorCode::kNotFound) return ok();
  if (!there) return there.error();
  Value owners = Value::array();
  const Value& present = there.value()["metadata"]["ownerReferences"];
  for (const Value& one : present.items()) {
    if (one["name"].as_string() != role) owners.push_back(one);
  }
  if (owners.size() == present.size()) return ok();
  const auto patched =
      member.merge_patch(path, Value::object({{"metadata", Value::object({{"ownerReferences", std::move(owners)}})}}));
  if (!patched) return patched.error().context("keeping " + path + " in the member for another control plane");
  return ok();
}

Result<void> remove(Connection& member, const std::string& path) {
  const auto removed = member.remove(path);
  if (removed || removed.error().code == ErrorCode::kNotFound) return ok();
  return removed.error().context("deleting " + path + " in the member");
}

std::string decoded(const Value& text) { return base64_decode(text.as_string()).value_or(""); }

}  // namespace

std::string account_of(const std::string& cluster) { return "karmada-" + cluster; }
std::string role_of(const std::string& cluster) { return "karmada-controller-manager:" + account_of(cluster); }

Result<void> ensure_namespace(Connection& server, const std::string& ns) {
  // Asked first: a create that is refused would stay in the audit trail.
  const auto there = server.get("/api/v1/namespaces/" + ns);
  if (there) return ok();
  if (there.error().code != ErrorCode::kNotFound) return there.error();
  const auto created = server.create("/api/v1/namespaces", namespace_of(ns));
  if (created || created.error().code == ErrorCode::kAlreadyExists) return ok();
  return created.error().context("creating namespace " + ns);
}

Result<void> grant_access(Connection& member, const std::string& cluster, const std::string& ns) {
  const Value everything = Value::object(
      {{"apiGroups", Value::array({"*"})}, {"resources", Value::array({"*"})}, {"verbs", Value::array({"*"})}});
  const Value paths = Value::object({{"nonResourceURLs", Value::array({"*"})}, {"verbs", Value::array({"get"})}});
  SHIPLOG_TRY(const Value role, ensure(member, kRoles,
                                       Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                                      {"kind", "ClusterRole"},
                                                      {"metadata", metadata(role_of(cluster))},
                                                      {"rules", Value::array({everything, paths})}})));
  const Value owner = Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                     {"kind", "ClusterRole"},
                                     {"name", role_of(cluster)},
                                     {"uid", role["metadata"]["uid"]}});
  SHIPLOG_TRY(ensure_shared(member, "/api/v1/namespaces", namespace_of(ns), owner));
  SHIPLOG_TRY(ensure_shared(member, core(ns, "serviceaccounts"), account(kImpersonator), owner));
  Value own_account = account(account_of(cluster));
  own_account.edit("metadata").set("ownerReferences", Value::array({owner}));
  SHIPLOG_TRY(ensure(member, core(ns, "serviceaccounts"), own_account));
  const Value subject = Value::object({{"kind", "ServiceAccount"}, {"name", account_of(cluster)}, {"namespace", ns}});
  Value binding = Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                 {"kind", "ClusterRoleBinding"},
                                 {"metadata", metadata(role_of(cluster))},
                                 {"subjects", Value::array({subject})},
                                 {"roleRef", Value::object({{"apiGroup", "rbac.authorization.k8s.io"},
                                                            {"kind", "ClusterRole"},
                                                            {"name", role_of(cluster)}})}});
  binding.edit("metadata").set("ownerReferences", Value::array({owner}));
  SHIPLOG_TRY(ensure(member, kRoleBindings, binding));
  return ok();
}

Result<IssuedToken> issue_token(Connection& member, const std::string& ns, const std::string& account_name) {
  const Value wanted = Value::object(
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"type", "kubernetes.io/service-account-token"},
       {"metadata",
        Value::object({{"generateName", account_name + "-"},
                       {"labels", Value::object({{"karmada.io/system", "true"}})},
                       {"annotations", Value::object({{"kubernetes.io/service-account.name", account_name}})}})}});
  auto made = member.create(core(ns, "secrets"), wanted);
  if (!made) return made.error().context("creating a token of ServiceAccount " + account_name + " in the member");
  const std::string name = made.value()["metadata"]["name"].str();
  const auto deadline = std::chrono::steady_clock::now() + kTokenDeadline;
  while (true) {
    const Value& data = made.value()["data"];
    if (!data["token"].is_empty()) return IssuedToken{name, decoded(data["token"]), decoded(data["ca.crt"])};
    if (std::chrono::steady_clock::now() >= deadline) {
      const auto dropped = revoke_token(member, ns, name);
      return Error{ErrorCode::kTimeout, "the member has issued no token for ServiceAccount " + ns + "/" + account_name +
                                            " within 30 s: is its controller for service account tokens running?" +
                                            (dropped ? "" : " Secret " + name + " is left there")};
    }
    std::this_thread::sleep_for(kPoll);
    made = member.get(core(ns, "secrets") + "/" + name);
    if (!made) return made.error().context("reading the token of ServiceAccount " + account_name);
  }
}

Result<void> revoke_token(Connection& member, const std::string& ns, const std::string& secret) {
  return remove(member, core(ns, "secrets") + "/" + secret);
}

std::string secret_of_token(const std::string& token) {
  const size_t first = token.find('.');
  const size_t second = first == std::string::npos ? first : token.find('.', first + 1);
  if (second == std::string::npos) return "";
  const auto text = base64url_decode(std::string_view{token}.substr(first + 1, second - first - 1));
  if (!text) return "";
  const auto claims = parse_json(*text);
  return claims ? claims.value()["kubernetes.io/serviceaccount/secret.name"].str() : "";
}

Result<void> withdraw_access(Connection& member, const std::string& cluster, const std::string& ns,
                             const std::string& impersonator_secret) {
  if (!impersonator_secret.empty()) {
    SHIPLOG_TRY(revoke_token(member, ns, impersonator_secret));
  }
  const auto accounts = member.get(core(ns, "serviceaccounts"));
  if (!accounts && accounts.error().code != ErrorCode::kNotFound) return accounts.error();
  const bool shared = accounts && std::ranges::any_of(accounts.value()["items"].items(), [&](const Value& one) {
                        const auto name = one["metadata"]["name"].as_string();
                        return name.starts_with("karmada-") && name != kImpersonator && name != account_of(cluster);
                      });
  if (shared) {
    SHIPLOG_TRY(disown(member, "/api/v1/namespaces/" + ns, role_of(cluster)));
    SHIPLOG_TRY(disown(member, core(ns, "serviceaccounts") + "/" + kImpersonator, role_of(cluster)));
  }
  return remove(member, std::string{kRoles} + "/" + role_of(cluster));
}

}  // namespace shiplog::ctl
