#include "events/state/agent_identity.h"

namespace shiplog::agent_identity {
namespace {

constexpr std::string_view kRolePrefix = "system:karmada:";
constexpr const char* kClusterGroup = "cluster.karmada.io";
constexpr const char* kWorkGroup = "work.karmada.io";

std::string role_name(std::string_view cluster, std::string_view suffix) {
  return std::string{kRolePrefix} + std::string{cluster} + std::string{suffix};
}

}  // namespace

std::string user_of(std::string_view cluster) { return std::string{kUserPrefix} + std::string{cluster}; }

std::optional<std::string> cluster_of(std::string_view user) {
  if (!user.starts_with(kUserPrefix) || user == kRbacGenerator || user.size() == kUserPrefix.size()) {
    return std::nullopt;
  }
  return std::string{user.substr(kUserPrefix.size())};
}

std::string cluster_role_of(std::string_view cluster) { return role_name(cluster, ":agent"); }
std::string secret_role_of(std::string_view cluster) { return role_name(cluster, ":agent-secret"); }
std::string work_role_of(std::string_view cluster) { return role_name(cluster, ":agent-work"); }

std::optional<std::string> cluster_of_role(std::string_view role) {
  if (!role.starts_with(kRolePrefix)) return std::nullopt;
  role.remove_prefix(kRolePrefix.size());
  const size_t colon = role.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view suffix = role.substr(colon);
  if (suffix != ":agent" && suffix != ":agent-secret" && suffix != ":agent-work") return std::nullopt;
  return std::string{role.substr(0, colon)};
}

rbac::Rules cluster_rules(const std::string& cluster) {
  return {{{"get", "delete"}, {kClusterGroup}, {"clusters"}, {cluster}, {}},
          {{"create", "list", "watch"}, {kClusterGroup}, {"clusters"}, {}, {}},
          {{"update"}, {kClusterGroup}, {"clusters/status"}, {cluster}, {}},
          {{"get", "list", "watch"},
           {"config.karmada.io"},
           {"resourceinterpreterwebhookconfigurations", "resourceinterpretercustomizations"},
           {},
           {}},
          {{"get"}, {""}, {"namespaces"}, {}, {}},
          {{"get", "create", "update"}, {"coordination.k8s.io"}, {"leases"}, {}, {}},
          {{"get", "create"}, {"certificates.k8s.io"}, {"certificatesigningrequests"}, {}, {}},
          {{"list", "watch"}, {""}, {"services"}, {}, {}},
          {{"patch", "create", "update"}, {""}, {"events"}, {}, {}}};
}

rbac::Rules secret_rules(const std::string& cluster) {
  return {{{"get", "patch"}, {""}, {"secrets"}, {cluster, cluster + "-impersonator"}, {}},
          {{"create"}, {""}, {"secrets"}, {}, {}}};
}

rbac::Rules work_rules() {
  return {{{"get", "create", "list", "watch", "update", "delete"}, {kWorkGroup}, {"works"}, {}, {}},
          {{"patch", "update"}, {kWorkGroup}, {"works/status"}, {}, {}}};
}

}  // namespace shiplog::agent_identity
