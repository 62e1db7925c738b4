#include "services/programs/member/controller.h"

#include <algorithm>

#include "services/programs/member/ownership.h"
#include "services/runtime/follow.h"

namespace shiplog::member {
namespace {

class ControllerRole final : public Role {
 public:
  explicit ControllerRole(Controller controller) : controller_{std::move(controller)} {}

  std::string_view name() const override { return controller_.name; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const auto& types = controller_.types;
    if (!change.removed() && std::ranges::find(types, change.object.type) != types.end()) wake.push_back(change.object);
    if (!controller_.owner_kind.empty()) {
      for (const Value* version : {&change.before, &change.after}) {
        const Value& owner = controller_of(*version);
        if (owner["kind"].as_string() == controller_.owner_kind) {
          wake.push_back({types.front(), change.object.ns, owner["name"].str()});
        }
      }
    }
    if (controller_.also_wake) controller_.also_wake(state, change, wake);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const std::string& type : controller_.types) {
      for (const auto& [name, object] : state.objects(type)) wake.push_back({type, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) -> Result<Decided> {
      SHIPLOG_TRY(Decided decided, controller_.decide(state, key, now));
      if (auto* decision = std::get_if<Decision>(&decided)) {
        decision->look_again = now;  // it may be the first of several
      } else if (controller_.look_again) {
        const Millis later = controller_.look_again(state, key, now);
        if (later.value > 0) return LookAgain{now + later};
      }
      return decided;
    };
    follow(decide, task);
  }

 private:
  Controller controller_;
};

}  // namespace

std::unique_ptr<Role> run_controller(Controller controller) {
  return std::make_unique<ControllerRole>(std::move(controller));
}

}  // namespace shiplog::member
