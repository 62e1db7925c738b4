#include "events/explanation_compare.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

const ObjectKey kBinding{"resourcebindings.work.karmada.io", "default", "web-deployment"};

Explanation facts() {
  Explanation why{PlacementMade{}, "digest", {}, {Triggered{}, Duplicated{2}}, {}};
  why.add({"m1", 0, 40, 2}, {{{"ClusterAffinity", true, {}}}, {{"ClusterLocality", 100}}});
  why.add({"m2", 0, -1, -1}, {{{"ClusterAffinity", false, AffinityMismatch{}}}, {}});
  return why;
}

/// The same as a build before typed facts wrote it.
Explanation words() {
  Explanation why{Text{"placed on m1:2"}, "digest", {}, {Text{"duplicated: 2 replicas on each cluster"}}, {}};
  why.add({"m1", 0, 40, 2}, {{{"ClusterAffinity", true, {}}}, {{"ClusterLocality", 100}}});
  why.add({"m2", 0, -1, -1}, {{{"ClusterAffinity", false, Text{"cluster(s) did not match"}}}, {}});
  return why;
}

Event placed(Explanation why) {
  return PlacementDecided{.binding = kBinding,
                          .targets = {{"m1", 2}},
                          .observed_generation = 1,
                          .applied_placement = "{}",
                          .affinity_name = "",
                          .why = std::move(why)};
}

/// Whether verification passes.
bool same(const Event& recorded, const Event& recomputed) {
  std::vector<Event> again{recomputed};
  take_form_of({recorded}, again);
  return again.front() == recorded;
}

TEST(ExplanationCompare, ThoseOfThisBuildAreComparedWhole) {
  EXPECT_TRUE(same(placed(facts()), placed(facts())));
  Explanation other = facts();
  other.steps.pop_back();
  EXPECT_FALSE(same(placed(facts()), placed(other)));
  other = facts();
  other.judgements[1].verdicts[0].reason = ApiNotEnabled{};
  EXPECT_FALSE(same(placed(facts()), placed(other)));
}

TEST(ExplanationCompare, ThoseStoredAsTextAreComparedWithoutTheText) {
  EXPECT_TRUE(same(placed(words()), placed(facts())));
  const auto differs = [](auto change) {
    Explanation other = facts();
    change(other);
    return !same(placed(words()), placed(other));
  };
  EXPECT_TRUE(differs([](Explanation& why) { why.inputs_digest = "another"; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.clusters[0].replicas = 3; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.clusters[0].available_replicas = 41; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.clusters[1].cluster = "m3"; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.clusters.pop_back(); }));
  EXPECT_TRUE(differs([](Explanation& why) { why.judgements[0].scores[0].points = 0; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.judgements[1].verdicts[0].rule = "APIEnablement"; }));
  EXPECT_TRUE(differs([](Explanation& why) { why.judgements[1].verdicts[0].passed = true; }));
  Event other = placed(facts());
  std::get<PlacementDecided>(other).targets[0].replicas = 3;
  EXPECT_FALSE(same(placed(words()), other)) << "all else is compared";
}

TEST(ExplanationCompare, FieldsThatEarlierBuildsDidNotWriteAreNotCompared) {
  const ObjectKey cluster{"clusters.cluster.karmada.io", "", "m1"};
  const Event before = TaintAdded{cluster, {"k", "", "NoSchedule"}, "ClusterTaintPolicy p"};
  const Event now = TaintAdded{cluster, {"k", "", "NoSchedule"}, "ClusterTaintPolicy p", "p"};
  EXPECT_TRUE(same(before, now));
  EXPECT_FALSE(same(now, before));
  QuotaRefused refused{.binding = kBinding, .quota = {}, .message = "exceeded", .observed_generation = 1};
  const Event in_words = refused;
  refused.why.summary = QuotaExceeded{"default", "team", "cpu", "12", "10"};
  EXPECT_TRUE(same(in_words, refused));
  EXPECT_FALSE(same(refused, in_words));
}

TEST(ExplanationCompare, OtherEventsStayAsTheyAre) {
  EXPECT_FALSE(same(placed(words()), WorkRemoved{kBinding}));
  std::vector<Event> none;
  take_form_of({placed(words())}, none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace shiplog
