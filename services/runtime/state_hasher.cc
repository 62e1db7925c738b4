#include "services/runtime/state_hasher.h"

namespace shiplog {
namespace {

const ObjectKey kStateHash{"control", "", "state-hash"};

class Control final : public Role {
 public:
  explicit Control(uint64_t every) : every_{every} {}

  std::string_view name() const override { return "control"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.revision.value % every_ == 0) wake.push_back(kStateHash);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    if (state.revision().value > 0) wake.push_back(kStateHash);
  }

  void reconcile(TaskPtr task) override {
    const State& state = task->state();
    // An observation: what this replica came to. It decides nothing.
    Decision seen;
    seen.events = {StateHashed{state.revision(), state.hash()}};
    task->append_observation(std::move(seen), [task](Result<Revision> appended) {
      if (appended) return task->done();
      task->retry(appended.error());
    });
  }

 private:
  uint64_t every_;
};

}  // namespace

std::unique_ptr<Role> make_control_role(uint64_t hash_every_revisions) {
  return std::make_unique<Control>(hash_every_revisions == 0 ? 1 : hash_every_revisions);
}

}  // namespace shiplog
