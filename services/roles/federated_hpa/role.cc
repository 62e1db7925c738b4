#include "services/roles/federated_hpa/role.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/answers.h"
#include "services/roles/federated_hpa/decide.h"
#include "services/roles/federated_hpa/limits.h"
#include "services/roles/federated_hpa/measuring.h"
#include "services/runtime/answer_limits.h"

namespace shiplog {
namespace {

using namespace federated_hpa;

/// After another writer was faster.
constexpr Millis kSoon{1'000};
/// Members may have the replicas of a template of that time: works have to be written and carried out.
constexpr Millis kTakenOverWithin{5 * 60 * 1000};

/// What was computed and done for one FederatedHPA.
struct KnownScaling {
  ObjectKey target;
  RecentScaling recent;
  std::string selector;
  std::vector<std::string> clusters;    // sorted
  std::vector<ReplicasAt> of_template;  // until when it had these replicas, oldest first

  void saw_template(int64_t replicas, UtcMillis now) {
    std::erase_if(of_template, [&](const ReplicasAt& each) { return now - each.at > kTakenOverWithin; });
    if (of_template.empty() || of_template.back().replicas != replicas) of_template.push_back({now, replicas});
    of_template.back().at = now;
  }
  int64_t most_of_template() const {
    return std::ranges::max_element(of_template, {}, &ReplicasAt::replicas)->replicas;
  }
  bool has_pods_of(const KnownScaling& other) const {
    return selector == other.selector && std::ranges::find_first_of(clusters, other.clusters) != clusters.end();
  }
};

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
    woken_together_.clear();
    for (const auto& [name, object] : state.objects(kFederatedHpa)) {
      wake.push_back({kFederatedHpa, name.ns, name.name});
      woken_together_.insert(wake.back());
    }
  }

  void on_stop() override {
    known_.clear();
    woken_together_.clear();
    reads_.forget_silence();
  }

  void reconcile(TaskPtr task) override {
    const State& state = task->state();
    const Object* object = state.find(task->key());
    const bool together = woken_together_.erase(task->key()) > 0;
    if (object == nullptr || deleting(object->value) || !state.options().controller_on(kController)) {
      known_.erase(task->key());
      return task->done();
    }
    task->begin_trace();
    auto target = target_to_measure(state, task->key());
    if (!target) return follow(task, evaluate(state, task->key(), task->now(), nullptr));
    // Each keeps its distance to the others from then on.
    if (together) return task->done(time_of(task->key()));
    measure(task, *object, *std::move(target));
  }

 private:
  /// Its place in the period.
  static Millis time_of(const ObjectKey& key) {
    return Millis{1 + static_cast<int64_t>(fnv1a32(to_string(key))) % kSyncEvery.value};
  }

  /// What was recommended for another target says nothing about this one.
  KnownScaling& known_of(const ObjectKey& key, const ObjectKey& target) {
    KnownScaling& known = known_[key];
    if (known.target != target) known = KnownScaling{target, {}, {}, {}, {}};
    return known;
  }

  void measure(const TaskPtr& task, const Object& object, ScalableTarget target) {
    const UtcMillis now = task->now();
    const State& state = task->state();
    KnownScaling& known = known_of(task->key(), target.key);
    if (known.recent.recommended.empty()) known.recent.recommended.push_back({now, target.replicas});
    // After a takeover the status is all that is known of an earlier template.
    if (known.of_template.empty()) known.saw_template(object.value["status"]["currentReplicas"].as_int(), now);
    known.saw_template(target.replicas, now);
    known.clusters = target.clusters;
    MeasuringPlan plan;
    plan.metrics = object.value["spec"]["metrics"];
    plan.sources = metric_sources(state, task->key().ns.str(), plan.metrics);
    plan.most_replicas = most_replicas(state, target, known.most_of_template());
    plan.target = std::move(target);
    plan.trace = task->trace();
    const int64_t generation = object.value["metadata"]["generation"].as_int();
    federated_hpa::measure(
        members_, reads_, std::move(plan), [task] { return task->now(); },
        [this, task, generation](ReplicasMeasured measured) { on_measured(task, generation, std::move(measured)); });
  }

  static std::function<void(Result<Revision>)> ended(const TaskPtr& task) {
    return [task](const Result<Revision>& appended) {
      if (appended) return task->done(kSyncEvery);
      appended.error().code == ErrorCode::kConflict ? task->done(kSoon) : task->retry(appended.error());
    };
  }

  std::vector<std::string> rivals(const State& state, const ObjectKey& key, const KnownScaling& own) const {
    std::vector<std::string> names;
    if (own.selector.empty()) return names;
    for (auto it = known_.lower_bound({kFederatedHpa, key.ns, ""}); it != known_.end() && it->first.ns == key.ns;
         ++it) {
      if (it->first != key && it->second.has_pods_of(own) && state.find(it->first) != nullptr) {
        names.push_back(it->first.name.str());
      }
    }
    return names;
  }

  void on_measured(const TaskPtr& task, int64_t generation, ReplicasMeasured measured) {
    const State& state = task->state();
    const UtcMillis now = task->now();
    KnownScaling& known = known_[task->key()];
    known.selector = measured.selector;
    keep_relevant(known.recent, state.value_of(task->key())["spec"], now);
    Measurement measurement;
    measurement.at = now;
    measurement.generation = generation;
    measurement.rivals = rivals(state, task->key(), known);
    measurement.selector = std::move(measured.selector);
    measurement.recorded = recorded_at(state, task->key());
    measurement.recent = known.recent;
    measurement.clusters = std::move(measured.clusters);
    const ScalingStep step = evaluate(state, task->key(), now, &measurement);
    if (step.recommended) known.recent.recommended.push_back({now, *step.recommended});
    if (!std::holds_alternative<Decision>(step.decided)) return task->done(kSyncEvery);
    record(task, std::move(measurement));
  }

  static UtcMillis recorded_at(const State& state, const ObjectKey& key) {
    return UtcMillis{state.value_of(answers_key(key, kMeasureReplicas))["answers"][kNoQualifier]["at"].as_int()};
  }

  /// What was measured first, then what is decided by it: so a replay finds it.
  void record(const TaskPtr& task, Measurement measurement) {
    if (!fit(measurement, kMostAnswerBytes)) {
      return task->retry(Error{ErrorCode::kTooLarge, "what was measured does not fit into an entry: " +
                                                         std::to_string(measurement.clusters.size()) + " clusters"});
    }
    QuestionAnswered answered;
    answered.object = task->key();
    answered.operation = kMeasureReplicas;
    answered.asked = "members";
    answered.basis = kNoQualifier;
    answered.answers = Value::object({{kNoQualifier, Value::object({{"answer", to_value(measurement)}})}});
    Decision seen;
    seen.events.emplace_back(std::move(answered));
    task->append_observation(std::move(seen),
                             [this, task, measurement = std::move(measurement)](const Result<Revision>& appended) {
                               if (!appended) return ended(task)(appended);
                               follow(task, evaluate(task->state(), task->key(), task->now(), &measurement));
                             });
  }

  /// Appends what was decided, if anything.
  void follow(const TaskPtr& task, ScalingStep step) {
    auto* decision = std::get_if<Decision>(&step.decided);
    if (decision == nullptr) return task->done(kSyncEvery);
    const int64_t change = step.new_replicas - step.replicas;
    task->append_decision(std::move(*decision), [this, task, change, was = step.replicas,
                                                 target = step.target](const Result<Revision>& appended) {
      if (appended && change != 0) {
        KnownScaling& known = known_of(task->key(), target);
        known.saw_template(was, task->now());
        (change > 0 ? known.recent.added : known.recent.removed).push_back({task->now(), std::abs(change)});
      }
      ended(task)(appended);
    });
  }

  Members& members_;
  MemberReads reads_;
  std::map<ObjectKey, KnownScaling> known_;
  /// Keys that became due at once, as at a start: reading for all of them at once would repeat itself every period.
  std::set<ObjectKey> woken_together_;
};

}  // namespace

std::unique_ptr<Role> make_federated_hpa_role(Members& members) { return std::make_unique<FederatedHpaRole>(members); }

}  // namespace shiplog
