// The cost of one edit of a policy that selects five of very many templates, until the members have the result, with
// all roles that decide, on the real state and fold. Time between the steps (journal, network) is virtual and not
// counted. The same edit in a fleet a tenth as large is the baseline: the ratio shows whether the cost depends on the
// change or on the size of the fleet.
//   edit_bench [--bindings=50000] [--json=FILE]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "services/roles/binder/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/distributor/role.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/quota/role.h"
#include "services/roles/rebalancer/role.h"
#include "services/roles/scheduler/role.h"
#include "services/roles/taint/role.h"
#include "tests/bench/figures.h"
#include "tests/support/stage.h"

namespace shiplog::bench {
namespace {

constexpr size_t kOfOnePolicy = 5;
constexpr size_t kEdits = 21;
constexpr const char* kNamespaces = "team-";

std::string namespace_of(size_t policy) { return kNamespaces + std::to_string(policy % 50); }

Value policy_for(size_t number, bool both) {
  std::string selectors;
  for (size_t i = 0; i < kOfOnePolicy; ++i) {
    selectors += std::string{i == 0 ? "" : ","} + R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web-)" +
                 std::to_string(number * kOfOnePolicy + i) + "\"}";
  }
  return or_exit(parse_json(
      R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"p-)" +
      std::to_string(number) + R"(","namespace":")" + namespace_of(number) + R"(","generation":)" + (both ? "2" : "1") +
      R"(},"spec":{"resourceSelectors":[)" + selectors + R"(],"placement":{"clusterAffinity":{"clusterNames":[)" +
      (both ? R"("m1","m2")" : R"("m1")") + "]}}}}"));
}

/// A fleet in which everything has been propagated to m1.
class Running {
 public:
  explicit Running(size_t bindings) : policies_{bindings / kOfOnePolicy} {
    stage_.keeps_history = false;
    for (const char* name : {"m1", "m2"}) {
      const ObjectKey cluster = testing::cluster_key(name);
      Value value = testing::cluster_object(name);
      value.edit("status").set("apiEnablements",
                               or_exit(parse_json(R"([{"groupVersion":"apps/v1","resources":[{"kind":"Deployment",
          "name":"deployments"}]}])")));
      stage_.put(cluster, value);
      const ObjectKey space{type::kNamespace, "", "karmada-es-" + std::string{name}};
      if (stage_.state().find(space) == nullptr) stage_.put(space, testing::namespace_object(space.name.str()));
      stage_.members().member(name);
      stage_.write({ClusterConditionChanged{cluster, "Ready", "True", "ClusterReady", ""}});
    }
    for (size_t i = 0; i < 50; ++i) {
      const std::string ns = kNamespaces + std::to_string(i);
      stage_.put({type::kNamespace, "", ns}, testing::namespace_object(ns));
    }
    stage_.add(make_binder_role());
    stage_.add(make_scheduler_role());
    stage_.add(make_distributor_role());
    stage_.add(make_dispatcher_role(stage_.members()));
    stage_.add(make_quota_role());
    stage_.add(make_taint_role());
    stage_.add(make_lifecycle_role());
    stage_.add(make_rebalancer_role());
    for (size_t policy = 0; policy < policies_; ++policy) {
      put(policy, false);
      for (size_t i = 0; i < kOfOnePolicy; ++i) {
        const std::string name = "web-" + std::to_string(policy * kOfOnePolicy + i);
        stage_.put({"deployments.apps", namespace_of(policy), name},
                   testing::deployment(namespace_of(policy), name, 2));
      }
      if (policy % 100 == 99) stage_.run(Millis{100});
    }
    stage_.run(Millis{60'000});
    for (size_t policy = 0; policy < policies_; ++policy) {
      if (on("m1", policy) != kOfOnePolicy) give_up("not everything was propagated to begin with");
    }
  }

  /// Adds m2 to a policy, and waits until all five objects are there.
  Time edit(size_t policy) {
    const Time start = Time::now();
    put(policy, true);
    for (int step = 0; on("m2", policy) != kOfOnePolicy; ++step) {
      if (step == 10'000) give_up("the edit does not arrive");
      stage_.run(Millis{1});
    }
    return Time::now().since(start);
  }

  size_t policies() const { return policies_; }

 private:
  [[noreturn]] static void give_up(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::exit(1);
  }

  void put(size_t policy, bool both) {
    const ObjectKey key{type::kPropagationPolicy, namespace_of(policy), "p-" + std::to_string(policy)};
    Value value = policy_for(policy, both);
    if (const Value& present = stage_.state().value_of(key); present.is_object()) {
      Value edited = present;
      edited.edit("metadata").set("generation", value["metadata"]["generation"]);
      edited.set("spec", value["spec"]);
      value = std::move(edited);
    }
    if (const Folded folded = stage_.put(key, std::move(value)); folded.refusal)
      give_up(folded.refusal->reason.c_str());
  }

  size_t on(const std::string& cluster, size_t policy) {
    size_t found = 0;
    for (size_t i = 0; i < kOfOnePolicy; ++i) {
      const std::string name = "web-" + std::to_string(policy * kOfOnePolicy + i);
      found +=
          stage_.members().member(cluster).find({"deployments.apps", namespace_of(policy), name}).is_null() ? 0 : 1;
    }
    return found;
  }

  size_t policies_;
  testing::Stage stage_;
};

/// The median, in ms of CPU time.
double measure(Figures& figures, size_t bindings) {
  Running fleet{bindings};
  std::vector<double> took;
  for (size_t i = 0; i < kEdits; ++i) {
    took.push_back(fleet.edit((i * 7919 + 1) % fleet.policies()).cpu * 1e3);
  }
  std::sort(took.begin(), took.end());
  const std::string of = std::to_string(kOfOnePolicy) + " of " + std::to_string(bindings) + " bindings";
  figures.value("edit", of + ", median", took[kEdits / 2], "ms of CPU");
  figures.value("edit", of + ", longest", took.back(), "ms of CPU");
  return took[kEdits / 2];
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t bindings = std::strtoul(option(argc, argv, "bindings", "50000").c_str(), nullptr, 10);
  if (bindings < 1000) {
    std::fprintf(stderr, "usage: edit_bench [--bindings=50000] [--json=FILE], with 1000 bindings or more\n");
    return 2;
  }
  Figures figures{option(argc, argv, "json")};
  Figures::heading("an edit of one policy, from its entry to the members, with every service that decides");
  const double small = measure(figures, bindings / 10);
  const double large = measure(figures, bindings);
  figures.value("edit", "ten times the fleet costs", large / small, "times as much");
  return 0;
}
