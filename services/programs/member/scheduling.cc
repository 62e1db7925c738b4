#include "services/programs/member/scheduling.h"

#include "services/programs/member/kinds.h"
#include "services/programs/member/pod_scheduler.h"
#include "services/runtime/follow.h"

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
    // A pod that was removed from its node or has finished frees capacity.
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
    const auto decide = [this](const State& state, const ObjectKey&, UtcMillis now) -> Result<Decided> {
      SHIPLOG_TRY(Decided decided, decide_scheduling(state, usage_, also_waiting_, now));
      if (auto* decision = std::get_if<Decision>(&decided)) {
        decision->look_again = now;
      } else {
        also_waiting_ = false;  // a pass without a decision has considered all waiting pods
      }
      return decided;
    };
    follow(decide, task);
  }

 private:
  static ObjectKey everything() { return {kNodes, "", ""}; }
  static bool holds_room(const Value& pod) {
    NodeUsage usage;
    usage.add(pod);
    return !pod.is_null() && !usage.requested.empty();
  }

  NodeUsage usage_;
  bool also_waiting_ = true;
};

}  // namespace

std::unique_ptr<Role> make_pod_scheduler() { return std::make_unique<PodScheduler>(); }

}  // namespace shiplog::member
