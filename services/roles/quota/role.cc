#include "services/roles/quota/role.h"

#include "events/state/quota.h"
#include "events/state/static_quota.h"
#include "services/roles/quota/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

class QuotaRole final : public Role {
 public:
  std::string_view name() const override { return "quota"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kFederatedResourceQuota) {
      if (!change.removed() && change.before["spec"] != change.after["spec"]) wake.push_back(key);
    } else if (key.type == type::kWork) {
      const auto quota = quota_of_work(change.latest());
      if (quota && change.before["status"] != change.after["status"]) wake.push_back(*quota);
    } else if (key.type == kFeatureGatesType) {  // another usage counts
      on_start(state, wake);
    } else if (key.type == type::kResourceBinding && change.before["spec"] != change.after["spec"]) {
      const bool components = state.gates().multiple_pod_templates;
      if (usage_of(change.before, components) != usage_of(change.after, components)) wake_all_in(state, key.ns, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, quota] : state.quotas()) {
      wake.push_back({type::kFederatedResourceQuota, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override { follow(quota::decide, task); }

 private:
  static void wake_all_in(const State& state, std::string_view ns, std::vector<ObjectKey>& wake) {
    const auto& quotas = state.quotas();
    for (auto entry = quotas.lower_bound({ns, ""}); entry != quotas.end() && entry->first.ns == ns; ++entry) {
      wake.push_back({type::kFederatedResourceQuota, entry->first.ns, entry->first.name});
    }
  }
};

}  // namespace

std::unique_ptr<Role> make_quota_role() { return std::make_unique<QuotaRole>(); }

}  // namespace shiplog
