#include "services/roles/unified_auth/role.h"

#include "events/state/impersonation.h"
#include "services/roles/recreations.h"
#include "services/roles/unified_auth/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using unified_auth::ProxyGrants;
using unified_auth::ProxyScope;

bool is_impersonation_work(const ObjectKey& work, const std::string& cluster) {
  return work == impersonation_work("ClusterRole", cluster) ||
         work == impersonation_work("ClusterRoleBinding", cluster);
}

class UnifiedAuthRole final : public Role {
 public:
  std::string_view name() const override { return "unified-auth"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kCluster) {
      const bool same = change.before["spec"]["impersonatorSecretRef"] == change.after["spec"]["impersonatorSecretRef"];
      if (!change.removed() && (change.created() || !same)) wake.push_back(key);
    } else if (key.type == type::kNamespace) {
      if (change.created()) wake_cluster(state, cluster_of_space(key.name), wake);
    } else if (key.type == type::kWork) {
      if (change.removed()) recreations_.removed(state, change);
      on_work(state, change, wake);
    } else {
      ProxyScope concerned;
      grants_.follow(change, concerned);
      wake_clusters(state, concerned, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    grants_ = ProxyGrants::of(state);
    wake_clusters(state, {.all = true, .clusters = {}}, wake);
  }

  void on_stop() override { recreations_ = {}; }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      return recreations_.hold_back(unified_auth::decide_with(state, grants_, key, now), now);
    };
    follow(decide, task);
  }

 private:
  static void wake_cluster(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
    if (!cluster.empty() && state.cluster(cluster) != nullptr) wake.push_back({type::kCluster, "", cluster});
  }

  static void wake_clusters(const State& state, const ProxyScope& concerned, std::vector<ObjectKey>& wake) {
    if (!concerned.all) {
      for (const std::string& cluster : concerned.clusters) wake_cluster(state, cluster, wake);
      return;
    }
    for (const auto& [name, cluster] : state.clusters()) wake.push_back({type::kCluster, "", name});
  }

  // What others changed or deleted is restored; its status alone is no reason to look.
  static void on_work(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.created() || !change.object.name.starts_with(kImpersonator)) return;
    if (!change.removed() && change.before["spec"] == change.after["spec"] &&
        change.before["metadata"]["ownerReferences"] == change.after["metadata"]["ownerReferences"]) {
      return;
    }
    const std::string cluster = cluster_of_space(change.object.ns);
    if (is_impersonation_work(change.object, cluster)) wake_cluster(state, cluster, wake);
  }

  /// Current from on_start() on, which is before anything is reconciled.
  ProxyGrants grants_;
  Recreations recreations_;
};

}  // namespace

std::unique_ptr<Role> make_unified_auth_role() { return std::make_unique<UnifiedAuthRole>(); }

}  // namespace shiplog
