#include "services/programs/member/scheduling.h"

#include "services/programs/member/kinds.h"
#include "services/programs/member/pod_scheduler.h"

namespace shiplog::member {
namespace {

class PodScheduler final : public Role {
 public:
  std::string_view name() const override { return "pod-scheduler"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kNodes) {
      also_waiting_ = true;
      wake.push_back(everything());
      return;
    }
    if (change.object.type != kPods) return;
    if (!change.created()) usage_.remove(change.before);
    if (!change.removed()) usage_.add(change.after);
    // Room came about where a pod left its node or has finished.
    const bool freed = holds_room(change.before) && !holds_room(change.after);
    also_waiting_ = also_waiting_ || freed;
    if (freed || !usage_.fresh.empty()) wake.push_back(everything());
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    usage_ = usage_of_nodes(state);
    also_waiting_ = true;
    wake.push_back(everything());
  }

  void reconcile(TaskPtr task) override {
    // A pass that decides nothing has looked at all that waits.
    const bool also_waiting = also_waiting_;
    auto decided = decide_scheduling(task->state(), usage_, also_waiting, task->now());
    if (!decided) return task->retry(decided.error());
    if (!decided.value()) {
      also_waiting_ = false;
      return task->done();
    }
    task->append_decision(std::move(*decided.value()), [task](Result<Revision> appended) {
      if (appended) return task->done(Millis{1});
      task->retry(appended.error());
    });
  }

 private:
  static ObjectKey everything() { return {kNodes, "", ""}; }
  static bool holds_room(const Value& pod) {
    Usage usage;
    usage.add(pod);
    return !pod.is_null() && !usage.requested.empty();
  }

  Usage usage_;
  bool also_waiting_ = true;
};

}  // namespace

std::unique_ptr<Role> make_pod_scheduler() { return std::make_unique<PodScheduler>(); }

}  // namespace shiplog::member
