#include "services/programs/member/controller.h"

#include <algorithm>

#include "services/programs/member/ownership.h"

namespace shiplog::member {
namespace {

class ControllerService final : public Role {
 public:
  explicit ControllerService(Controller controller) : controller_{std::move(controller)} {}

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
    auto decided = controller_.decide(task->state(), task->key(), task->now());
    if (!decided) return task->retry(decided.error());
    if (!decided.value()) {
      if (!controller_.look_again) return task->done();
      return task->done(controller_.look_again(task->state(), task->key(), task->now()));
    }
    task->append_decision(std::move(*decided.value()), [task](Result<Revision> appended) {
      if (appended) return task->done(Millis{1});  // a decision may be the first of several
      task->retry(appended.error());
    });
  }

 private:
  Controller controller_;
};

}  // namespace

std::unique_ptr<Role> run_controller(Controller controller) {
  return std::make_unique<ControllerService>(std::move(controller));
}

}  // namespace shiplog::member
