#include "services/roles/quota/role.h"

#include "services/roles/quota/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

class QuotaRole final : public Role {
 public:
  std::string_view name() const override { return "quota"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kFederatedResourceQuota && !change.removed()) {
      if (change.before["spec"] != change.after["spec"]) wake.push_back(change.object);
      return;
    }
    if (change.object.type != type::kResourceBinding) return;
    const Value& before = change.before["spec"];
    const Value& after = change.after["spec"];
    if (before["clusters"] == after["clusters"] && before["replicaRequirements"] == after["replicaRequirements"])
      return;
    const auto& quotas = state.quotas();
    for (auto entry = quotas.lower_bound({change.object.ns, ""});
         entry != quotas.end() && entry->first.ns == change.object.ns; ++entry) {
      wake.push_back({type::kFederatedResourceQuota, entry->first.ns, entry->first.name});
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, quota] : state.quotas()) {
      wake.push_back({type::kFederatedResourceQuota, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override { follow(quota::decide, task); }
};

}  // namespace

std::unique_ptr<Role> make_quota_role() { return std::make_unique<QuotaRole>(); }

}  // namespace shiplog
