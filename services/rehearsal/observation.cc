#include "services/rehearsal/observation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/bound_template.h"
#include "events/state/condition.h"
#include "events/state/placement.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"

namespace shiplog {
namespace {

/// An event that follows the last one of its group by no more than this joins the group.
constexpr Millis kJoins{15'000};

std::vector<Target> targets_of(const Value& spec) {
  std::vector<Target> targets;
  for (const Value& item : spec["clusters"].items()) targets.push_back({item["name"].str(), item["replicas"].as_int()});
  std::ranges::sort(targets);
  return targets;
}

std::string named(const ObjectKey& binding, const Value& value) {
  const Value& resource = value["spec"]["resource"];
  const std::string name = resource["name"].str();
  return binding.ns.empty() ? name : binding.ns + "/" + name;
}

std::string targets_text(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) {
    text += (text.empty() ? "" : ", ") + target.cluster;
    if (target.replicas > 0) text += ":" + std::to_string(target.replicas);
  }
  return text.empty() ? "no cluster" : text;
}

const Value& status_in(const Value& work, const Value& resource) {
  static const Value kNone;
  for (const Value& entry : work["status"]["manifestStatuses"].items()) {
    const Value& identifier = entry["identifier"];
    if (identifier["kind"] == resource["kind"] && identifier["name"] == resource["name"] &&
        identifier["namespace"].as_string() == resource["namespace"].as_string()) {
      return entry;
    }
  }
  return kNone;
}

std::string counted(size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

RehearsalObservation::RehearsalObservation(const State& state, UtcMillis began, std::set<std::string> lost,
                                           std::set<std::string> hit)
    : state_{state}, began_{began}, lost_{std::move(lost)}, hit_{std::move(hit)}, last_change_{began} {
  for (const auto& [name, quota] : state.quotas()) {
    quota_used_before_.emplace(ObjectKey{type::kFederatedResourceQuota, name.ns, name.name},
                               to_value(state.quota_usage(name.ns)));
  }
}

std::string RehearsalObservation::Group::text() const {
  if (row.count == 1) return first;
  const std::string of = clusters.empty() ? "" : " (" + counted(clusters.size(), "cluster", "clusters") + ")";
  const std::string number = std::to_string(row.count);
  if (row.kind == "fails") return number + " clusters stop answering";
  if (row.kind == "not-ready") return number + " clusters are reported not ready" + detail;
  if (row.kind == "ready") return number + " clusters are ready again";
  if (row.kind == "tainted") return counted(clusters.size(), "cluster gets", "clusters get") + " the taint " + detail;
  if (row.kind == "untainted") {
    return counted(clusters.size(), "cluster loses", "clusters lose") + " the taint " + detail;
  }
  if (row.kind == "evicted") return number + " evictions" + of + "; first: " + first;
  if (row.kind == "eviction-ended") return number + " evictions end: " + detail;
  if (row.kind == "placed") return number + " placements; first: " + first;
  if (row.kind == "healthy") return number + " workloads are healthy; first: " + first;
  return number + " times: " + first;
}

void RehearsalObservation::note(UtcMillis now, const char* kind, const std::string& cluster, const std::string& what,
                                const std::string& detail) {
  last_change_ = now;
  const auto open = open_.find(kind + ("|" + detail));
  if (open != open_.end()) {
    Group& group = groups_[open->second];
    if (since(now).value - group.row.until.value <= kJoins.value) {
      group.row.until = since(now);
      ++group.row.count;
      if (!cluster.empty()) group.clusters.insert(cluster);
      return;
    }
  }
  Group group;
  group.row = {since(now), since(now), kind, 1, ""};
  group.first = what;
  group.detail = detail;
  if (!cluster.empty()) group.clusters.insert(cluster);
  open_.insert_or_assign(kind + ("|" + detail), groups_.size());
  groups_.push_back(std::move(group));
}

void RehearsalObservation::follow(const ObjectKey& binding, const Value& before, UtcMillis now) {
  const auto [at, made] = rows_.try_emplace(binding);
  if (!made) return;
  Row& row = at->second;
  const Value& resource = before["spec"]["resource"];
  row.workload.binding = binding;
  row.workload.kind = resource["kind"].str();
  row.workload.ns = resource["namespace"].str();
  row.workload.name = resource["name"].str();
  row.workload.replicas = before["spec"]["replicas"].as_int();
  row.workload.before = row.placed = targets_of(before["spec"]);
  row.workload.hit =
      std::ranges::any_of(row.workload.before, [&](const Target& target) { return hit_.contains(target.cluster); });
  row.attached = before["spec"]["placement"].is_null() && before["spec"]["requiredBy"].size() > 0;
  if (const auto bound = bound_template(state_, binding, resource); bound && bound.value()) {
    const Value& object = state_.value_of(*bound.value());
    const auto known = interpreter::health(state_, object, now);
    row.expects_health = !object.is_null() && known && known.value().has_value();
  }
  // As long as nothing is known of it, it counts as healthy and staying.
  judge(binding, row, now);
}

bool RehearsalObservation::leaving(const Value& spec) const {
  if (spec["gracefulEvictionTasks"].size() > 0) return true;
  return std::ranges::any_of(spec["clusters"].items(),
                             [&](const Value& target) { return hit_.contains(target["name"].str()); });
}

/// On all its clusters what is placed there now is applied, and healthy.
bool RehearsalObservation::healthy(const ObjectKey& binding, const Row& row) const {
  const Value& value = state_.value_of(binding);
  const Value& spec = value["spec"];
  if (spec["clusters"].size() == 0) return row.workload.before.empty();
  if (condition_of(value, "Scheduled")["status"].as_string() == "False") return false;
  const char* id_label = binding.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  const auto id = label_of(value, id_label);
  for (const Value& target : spec["clusters"].items()) {
    const std::string cluster = target["name"].str();
    if (lost_.contains(cluster)) return false;
    const std::string space = execution_space(cluster);
    bool good = false;
    for (const ObjectKey& key : state_.labelled(id_label, id)) {
      if (key.type != type::kWork || key.ns != space) continue;
      const Value& work = state_.value_of(key);
      const auto health = status_in(work, spec["resource"])["health"].as_string();
      good = good || (applied(work) && (row.expects_health ? health == "Healthy" : health != "Unhealthy"));
    }
    if (!good) return false;
  }
  return true;
}

void RehearsalObservation::judge(const ObjectKey& binding, Row& row, UtcMillis now) {
  if (row.attached) return;
  const Value& value = state_.value_of(binding);
  const bool is_healthy = healthy(binding, row);
  const bool is_leaving = !value.is_null() && leaving(value["spec"]);
  if (is_healthy == row.is_healthy && is_leaving == row.is_leaving) {
    if (!is_healthy || row.workload.healthy) return;
  }
  unhealthy_ = unhealthy_ + (is_healthy ? 0 : 1) - (row.is_healthy ? 0 : 1);
  leaving_ = leaving_ + (is_leaving ? 1 : 0) - (row.is_leaving ? 1 : 0);
  const bool became = is_healthy && !row.is_healthy;
  row.is_healthy = is_healthy;
  row.is_leaving = is_leaving;
  if (!is_healthy) {
    row.workload.healthy.reset();
  } else if (!row.workload.healthy) {
    row.workload.healthy = since(now);
  }
  if (became) note(now, "healthy", "", named(binding, value) + " is healthy");
  sample(now);
}

void RehearsalObservation::sample(UtcMillis now) {
  last_change_ = now;
  if (unhealthy_ > 0) {
    all_healthy_.reset();
  } else if (!all_healthy_) {
    all_healthy_ = now;
  }
  const HealthSample sample{since(now), rows_.size() - unhealthy_, leaving_, unhealthy_};
  if (!health_.empty() && health_.back().at == sample.at) {
    health_.back() = sample;
  } else {
    health_.push_back(sample);
  }
}

void RehearsalObservation::judge_of_work(const Value& work, UtcMillis now) {
  for (const char* id_label : {label::kBindingId, label::kClusterBindingId}) {
    const auto id = label_of(work, id_label);
    if (id.empty()) continue;
    for (const ObjectKey& key : state_.labelled(id_label, id)) {
      const auto row = is_binding(key.type) ? rows_.find(key) : rows_.end();
      if (row != rows_.end()) judge(key, row->second, now);
    }
  }
}

void RehearsalObservation::on_folded(const Entry& entry, const Folded& folded) {
  if (folded.refusal) return;
  for (const Event& event : entry.events) on_event(event, entry.time);
  for (const Change& change : folded.changes) {
    if (change.object.type == type::kWork) {
      judge_of_work(change.latest(), entry.time);
      continue;
    }
    if (!is_binding(change.object.type)) continue;
    const bool moved = change.before["spec"]["clusters"] != change.after["spec"]["clusters"];
    if (moved && !change.created() && !change.removed()) follow(change.object, change.before, entry.time);
    const auto row = rows_.find(change.object);
    if (row != rows_.end()) judge(change.object, row->second, entry.time);
  }
}

void RehearsalObservation::on_event(const Event& event, UtcMillis now) {
  const auto workload = [&](const ObjectKey& binding) { return named(binding, state_.value_of(binding)); };
  const auto row_of = [&](const ObjectKey& binding) -> Row* {
    const auto row = rows_.find(binding);
    return row == rows_.end() ? nullptr : &row->second;
  };
  if (const auto* started = std::get_if<EvictionStarted>(&event)) {
    ++evictions_;
    Row* row = row_of(started->binding);
    if (row != nullptr && !row->workload.evicted) row->workload.evicted = since(now);
    note(now, "evicted", started->cluster, workload(started->binding) + " leaves " + started->cluster);
  } else if (const auto* finished = std::get_if<EvictionFinished>(&event)) {
    note(now, "eviction-ended", finished->cluster,
         "the eviction of " + workload(finished->binding) + " from " + finished->cluster + " ends: " + finished->reason,
         finished->reason);
  } else if (const auto* placed = std::get_if<PlacementDecided>(&event)) {
    Row* row = row_of(placed->binding);
    std::vector<Target> targets = placed->targets;
    std::ranges::sort(targets);
    // What is placed again where it is has only been confirmed for a new generation.
    if (row == nullptr || targets == row->placed) return;
    row->placed = std::move(targets);
    row->workload.placed = since(now);
    note(now, "placed", "", workload(placed->binding) + " is placed on " + targets_text(placed->targets));
  } else if (const auto* refused = std::get_if<PlacementRefused>(&event)) {
    note(now, "refused", "", workload(refused->binding) + " finds no cluster: " + refused->message, refused->message);
  } else if (const auto* over = std::get_if<QuotaRefused>(&event)) {
    ++quota_refusals_[over->quota];
    note(now, "over-quota", "", workload(over->binding) + ": " + over->message, to_string(over->quota));
  } else {
    on_cluster_event(event, now);
  }
}

void RehearsalObservation::on_cluster_event(const Event& event, UtcMillis now) {
  if (const auto* changed = std::get_if<ClusterConditionChanged>(&event)) {
    if (changed->type != "Ready") return;
    const std::string cluster = changed->cluster.name.str();
    if (changed->status == "True") return note(now, "ready", cluster, cluster + " is ready again");
    const std::string detail = " (" + changed->reason + ")";
    note(now, "not-ready", cluster, cluster + " is reported not ready" + detail, detail);
  } else if (const auto* added = std::get_if<TaintAdded>(&event)) {
    const std::string taint = to_string(added->taint);
    note(now, "tainted", added->cluster.name.str(), added->cluster.name + " gets the taint " + taint, taint);
  } else if (const auto* removed = std::get_if<TaintRemoved>(&event)) {
    const std::string taint = to_string(removed->taint);
    note(now, "untainted", removed->cluster.name.str(), removed->cluster.name + " loses the taint " + taint, taint);
  } else if (const auto* paused = std::get_if<EvictionsPaused>(&event)) {
    note(now, "paused", paused->cluster.name.str(),
         "evictions from " + paused->cluster.name + " pause: " + paused->message, paused->reason);
  } else if (const auto* resumed = std::get_if<EvictionsResumed>(&event)) {
    note(now, "resumed", resumed->cluster.name.str(), "evictions from " + resumed->cluster.name + " continue",
         resumed->reason);
  } else if (std::holds_alternative<FailoverTimerStarted>(event) || std::holds_alternative<HandoverStepTaken>(event) ||
             std::holds_alternative<ReplicasDescheduled>(event)) {
    const ObjectKey binding = subject_of(event);
    note(now, "step", "", named(binding, state_.value_of(binding)) + ": " + summary_of(event),
         std::string{name_of(event)});
  }
}

/// Why its target is still on a cluster that was hit.
std::string RehearsalObservation::why_it_stays(const Value& binding, const std::string& cluster, UtcMillis now) const {
  const bool evicts =
      state_.fold_version() < 7 || (state_.gates().failover && state_.options().evicts_for_no_execute());
  if (!evicts) return "NoExecute taints do not evict (--enable-no-execute-taint-eviction and the gate Failover)";
  const Value& object = state_.value_of({type::kCluster, "", cluster});
  std::vector<Toleration> tolerations;
  if (const auto placement = parse_json(annotation_of(binding, kAppliedPlacementAnnotation))) {
    tolerations = tolerations_from(placement.value()["clusterTolerations"]);
  }
  bool tainted = false;
  std::optional<UtcMillis> until;
  for (const Value& item : object["spec"]["taints"].items()) {
    const Taint taint{item["key"].str(), item["value"].str(), item["effect"].str()};
    if (taint.effect != "NoExecute") continue;
    tainted = true;
    const auto by = std::ranges::find_if(tolerations, [&](const Toleration& each) { return each.tolerates(taint); });
    if (by == tolerations.end()) {
      const bool paused = condition_holds(object, "EvictionsPaused");
      return paused ? condition_of(object, "EvictionsPaused")["message"].str() : "its eviction waits for its turn";
    }
    const auto added = parse_rfc3339(item["timeAdded"].as_string());
    if (by->seconds && added && (!until || added.value() + Millis{*by->seconds * 1000} < *until)) {
      until = added.value() + Millis{*by->seconds * 1000};
    }
  }
  if (!tainted) return "no ClusterTaintPolicy gives " + cluster + " a NoExecute taint";
  if (until && *until > now) return "it tolerates the taint of " + cluster + " until " + duration_text(since(*until));
  if (until)
    return condition_holds(object, "EvictionsPaused") ? condition_of(object, "EvictionsPaused")["message"].str()
                                                      : "its eviction waits for its turn";
  return "it tolerates the taints of " + cluster;
}

void RehearsalObservation::conclude(RehearsedWorkload& workload,
                                    const std::vector<RehearsalMembers::Shortage>& shortages, UtcMillis now) const {
  const Value& value = state_.value_of(workload.binding);
  workload.after = targets_of(value["spec"]);
  for (const Target& target : workload.after) {
    if (!hit_.contains(target.cluster)) continue;
    workload.outcome = WorkloadOutcome::kStays;
    workload.reason = why_it_stays(value, target.cluster, now);
    return;
  }
  if (workload.healthy) return;
  const Value& scheduled = condition_of(value, "Scheduled");
  if (scheduled["status"].as_string() == "False") {
    workload.outcome = WorkloadOutcome::kDoesNotFit;
    workload.reason = scheduled["message"].str();
    return;
  }
  for (const auto& shortage : shortages) {
    const bool own = shortage.object.name == workload.name && shortage.object.ns == workload.ns &&
                     std::ranges::find(workload.after, shortage.cluster, &Target::cluster) != workload.after.end();
    if (!own) continue;
    workload.outcome = WorkloadOutcome::kDoesNotFit;
    workload.reason = std::to_string(shortage.wanted - shortage.running) + " of " + std::to_string(shortage.wanted) +
                      " replicas find no room in " + shortage.cluster + " (" + shortage.resource + ")";
    return;
  }
  workload.outcome = WorkloadOutcome::kNotHealthy;
  workload.reason = workload.after.empty() ? "it has no cluster" : "not all of its clusters report it healthy yet";
}

void RehearsalObservation::write(RehearsalReport& report, const std::vector<RehearsalMembers::Shortage>& shortages,
                                 UtcMillis now) const {
  std::set<std::string> namespaces;
  for (const auto& [binding, row] : rows_) {
    if (row.attached) {
      ++report.attached;
      continue;
    }
    RehearsedWorkload workload = row.workload;
    conclude(workload, shortages, now);
    namespaces.insert(binding.ns.str());
    report.workloads.push_back(std::move(workload));
  }
  std::ranges::stable_sort(report.workloads, [](const RehearsedWorkload& a, const RehearsedWorkload& b) {
    const auto rank = [](const RehearsedWorkload& one) { return one.outcome == WorkloadOutcome::kHealthy ? 1 : 0; };
    return rank(a) < rank(b);
  });
  if (unhealthy_ == 0) report.all_healthy = all_healthy_ ? since(*all_healthy_) : Millis{0};
  report.evictions = evictions_;
  report.health = health_;
  for (const Group& group : groups_) {
    report.timeline.push_back(group.row);
    report.timeline.back().text = group.text();
  }
  for (const auto& [key, before] : quota_used_before_) {
    if (!namespaces.contains(key.ns.str())) continue;
    const auto refusals = quota_refusals_.find(key);
    report.quotas.push_back({key.ns.str(), key.name.str(), state_.gates().quota_enforcement,
                             state_.value_of(key)["spec"]["overall"], before, to_value(state_.quota_usage(key.ns)),
                             refusals == quota_refusals_.end() ? 0 : refusals->second});
  }
}

}  // namespace shiplog
