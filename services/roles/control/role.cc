#include "services/roles/control/role.h"

#include "services/roles/control/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

const ObjectKey kStateHash{"control", "", "state-hash"};

class ControlRole final : public Role {
 public:
  explicit ControlRole(uint64_t every) : every_{every} {}

  std::string_view name() const override { return "control"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.revision.value % every_ == 0) wake.push_back(kStateHash);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    if (state.revision().value > 0) wake.push_back(kStateHash);
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [](const State& state, const ObjectKey&, UtcMillis) -> Result<Decided> {
      return control::decide(state);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const uint64_t every_;
};

}  // namespace

std::unique_ptr<Role> make_control_role(uint64_t hash_every_revisions) {
  return std::make_unique<ControlRole>(hash_every_revisions == 0 ? 1 : hash_every_revisions);
}

}  // namespace shiplog
