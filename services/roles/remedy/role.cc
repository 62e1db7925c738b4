#include "services/roles/remedy/role.h"

#include "services/roles/remedy/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using remedy::kRemedy;

void wake_all(const State& state, std::vector<ObjectKey>& wake) {
  for (const auto& [name, cluster] : state.objects(type::kCluster)) wake.push_back({type::kCluster, "", name.name});
}

class RemedyRole final : public Role {
 public:
  std::string_view name() const override { return "remedy"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kRemedy) return wake_all(state, wake);
    if (change.object.type != type::kCluster || change.removed()) return;
    const Value& before = change.before["status"];
    const Value& after = change.after["status"];
    if (before["conditions"] != after["conditions"] || before["remedyActions"] != after["remedyActions"]) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override { wake_all(state, wake); }

  void reconcile(TaskPtr task) override { follow(remedy::decide, task); }
};

}  // namespace

std::unique_ptr<Role> make_remedy_role() { return std::make_unique<RemedyRole>(); }

}  // namespace shiplog
