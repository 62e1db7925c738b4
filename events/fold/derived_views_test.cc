// Views are functions of the objects: updated change by change they equal views that were given the objects at once.
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/state/binding.h"
#include "tests/support/rebuilt_state.h"

namespace shiplog {
namespace {

/// A history of every kind of object that a view reads, drawn from a seed: created, replaced and removed in any order,
/// with few names, so that the same objects change often.
class RandomHistory {
 public:
  explicit RandomHistory(uint64_t seed) : random_{seed} {
    for (const char* ns : {"a", "b"}) {
      put({ObjectCreated{{type::kNamespace, "", ns}, Value::object({{"metadata", Value::object({{"name", ns}})}})}});
    }
  }

  const State& state() const { return state_; }
  Random& random() { return random_; }

  void step() {
    switch (random_below(random_, 13)) {
      case 0:
        return put({FeatureGatesSet{some({"MultiplePodTemplatesScheduling", "SchedulingOvercommitProtection"})}});
      case 1:
        return put({OptionsSet{{{"plugins", {one_of({"*", "WorkloadAffinity"})}}}}});
      case 2:
        return change({type::kCluster, "", name()}, cluster());
      case 3:
        return change({type::kPropagationPolicy, ns(), name()}, policy());
      case 4:
        return change({type::kClusterPropagationPolicy, "", name()}, policy());
      case 5:
        return change({one_of({type::kOverridePolicy}), ns(), name()}, override_policy());
      case 6:
        return change({type::kClusterOverridePolicy, "", name()}, override_policy());
      case 7:
        return change({type::kFederatedResourceQuota, ns(), name()}, json(R"({"overall": {"cpu": "1000"}})"));
      case 8:
        return change({type::kService, ns(), name()}, service());
      case 9:
        return change({type::kClusterResourceBinding, "", name()}, binding());
      default:
        return change({type::kResourceBinding, ns(), name()}, binding());
    }
  }

 private:
  static Value json(const std::string& text) { return parse_json(text).value(); }
  std::string one_of(const std::vector<std::string>& choices) { return choices[random_below(random_, choices.size())]; }
  std::vector<std::string> some(const std::vector<std::string>& choices) {
    std::vector<std::string> chosen;
    for (const std::string& choice : choices) {
      if (random_below(random_, 2) == 0) chosen.push_back(choice);
    }
    return chosen;
  }
  std::string ns() { return one_of({"a", "b"}); }
  std::string name() { return one_of({"x", "y", "z", "m1", "m2"}); }

  Value cluster() {
    return json(R"({"region": ")" + one_of({"r1", "r2"}) + R"(", "taints": [{"key": "k", "effect": "NoSchedule"}]})");
  }
  Value policy() {
    return json(R"({"resourceSelectors": [{"apiVersion": "v1", "kind": ")" + one_of({"ConfigMap", "Secret"}) +
                R"(", "name": ")" + one_of({"", "x"}) + R"("}]})");
  }
  Value override_policy() { return random_below(random_, 2) == 0 ? json(R"({"overrideRules": []})") : policy(); }
  Value service() {
    return json(R"({"clusterIP": ")" + one_of({"None", "10.0.0.1", "10.0.0.2", ""}) + R"(", "ports": [{"nodePort": )" +
                one_of({"0", "30000", "30001"}) + "}]}");
  }
  Value binding() {
    Value spec = json(R"({"resource": {"kind": "Deployment", "name": "web"}, "replicas": 2})");
    Value targets = Value::array();
    for (const std::string& cluster : some({"m1", "m2"})) {
      targets.push_back(Value::object({{"name", cluster}, {"replicas", random_below(random_, 3)}}));
    }
    if (targets.size() > 0) spec.set("clusters", std::move(targets));
    if (random_below(random_, 2) == 0) {
      spec.set("replicaRequirements", json(R"({"resourceRequest": {"cpu": ")" + one_of({"100m", "1"}) + R"("}})"));
    }
    if (random_below(random_, 3) == 0) {
      spec.set("components", json(R"([{"name": "jm", "replicas": 1, "replicaRequirements":
                                       {"resourceRequest": {"cpu": "2"}}}])"));
    }
    if (random_below(random_, 2) == 0) {
      spec.set("workloadAffinityGroups", json(R"({"affinityGroup": ")" + one_of({"", "g", "h"}) +
                                              R"(", "antiAffinityGroup": ")" + one_of({"", "g"}) + R"("})"));
    }
    if (random_below(random_, 2) == 0) {
      spec.set("schedulePriority", Value::object({{"priority", random_below(random_, 2)}}));
    }
    if (random_below(random_, 3) == 0) {
      spec.set("requiredBy", Value::array({Value::object({{"namespace", ns()}, {"name", name()}})}));
    }
    return spec;
  }
  Value metadata(const ObjectKey& key) {
    Value metadata = Value::object({{"name", key.name}});
    if (!key.ns.empty()) metadata.set("namespace", key.ns);
    if (random_below(random_, 2) == 0) {
      Value owners = Value::array();
      for (const std::string& uid : some({"u1", "u2", "u1"})) owners.push_back(Value::object({{"uid", uid}}));
      metadata.set("ownerReferences", std::move(owners));
    }
    if (random_below(random_, 2) == 0) {
      Value labels = Value::object();
      for (const char* label : LabelIndex::kLabels) labels.set(label, one_of({"", "1", "2"}));
      metadata.set("labels", std::move(labels));
    }
    if (is_binding(key.type) && random_below(random_, 2) == 0) {
      metadata.set("annotations",
                   Value::object({{kAppliedPlacementAnnotation, one_of({"{}", "not JSON", R"({"clusterTolerations":
                                       [{"key": "k", "operator": "Exists", "tolerationSeconds": 60}]})"})}}));
    } else if (key.type == type::kResourceBinding && random_below(random_, 2) == 0) {
      const std::string named = one_of({R"("name": "x")", R"("labelSelector": {})"});
      metadata.set("annotations", Value::object({{kDependenciesAnnotation, R"([{"kind": "Secret", "namespace": ")" +
                                                                               key.ns + R"(", )" + named + "}]"}}));
    }
    return metadata;
  }
  Value status() {
    return json(R"({"lastScheduledTime": ")" + one_of({"2026-01-02T12:00:00Z", "2026-01-02T12:00:05Z"}) +
                R"(", "aggregatedStatus": [{"clusterName": "m1", "health": ")" + one_of({"Healthy", "Unhealthy"}) +
                R"("}]})");
  }

  void change(const ObjectKey& key, Value spec) {
    const bool exists = state_.find(key) != nullptr;
    if (exists && random_below(random_, 3) == 0) return put({ObjectRemoved{key}});
    Value object = Value::object({{"metadata", metadata(key)}, {"spec", std::move(spec)}, {"status", status()}});
    if (exists) return put({ObjectUpdated{key, std::move(object)}});
    put({ObjectCreated{key, std::move(object)}});
  }
  void put(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.time = now_ = now_ + Millis{1000};
    entry.events = std::move(events);
    const Folded folded = fold(state_, entry);
    ASSERT_FALSE(folded.refusal) << folded.refusal->reason;
  }

  SeededRandom random_;
  UtcMillis now_{1'767'355'200'000};  // 2026-01-02T12:00:00Z
  State state_;
};

template <class View>
void expect_equal(const View& updated, const View& rebuilt) {
  EXPECT_TRUE(updated == rebuilt) << typeid(View).name();
}

template <class... Each>
void expect_all_equal(const std::tuple<Each...>& updated, const std::tuple<Each...>& rebuilt) {
  (expect_equal(std::get<Each>(updated), std::get<Each>(rebuilt)), ...);
}

TEST(DerivedViews, EqualThoseOfTheSameObjectsInAnyOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomHistory history{seed};
    for (int step = 1; step <= 400; ++step) {
      history.step();
      if (step % 20 != 0) continue;
      expect_all_equal(history.state().views(), testing::rebuilt(history.state(), history.random()).views());
      if (HasFailure()) return;
    }
    EXPECT_FALSE(history.state().views() == Views{}) << "the history has what views read";
  }
}

}  // namespace
}  // namespace shiplog
