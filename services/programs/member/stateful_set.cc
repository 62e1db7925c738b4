#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/resource_quota.h"

namespace shiplog::member {
namespace {

/// "web-2" of StatefulSet "web" is 2.
std::optional<int64_t> ordinal_of(const std::string& set, std::string_view pod) {
  if (!pod.starts_with(set + "-")) return std::nullopt;
  int64_t ordinal = 0;
  const char* first = pod.data() + set.size() + 1;
  const char* last = pod.data() + pod.size();
  const auto read = std::from_chars(first, last, ordinal);
  if (read.ec != std::errc{} || read.ptr != last || ordinal < 0) return std::nullopt;
  return ordinal;
}

/// StatefulSetSync in the order of stateful_set_control.go: pods are created from the lowest ordinal, deleted from the
/// highest, and replaced from the highest, each only when the others are ready. There are no ControllerRevisions: a
/// recreated pod has the present template, regardless of `partition`.
class StatefulSetSync {
 public:
  StatefulSetSync(const State& state, const ObjectKey& key, const Object& object, UtcMillis now)
      : key_{key}, object_{object}, set_{object.value}, now_{now}, quotas_{state, key.ns} {
    const Value& spec = set_["spec"];
    first_ = spec["ordinals"]["start"].as_int();
    end_ = first_ + std::max<int64_t>(0, spec["replicas"].as_int(1));
    in_order_ = spec["podManagementPolicy"].as_string() != "Parallel";
    revision_ = key.name + "-" + template_hash(spec["template"]);
    for (const Owned& pod : controlled_by(state, set_, kPods)) {
      if (const auto ordinal = ordinal_of(key.name.str(), pod.key.name)) pods_.emplace(*ordinal, pod);
    }
  }

  Decided decide() {
    if (!deleting(set_)) {
      const bool well = fill();
      if (well || !in_order_) shrink();
      if (changes_.empty() && (well || !in_order_)) replace();
    }
    if (!changes_.empty()) {
      changes_.expect(key_, object_);
      quotas_.charge(changes_);
      return changes_.take();
    }
    report();
    return changes_.take();
  }

 private:
  bool available(const Owned& pod) const {
    return is_available(pod.object->value, set_["spec"]["minReadySeconds"].as_int(), now_);
  }
  bool is_new(const Owned& pod) const { return label_of(pod.object->value, kRevisionHash) == revision_; }

  /// True if every desired pod exists and is ready.
  bool fill() {
    bool well = true;
    for (int64_t ordinal = first_; ordinal < end_; ++ordinal) {
      if (changes_.size() >= kMostAtOnce || (in_order_ && !well)) return false;
      const auto found = pods_.find(ordinal);
      if (found == pods_.end()) {
        create(ordinal);
      } else if (has_finished(found->second.object->value)) {
        changes_.remove(found->second.key, *found->second.object);
      } else if (available(found->second)) {
        continue;
      }
      well = false;
    }
    return well;
  }

  void create(int64_t ordinal) {
    const std::string name = key_.name + "-" + std::to_string(ordinal);
    Value pod = new_pod(set_, name, set_["spec"]["template"]);
    Value& labels = pod.edit("metadata").edit("labels");
    labels.set(kRevisionHash, revision_);
    labels.set("statefulset.kubernetes.io/pod-name", name);
    labels.set("apps.kubernetes.io/pod-index", std::to_string(ordinal));
    pod.edit("metadata").set("generateName", key_.name + "-");
    pod.edit("spec").set("hostname", name);
    if (!set_["spec"]["serviceName"].is_empty()) pod.edit("spec").set("subdomain", set_["spec"]["serviceName"]);
    if (quotas_.admit(pod).empty()) changes_.create({kPods, key_.ns, name}, std::move(pod));
  }

  void shrink() {
    for (auto entry = pods_.rbegin(); entry != pods_.rend(); ++entry) {
      if (entry->first >= first_ && entry->first < end_) continue;
      if (changes_.size() >= kMostAtOnce) return;
      if (deleting(entry->second.object->value)) {
        if (in_order_) return;
        continue;
      }
      changes_.remove(entry->second.key, *entry->second.object);
      if (in_order_) return;
    }
  }

  void replace() {
    const Value& strategy = set_["spec"]["updateStrategy"];
    if (strategy["type"].as_string() == "OnDelete") return;
    const int64_t partition = std::max(first_, strategy["rollingUpdate"]["partition"].as_int());
    for (auto entry = pods_.rbegin(); entry != pods_.rend() && entry->first >= partition; ++entry) {
      if (!is_new(entry->second)) {
        if (!deleting(entry->second.object->value)) changes_.remove(entry->second.key, *entry->second.object);
        return;
      }
      if (!available(entry->second)) return;
    }
  }

  void report() {
    Value seen = set_;
    Value& status = seen.edit("status");
    std::string current = status["currentRevision"].str();
    if (current.empty()) current = revision_;
    int64_t ready = 0;
    int64_t well = 0;
    int64_t updated = 0;
    int64_t unchanged = 0;
    for (const auto& [ordinal, pod] : pods_) {
      ready += is_ready(pod.object->value) ? 1 : 0;
      well += available(pod) ? 1 : 0;
      updated += is_new(pod) ? 1 : 0;
      unchanged += label_of(pod.object->value, kRevisionHash) == current ? 1 : 0;
    }
    const auto all = static_cast<int64_t>(pods_.size());
    if (updated == all && ready == all) {
      current = revision_;
      unchanged = updated;
    }
    status.set("replicas", all);
    set_count(status, "readyReplicas", ready);
    status.set("availableReplicas", well);
    set_count(status, "currentReplicas", unchanged);
    set_count(status, "updatedReplicas", updated);
    status.set("currentRevision", current);
    status.set("updateRevision", revision_);
    status.set("collisionCount", 0);
    status.set("observedGeneration", set_["metadata"]["generation"].as_int());
    changes_.update_status(key_, object_, std::move(seen));
  }

  const ObjectKey& key_;
  const Object& object_;
  const Value& set_;
  UtcMillis now_;
  int64_t first_ = 0;
  int64_t end_ = 0;
  bool in_order_ = true;
  std::string revision_;
  std::map<int64_t, Owned> pods_;
  PodQuotas quotas_;
  Changes changes_;
};

}  // namespace

Result<Decided> decide_stateful_set(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  return StatefulSetSync{state, key, *object, now}.decide();
}

}  // namespace shiplog::member
