#include <set>
#include <string>

#include <boost/pfr.hpp>
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/codec/fact_samples.h"
#include "events/codec/samples.h"
#include "events/explain/json.h"
#include "events/explain/text.h"

namespace shiplog {
namespace {

/// With the clusters that samples refer to.
Explanation explaining(Fact step) {
  Explanation why;
  why.clusters = {{"m1", 0, 40, 3}, {"m2", 0, -1, -1}};
  why.steps.push_back(std::move(step));
  return why;
}

TEST(Facts, SamplesSetEveryMember) {
  for (const Fact& fact : samples::every_fact()) {
    std::visit(
        [](const auto& kind) {
          const std::decay_t<decltype(kind)> blank{};
          size_t place = 0;
          boost::pfr::for_each_field(kind, [&](const auto& member) {
            boost::pfr::for_each_field(blank, [&](const auto& other, size_t at) {
              if constexpr (std::is_same_v<decltype(member), decltype(other)>) {
                EXPECT_TRUE(at != place || member != other) << kind.kInfo.name << ": member " << at;
              }
            });
            ++place;
          });
        },
        static_cast<const FactVariant&>(fact));
  }
}

std::string_view name_of(const Fact& fact) {
  return std::visit([](const auto& kind) { return std::decay_t<decltype(kind)>::kInfo.name; },
                    static_cast<const FactVariant&>(fact));
}

TEST(Facts, HaveNumbersAndNamesOfTheirOwn) {
  std::set<uint32_t> numbers;
  std::set<std::string_view> names;
  for (const Fact& fact : samples::every_fact()) {
    std::visit([&](const auto& kind) { EXPECT_TRUE(numbers.insert(kind.kInfo.number).second) << kind.kInfo.name; },
               static_cast<const FactVariant&>(fact));
    EXPECT_TRUE(names.insert(name_of(fact)).second) << name_of(fact);
  }
}

TEST(Facts, ComeBackFromTheCodecAsTheyWere) {
  for (const Fact& fact : samples::every_fact()) {
    PlacementRefused refused;
    refused.why = explaining(fact);
    refused.why.summary = fact;
    refused.why.add({"m3"}, {{{"Rule", false, fact}}, {}});
    Entry entry;
    entry.events = {refused};
    const auto decoded = decode(encode(entry));
    ASSERT_TRUE(decoded) << name_of(fact) << ": " << decoded.error().message;
    EXPECT_TRUE(decoded.value() == entry) << name_of(fact);
  }
}

TEST(Facts, NumbersComeBackWhateverTheirSize) {
  for (const int64_t number : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{127}, int64_t{128}, INT64_MAX}) {
    PlacementRefused refused;
    refused.why = explaining(ReplicasKept{number, {0, 1, 1'000'000}, {number, INT64_MAX, 1}});
    Entry entry;
    entry.events = {refused};
    EXPECT_TRUE(decode(encode(entry)).value() == entry) << number;
  }
}

// Users and their tools rely on the texts, and some become part of objects.
TEST(Facts, HaveTheirText) {
  std::string texts;
  for (const Fact& fact : samples::every_fact()) texts += text_of(fact, explaining(fact)) + "\n";
  EXPECT_EQ(texts,
            R"(2 of 3 clusters fit
placed because target m1 is leaving
switched off by --plugins: ClusterLocality, TaintToleration
room is counted in whole sets of its components
room leaves out what was placed in the last five minutes and is not healthy yet
estimators say: m1 2, m2 -1
estimators are left aside: that of m1 gave no answer: no answer in time
not serving Sofa yet, but CustomResourceDefinition sofas.example.com is placed there: m1 m2
affinity far is in force
affinity near fails: 0/2 clusters are available: 2 cluster(s) did not have the API resource.
static weights: spread constraints are not looked at
spread by zone: only leaves out clusters that have none
spread constraints select, of 2 clusters in order m2 m1: m2
aggregated, to scale up: 9 replicas by weights m2:2 m1:1 give m1:3 m2:6
the 5 replicas stay: m1:2 m2:3
tier 1 has room for 20, takes 7
duplicated: 3 replicas on each cluster
its components are not divided: all of them go to every selected cluster
the other 2 selected get it with 0 replicas (--enable-empty-workload-propagation)
placed on m1:3
stays on m1:2 m2:1: what was refused is no longer asked for
cannot be placed: failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups
0/3 clusters are available: 1 cluster(s) did not have the API resource, 2 cluster(s) did not match the placement cluster affinity constraint.
failed to select clusters: no enough resource when selecting 2 clusters
failed to assign replicas: no clusters available to schedule
spec.placement: no object
FederatedResourceQuota(default/team) exceeded for resource cpu: requested sum 12, limit 10.
cluster(s) did not match the placement cluster affinity constraint
cluster(s) did not have the API resource
cluster(s) had untolerated taint {dedicated=gpu:NoSchedule}
cluster(s) did not have region property
cluster(s) is in the process of eviction
ResourceBinding with the same affinity group does not target this cluster
cluster already has workload with the same anti-affinity group
deployments.apps/default/web is selected by PropagationPolicy default/p by labels
PropagationPolicy default/p selects it and may not have it: its author ann may not get secrets in namespace default
no other policy may have it
2 policies select it: the first by priority, how it selects, and name has it
PropagationPolicy default/p: priority 7, by labels: lower priority
... and 5 more
it is claimed already: only a policy with spec.preemption Always could take it, with the feature gate PropagationPolicyPreemption
PropagationPolicy default/p preempts PropagationPolicy default/q: it has spec.preemption Always and the higher priority, 7 over 1
spec.activationPreference Lazy: applied, because the template was changed or is new
spec.failover.application: not acted on, unhealthy applications stay where they are
replicas: 3, each needs {"resourceRequest":{"cpu":"1"}}
replicas: none, ConfigMap is not a workload whose replicas can be told
component jobmanager: 2 replicas, each needs {"resourceRequest":{"cpu":"1"}}
components: it has none
workload affinity (feature gate WorkloadAffinity): it stays apart from others with app=shop
workload affinity: it has no label app, so there is nobody it stays apart from
Deployment web refers to 2 objects
ConfigMap default/settings
ConfigMap settings follows 1 binding
default/web-deployment: followed from now on, at m1 m2
default/web-deployment: released, it no longer refers to this or no longer propagates what it does
Dependency policy conflict detected: ConflictResolution conflicted (Overwrite vs Abort); PreserveResourcesOnDeletion conflicted (true vs false).
rendered Deployment web for m1 with 2 replicas
override policy(default/tag), rule 1: /spec/replicas: 1 -> 2
override policy(default/tag): not applied, its author ann may not get secrets in namespace default
every target is rendered again
not rendered for 2 of the targets
Apply override policy(default/tag) for cluster(m1) failed: rule 2: no such path
no such kind
)");
}

TEST(Facts, HaveTextForTheirOtherSide) {
  const auto text = [](const Fact& fact) { return text_of(fact, explaining(fact)); };
  EXPECT_EQ(text(Divided{Division::kStaticWeight, Scaling::kNone, 9, {0, 1}, {1, 2}, {3, 6}}),
            "static weight: 9 replicas by weights m1:1 m2:2 give m1:3 m2:6");
  EXPECT_EQ(text(Divided{Division::kAvailableReplicas, Scaling::kFresh, 0, {}, {}, {}}),
            "available replicas, to do fresh scale: 0 replicas by weights give nothing");
  EXPECT_EQ(text(NoClusterFits{}), "0/0 clusters are available: no cluster exists.");
  EXPECT_EQ(text(AssignmentFailed{}),
            "failed to assign replicas: Clusters available replicas are not enough to schedule.");
  EXPECT_EQ(text(AssignmentFailed{false, Scaling::kDown, 4}),
            "failed to assign replicas: failed to scale down: Clusters available replicas 4 are not enough to "
            "schedule.");
  EXPECT_EQ(text(EstimatesIgnored{"m1", false, ""}), "estimators are left aside: that of m1 was not asked");
  EXPECT_EQ(text(NotDivided{}), "no replicas to assign: the object goes to every selected cluster");
  EXPECT_EQ(text(OverrideApplied{"", "all", 1, ""}), "cluster override policy(all), rule 1: changes nothing");
  EXPECT_EQ(text(ReferrerFollowed{"default", "web", {}, false}), "default/web: followed, now nowhere yet");
  EXPECT_EQ(
      text(PolicyPreempted{"default", "p", 0, "", "all", 9}),
      "PropagationPolicy default/p preempts ClusterPropagationPolicy all: with spec.preemption Always, a policy of "
      "the namespace takes what a ClusterPropagationPolicy has, whatever their priorities");
}

TEST(Facts, ClustersThatAreNotThereHaveATextToo) {
  EXPECT_EQ(text_of(ReplicasKept{5, {7}, {}}), "the 5 replicas stay: cluster 7:0");
}

TEST(Facts, JsonNamesTypeMembersAndClusters) {
  const Explanation why = explaining(Divided{Division::kAggregated, Scaling::kUp, 9, {1, 0}, {2, 1}, {3, 6}});
  EXPECT_EQ(to_value(why.steps[0], why),
            parse_json(R"({"type": "Divided", "division": "Aggregated", "scaling": "Up", "replicas": 9,
                           "clusters": ["m2", "m1"], "weights": [2, 1], "assigned": [3, 6]})")
                .value());
  EXPECT_EQ(
      to_value(Fact{AffinityFailed{1, "near", {ApiNotEnabled{}}}}, why),
      parse_json(R"({"type": "AffinityFailed", "index": 1, "name": "near", "cause": [{"type": "ApiNotEnabled"}]})")
          .value());
  EXPECT_TRUE(to_value(Fact{Text{"in words"}}, why).is_null());
}

}  // namespace
}  // namespace shiplog
