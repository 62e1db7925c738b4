#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "events/state/cluster.h"

// What ResourceRegistries select. Pure.
namespace shiplog::api {

/// Objects of one kind of one cluster, of one namespace or of all: what is listed and watched together.
struct CachedScope {
  std::string cluster;
  std::string group, version, plural, kind;
  std::string ns;  ///< empty: all, or the kind has none
  bool namespaced = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// Of its version in a MultiVersion.
  std::string version_key() const { return ns.empty() ? cluster : cluster + "/" + ns; }
  /// "/apis/apps/v1/namespaces/default/deployments", without query.
  std::string path() const;
  auto operator<=>(const CachedScope&) const = default;
};

/// "apps/v1/deployments".
std::string resource_id(const Kind& kind);
std::string resource_id(const CachedScope& scope);

/// Of one kind, of all registries together: each namespace of each cluster is a list and a watch of its own. More are
/// left out, the last ones by name.
inline constexpr size_t kMostNamespaces = 64;

struct SearchPlan {
  /// resource_id() of what any registry names, also if no cluster is selected (6.4.2).
  std::set<std::string> registered;
  /// What is cached: by resource_id(), sorted by cluster and namespace.
  std::map<std::string, std::set<CachedScope>> scopes;
  /// How many namespaces of a kind are left out, as more than kMostNamespaces are selected: by resource_id().
  std::map<std::string, size_t> left_out;
  bool operator==(const SearchPlan&) const = default;
};

/// Kinds that `kinds` does not have are left out, and namespaces that are no DNS labels: they would be other paths of
/// the member. A cluster counts that exists, is not terminating and Ready (6.1.3), and reports the kind as served or
/// does not report what it serves (6.1.4).
SearchPlan search_plan(const std::vector<Value>& registries,
                       const std::vector<std::shared_ptr<const Cluster>>& clusters, const Kinds& kinds);

/// Whether two versions of a Cluster are the same as far as search_plan() reads them.
bool same_for_search(const Value& before, const Value& after);

}  // namespace shiplog::api
