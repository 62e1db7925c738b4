#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/state/state.h"

namespace shiplog::unified_auth {

/// The clusters whose proxy a ClusterRole permits to use.
struct ProxyScope {
  bool all = false;
  std::set<std::string> clusters;  ///< without `all`: these

  bool empty() const { return !all && clusters.empty(); }
  bool contains(const std::string& cluster) const { return all || clusters.contains(cluster); }
  bool operator==(const ProxyScope&) const = default;
};

/// By the rules of the ClusterRole (1.17.1). As upstream, verbs do not count: the proxy itself checks them.
ProxyScope proxy_scope(const Value& rules);

/// Who may use the proxy of which cluster, by ClusterRoles and ClusterRoleBindings: an index, so that a change of one
/// of them costs what it concerns. It depends on these objects alone, not on the order they were written in.
class ProxyGrants {
 public:
  /// By reading all of them.
  static ProxyGrants of(const State& state);
  /// Of a ClusterRole or ClusterRoleBinding; nothing else has an effect. Adds to `concerned` the clusters whose
  /// impersonation_rules() may be others now.
  void follow(const Change& change, ProxyScope& concerned);

  /// Of ClusterRole karmada-impersonator in the member: who may be impersonated, sorted, each once (1.17.2). Empty: as
  /// nobody.
  Value impersonation_rules(const std::string& cluster) const;

  bool operator==(const ProxyGrants&) const = default;

 private:
  /// By kind: User, ServiceAccount or Group.
  struct Subject {
    std::string kind, name;
    auto operator<=>(const Subject&) const = default;
  };
  using Subjects = std::set<Subject>;
  static Subjects subjects_from(const Value& binding);
  void put_role(const std::string& name, const Value& role);
  void put_binding(const std::string& name, const Value& binding);
  void drop_binding(const std::string& name, const Value& binding);

  std::map<std::string, ProxyScope> roles_;  ///< those that permit it, by name
  /// The ClusterRoleBindings of every ClusterRole: one may be permitted more later.
  std::map<std::string, std::map<std::string, Subjects>> bindings_;
};

}  // namespace shiplog::unified_auth
