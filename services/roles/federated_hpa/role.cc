#include "services/roles/federated_hpa/role.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "events/base/json.h"
#include "events/state/answers.h"
#include "services/roles/federated_hpa/decide.h"
#include "services/roles/federated_hpa/limits.h"
#include "services/roles/federated_hpa/measuring.h"
#include "services/runtime/answer_limits.h"

namespace shiplog {
namespace {

using namespace federated_hpa;

/// A member that did not answer in time is not asked again for so long.
constexpr Millis kSilentFor{30'000};
/// After another writer was faster.
constexpr Millis kSoon{1'000};

void drop_old(std::vector<ReplicasAt>& list, UtcMillis now) {
  std::erase_if(list, [&](const ReplicasAt& each) { return now - each.at > kLongestWindow; });
}

class FederatedHpaRole final : public Role {
 public:
  explicit FederatedHpaRole(Members& members) : members_{members} {}

  std::string_view name() const override { return "federated-hpa"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kFleetOptionsType) return on_start(state, wake);
    if (change.object.type != kFederatedHpa) return;
    // Its own status is no reason to measure again.
    const bool edited = change.before["metadata"]["generation"] != change.after["metadata"]["generation"];
    if (change.removed() || change.created() || edited) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kFederatedHpa)) wake.push_back({kFederatedHpa, name.ns, name.name});
  }

  void on_stop() override {
    known_.clear();
    silent_.clear();
  }

  void reconcile(TaskPtr task) override {
    const State& state = task->state();
    const Object* object = state.find(task->key());
    if (object == nullptr || deleting(object->value) || !state.options().controller_on(kController)) {
      known_.erase(task->key());
      return task->done();
    }
    task->begin_trace();
    auto target = target_to_measure(state, task->key());
    if (!target) return decide_unmeasured(task);
    KnownScaling& known = known_[task->key()];
    // What was recommended for another target says nothing about this one.
    if (known.target != target->key) known = KnownScaling{target->key, {}, {}};
    if (known.recent.recommended.empty()) known.recent.recommended.push_back({task->now(), target->replicas});
    MeasuringPlan plan{std::move(*target), object->value["spec"]["metrics"], {}, silent(task->now()), task->trace()};
    if (plan.metrics.size() <= kMostMetrics) {
      plan.sources = metric_sources(state, task->key().ns.str(), plan.metrics);
    }
    const int64_t generation = object->value["metadata"]["generation"].as_int();
    measure(
        members_, std::move(plan), [task] { return task->now(); },
        [this, task, generation](ReplicasMeasured measured) { on_measured(task, generation, std::move(measured)); });
  }

 private:
  struct KnownScaling {
    ObjectKey target;
    RecentScaling recent;
    std::string selector;
  };

  std::set<std::string> silent(UtcMillis now) {
    std::set<std::string> names;
    std::erase_if(silent_, [&](const auto& each) { return now >= each.second; });
    for (const auto& [cluster, until] : silent_) names.insert(cluster);
    return names;
  }

  static std::function<void(Result<Revision>)> ended(const TaskPtr& task) {
    return [task](const Result<Revision>& appended) {
      if (appended) return task->done(kSyncEvery);
      appended.error().code == ErrorCode::kConflict ? task->done(kSoon) : task->retry(appended.error());
    };
  }

  static void decide_unmeasured(const TaskPtr& task) {
    ScalingStep step = evaluate(task->state(), task->key(), task->now(), nullptr);
    auto* decision = std::get_if<Decision>(&step.decided);
    if (decision == nullptr) return task->done(kSyncEvery);
    task->append_decision(std::move(*decision), ended(task));
  }

  std::vector<std::string> rivals(const State& state, const ObjectKey& key, const std::string& selector) const {
    std::vector<std::string> names;
    if (selector.empty()) return names;
    for (auto it = known_.lower_bound({kFederatedHpa, key.ns, ""}); it != known_.end() && it->first.ns == key.ns;
         ++it) {
      if (it->first != key && it->second.selector == selector && state.find(it->first) != nullptr) {
        names.push_back(it->first.name.str());
      }
    }
    return names;
  }

  void on_measured(const TaskPtr& task, int64_t generation, ReplicasMeasured measured) {
    const UtcMillis now = task->now();
    for (const std::string& cluster : measured.timed_out) silent_.insert_or_assign(cluster, now + kSilentFor);
    KnownScaling& known = known_[task->key()];
    known.selector = measured.selector;
    Measurement measurement;
    measurement.at = now;
    measurement.generation = generation;
    measurement.rivals = rivals(task->state(), task->key(), measured.selector);
    measurement.selector = std::move(measured.selector);
    measurement.recorded = recorded_at(task->state(), task->key());
    measurement.recent = known.recent;
    measurement.clusters = std::move(measured.clusters);
    const ScalingStep step = evaluate(task->state(), task->key(), now, &measurement);
    if (step.recommended) known.recent.recommended.push_back({now, *step.recommended});
    for (auto* list : {&known.recent.recommended, &known.recent.added, &known.recent.removed}) drop_old(*list, now);
    if (!std::holds_alternative<Decision>(step.decided)) return task->done(kSyncEvery);
    record(task, std::move(measurement));
  }

  static UtcMillis recorded_at(const State& state, const ObjectKey& key) {
    return UtcMillis{state.value_of(answers_key(key, kMeasureReplicas))["answers"][kNoQualifier]["at"].as_int()};
  }

  /// What was measured first, then what is decided by it: so a replay finds it.
  void record(const TaskPtr& task, Measurement measurement) {
    QuestionAnswered answered;
    answered.object = task->key();
    answered.operation = kMeasureReplicas;
    answered.asked = "members";
    answered.basis = kNoQualifier;
    const Value recorded = to_value(measurement);
    if (to_json(recorded).size() > kMostAnswerBytes) {
      return task->retry(Error{ErrorCode::kTooLarge, "what was measured does not fit into an entry: " +
                                                         std::to_string(measurement.clusters.size()) + " clusters"});
    }
    answered.answers = Value::object({{kNoQualifier, Value::object({{"answer", recorded}})}});
    Decision seen;
    seen.events.emplace_back(std::move(answered));
    task->append_observation(std::move(seen),
                             [this, task, measurement = std::move(measurement)](const Result<Revision>& appended) {
                               appended ? follow_measured(task, measurement) : ended(task)(appended);
                             });
  }

  void follow_measured(const TaskPtr& task, const Measurement& measurement) {
    ScalingStep step = evaluate(task->state(), task->key(), task->now(), &measurement);
    auto* decision = std::get_if<Decision>(&step.decided);
    if (decision == nullptr) return task->done(kSyncEvery);
    const int64_t change = step.new_replicas - step.replicas;
    task->append_decision(std::move(*decision), [this, task, change](const Result<Revision>& appended) {
      if (appended && change != 0) {
        KnownScaling& known = known_[task->key()];
        (change > 0 ? known.recent.added : known.recent.removed).push_back({task->now(), std::abs(change)});
      }
      ended(task)(appended);
    });
  }

  Members& members_;
  std::map<ObjectKey, KnownScaling> known_;
  std::map<std::string, UtcMillis> silent_;  // until when
};

}  // namespace

std::unique_ptr<Role> make_federated_hpa_role(Members& members) { return std::make_unique<FederatedHpaRole>(members); }

}  // namespace shiplog
