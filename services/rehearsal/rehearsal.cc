#include "services/rehearsal/rehearsal.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "events/state/binding.h"
#include "events/state/condition.h"
#include "events/state/failover_record.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "services/rehearsal/observation.h"
#include "services/roles/collector/probe.h"
#include "services/roles/registry.h"
#include "services/roles/scheduler/cycles.h"
#include "services/runtime/role_loop.h"

namespace shiplog {
namespace {

/// Roles look again at what waits in these steps: some look fifty times a second.
constexpr Millis kTimerStep{250};
/// Clusters that fail answer one probe.
constexpr Millis kFirstProbe{1'000};
/// Nothing has changed for so long, and nothing is left to happen.
constexpr Millis kCalm{60'000};
constexpr size_t kMostUnanswered = 10;

std::string listed(const std::set<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

/// Which clusters fail, which are tainted, and which are better left alone.
struct Scenario {
  std::set<std::string> failing, tainted;
  std::set<std::string> lost;       ///< failing, or not ready from the beginning
  std::set<std::string> hit;        ///< failing or tainted
  std::set<std::string> concerned;  ///< hit, not ready, or with a NoExecute taint from the beginning
};

Result<Scenario> scenario_of(const State& state, const RehearsalOptions& options) {
  Scenario scenario;
  const auto known = [&](const std::string& cluster, const char* option) -> Result<void> {
    if (state.cluster(cluster) != nullptr) return ok();
    return Error{ErrorCode::kNotFound, std::string{option} + ": there is no cluster \"" + cluster + "\" at revision " +
                                           std::to_string(state.revision().value)};
  };
  for (const std::string& cluster : options.fail_clusters) {
    SHIPLOG_TRY(known(cluster, "--fail-cluster"));
    scenario.failing.insert(cluster);
  }
  std::set<std::string> regions;
  for (const auto& [name, cluster] : state.clusters()) {
    if (!cluster.region.empty()) regions.insert(cluster.region);
    if (std::ranges::find(options.fail_regions, cluster.region) == options.fail_regions.end()) continue;
    if (!cluster.region.empty()) scenario.failing.insert(name);
  }
  for (const std::string& region : options.fail_regions) {
    if (regions.contains(region)) continue;
    return Error{ErrorCode::kNotFound,
                 "--fail-region: there is no region \"" + region + "\" at revision " +
                     std::to_string(state.revision().value) +
                     (regions.empty() ? ": no cluster has a spec.region" : "; there are: " + listed(regions))};
  }
  for (const auto& added : options.taints) {
    SHIPLOG_TRY(known(added.cluster, "--taint"));
    scenario.tainted.insert(added.cluster);
  }
  if (scenario.failing.empty() && scenario.tainted.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "nothing fails: name what to rehearse with --fail-cluster, --fail-region or --taint"};
  }
  scenario.lost = scenario.hit = scenario.failing;
  scenario.hit.insert(scenario.tainted.begin(), scenario.tainted.end());
  scenario.concerned = scenario.hit;
  for (const auto& [name, cluster] : state.clusters()) {
    const bool evicting =
        std::ranges::any_of(cluster.taints, [](const Taint& taint) { return taint.effect == "NoExecute"; });
    if (!cluster.ready()) scenario.lost.insert(name);
    if (!cluster.ready() || evicting) scenario.concerned.insert(name);
  }
  return scenario;
}

bool set_seconds(Value& tolerations, int64_t seconds) {
  bool changed = false;
  for (Value& toleration : tolerations.edit_items()) {
    if (!toleration.contains("tolerationSeconds")) continue;
    toleration.set("tolerationSeconds", seconds);
    changed = true;
  }
  return changed;
}

/// The state with other tolerationSeconds in all placements: those of policies, of bindings, and those that the
/// scheduler has used.
void set_toleration_seconds(State& state, int64_t seconds) {
  std::vector<std::pair<ObjectKey, Object>> objects;
  for (const std::string& type : state.types()) {
    const bool placed = is_binding(type);
    const bool policy = is_propagation_policy(type);
    for (const auto& [name, object] : state.objects(type)) {
      Object& copy = objects.emplace_back(ObjectKey{type, name.ns, name.name}, object).second;
      if ((placed || policy) && copy.value["spec"]["placement"].contains("clusterTolerations")) {
        set_seconds(copy.value.edit("spec").edit("placement").edit("clusterTolerations"), seconds);
      }
      if (!placed) continue;
      auto applied = parse_json(annotation_of(copy.value, kAppliedPlacementAnnotation));
      if (!applied || !applied.value().contains("clusterTolerations")) continue;
      if (!set_seconds(applied.value().edit("clusterTolerations"), seconds)) continue;
      copy.value.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, to_json(applied.value()));
    }
  }
  State changed;
  State::restore(state.meta(), std::move(objects), {}, changed);  // its hash is another one, as it should be
  state = std::move(changed);
}

Result<std::vector<Event>> changed_settings(const State& state, const RehearsalOptions& options) {
  std::vector<Event> events;
  if (!options.settings.empty()) {
    FleetOptions set = state.options();
    for (const OptionSetting& setting : options.settings) {
      if (!set_fleet_option(set, setting)) {
        return Error{ErrorCode::kBadRequest, "there is no option --" + setting.name + " that decisions read"};
      }
    }
    events.emplace_back(OptionsSet{settings_of(set)});
  }
  if (!options.gates.empty()) {
    FeatureGates gates = state.recorded_gates();
    for (const auto& [name, on] : options.gates) {
      if (!is_feature_gate(name)) {
        std::set<std::string> names{feature_gate_names().begin(), feature_gate_names().end()};
        return Error{ErrorCode::kBadRequest, "there is no feature gate \"" + name + "\"; there are: " + listed(names)};
      }
      set_feature_gate(gates, name, on);
    }
    events.emplace_back(FeatureGatesSet{names_of(gates)});
  }
  return events;
}

/// What is not settled, or on a cluster that the rehearsal is about.
bool concerned(const State& state, const Scenario& scenario, const ObjectKey& key, const Value& binding) {
  const Value& spec = binding["spec"];
  const auto on = [&](const Value& clusters) {
    return std::ranges::any_of(clusters.items(), [&](const Value& target) {
      return scenario.concerned.contains(std::string{target["name"].as_string()});
    });
  };
  if (on(spec["clusters"]) || spec["gracefulEvictionTasks"].size() > 0 || deleting(binding)) return true;
  if (std::ranges::any_of(spec["requiredBy"].items(), [&](const Value& by) { return on(by["clusters"]); })) return true;
  const bool placed = !spec["placement"].is_null();
  if (placed && binding["status"]["schedulerObservedGeneration"] != binding["metadata"]["generation"]) return true;
  if (condition_of(binding, "Scheduled")["status"].as_string() == "False") return true;
  return state.find(failover_record_key(key)) != nullptr;
}

class Rehearsal {
 public:
  Rehearsal(State& state, Scenario scenario, const RehearsalOptions& options)
      : state_{state},
        scenario_{std::move(scenario)},
        options_{options},
        executor_{state.time()},
        began_{state.time()},
        members_{{.state = &state,
                  .executor = &executor_,
                  .ready_after = options.ready_after,
                  .on_first_write = [this](const std::string& cluster) { release(cluster); }}},
        observation_{state, began_, scenario_.lost, scenario_.hit},
        loop_{{.state = &state,
               .executor = &executor_,
               .seed = state.hash().lo,  // the same rehearsal is the same again
               .timer_step = kTimerStep,
               .collect_clusters = Millis{5},
               .admits = [this](const Role& role, const ObjectKey& key,
                                const Change* cause) { return admits(role, key, cause); },
               .on_folded = [this](const Entry& entry, const Folded& folded) { on_folded(entry, folded); },
               .on_retry = [this](const Role& role, const ObjectKey& key,
                                  const Error& error) { on_retry(role, key, error); }}} {}

  Result<RehearsalReport> run(std::vector<Event> settings) {
    if (!settings.empty()) {
      SHIPLOG_TRY(write(std::move(settings)));
    }
    for (const std::string& cluster : scenario_.lost) {
      if (!scenario_.failing.contains(cluster)) members_.set_down(cluster);
    }
    // The collector has to have observed them healthy, as it has in the fleet.
    executor_.post_after(kFirstProbe, [this] {
      for (const std::string& cluster : scenario_.failing) members_.set_down(cluster);
    });
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state_.objects(type)) {
        const ObjectKey key{type, name.ns, name.name};
        if (!concerned(state_, scenario_, key, object.value)) continue;
        concerned_.insert(key);
        const bool hit = std::ranges::any_of(object.value["spec"]["clusters"].items(), [&](const Value& target) {
          return scenario_.hit.contains(target["name"].str());
        });
        if (hit) observation_.follow(key, object.value, began_);
      }
    }
    for (const std::string& cluster : scenario_.failing) {
      observation_.note(began_, "fails", cluster, cluster + " stops answering");
    }
    for (const auto& added : options_.taints) {
      SHIPLOG_TRY(write({TaintAdded{{type::kCluster, "", added.cluster}, added.taint, "rehearsal"}}));
    }
    start_roles();
    observe_room();
    const UtcMillis end = began_ + options_.length;
    while (!over() && executor_.run_next(end)) {
    }
    if (!over() || executor_.now() > end) executor_.run(end - executor_.now());
    return report();
  }

 private:
  void start_roles() {
    RoleContext context;
    context.members = &members_;
    context.kinds = &Kinds::compiled();
    context.user_agent = "rehearsal";
    for (const RoleEntry& role : all_roles()) {
      // Roles that decide nothing publish, record or sign.
      if (role.make != nullptr && role.decide != nullptr) loop_.add(role.make(context));
    }
  }

  Result<void> write(std::vector<Event> events) {
    Entry entry;
    entry.actor.user = "rehearsal";
    entry.events = std::move(events);
    const Folded folded = loop_.write(std::move(entry));
    if (folded.refusal) return Error{folded.refusal->code, folded.refusal->reason};
    return ok();
  }

  bool over() const {
    if (!observation_.calm() || executor_.now() - observation_.last_change() < kCalm) return false;
    return std::ranges::all_of(scenario_.failing, [&](const std::string& name) {
      const Cluster* cluster = state_.cluster(name);
      return cluster == nullptr || !cluster->ready();
    });
  }

  /// What the probes of the other clusters would observe.
  void observe_room() {
    for (auto& [cluster, summary] : members_.changed_summaries()) {
      const ObjectKey key{type::kCluster, "", cluster};
      Value status = state_.value_of(key)["status"];
      status.erase("conditions");
      status.set("resourceSummary", std::move(summary));
      if (const auto seen = write({ClusterObserved{key, std::move(status)}}); !seen) {
        unanswered_.insert("room of " + cluster + ": " + seen.error().message);
      }
    }
    executor_.post_after(collector::kProbeEvery, [this] { observe_room(); });
  }

  void on_folded(const Entry& entry, const Folded& folded) {
    ++entries_;
    members_.on_folded(folded.changes);
    observation_.on_folded(entry, folded);
    for (const Change& change : folded.changes) {
      if (is_binding(change.object.type) && change.before["spec"] != change.after["spec"]) {
        concerned_.insert(change.object);
      }
    }
  }

  bool admits(const Role& role, const ObjectKey& key, const Change* cause) {
    if (role.name() == "collector") {
      if (key.ns.view().starts_with('@')) return admits_watch(key);
      if (key.type == type::kCluster) return scenario_.failing.contains(key.name.str());
    }
    // The time of cycles that change nothing, of every binding that may run where something fails.
    if (scheduler::ClusterCycles::is_key(key)) return false;
    if (cause != nullptr && cause->object.type != type::kCluster) return true;
    if (is_binding(key.type)) return concerned_.contains(key) || state_.find(key) == nullptr;
    if (key.type == type::kWork) {
      const std::string cluster = cluster_of_space(key.ns);
      return scenario_.concerned.contains(cluster) || concerned_work(key);
    }
    // Policies, quotas, rebalancers and whatever a role calls a key of its own; templates are settled.
    const bool karmada = key.type.ends_with("karmada.io") || key.type.ends_with("shiplog.io");
    if (karmada) return true;
    const Value& value = state_.value_of(key);
    return value.is_null() || deleting(value);
  }

  bool concerned_work(const ObjectKey& key) const {
    const Value& work = state_.value_of(key);
    for (const char* id_label : {label::kBindingId, label::kClusterBindingId}) {
      const auto id = label_of(work, id_label);
      if (id.empty()) continue;
      for (const ObjectKey& labelled : state_.labelled(id_label, id)) {
        if (is_binding(labelled.type)) return concerned_.contains(labelled);
      }
    }
    return false;
  }

  /// The collector's keys that follow a member's objects: from the first write to it on.
  bool admits_watch(const ObjectKey& key) {
    std::string cluster = key.name.str();
    if (key.ns == "@flush") return true;
    if (const size_t slash = key.ns.find('/'); slash != std::string::npos) {
      cluster = cluster_of_space(std::string_view{key.ns}.substr(slash + 1));
    }
    if (written_.contains(cluster)) return true;
    held_[cluster].insert(key);
    return false;
  }

  void release(const std::string& cluster) {
    written_.insert(cluster);
    for (const ObjectKey& key : std::exchange(held_[cluster], {})) loop_.wake("collector", key);
  }

  void on_retry(const Role& role, const ObjectKey& key, const Error& error) {
    if (error.code == ErrorCode::kConflict || unanswered_.size() >= kMostUnanswered) return;
    if (key.type == type::kWork && scenario_.lost.contains(cluster_of_space(key.ns))) return;
    if (scenario_.lost.contains(key.name.str())) return;
    unanswered_.insert(std::string{role.name()} + ", " + to_string(key) + ": " + error.message);
  }

  RehearsalReport report() {
    RehearsalReport report;
    report.revision = forked_at_;
    report.began = began_;
    report.length = executor_.now() - began_;
    report.failed.assign(scenario_.failing.begin(), scenario_.failing.end());
    report.tainted.assign(scenario_.tainted.begin(), scenario_.tainted.end());
    report.regions = options_.fail_regions;
    report.clusters = state_.clusters().size();
    report.bindings =
        state_.objects(type::kResourceBinding).size() + state_.objects(type::kClusterResourceBinding).size();
    report.entries = entries_;
    const FleetOptions& fleet = state_.options();
    const auto first = [](const std::vector<std::string>& values) { return values.empty() ? "" : values.front(); };
    report.evicts = state_.fold_version() < 7 || (state_.gates().failover && fleet.evicts_for_no_execute());
    report.eviction_rate = first(fleet.eviction_rate);
    for (const std::string& budget : fleet.eviction_budget) {
      report.eviction_budget += (report.eviction_budget.empty() ? "" : ",") + budget;
    }
    report.purge_mode = fleet.purge_mode();
    report.eviction_timeout = first(fleet.eviction_timeout);
    report.gates = names_of(state_.gates());
    report.unanswered.assign(unanswered_.begin(), unanswered_.end());
    observation_.write(report, members_.shortages(), executor_.now());
    return report;
  }

  State& state_;
  const Scenario scenario_;
  const RehearsalOptions& options_;
  ManualExecutor executor_;
  const UtcMillis began_;
  const Revision forked_at_ = state_.revision();
  RehearsalMembers members_;
  RehearsalObservation observation_;
  std::set<ObjectKey> concerned_;  // bindings that roles reconcile
  std::set<std::string> written_, unanswered_;
  std::map<std::string, std::set<ObjectKey>> held_;  // keys of the collector, by cluster
  size_t entries_ = 0;
  RoleLoop loop_;  // the last: its roles use the members
};

}  // namespace

Result<RehearsalReport> rehearse(State& state, const RehearsalOptions& options) {
  SHIPLOG_TRY(Scenario scenario, scenario_of(state, options));
  if (options.toleration_seconds) set_toleration_seconds(state, *options.toleration_seconds);
  SHIPLOG_TRY(std::vector<Event> settings, changed_settings(state, options));
  Rehearsal rehearsal{state, std::move(scenario), options};
  return rehearsal.run(std::move(settings));
}

}  // namespace shiplog
