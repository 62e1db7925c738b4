#include "services/roles/descheduler/role.h"

#include "events/state/binding.h"
#include "services/roles/descheduler/decide.h"
#include "services/runtime/follow.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

class DeschedulerRole final : public Role {
 public:
  DeschedulerRole(QuestionResolver* estimators, Millis estimators_have)
      : estimators_{estimators}, estimators_have_{estimators_have} {}

  std::string_view name() const override { return "descheduler"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kFleetOptionsType) return on_start(state, wake);
    if (change.object.type != type::kResourceBinding || change.removed()) return;
    if (estimators_ == nullptr || !descheduler::is_on(state)) return;
    // What members report is looked at when the interval is over: most of what is not ready soon is.
    if (change.before["metadata"]["generation"] == change.after["metadata"]["generation"] &&
        annotation_of(change.before, kAppliedPlacementAnnotation) ==
            annotation_of(change.after, kAppliedPlacementAnnotation)) {
      return;
    }
    if (descheduler::may_be_descheduled(change.after)) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    if (!descheduler::is_on(state)) return;
    if (estimators_ == nullptr) {
      log::warn("descheduler.idle", {log::kv("reason",
                                             "nothing is descheduled: it asks estimators, and this process has "
                                             "no --enable-scheduler-estimator")});
      return;
    }
    for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
      if (descheduler::may_be_descheduled(object.value)) wake.push_back({type::kResourceBinding, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override {
    follow([have = estimators_have_](const State& state, const ObjectKey& key,
                                     UtcMillis now) { return descheduler::decide_within(state, key, now, have); },
           task, {.resolver = estimators_});
  }

 private:
  QuestionResolver* const estimators_;
  const Millis estimators_have_;
};

}  // namespace

std::unique_ptr<Role> make_descheduler_role(QuestionResolver* estimators, Millis estimators_have) {
  return std::make_unique<DeschedulerRole>(estimators, estimators_have);
}

}  // namespace shiplog
