// The cost of evacuating a dead cluster: all that was placed on it is evicted, placed elsewhere and created there, by
// all roles that take part, on the real state and fold. Rate and budget permit it at once; time between the steps
// (journal, network) is virtual and not counted. Evacuating a tenth is the baseline: the ratio of the times for each
// binding shows whether the cost depends on what moves or on its square. The first propagation of the same bindings is
// the other one: what the machine needs to place them at all. A cluster of a large fleet that is evacuated at a rate,
// one eviction after the other, shows what the workloads cost that have nothing to do with it.
//   evacuation_bench [--bindings=5000] [--json=FILE]

#include <cstdio>
#include <cstdlib>
#include <string>

#include "events/fold/fold.h"
#include "services/roles/binder/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/scheduler/role.h"
#include "services/roles/taint/role.h"
#include "tests/bench/figures.h"
#include "tests/support/stage.h"

namespace shiplog::bench {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

/// A fleet whose Deployments each run in one of two clusters: in m1, as long as it is there.
class Evacuated {
 public:
  /// `elsewhere`: so many more run in m3, and stay.
  explicit Evacuated(size_t bindings, size_t elsewhere = 0, const char* rate = "100000") : bindings_{bindings} {
    stage_.keeps_history = false;
    stage_.write({FoldVersionActivated{kFoldVersion}});
    stage_.write({FeatureGatesSet{{"Failover"}}, OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}},
                                                             {"eviction-budget", {"evictions=100000"}},
                                                             {"resource-eviction-rate", {rate}}}}});
    join("m1");
    join("m3");
    stage_.add(make_binder_role());
    stage_.add(make_scheduler_role());
    stage_.add(make_dispatcher_role(stage_.members()));
    stage_.add(make_taint_role());
    stage_.add(make_lifecycle_role());
    put({"propagationpolicies.policy.karmada.io", "default", "all"},
        or_exit(parse_json(
            R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"all",
            "namespace":"default","generation":1},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",
            "kind":"Deployment"}],"placement":{"clusterAffinity":{"clusterNames":["m1","m2"]},
            "spreadConstraints":[{"spreadByField":"cluster","minGroups":1,"maxGroups":1}]}}})")));
    put({type::kNamespace, "", "elsewhere"}, testing::namespace_object("elsewhere"));
    put({"propagationpolicies.policy.karmada.io", "elsewhere", "all"},
        or_exit(parse_json(
            R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"all",
            "namespace":"elsewhere","generation":1},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",
            "kind":"Deployment"}],"placement":{"clusterAffinity":{"clusterNames":["m3"]}}}})")));
    create("elsewhere", elsewhere, "m3");
  }

  Time propagate() {
    const Time start = Time::now();
    create("default", bindings_, "m1");
    return Time::now().since(start);
  }

  Time evacuate() {
    join("m2");
    stage_.run(Millis{1000});
    stage_.members().set_down("m1", true);
    const UtcMillis began = stage_.now();
    const Time start = Time::now();
    stage_.write({ClusterConditionChanged{testing::cluster_key("m1"), "Ready", "False", "ClusterNotReachable", ""},
                  TaintAdded{testing::cluster_key("m1"), {"dead", "", "NoExecute"}, "by hand"}});
    wait_for("m2", bindings_);
    virtual_ = stage_.now() - began;
    return Time::now().since(start);
  }
  Millis virtual_time() const { return virtual_; }

 private:
  void join(const char* name) {
    Value value = testing::cluster_object(name);
    value.edit("status").set("apiEnablements",
                             or_exit(parse_json(R"([{"groupVersion":"apps/v1","resources":[{"kind":"Deployment",
        "name":"deployments"}]}])")));
    put(testing::cluster_key(name), value);
    const ObjectKey space{type::kNamespace, "", "karmada-es-" + std::string{name}};
    if (stage_.state().find(space) == nullptr) put(space, testing::namespace_object(space.name.str()));
    stage_.members().member(name);
    stage_.write({ClusterConditionChanged{testing::cluster_key(name), "Ready", "True", "ClusterReady", ""}});
  }
  void put(const ObjectKey& key, Value value) {
    if (const Folded folded = stage_.put(key, std::move(value)); folded.refusal) give_up(folded.refusal->reason);
  }
  void create(const std::string& ns, size_t count, const std::string& cluster) {
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "web-" + std::to_string(i);
      put({"deployments.apps", ns, name}, testing::deployment(ns, name, 2));
      if (i % 100 == 99) stage_.run(Millis{100});
    }
    wait_for(cluster, count);
  }
  void wait_for(const std::string& cluster, size_t count) {
    for (int step = 0; stage_.members().member(cluster).objects().size() < count; ++step) {
      if (step == 100'000) give_up("not everything arrives in " + cluster);
      stage_.run(Millis{1});
    }
  }

  size_t bindings_;
  Millis virtual_;
  testing::Stage stage_;
};

struct Measured {
  Time propagated, evacuated;
};

Measured measure(Figures& figures, size_t bindings) {
  Evacuated fleet{bindings};
  Measured measured;
  measured.propagated = fleet.propagate();
  measured.evacuated = fleet.evacuate();
  const std::string of = std::to_string(bindings) + " bindings";
  figures.seconds("machine", of + " propagated to begin with", measured.propagated);
  figures.seconds("evacuation", of + " evacuated from a dead cluster", measured.evacuated);
  figures.value("evacuation", of + ": time of journal and network between",
                static_cast<double>(fleet.virtual_time().value) / 1000, "s");
  return measured;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t bindings = std::strtoul(option(argc, argv, "bindings", "5000").c_str(), nullptr, 10);
  if (bindings < 10) {
    std::fprintf(stderr, "usage: evacuation_bench [--bindings=5000] [--json=FILE]\n");
    return 2;
  }
  Figures figures{option(argc, argv, "json")};
  Figures::heading("Evacuating a dead cluster");
  const Measured tenth = measure(figures, bindings / 10);
  const Measured all = measure(figures, bindings);
  figures.value("evacuation", "CPU of each, beside that among a tenth", all.evacuated.cpu / tenth.evacuated.cpu / 10,
                "times");
  const size_t some = bindings / 10;
  const std::string paced = std::to_string(some) + " evacuated at 10 a second";
  Evacuated alone{some, 0, "10"};
  alone.propagate();
  const Time by_themselves = alone.evacuate();
  figures.seconds("evacuation", paced, by_themselves);
  Evacuated among{some, bindings, "10"};
  among.propagate();
  const Time in_a_fleet = among.evacuate();
  figures.seconds("evacuation", paced + ", " + std::to_string(bindings) + " stay elsewhere", in_a_fleet);
  figures.value("evacuation", "CPU of the latter, beside the former", in_a_fleet.cpu / by_themselves.cpu, "times");
  figures.value("evacuation", "CPU of all, beside their first propagation", all.evacuated.cpu / all.propagated.cpu,
                "times");
  return 0;
}
