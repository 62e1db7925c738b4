// The rehearsal of the failure of a region: 1,000 clusters in 20 regions, 50,000 workloads on two clusters each. The
// machine's own figure beside it is the fold alone: as many entries, each of which changes one binding of that state.
//   rehearsal_bench [--clusters=1000] [--bindings=50000] [--json=FILE]

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/state/work.h"
#include "services/rehearsal/rehearsal.h"
#include "tests/bench/figures.h"
#include "tests/support/failing_fleet.h"
#include "tests/support/stage.h"

namespace shiplog::bench {
namespace {

constexpr size_t kRegions = 20;
constexpr size_t kNamespaces = 50;

using Objects = std::vector<std::pair<ObjectKey, Object>>;
using Replacements = std::vector<std::pair<std::string, std::string>>;

/// One workload on two clusters, as the roles have left it: the pattern of all others.
class FleetPattern {
 public:
  FleetPattern() {
    testing::start_failing_fleet(stage_);
    for (const char* name : {"cluster-pp1", "cluster-pp2"}) {
      auto& member = stage_.members().member(name);
      member.ready_after = Millis{1'000};
      testing::add_nodes(member, 20);
      Value cluster = testing::cluster_object(name);
      cluster.edit("metadata").set("labels", Value::object({{"group", "group-gg"}}));
      cluster.edit("spec").set("region", "region-rr");
      stage_.put(testing::cluster_key(name), cluster);
    }
    stage_.put({type::kNamespace, "", "team-nn"}, testing::namespace_object("team-nn"));
    stage_.put({type::kPropagationPolicy, "team-nn", "policy-gg"}, json_of(R"({
        "apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"policy-gg",
        "namespace":"team-nn","generation":1},"spec":{"conflictResolution":"Abort","preemption":"Never","priority":0,
        "schedulerName":"default-scheduler","resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],
        "placement":{"clusterAffinity":{"labelSelector":{"matchLabels":{"group":"group-gg"}}},
        "spreadConstraints":[{"spreadByField":"cluster","minGroups":2,"maxGroups":2}],
        "clusterTolerations":[{"key":"away","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]}}})"));
    Value deployment = testing::deployment("team-nn", "pattern-ww", 2);
    Value::Array& containers = deployment.edit("spec").edit("template").edit("spec").edit("containers").edit_items();
    containers.front().set("resources", json_of(R"({"requests":{"cpu":"100m","memory":"128Mi"}})"));
    stage_.put({"deployments.apps", "team-nn", "pattern-ww"}, deployment);
    stage_.run(Millis{60'000});
    const Value& binding = stage_.state().value_of({type::kResourceBinding, "team-nn", "pattern-ww-deployment"});
    if (binding["spec"]["clusters"].size() != 2) {
      std::fprintf(stderr, "the pattern is not placed: %s\n", to_json(binding).c_str());
      std::exit(1);
    }
    id_ = label_of(binding, label::kBindingId);
    uid_ = uid_of(stage_.state().value_of({"deployments.apps", "team-nn", "pattern-ww"}));
  }

  const State& state() const { return stage_.state(); }
  const std::string& id() const { return id_; }
  const std::string& uid() const { return uid_; }

  static Value json_of(const std::string& text) { return or_exit(parse_json(text)); }

 private:
  testing::Stage stage_;
  std::string id_, uid_;
};

std::string replaced(std::string text, const Replacements& replacements) {
  for (const auto& [from, to] : replacements) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

void add_copy(const FleetPattern& pattern, const ObjectKey& of, const Replacements& replacements, Objects& objects) {
  const Object* object = pattern.state().find(of);
  if (object == nullptr) {
    std::fprintf(stderr, "the pattern has no %s\n", to_string(of).c_str());
    std::exit(1);
  }
  ObjectKey key{of.type, replaced(of.ns.str(), replacements), replaced(of.name.str(), replacements)};
  Object copy = or_exit(object_from(key, replaced(to_json(object->value), replacements)));
  objects.emplace_back(std::move(key), std::move(copy));
}

std::string cluster_name(size_t number) { return "c" + std::to_string(number); }

/// Cluster C is in region C modulo 20, and in group C divided by 20: a group has a cluster in every region.
State fleet_of(const FleetPattern& pattern, size_t clusters, size_t bindings) {
  Objects objects;
  for (const char* type : {kFeatureGatesType, kFleetOptionsType, type::kClusterTaintPolicy}) {
    for (const auto& [name, object] : pattern.state().objects(type)) {
      objects.emplace_back(ObjectKey{type, name.ns, name.name}, object);
    }
  }
  const size_t groups = clusters / kRegions;
  for (size_t cluster = 0; cluster < clusters; ++cluster) {
    const Replacements replacements{{"cluster-pp1", cluster_name(cluster)},
                                    {"group-gg", "g" + std::to_string(cluster / kRegions)},
                                    {"region-rr", "r" + std::to_string(cluster % kRegions)}};
    add_copy(pattern, testing::cluster_key("cluster-pp1"), replacements, objects);
    add_copy(pattern, {type::kNamespace, "", execution_space("cluster-pp1")}, replacements, objects);
  }
  for (size_t ns = 0; ns < kNamespaces; ++ns) {
    const std::string team = "team" + std::to_string(ns);
    add_copy(pattern, {type::kNamespace, "", "team-nn"}, {{"team-nn", team}}, objects);
  }
  const ObjectKey namespace_work{type::kWork, execution_space("cluster-pp1"), work_name("Namespace", "", "team-nn")};
  for (size_t at = 0; at < kNamespaces * clusters; ++at) {
    const std::string team = "team" + std::to_string(at % kNamespaces);
    add_copy(pattern, namespace_work,
             {{namespace_work.name.str(), work_name("Namespace", "", team)},
              {"team-nn", team},
              {"cluster-pp1", cluster_name(at / kNamespaces)}},
             objects);
  }
  const std::string old_work = work_name("Deployment", "team-nn", "pattern-ww");
  for (size_t number = 0; number < bindings; ++number) {
    const std::string team = "team" + std::to_string(number % kNamespaces);
    const size_t group = number % kNamespaces % groups;
    const std::string name = "web" + std::to_string(number);
    const size_t first = group * kRegions + number / kNamespaces % kRegions;
    const size_t second = group * kRegions + (number / kNamespaces + 7) % kRegions;
    Replacements replacements{{old_work, work_name("Deployment", team, name)},
                              {"pattern-ww", name},
                              {"team-nn", team},
                              {"group-gg", "g" + std::to_string(group)},
                              {"policy-gg", "p"},
                              {pattern.id(), "id-" + std::to_string(number)},
                              {pattern.uid(), "uid-" + std::to_string(number)},
                              {"cluster-pp1", cluster_name(first)},
                              {"cluster-pp2", cluster_name(second)}};
    add_copy(pattern, {"deployments.apps", "team-nn", "pattern-ww"}, replacements, objects);
    add_copy(pattern, {type::kResourceBinding, "team-nn", "pattern-ww-deployment"}, replacements, objects);
    for (const char* cluster : {"cluster-pp1", "cluster-pp2"}) {
      add_copy(pattern, {type::kWork, execution_space(cluster), old_work}, replacements, objects);
    }
    if (number < kNamespaces) {
      add_copy(pattern, {type::kPropagationPolicy, "team-nn", "policy-gg"}, replacements, objects);
    }
  }
  StateMeta meta = pattern.state().meta();
  State state;
  State::restore(meta, std::move(objects), {}, state);
  return state;
}

/// Entries each of which changes the status of one binding.
Time fold_alone(State state, size_t entries) {
  std::vector<ObjectKey> bindings;
  for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
    bindings.push_back({type::kResourceBinding, name.ns, name.name});
  }
  SeededRandom random{1};
  const Time start = Time::now();
  for (size_t at = 0; at < entries; ++at) {
    const ObjectKey& key = bindings[at % bindings.size()];
    Value value = state.value_of(key);
    value.edit("status").set("benchmark", static_cast<int64_t>(at));
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = state.time();
    entry.fold_version = state.fold_version();
    entry.events = {StatusUpdated{key, std::move(value)}};
    if (const Folded folded = fold(state, entry); folded.refusal) {
      std::fprintf(stderr, "refused: %s\n", folded.refusal->reason.c_str());
      std::exit(1);
    }
  }
  return Time::now().since(start);
}

/// A region fails. `what`: the case, "paced" by the rate that is the default, or "whole": until nothing is left.
RehearsalReport measure(Figures& figures, const State& fleet, const std::string& what, RehearsalOptions options) {
  State forked = fleet;
  options.fail_regions = {"r3"};
  const Time start = Time::now();
  RehearsalReport report = or_exit(rehearse(forked, options));
  const Time took = Time::now().since(start);
  figures.seconds("rehearsal", "the rehearsal, " + what, took);
  figures.value("rehearsal", "workloads concerned, " + what, static_cast<double>(report.workloads.size()), "workloads");
  figures.value("rehearsal", "of them healthy at the end, " + what,
                static_cast<double>(report.count(WorkloadOutcome::kHealthy)), "workloads");
  if (report.all_healthy) {
    figures.value("rehearsal", "virtual time until everything is healthy, " + what,
                  static_cast<double>(report.all_healthy->value) / 1000, "virtual seconds");
  }
  figures.value("rehearsal", "entries folded, " + what, static_cast<double>(report.entries), "entries");
  const Time alone = fold_alone(fleet, report.entries);
  figures.seconds("machine", "the fold alone, as many entries, " + what, alone);
  figures.value("rehearsal", "the rehearsal takes so many times the fold alone, " + what, took.cpu / alone.cpu,
                "times");
  return report;
}

int run(int argc, char** argv) {
  const auto clusters = static_cast<size_t>(std::strtoull(option(argc, argv, "clusters", "1000").c_str(), nullptr, 10));
  const auto bindings =
      static_cast<size_t>(std::strtoull(option(argc, argv, "bindings", "50000").c_str(), nullptr, 10));
  Figures figures{option(argc, argv, "json")};
  const FleetPattern pattern;
  const State fleet = fleet_of(pattern, clusters, bindings);
  Figures::heading("rehearsal of a region's failure: " + std::to_string(clusters) + " clusters, " +
                   std::to_string(bindings) + " bindings");
  const RehearsalReport paced = measure(figures, fleet, "paced", {});
  const RehearsalReport whole = measure(figures, fleet, "whole", {.settings = {{"resource-eviction-rate", {"100"}}}});
  return paced.count(WorkloadOutcome::kHealthy) > 0 && whole.all_healthy ? 0 : 1;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
