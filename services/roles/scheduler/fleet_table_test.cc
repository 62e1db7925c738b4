// What is kept of a fleet between placements changes no placement and no word of its explanation.
#include "services/roles/scheduler/fleet_table.h"

#include <algorithm>
#include <random>
#include <thread>

#include "events/codec/codec.h"
#include "events/explain/json.h"
#include "services/roles/scheduler/filter/filter.h"
#include "services/roles/scheduler/select/select.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

/// Fleets, changes of them, and bindings that are placed.
class ChangingFleet {
 public:
  explicit ChangingFleet(unsigned seed) : random_{seed} {
    const size_t clusters = 1 + below(120);
    for (size_t i = 0; i < clusters; ++i) put_cluster(i);
  }

  const State& state() const { return history_.state(); }
  UtcMillis now() const { return history_.now(); }
  size_t below(size_t bound) { return random_() % bound; }

  void change() {
    const size_t number = below(130);
    const ObjectKey key = cluster_key(name(number));
    if (below(8) == 0 && state().find(key) != nullptr) {
      history_.remove(key);
    } else {
      put_cluster(number);
    }
  }

  void put_binding() {
    Value value = json(R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "id"}},
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"}}})");
    Value& spec = value.edit("spec");
    spec.edit("resource").set("kind", below(5) == 0 ? "Job" : "Deployment");
    spec.edit("resource").set("uid", "uid-" + std::to_string(below(2)));
    if (below(5) > 0) {
      spec.set("replicas", static_cast<int64_t>(1 + below(40)));
      spec.set("replicaRequirements", json(any({R"({"resourceRequest": {"cpu": "500m", "memory": "1Gi"}})",
                                                R"({"resourceRequest": {"cpu": "2"}})",
                                                R"({"resourceRequest": {"example.com/gpu": "1"}})", "{}"})));
    }
    spec.set("placement", placement());
    for (size_t i = below(3) == 0 ? 1 + below(20) : 0; i > 0; --i) {
      spec.edit("clusters")
          .push_back(Value::object({{"name", name(below(130))}, {"replicas", static_cast<int64_t>(below(5))}}));
    }
    if (below(4) == 0) {
      spec.edit("gracefulEvictionTasks").push_back(Value::object({{"fromCluster", name(below(100))}}));
    }
    history_.put(kBinding, History::named(kBinding, std::move(value)));
  }

 private:
  static std::string name(size_t number) { return "member-" + std::to_string(number); }
  const char* any(std::initializer_list<const char*> of) { return of.begin()[below(of.size())]; }

  void put_cluster(size_t number) {
    Value value = cluster(name(number), static_cast<int64_t>(below(300)), any({"", "eu", "us", "ap"}));
    value.edit("metadata").set("labels", json(any({"{}", R"({"env": "prod"})", R"({"env": "dev", "tier": "1"})"})));
    Value& spec = value.edit("spec");
    spec.set("provider", any({"", "p1", "p2"}));
    if (below(4) == 0) {
      spec.set("taints",
               json(R"([{"key": ")" + std::string{any({"maintenance", "gpu"})} + R"(", "value": ")" +
                    std::to_string(below(60)) + R"(", "effect": ")" + any({"NoSchedule", "NoExecute"}) + R"("}])"));
    }
    Value& status = value.edit("status");
    if (below(10) == 0) status.set("apiEnablements", json("[]"));
    Value& allocatable = status.edit("resourceSummary").edit("allocatable");
    if (below(6) > 0) allocatable.set("cpu", std::to_string(below(64)));
    if (below(6) > 0) allocatable.set("memory", std::to_string(below(256)) + "Gi");
    if (below(10) == 0) {
      spec.set("resourceModels", json(R"([{"grade": 0, "ranges": [{"name": "cpu", "min": "4", "max": "8"},
                                                                 {"name": "memory", "min": "8Gi", "max": "16Gi"}]}])"));
      status.edit("resourceSummary").set("allocatableModelings", json(R"([{"grade": 0, "count": 3}])"));
    }
    history_.put(cluster_key(name(number)), std::move(value));
  }

  Value placement() {
    Value placement = Value::object();
    const std::string affinity = any(
        {R"({"labelSelector": {"matchLabels": {"env": "prod"}}})", R"({"exclude": ["member-1", "member-20"]})",
         R"({"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu", "us"]}]}})",
         "{}"});
    if (below(4) == 0) {
      placement.set("clusterAffinities",
                    json(R"([{"affinityName": "first", "labelSelector": {"matchLabels": {"env": "dev"}}},
                             {"affinityName": "second", "exclude": ["member-2"]}])"));
    } else {
      placement.set("clusterAffinity", json(affinity));
    }
    if (below(3) == 0) {
      placement.set("clusterTolerations",
                    json(any({R"([{"operator": "Exists"}])", R"([{"key": "gpu", "operator": "Exists"}])"})));
    }
    if (below(4) == 0) {
      placement.set("spreadConstraints", json(any({R"([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 7}])",
                                                   R"([{"spreadByField": "region", "minGroups": 1, "maxGroups": 2},
                                  {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 20}])",
                                                   R"([{"spreadByField": "provider", "maxGroups": 1},
                                  {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9}])"})));
    }
    placement.set("replicaScheduling", json(any({kDuplicated, kDynamic, kAggregated, kEqualWeights})));
    return placement;
  }

  std::mt19937 random_;
  History history_;
};

/// On a thread that knows nothing of the fleet.
Result<Decided> decided_afresh(const State& state, UtcMillis now) {
  Result<Decided> decided = Nothing{};
  std::thread{[&] { decided = decide(state, kBinding, now); }}.join();
  return decided;
}

TEST(FleetTable, ADecisionIsTheSameWhateverWasDecidedBefore) {
  size_t placed = 0;
  size_t refused = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    ChangingFleet fleet{seed};
    for (int round = 0; round < 60; ++round) {
      for (size_t changes = fleet.below(4); changes > 0; --changes) fleet.change();
      fleet.put_binding();
      const auto now = decide(fleet.state(), kBinding, fleet.now());
      const auto afresh = decided_afresh(fleet.state(), fleet.now());
      ASSERT_TRUE(now && afresh) << "seed " << seed << ", round " << round;
      ASSERT_EQ(now.value(), afresh.value()) << "seed " << seed << ", round " << round;
      const Decision* decision = decision_of(now);
      if (decision == nullptr) continue;
      std::holds_alternative<PlacementDecided>(decision->events[0]) ? ++placed : ++refused;
    }
  }
  // Neither is what nearly all are.
  EXPECT_GT(placed, 100U);
  EXPECT_GT(refused, 30U);
}

struct Filtered {
  Explanation why;
  std::string candidates;  // or the failure, in words
};

Filtered filtered(FleetTable& fleet, const Demand& demand) {
  Filtered made;
  const auto result = filter(fleet, demand, made.why);
  if (!result) return {std::move(made.why), to_json(to_value(result.error().cause, made.why))};
  for (const Candidate& candidate : result.value()) {
    made.candidates += candidate.cluster->name + " " + std::to_string(candidate.tier) + " " +
                       std::to_string(candidate.line) + " " +
                       (candidate.previous == nullptr ? "-" : std::to_string(candidate.previous->replicas)) + "\n";
  }
  return made;
}

TEST(FleetTable, KnownVerdictsAreThoseOfTheRules) {
  size_t different = 0;
  for (unsigned seed = 20; seed < 32; ++seed) {
    ChangingFleet fleet{seed};
    for (int round = 0; round < 40; ++round) {
      fleet.change();
      fleet.put_binding();
      const Binding binding = binding_from(kBinding, fleet.state().value_of(kBinding));
      const std::string placement_json = to_json(binding.placement);
      const Placement placement = placement_from(binding.placement).value();
      FleetTable asked{fleet.state().clusters()};
      FleetTable known{fleet.state().clusters()};
      for (size_t term = 0; term < std::max<size_t>(placement.terms.size(), 1); ++term) {
        Demand demand{binding, placement};
        if (!placement.terms.empty()) demand.term = &placement.terms[term];
        const Filtered by_rules = filtered(asked, demand);
        demand.placement_json = placement_json;
        for (int time = 0; time < 2; ++time) {  // found, and known
          const Filtered by_table = filtered(known, demand);
          ASSERT_EQ(by_table.candidates, by_rules.candidates) << "seed " << seed << ", round " << round;
          ASSERT_EQ(by_table.why, by_rules.why) << "seed " << seed << ", round " << round;
        }
        different = std::max(different, by_rules.why.judgements.size());
      }
    }
  }
  EXPECT_GT(different, 8U) << "clusters are rejected for different reasons";
}

TEST(FleetTable, ManyReasonsAreWrittenAsTheRulesFindThem) {
  // More than are compared: each further one is a judgement of its own.
  History history;
  for (int i = 0; i < 100; ++i) {
    Value value = cluster("member-" + std::to_string(i));
    value.edit("spec").set(
        "taints", json(R"([{"key": "k", "value": ")" + std::to_string(i / 2) + R"(", "effect": "NoSchedule"}])"));
    history.put(cluster_key("member-" + std::to_string(i)), std::move(value));
  }
  Binding binding;
  binding.api_version = "apps/v1";
  binding.kind = "Deployment";
  const Placement placement;
  FleetTable asked{history.state().clusters()};
  FleetTable known{history.state().clusters()};
  Demand demand{binding, placement};
  const Filtered by_rules = filtered(asked, demand);
  demand.placement_json = "{}";
  for (int time = 0; time < 3; ++time) EXPECT_EQ(filtered(known, demand).why, by_rules.why);
  EXPECT_EQ(by_rules.why.judgements.size(), 68U) << "32 of two clusters or one, and one for each of the others";
}

TEST(FleetTable, RoomByColumnsIsThatOfTheCluster) {
  for (unsigned seed = 40; seed < 50; ++seed) {
    ChangingFleet fleet{seed};
    for (int round = 0; round < 40; ++round) {
      fleet.put_binding();
      const Binding binding = binding_from(kBinding, fleet.state().value_of(kBinding));
      const Placement placement;
      const Demand demand{binding, placement};
      FleetTable table{fleet.state().clusters()};
      const Estimate by_cluster{demand};
      const Estimate by_row{demand, table};
      for (size_t row = 0; row < table.size(); ++row) {
        ASSERT_EQ(by_row(row), by_cluster(table.cluster(row))) << "seed " << seed << ", " << table.cluster(row).name;
      }
    }
  }
}

TEST(SortCandidates, PutsThemInTheOrderOfS_29) {
  std::mt19937_64 random{29};
  for (int round = 0; round < 300; ++round) {
    std::vector<Candidate> candidates(1 + random() % 400);
    const size_t apart = 1 + random() % 3;
    for (size_t at = 0; at < candidates.size(); ++at) {
      candidates[at].line = static_cast<uint32_t>(at * apart);
      candidates[at].tier = round % 3 == 0 ? static_cast<int64_t>(random() % 4) * 333 : 0;
      candidates[at].score = random() % 2 == 0 ? 100 : 0;
      const auto wide = static_cast<int64_t>(random());
      candidates[at].available = round % 5 == 0 ? wide : wide % 2000;
    }
    if (round % 4 == 0) std::shuffle(candidates.begin(), candidates.end(), random);
    auto expected = candidates;
    std::stable_sort(expected.begin(), expected.end(), goes_first);
    sort_candidates(candidates);
    const auto lines = [](const std::vector<Candidate>& of) {
      std::vector<std::pair<uint32_t, int64_t>> all;
      for (const Candidate& candidate : of) all.emplace_back(candidate.line, candidate.available);
      return all;
    };
    ASSERT_EQ(lines(candidates), lines(expected)) << "round " << round;
  }
}

}  // namespace
}  // namespace shiplog::scheduler
