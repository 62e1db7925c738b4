#include "services/roles/ephemera_gc/role.h"

#include <algorithm>
#include <utility>

#include "services/roles/ephemera_gc/decide.h"
#include "services/runtime/append_without_lease.h"

namespace shiplog {
namespace {

constexpr Millis kUntilCaughtUp{1000};

class EphemeraGcRole final : public Role {
 public:
  EphemeraGcRole(Replica& ephemera, std::string user_agent) : ephemera_{ephemera}, user_agent_{std::move(user_agent)} {}

  std::string_view name() const override { return "ephemera-gc"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kNamespace && change.removed()) wake.push_back(change.object);
  }

  void on_start(const State&, std::vector<ObjectKey>& wake) override { wake.push_back(ephemera_gc::everything()); }

  void reconcile(TaskPtr task) override {
    if (!ephemera_.caught_up()) return task->done(kUntilCaughtUp);
    Decided decided = ephemera_gc::decide(task->state(), ephemera_.state(), task->key(), task->now());
    if (const auto* later = std::get_if<LookAgain>(&decided)) return task->done(later->at - task->now());
    auto* decision = std::get_if<Decision>(&decided);
    if (decision == nullptr) return task->done();
    EntryOrigin origin{
        .service = "ephemera-gc", .user_agent = user_agent_, .user = "system:shiplog:ephemera-gc", .time = task->now()};
    append_without_lease(ephemera_, std::move(origin), std::move(*decision), [task](const Result<Outcome>& outcome) {
      if (!outcome) return task->retry(outcome.error());
      const auto& refusal = outcome.value().refusal;
      refusal ? task->retry(Error{refusal->code, refusal->reason}) : task->done(Millis{1});
    });
  }

 private:
  Replica& ephemera_;
  const std::string user_agent_;
};

}  // namespace

std::unique_ptr<Role> make_ephemera_gc_role(Replica& ephemera, std::string user_agent) {
  return std::make_unique<EphemeraGcRole>(ephemera, std::move(user_agent));
}

}  // namespace shiplog
