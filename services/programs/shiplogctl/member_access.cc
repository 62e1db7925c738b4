#include "services/programs/shiplogctl/member_access.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "events/base/base64.h"
#include "events/base/json.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr const char* kRoleBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
constexpr auto kTokenDeadline = std::chrono::seconds{30};
constexpr auto kTokenPoll = std::chrono::milliseconds{250};

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

/// Creates the object, or sets these fields in the existing one.
Result<Value> ensure(ServerConnection& member, const std::string& collection, const Value& object) {
  const std::string name = object["metadata"]["name"].str();
  auto done = member.create(collection, object);
  if (!done && done.error().code == ErrorCode::kAlreadyExists)
    done = member.merge_patch(collection + "/" + name, object);
  if (!done) return done.error().context("creating " + object["kind"].str() + " " + name + " in the member");
  return done;
}

/// Creates an object that several control planes may share; it is removed with the last of its owners. An object that
/// another tool created has no owners and is not changed.
Result<void> ensure_shared(ServerConnection& member, const std::string& collection, Value object, const Value& owner) {
  const std::string path = collection + "/" + object["metadata"]["name"].str();
  const auto existing = member.get(path);
  if (!existing && existing.error().code != ErrorCode::kNotFound) return existing.error();
  Value owners = existing ? existing.value()["metadata"]["ownerReferences"] : Value{};
  const bool ours =
      std::ranges::any_of(owners.items(), [&](const Value& reference) { return reference["uid"] == owner["uid"]; });
  if (existing && (owners.is_empty() || ours)) return ok();
  if (!owners.is_array()) owners = Value::array();
  owners.push_back(owner);
  object.edit("metadata").set("ownerReferences", std::move(owners));
  SHIPLOG_TRY(ensure(member, collection, object));
  return ok();
}

/// Removes the role from the object's owners.
Result<void> disown(ServerConnection& member, const std::string& path, const std::string& role) {
  const auto existing = member.get(path);
  if (!existing && existing.error().code == ErrorCode::kNotFound) return ok();
  if (!existing) return existing.error();
  Value owners = Value::array();
  const Value& present = existing.value()["metadata"]["ownerReferences"];
  for (const Value& reference : present.items()) {
    if (reference["name"].as_string() != role) owners.push_back(reference);
  }
  if (owners.size() == present.size()) return ok();
  const auto patched =
      member.merge_patch(path, Value::object({{"metadata", Value::object({{"ownerReferences", std::move(owners)}})}}));
  if (!patched) return patched.error().context("keeping " + path + " in the member for another control plane");
  return ok();
}

Result<void> remove(ServerConnection& member, const std::string& path) {
  const auto removed = member.remove(path);
  if (removed || removed.error().code == ErrorCode::kNotFound) return ok();
  return removed.error().context("deleting " + path + " in the member");
}

Value owner_of(const std::string& cluster, const Value& role) {
  return Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                        {"kind", "ClusterRole"},
                        {"name", role_of(cluster)},
                        {"uid", role["metadata"]["uid"]}});
}

/// The object is removed with its owner.
Result<void> own(ServerConnection& member, const std::string& path, const Value& owner) {
  const Value metadata = Value::object({{"ownerReferences", Value::array({owner})}});
  const auto owned = member.merge_patch(path, Value::object({{"metadata", metadata}}));
  if (owned || owned.error().code == ErrorCode::kNotFound) return ok();
  return owned.error().context("making the ClusterRole " + owner["name"].str() + " the owner of " + path +
                               " in the member");
}

/// Null: it is not there.
Result<Value> present(ServerConnection& member, const std::string& path) {
  auto found = member.get(path);
  if (!found && found.error().code == ErrorCode::kNotFound) return Value{};
  return found;
}

/// Empty if the namespace is not there.
Result<Value> items_of(ServerConnection& member, const std::string& collection) {
  SHIPLOG_TRY(const Value list, present(member, collection));
  return list["items"];
}

/// What a member has in the namespace of the control plane's accounts.
struct MemberAccounts {
  Value space, accounts, secrets;

  /// Another control plane has an account there.
  bool shared(const std::string& cluster) const {
    return std::ranges::any_of(accounts.items(), [&](const Value& account) {
      const auto name = account["metadata"]["name"].as_string();
      return name.starts_with("karmada-") && name != kImpersonator && name != account_of(cluster);
    });
  }
  /// The Secrets with tokens of an account.
  std::vector<std::string> tokens_of(const std::string& account) const {
    std::vector<std::string> names;
    for (const Value& secret : secrets.items()) {
      const Value& metadata = secret["metadata"];
      if (metadata["annotations"]["kubernetes.io/service-account.name"].as_string() == account) {
        names.push_back(metadata["name"].str());
      }
    }
    return names;
  }
  /// A tool has made the namespace, and it has no other Secrets. With others it is in use: the member may itself be a
  /// control plane, whose members' they are.
  bool only_of(const std::string& cluster) const {
    return space["metadata"]["labels"]["karmada.io/system"].as_string() == "true" &&
           tokens_of(account_of(cluster)).size() + tokens_of(kImpersonator).size() == secrets.size();
  }
};

std::string decoded(const Value& text) { return base64_decode(text.as_string()).value_or(""); }

}  // namespace

std::string account_of(const std::string& cluster) { return "karmada-" + cluster; }
std::string role_of(const std::string& cluster) { return "karmada-controller-manager:" + account_of(cluster); }

Result<void> ensure_namespace(ServerConnection& server, const std::string& ns) {
  // Read first: a refused create would appear in the audit trail.
  const auto existing = server.get("/api/v1/namespaces/" + ns);
  if (existing) return ok();
  if (existing.error().code != ErrorCode::kNotFound) return existing.error();
  const auto created = server.create("/api/v1/namespaces", namespace_of(ns));
  if (created || created.error().code == ErrorCode::kAlreadyExists) return ok();
  return created.error().context("creating namespace " + ns);
}

Result<void> grant_access(ServerConnection& member, const std::string& cluster, const std::string& ns) {
  const Value everything = Value::object(
      {{"apiGroups", Value::array({"*"})}, {"resources", Value::array({"*"})}, {"verbs", Value::array({"*"})}});
  const Value paths = Value::object({{"nonResourceURLs", Value::array({"*"})}, {"verbs", Value::array({"get"})}});
  SHIPLOG_TRY(const Value role, ensure(member, kRoles,
                                       Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                                      {"kind", "ClusterRole"},
                                                      {"metadata", metadata(role_of(cluster))},
                                                      {"rules", Value::array({everything, paths})}})));
  const Value owner = owner_of(cluster, role);
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

Result<IssuedToken> issue_token(ServerConnection& member, const std::string& ns, const std::string& account_name) {
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
                                            (dropped ? "" : " Secret " + name + " remains in the member")};
    }
    std::this_thread::sleep_for(kTokenPoll);
    made = member.get(core(ns, "secrets") + "/" + name);
    if (!made) return made.error().context("reading the token of ServiceAccount " + account_name);
  }
}

Result<void> revoke_token(ServerConnection& member, const std::string& ns, const std::string& secret) {
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

Result<void> withdraw_access(ServerConnection& member, const std::string& cluster, const std::string& ns,
                             const std::string& impersonator_secret) {
  if (!impersonator_secret.empty()) {
    SHIPLOG_TRY(revoke_token(member, ns, impersonator_secret));
  }
  MemberAccounts found;
  const std::string space = "/api/v1/namespaces/" + ns;
  SHIPLOG_TRY(found.space, present(member, space));
  SHIPLOG_TRY(found.accounts, items_of(member, core(ns, "serviceaccounts")));
  SHIPLOG_TRY(found.secrets, items_of(member, core(ns, "secrets")));
  const std::string role_path = std::string{kRoles} + "/" + role_of(cluster);
  SHIPLOG_TRY(const Value role, present(member, role_path));

  std::vector<std::string> accounts = {account_of(cluster)};
  if (found.shared(cluster)) {
    SHIPLOG_TRY(disown(member, space, role_of(cluster)));
    SHIPLOG_TRY(disown(member, core(ns, "serviceaccounts") + "/" + kImpersonator, role_of(cluster)));
  } else {
    accounts.emplace_back(kImpersonator);
  }
  std::vector<std::string> paths = {std::string{kRoleBindings} + "/" + role_of(cluster)};
  for (const std::string& name : accounts) {
    paths.push_back(core(ns, "serviceaccounts") + "/" + name);
    for (const std::string& secret : found.tokens_of(name)) paths.push_back(core(ns, "secrets") + "/" + secret);
  }
  if (!found.shared(cluster) && found.only_of(cluster)) paths.push_back(space);
  for (const std::string& path : paths) {
    SHIPLOG_TRY(role.is_null() ? remove(member, path) : own(member, path, owner_of(cluster, role)));
  }
  return remove(member, role_path);
}

}  // namespace shiplog::ctl
