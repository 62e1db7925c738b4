#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

constexpr const char* kTemplateHash = "pod-template-hash";
constexpr const char* kRevision = "deployment.kubernetes.io/revision";

/// A ReplicaSet of the Deployment, as it is and as it should be.
struct RolloutSet {
  ObjectKey key;
  const Object* object = nullptr;  // null: to be created
  Value value;
  int64_t wanted = 0;  // spec.replicas, from now on
  int64_t pods = 0;
  int64_t ready = 0;
  int64_t available = 0;
};

int64_t revision_of(const Value& object) {
  const std::string_view text = annotation_of(object, kRevision);
  int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

Value without_hash(Value pod_template) {
  if (!pod_template["metadata"]["labels"].contains(kTemplateHash)) return pod_template;
  pod_template.edit("metadata").edit("labels").erase(kTemplateHash);
  return pod_template;
}

/// One Deployment, read once, and the steps towards its spec.
class Rollout {
 public:
  Rollout(const State& state, const ObjectKey& key, const Object& object, UtcMillis now)
      : state_{state}, key_{key}, object_{object}, deployment_{object.value}, now_{now} {
    const Value& spec = deployment_["spec"];
    desired_ = std::max<int64_t>(0, spec["replicas"].as_int(1));
    recreate_ = spec["strategy"]["type"].as_string() == "Recreate";
    const Value& rolling = spec["strategy"]["rollingUpdate"];
    surge_ = scaled(rolling["maxSurge"], desired_, true, (desired_ + 3) / 4);
    max_unavailable_ = std::min(desired_, scaled(rolling["maxUnavailable"], desired_, false, desired_ / 4));
    if (surge_ == 0 && max_unavailable_ == 0) max_unavailable_ = 1;  // otherwise the rollout could not progress
    if (recreate_) surge_ = max_unavailable_ = 0;
    for (const Owned& owned : controlled_by(state, deployment_, kReplicaSets)) {
      if (!deleting(owned.object->value)) sets_.push_back(read(owned.key, *owned.object));
    }
  }

  Result<Decided> decide() {
    const bool paused = deployment_["spec"]["paused"].as_bool();
    find_fresh();
    if (!paused) {
      if (recreate_) {
        if (!recreate_old_gone()) return finish(paused);
      }
      if (fresh_ == kNone) make_fresh();
      number_revision();
    }
    scale(paused);
    if (!paused) forget_old();
    return finish(paused);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  static RolloutSet read(const ObjectKey& key, const Object& object) {
    const Value& status = object.value["status"];
    RolloutSet set{.key = key, .object = &object, .value = object.value};
    set.wanted = object.value["spec"]["replicas"].as_int(1);
    set.pods = status["replicas"].as_int();
    set.ready = status["readyReplicas"].as_int();
    set.available = status["availableReplicas"].as_int();
    return set;
  }

  bool old(size_t index) const { return index != fresh_; }
  int64_t total() const {
    int64_t sum = 0;
    for (const RolloutSet& set : sets_) sum += set.wanted;
    return sum;
  }

  /// The ReplicaSet of the present template; the oldest if there are several.
  void find_fresh() {
    const Value wanted = without_hash(deployment_["spec"]["template"]);
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (without_hash(sets_[i].value["spec"]["template"]) != wanted) continue;
      const auto created = [&](size_t at) { return sets_[at].value["metadata"]["creationTimestamp"].as_string(); };
      if (fresh_ == kNone || created(i) < created(fresh_)) fresh_ = i;
    }
  }

  /// Recreate: old pods are deleted before new ones are created.
  bool recreate_old_gone() {
    bool gone = true;
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (!old(i)) continue;
      sets_[i].wanted = 0;
      gone = gone && controlled_by(state_, sets_[i].value, kPods).empty();
    }
    return gone;
  }

  void make_fresh() {
    const Value& pod_template = deployment_["spec"]["template"];
    RolloutSet set;
    std::string hash;
    for (int64_t collisions = 0;; ++collisions) {
      hash = template_hash(pod_template, collisions);
      set.key = {kReplicaSets, key_.ns, key_.name + "-" + hash};
      const Value& existing = state_.value_of(set.key);
      if (existing.is_null()) break;
      // An orphan: adopted rather than duplicated.
      if (!deleting(existing) && controller_of(existing).is_null() &&
          without_hash(existing["spec"]["template"]) == without_hash(pod_template)) {
        set = read(set.key, *state_.find(set.key));
        set.value.edit("metadata").edit("ownerReferences").push_back(controller_reference(deployment_));
        fresh_ = sets_.size();
        sets_.push_back(std::move(set));
        return;
      }
    }
    Value labelled = pod_template;
    labelled.edit("metadata").edit("labels").set(kTemplateHash, hash);
    Value selector = deployment_["spec"]["selector"];
    selector.edit("matchLabels").set(kTemplateHash, hash);
    Value annotations = deployment_["metadata"]["annotations"];
    annotations.edit(kRevision);
    annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    Value spec = Value::object({{"replicas", 0}, {"selector", selector}, {"template", labelled}});
    if (!deployment_["spec"]["minReadySeconds"].is_empty()) {
      spec.set("minReadySeconds", deployment_["spec"]["minReadySeconds"]);
    }
    set.value = Value::object(
        {{"apiVersion", "apps/v1"},
         {"kind", "ReplicaSet"},
         {"metadata", Value::object({{"name", set.key.name},
                                     {"namespace", key_.ns},
                                     {"generation", 1},
                                     {"labels", labelled["metadata"]["labels"]},
                                     {"annotations", annotations},
                                     {"ownerReferences", Value::array({controller_reference(deployment_)})}})},
         {"spec", spec},
         {"status", Value::object({{"replicas", 0}})}});
    fresh_ = sets_.size();
    sets_.push_back(std::move(set));
  }

  /// `kubectl rollout history` and `undo` use these numbers: a rollback to an old template makes it the newest
  /// revision.
  void number_revision() {
    int64_t newest_old = 0;
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (old(i)) newest_old = std::max(newest_old, revision_of(sets_[i].value));
    }
    if (revision_of(sets_[fresh_].value) > newest_old) return;
    sets_[fresh_].value.edit("metadata").edit("annotations").set(kRevision, std::to_string(newest_old + 1));
  }

  void scale(bool paused) {
    if (paused) {
      // Only a change of the size: with one active ReplicaSet it applies to that one.
      if (std::ranges::count_if(sets_, [](const RolloutSet& set) { return set.wanted > 0; }) > 1) return;
      const auto active = std::ranges::find_if(sets_, [](const RolloutSet& set) { return set.wanted > 0; });
      if (active != sets_.end())
        active->wanted = desired_;
      else if (fresh_ != kNone)
        sets_[fresh_].wanted = desired_;
      return;
    }
    RolloutSet& fresh = sets_[fresh_];
    if (recreate_ || fresh.wanted > desired_) {
      fresh.wanted = desired_;
    } else {
      const int64_t addable = std::max<int64_t>(0, desired_ + surge_ - total());
      fresh.wanted += std::min(addable, desired_ - fresh.wanted);
    }
    if (!recreate_) scale_old_down(fresh);
  }

  /// As far as maxUnavailable allows: unavailable pods first, then available ones.
  void scale_old_down(const RolloutSet& fresh) {
    const int64_t least = desired_ - max_unavailable_;
    int64_t spare = total() - least - std::max<int64_t>(0, fresh.wanted - fresh.available);
    const auto working = [](const RolloutSet& set) { return std::min(set.available, set.wanted); };
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (!old(i)) continue;
      const int64_t broken = std::clamp<int64_t>(sets_[i].wanted - sets_[i].available, 0, std::max<int64_t>(0, spare));
      sets_[i].wanted -= broken;
      spare -= broken;
    }
    int64_t available = 0;
    for (const RolloutSet& set : sets_) available += working(set);
    spare = std::min(spare, available - least);
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (!old(i)) continue;
      const int64_t down = std::clamp<int64_t>(spare, 0, sets_[i].wanted);
      sets_[i].wanted -= down;
      spare -= down;
    }
  }

  bool complete() const {
    return fresh_ != kNone && sets_[fresh_].available == desired_ && sets_[fresh_].pods == desired_ &&
           std::ranges::all_of(sets_, [&](const RolloutSet& set) { return &set == &sets_[fresh_] || set.pods == 0; });
  }

  void forget_old() {
    if (!complete()) return;
    std::vector<const RolloutSet*> idle;
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (old(i) && sets_[i].wanted == 0 && sets_[i].pods == 0) idle.push_back(&sets_[i]);
    }
    std::ranges::stable_sort(idle, {}, [](const RolloutSet* set) { return revision_of(set->value); });
    const auto keep = static_cast<size_t>(std::max<int64_t>(0, deployment_["spec"]["revisionHistoryLimit"].as_int(10)));
    for (size_t i = 0; i + keep < idle.size(); ++i) changes_.remove(idle[i]->key, *idle[i]->object);
  }

  Result<Decided> finish(bool paused) {
    bool created = false;
    for (size_t i = 0; i < sets_.size(); ++i) {
      RolloutSet& set = sets_[i];
      if (set.object == nullptr || set.wanted != set.object->value["spec"]["replicas"].as_int(1)) {
        set.value.edit("spec").set("replicas", set.wanted);
        Value& annotations = set.value.edit("metadata").edit("annotations");
        annotations.set("deployment.kubernetes.io/desired-replicas", std::to_string(desired_));
        annotations.set("deployment.kubernetes.io/max-replicas", std::to_string(desired_ + surge_));
      }
      if (set.object == nullptr) {
        created = true;
        changes_.create(set.key, set.value);
      } else {
        changes_.update(set.key, *set.object, set.value);
      }
    }
    report(paused, created);
    return changes_.take();
  }

  void report(bool paused, bool created) {
    Value seen = deployment_;
    if (fresh_ != kNone && !annotation_of(sets_[fresh_].value, kRevision).empty()) {
      seen.edit("metadata").edit("annotations").set(kRevision, annotation_of(sets_[fresh_].value, kRevision));
    }
    Value& status = seen.edit("status");
    int64_t pods = 0;
    int64_t ready = 0;
    int64_t available = 0;
    for (const RolloutSet& set : sets_) {
      pods += set.pods;
      ready += set.ready;
      available += set.available;
    }
    const int64_t updated = fresh_ == kNone ? 0 : sets_[fresh_].pods;
    status.set("observedGeneration", deployment_["metadata"]["generation"].as_int());
    set_count(status, "replicas", pods);
    set_count(status, "updatedReplicas", updated);
    set_count(status, "readyReplicas", ready);
    set_count(status, "availableReplicas", available);
    set_count(status, "unavailableReplicas", std::max<int64_t>(0, std::max(pods, total()) - available));

    if (available >= desired_ - max_unavailable_) {
      set_if_changed(status, "Available", {"True", "MinimumReplicasAvailable", "Deployment has minimum availability."});
    } else {
      set_if_changed(status, "Available",
                     {"False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."});
    }
    report_progress(status, paused, created, {updated, pods - updated, ready, available});
    report_failure(status);
    // The revision number is set together with the status, so that it does not count as a change of the spec.
    changes_.update_status(key_, object_, std::move(seen));
  }

  struct Counts {
    int64_t updated, old, ready, available;
  };

  // Source: progress.go. "Progressing" is true while the rollout progresses and after it has completed.
  void report_progress(Value& status, bool paused, bool created, const Counts& counts) {
    const Value before = condition_of(deployment_, "Progressing");
    const std::string_view reason = before["reason"].as_string();
    if (paused) return set_if_changed(status, "Progressing", {"Unknown", "DeploymentPaused", "Deployment is paused"});
    const std::string set =
        fresh_ == kNone ? "Deployment \"" + key_.name + "\"" : "ReplicaSet \"" + sets_[fresh_].key.name + "\"";
    if (created) {
      const std::string message = "Created new replica set \"" + sets_[fresh_].key.name + "\"";
      return set_if_changed(status, "Progressing", {"True", "NewReplicaSetCreated", message});
    }
    // Once complete, it stays complete while pods of the same template are replaced.
    if (counts.old == 0 && reason == "NewReplicaSetAvailable" && before["message"].as_string().starts_with(set + " ")) {
      return;
    }
    if (complete()) {
      return set_if_changed(status, "Progressing",
                            {"True", "NewReplicaSetAvailable", set + " has successfully progressed."});
    }
    const Value& was = deployment_["status"];
    const int64_t old_before = was["replicas"].as_int() - was["updatedReplicas"].as_int();
    const bool moved = counts.updated > was["updatedReplicas"].as_int() || counts.old < old_before ||
                       counts.ready > was["readyReplicas"].as_int() ||
                       counts.available > was["availableReplicas"].as_int();
    if (moved || before.is_null() || reason == "DeploymentPaused" || reason == "NewReplicaSetAvailable") {
      const std::string message = set + " is progressing.";
      set_if_changed(status, "Progressing", {"True", "ReplicaSetUpdated", message});
      // Progress without a change of the message restarts the deadline.
      edit_condition(status, "Progressing").set("lastUpdateTime", rfc3339(now_));
      return;
    }
    if (look_again_deployment(state_, key_, now_).value == 0) {
      set_if_changed(status, "Progressing", {"False", "ProgressDeadlineExceeded", set + " has timed out progressing."});
    }
  }

  /// Why pods cannot be created: of the present ReplicaSet, else of an old one. Source: progress.go,
  /// getReplicaFailures.
  void report_failure(Value& status) {
    constexpr std::string_view kType = "ReplicaFailure";
    const auto failure_of = [&](const RolloutSet& set) { return condition_of(set.value, kType); };
    Value failure = fresh_ == kNone ? Value{} : failure_of(sets_[fresh_]);
    for (const RolloutSet& set : sets_) {
      if (failure.is_null()) failure = failure_of(set);
    }
    if (failure.is_null()) return remove_condition(status, kType);
    set_if_changed(status, kType,
                   {failure["status"].as_string(), failure["reason"].as_string(), failure["message"].as_string()});
  }

  void set_if_changed(Value& status, std::string_view type, const ConditionFields& fields) {
    const Value before = condition_of(Value::object({{"status", status}}), type);
    if (before["status"].as_string() == fields.status && before["reason"].as_string() == fields.reason &&
        before["message"].as_string() == fields.message) {
      return;
    }
    set_condition(status, type, fields, now_);
    edit_condition(status, type).set("lastUpdateTime", rfc3339(now_));
  }

  const State& state_;
  const ObjectKey& key_;
  const Object& object_;
  const Value& deployment_;
  UtcMillis now_;
  int64_t desired_ = 0;
  int64_t surge_ = 0;
  int64_t max_unavailable_ = 0;
  bool recreate_ = false;
  std::vector<RolloutSet> sets_;
  size_t fresh_ = kNone;  // index of the ReplicaSet of the present template
  Changes changes_;
};

}  // namespace

Result<Decided> decide_deployment(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  return Rollout{state, key, *object, now}.decide();
}

Millis look_again_deployment(const State& state, const ObjectKey& key, UtcMillis now) {
  const Value& deployment = state.value_of(key);
  const Value& progress = condition_of(deployment, "Progressing");
  const std::string_view reason = progress["reason"].as_string();
  if (reason != "NewReplicaSetCreated" && reason != "ReplicaSetUpdated") return Millis{0};
  const auto since = parse_rfc3339(progress["lastUpdateTime"].as_string());
  if (!since) return Millis{0};
  const int64_t deadline = deployment["spec"]["progressDeadlineSeconds"].as_int(600);
  return Millis{std::max<int64_t>(0, (since.value() + Millis{deadline * 1000} - now).value)};
}

}  // namespace shiplog::member
