// The sums that follow events equal those computed from all nodes and pods there are.
#include "services/roles/collector/member_totals.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/condition.h"
#include "events/state/work.h"

namespace shiplog::collector {
namespace {

using Objects = std::map<std::string, Value>;

// --- from whole lists, as straightforward as can be
// -------------------------------------------------------------------

ResourceList sum_of(const Objects& pods, const std::function<bool(const Value&)>& counted) {
  ResourceList sum;
  for (const auto& [name, pod] : pods) {
    const auto phase = pod["status"]["phase"].as_string();
    if (phase == "Succeeded" || phase == "Failed" || !counted(pod)) continue;
    add_resources(sum, pod_requests(pod));
  }
  return sum;
}

std::optional<size_t> grade_from(const ResourceList& free, const Value& models) {
  std::map<std::string, size_t> grades;
  for (size_t grade = 0; grade < models.size(); ++grade) {
    for (const Value& range : models[grade]["ranges"].items()) {
      const std::string name = range["name"].str();
      const auto has = free.find(name);
      const Quantity amount = has == free.end() ? Quantity{} : has->second;
      if (amount.negative()) return std::nullopt;
      if (parse_quantity(range["min"].as_string()).value() <= amount) grades[name] = grade;
    }
  }
  if (grades.empty()) return std::nullopt;
  return std::ranges::min_element(grades, {}, [](const auto& each) { return each.second; })->second;
}

void set_positive(Value& summary, const char* name, ResourceList list) {
  std::erase_if(list, [](const auto& each) { return each.second.is_zero() || each.second.negative(); });
  if (!list.empty()) summary.set(name, to_value(list));
}

Value summary_of(const Objects& nodes, const Objects& pods, const Value& models) {
  ResourceList allocatable;
  std::vector<int64_t> counts(models.size());
  for (const auto& [name, node] : nodes) {
    ResourceList free = resource_list_from(node["status"]["allocatable"]);
    add_resources(allocatable, free);
    const auto on_it = [&name = name](const Value& pod) { return pod["spec"]["nodeName"].as_string() == name; };
    for (const auto& [resource, amount] : sum_of(pods, on_it)) free[resource] = free[resource] - amount;
    if (free["pods"].negative() || free["pods"].is_zero()) continue;
    if (const auto grade = grade_from(free, models)) ++counts[*grade];
  }
  const auto placed = [](const Value& pod) { return !pod["spec"]["nodeName"].as_string().empty(); };
  Value summary = Value::object();
  set_positive(summary, "allocatable", allocatable);
  set_positive(summary, "allocated", sum_of(pods, placed));
  set_positive(summary, "allocating", sum_of(pods, [&](const Value& pod) { return !placed(pod); }));
  if (models.size() == 0) return summary;
  Value list = Value::array();
  for (size_t grade = 0; grade < models.size(); ++grade) {
    list.push_back(Value::object({{"grade", models[grade]["grade"]}, {"count", counts[grade]}}));
  }
  summary.set("allocatableModelings", list);
  return summary;
}

Value node_summary_of(const Objects& nodes) {
  const auto ready = std::ranges::count_if(
      nodes, [](const auto& node) { return condition_of(node.second, "Ready")["status"].as_string() == "True"; });
  return Value::object({{"totalNum", nodes.size()}, {"readyNum", ready}});
}

// --- what may happen in a member
// --------------------------------------------------------------------------------------

class Happenings {
 public:
  explicit Happenings(uint32_t seed) : random_{seed} {}

  size_t below(size_t limit) { return random_() % limit; }
  bool one_in(size_t times) { return below(times) == 0; }

  Value node(const std::string& name) {
    Value allocatable = Value::object({{"cpu", std::to_string(1 + below(8))},
                                       {"memory", std::to_string(1 + below(32)) + "Gi"},
                                       {"pods", std::to_string(below(6))}});
    if (one_in(3)) allocatable.set("example.com/gpu-" + std::to_string(below(4)), std::to_string(below(3)));
    if (one_in(4)) allocatable.set("broken", "x");
    const Value ready = Value::object({{"type", "Ready"}, {"status", one_in(4) ? "False" : "True"}});
    return Value::object(
        {{"metadata", Value::object({{"name", name}})},
         {"status", Value::object({{"allocatable", allocatable}, {"conditions", Value::array({ready})}})}});
  }
  Value pod(const std::string& name) {
    Value requests = Value::object({{"cpu", std::to_string(below(20) * 50) + "m"}});
    if (one_in(2)) requests.set("memory", std::to_string(below(9)) + "Gi");
    if (one_in(5)) requests.set("example.com/gpu-" + std::to_string(below(4)), "1");
    const Value container = Value::object({{"resources", Value::object({{"requests", requests}})}});
    Value pod = Value::object({{"metadata", Value::object({{"namespace", "ns"}, {"name", name}})},
                               {"spec", Value::object({{"containers", Value::array({container})}})},
                               {"status", Value::object({{"phase", one_in(6) ? "Succeeded" : "Running"}})}});
    if (!one_in(4)) pod.edit("spec").set("nodeName", "node-" + std::to_string(below(8)));
    return pod;
  }
  Value models() {
    const size_t grades = below(4);
    Value models = Value::array();
    for (size_t grade = 0; grade < grades; ++grade) {
      const std::string least = std::to_string(grade * (1 + below(2)));
      Value ranges = Value::array({Value::object({{"name", "cpu"}, {"min", least}})});
      if (one_in(2)) ranges.push_back(Value::object({{"name", "memory"}, {"min", least + "Gi"}}));
      if (one_in(4)) ranges.push_back(Value::object({{"name", "example.com/gpu-1"}, {"min", least}}));
      models.push_back(Value::object({{"grade", grade}, {"ranges", ranges}}));
    }
    return models;
  }

 private:
  std::mt19937 random_;
};

TEST(CollectorTotals, EventsLeadToTheSameSumsAsWholeLists_CL_22_CL_23_CL_24) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Happenings chance{seed};
    MemberTotals totals;
    Objects nodes, pods;
    Value models = chance.models();
    for (int step = 0; step < 400; ++step) {
      const std::string node = "node-" + std::to_string(chance.below(6));
      const std::string pod = "pod-" + std::to_string(chance.below(25));
      switch (chance.below(10)) {
        case 0:
        case 1:
          nodes[node] = chance.node(node);
          totals.put_node(nodes[node]);
          break;
        case 2:  // also one that is not there
          totals.remove_node(chance.node(node));
          nodes.erase(node);
          break;
        case 3:
          totals.remove_pod(chance.pod(pod));
          pods.erase(pod);
          break;
        case 4:  // watches were apart: everything is listed again
          if (!chance.one_in(5)) break;
          pods.erase(pod);
          nodes.erase(node);
          totals.begin_pods();
          for (const auto& [name, object] : pods) totals.put_pod(object);
          totals.begin_nodes();
          for (const auto& [name, object] : nodes) totals.put_node(object);
          totals.end_pods();
          totals.end_nodes();
          break;
        case 5:
          if (chance.one_in(8)) models = chance.models();
          break;
        default:
          pods[pod] = chance.pod(pod);
          totals.put_pod(pods[pod]);
      }
      if (!chance.one_in(3)) continue;
      ASSERT_EQ(totals.node_summary(), node_summary_of(nodes)) << "seed " << seed << ", step " << step;
      ASSERT_EQ(totals.resource_summary(models), summary_of(nodes, pods, models))
          << "seed " << seed << ", step " << step;
    }
    totals.begin_pods();
    totals.end_pods();
    totals.begin_nodes();
    totals.end_nodes();
    EXPECT_EQ(totals.resource_summary({}), Value::object());
    EXPECT_EQ(totals.bytes(), 0U) << "nothing is left of what is gone";
  }
}

Value pod_with(const std::string& name, const std::string& resource, const std::string& amount) {
  const Value requests = Value::object({{resource, amount}});
  const Value container = Value::object({{"resources", Value::object({{"requests", requests}})}});
  return Value::object({{"metadata", Value::object({{"namespace", "ns"}, {"name", name}})},
                        {"spec", Value::object({{"containers", Value::array({container})}, {"nodeName", "n"}})}});
}

TEST(CollectorTotals, AmountsOfAnySizeAreKeptExactly) {
  MemberTotals totals;
  totals.put_pod(pod_with("a", "memory", "1e24"));
  totals.put_pod(pod_with("b", "memory", "1m"));
  EXPECT_EQ(totals.resource_summary({})["allocated"]["memory"], "1000000000000000000000000001m");
  totals.remove_pod(pod_with("a", "memory", "1"));
  EXPECT_EQ(totals.resource_summary({})["allocated"]["memory"], "1m");
  totals.put_pod(pod_with("b", "memory", "-5"));
  EXPECT_EQ(totals.resource_summary({})["allocated"], Value::object({{"pods", "1"}}));
}

TEST(CollectorTotals, PodsTakeLittleMemoryEvenIfAllDiffer) {
  MemberTotals same, different;
  for (int number = 0; number < 10'000; ++number) {
    const std::string name = "pod-" + std::to_string(number);
    same.put_pod(pod_with(name, "cpu", "100m"));
    different.put_pod(pod_with(name, "cpu", std::to_string(number) + "m"));
  }
  EXPECT_LE(same.bytes(), 10'000U * 70);
  EXPECT_LE(different.bytes(), 10'000U * 150);
}

TEST(CollectorTotals, AMemberWithoutBoundsTakesNoMoreMemory) {
  MemberTotals totals{{.nodes = 10, .pods = 100, .bytes = 64 << 10}};
  for (int number = 0; number < 1'000; ++number) {
    totals.put_pod(pod_with("pod-" + std::to_string(number), "cpu", "1"));
  }
  EXPECT_FALSE(totals.complete());
  EXPECT_EQ(totals.pods(), 100U);
  totals.begin_pods();
  EXPECT_TRUE(totals.complete());
  for (int number = 0; number < 10'000; ++number) {  // names that are made up anew each time
    totals.put_pod(pod_with("pod-1", "example.com/" + std::string(200, 'x') + std::to_string(number), "1"));
  }
  totals.end_pods();
  EXPECT_EQ(totals.pods(), 1U);
  EXPECT_EQ(totals.resource_summary({})["allocated"].size(), 2U);
  for (int number = 0; number < 1'000; ++number) {
    Value pod = pod_with("pod-" + std::to_string(number), "cpu", "1");
    pod.edit("spec").set("nodeName", std::string(200, 'n') + std::to_string(number));
    totals.put_pod(pod);
  }
  EXPECT_FALSE(totals.complete());
  EXPECT_LE(totals.bytes(), size_t{65} << 10U);
}

}  // namespace
}  // namespace shiplog::collector
