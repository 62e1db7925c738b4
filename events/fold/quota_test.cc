// Enforcement of FederatedResourceQuotas by the fold: sections 4.3 to 4.6 of Karmada's behaviour (Q-4 to Q-17).
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::json;

ObjectKey binding(const std::string& name, const std::string& ns = "default") {
  return {type::kResourceBinding, ns, name};
}
const ObjectKey kQuota{type::kFederatedResourceQuota, "default", "limits"};

const char* const kOneCore = R"({"replicaRequirements":{"resourceRequest":{"cpu":"1","memory":"1Gi"}}})";

struct QuotaHistory {
  State state;
  SeededRandom random{7};
  UtcMillis now{1'767'355'200'000};

  explicit QuotaHistory(const char* overall = R"({"cpu":"4"})", uint32_t version = 7) {
    put({ObjectCreated{{type::kNamespace, "", "default"}, json(R"({"metadata":{"name":"default"}})")}});
    put({FoldVersionActivated{version}});
    put({FeatureGatesSet{{"FederatedQuotaEnforcement", "MultiplePodTemplatesScheduling"}}});
    limit(overall);
  }
  Folded put(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = now = now + Millis{1000};
    entry.events = std::move(events);
    return fold(state, entry);
  }
  void limit(const char* overall, const ObjectKey& key = kQuota) {
    Value quota = state.value_of(key);
    quota.edit("metadata").set("name", key.name);
    quota.edit("metadata").set("namespace", key.ns);
    quota.edit("spec").set("overall", json(overall));
    const bool is_new = state.find(key) == nullptr;
    EXPECT_FALSE(put({is_new ? Event{ObjectCreated{key, quota}} : Event{ObjectUpdated{key, quota}}}).refusal);
  }
  /// "" or why it is refused.
  std::string bind(const ObjectKey& key, const std::string& spec) {
    return outcome({BindingPut{
        key,
        Value::object({{"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}, {"spec", json(spec)}}),
        {}}});
  }
  std::string place(const ObjectKey& key, std::vector<Target> targets) {
    return outcome({PlacementDecided{key, std::move(targets), 1, "{}", "", {}, {}}});
  }
  std::string outcome(std::vector<Event> events) {
    const Folded folded = put(std::move(events));
    return folded.refusal ? folded.refusal->reason : "";
  }
  /// What the status says, which at any revision is what the bindings use.
  std::string used(const ObjectKey& key = kQuota) const {
    return to_json(state.value_of(key)["status"]["overallUsed"]);
  }
};

constexpr const char* kDenied = "admission webhook \"resourcebinding.karmada.io\" denied the request: ";

TEST(QuotaFold, ARefusalHasUpstreamsWordsAndIsAboutTheQuota_4_3_13) {
  QuotaHistory history;
  history.bind(binding("web"), kOneCore);
  const Folded folded = history.put({PlacementDecided{binding("web"), {{"m1", 5}}, 1, "{}", "", {}, {}}});
  ASSERT_TRUE(folded.refusal);
  EXPECT_EQ(folded.refusal->code, ErrorCode::kForbidden);
  EXPECT_EQ(folded.refusal->about, kQuota);
  EXPECT_EQ(folded.refusal->reason,
            std::string{kDenied} +
                "FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 5, limit 4.");
  EXPECT_TRUE(history.state.value_of(binding("web"))["spec"]["clusters"].is_null()) << "4.5.1";
}

TEST(QuotaFold, ABindingWithoutTargetsIsNotChecked_4_3_3) {
  QuotaHistory history{R"({"cpu":"0"})"};
  EXPECT_EQ(history.bind(binding("web"), kOneCore), "");
  EXPECT_NE(history.place(binding("web"), {{"m1", 1}}), "");
}

TEST(QuotaFold, BindingsOfClusterScopedTemplatesAreNotChecked_4_3_2) {
  QuotaHistory history{R"({"cpu":"0"})"};
  const ObjectKey role{type::kClusterResourceBinding, "", "role"};
  EXPECT_EQ(history.bind(role, kOneCore), "");
  EXPECT_EQ(history.place(role, {{"m1", 9}}), "");
}

TEST(QuotaFold, MovingReplicasIsFreeWhileTheirSumStays_4_3_4_4_3_7) {
  QuotaHistory history;
  history.bind(binding("web"), kOneCore);
  ASSERT_EQ(history.place(binding("web"), {{"m1", 4}}), "");
  history.limit(R"({"cpu":"1"})");
  EXPECT_EQ(history.place(binding("web"), {{"m1", 1}, {"m2", 3}}), "") << "beyond the limit, but no more than before";
  EXPECT_NE(history.place(binding("web"), {{"m1", 1}, {"m2", 4}}), "");
  EXPECT_NE(history.bind(binding("web"), R"({"replicaRequirements":{"resourceRequest":{"cpu":"2"}}})"), "")
      << "the same targets with a larger request";
}

TEST(QuotaFold, DuplicatedReplicasCountOnEachCluster_4_3_5) {
  QuotaHistory history;
  history.bind(binding("web"), kOneCore);
  EXPECT_EQ(history.place(binding("web"), {{"m1", 2}, {"m2", 2}}), "") << "the limit itself is permitted";
  EXPECT_EQ(history.used(), R"({"cpu":"4"})");
  EXPECT_NE(history.place(binding("web"), {{"m1", 2}, {"m2", 2}, {"m3", 2}}), "");
}

std::string flink(const char* managers, const char* cpu = "1") {
  return std::string{R"({"components":[{"name":"jm","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":")"} +
         cpu + R"("}}},{"name":"tm","replicas":)" + managers +
         R"(,"replicaRequirements":{"resourceRequest":{"cpu":"1"}}}]})";
}

TEST(QuotaFold, AChangeOfComponentsAloneChangesUsage_4_3_6_4_6_1) {  // 4.3.4
  QuotaHistory history{R"({"cpu":"8"})"};
  history.bind(binding("flink"), flink("2"));
  ASSERT_EQ(history.place(binding("flink"), {{"m1", 0}, {"m2", 0}}), "");
  EXPECT_EQ(history.used(), R"({"cpu":"6"})") << "three pods, twice";
  EXPECT_EQ(history.bind(binding("flink"), flink("3")), "");
  EXPECT_EQ(history.used(), R"({"cpu":"8"})") << "spec.clusters is what it was";
  EXPECT_NE(history.bind(binding("flink"), flink("4")), "") << "more replicas of a component";
  EXPECT_NE(history.bind(binding("flink"), flink("3", "1100m")), "") << "a larger request of one";
  EXPECT_EQ(history.used(), R"({"cpu":"8"})");
  EXPECT_EQ(history.bind(binding("flink"), flink("1")), "");
  EXPECT_EQ(history.used(), R"({"cpu":"4"})");
}

TEST(QuotaFold, EveryLimitedResourceHasToFitOnceOneOfThemGrows_4_3_8) {
  QuotaHistory history{R"({"cpu":"9","memory":"4Gi"})"};
  history.bind(binding("web"), kOneCore);
  ASSERT_EQ(history.place(binding("web"), {{"m1", 4}}), "");
  history.limit(R"({"cpu":"9","memory":"1Gi"})");
  history.bind(binding("cpu-only"), R"({"replicaRequirements":{"resourceRequest":{"cpu":"1"}}})");
  EXPECT_EQ(history.place(binding("cpu-only"), {{"m1", 1}}),
            std::string{kDenied} +
                "FederatedResourceQuota(default/limits) exceeded for resource memory: requested sum 4Gi, limit 1Gi.");
  history.bind(binding("disk-only"), R"({"replicaRequirements":{"resourceRequest":{"ephemeral-storage":"1Gi"}}})");
  EXPECT_EQ(history.place(binding("disk-only"), {{"m1", 1}}), "") << "the quota limits nothing of it";
}

TEST(QuotaFold, AllQuotasOfTheNamespaceHaveToPermitIt_4_3_8) {
  QuotaHistory history;
  const ObjectKey second{type::kFederatedResourceQuota, "default", "second"};
  history.limit(R"({"cpu":"2"})", second);
  history.bind(binding("web"), kOneCore);
  EXPECT_NE(history.place(binding("web"), {{"m1", 3}}), "");
  EXPECT_EQ(history.place(binding("web"), {{"m1", 2}}), "");
  EXPECT_EQ(history.used(), R"({"cpu":"2"})");
  EXPECT_EQ(history.used(second), R"({"cpu":"2"})");
}

// Upstream refuses it while any limit stays exceeded: decision 0061.
TEST(QuotaFold, ADecreaseIsPermittedThoughALimitStaysExceeded_4_3_9) {
  QuotaHistory history;
  history.bind(binding("web"), kOneCore);
  ASSERT_EQ(history.place(binding("web"), {{"m1", 2}, {"m2", 2}}), "");
  history.limit(R"({"cpu":"1"})");
  EXPECT_EQ(history.place(binding("web"), {{"m2", 2}}), "") << "an eviction from m1";
  EXPECT_EQ(history.used(), R"({"cpu":"2"})");
  EXPECT_EQ(history.outcome({DeletionRequested{binding("web")}}), "");
}

TEST(QuotaFold, UsageIsInTheStatusAtTheRevisionOfItsCause_4_3_10_4_4_1) {
  QuotaHistory history;
  history.bind(binding("web"), kOneCore);
  const Folded folded = history.put({PlacementDecided{binding("web"), {{"m1", 3}}, 1, "{}", "", {}, {}}});
  ASSERT_EQ(folded.changes.size(), 2U);
  EXPECT_EQ(folded.changes[1].object, kQuota);
  EXPECT_EQ(to_json(folded.changes[1].after["status"]["overallUsed"]), R"({"cpu":"3"})");
  EXPECT_NE(history.place(binding("web"), {{"m1", 5}}), "");
  EXPECT_EQ(history.used(), R"({"cpu":"3"})") << "4.3.11: what is refused is not charged";
  history.put({DeletionRequested{binding("web")}});
  EXPECT_EQ(history.used(), "{}") << "4.3.12: a sum of zero is left out";
}

TEST(QuotaFold, PrefixedNamesLimitNothing_4_3_12) {
  QuotaHistory history{R"({"requests.cpu":"1","limits.memory":"1","pods":"1"})"};
  history.bind(binding("web"), kOneCore);
  EXPECT_EQ(history.place(binding("web"), {{"m1", 50}}), "");
  EXPECT_EQ(history.used(), "{}");
}

TEST(QuotaFold, AnOlderVersionComparesOnlyWhatGrowsAndWritesNoUsage) {
  QuotaHistory history{R"({"cpu":"9","memory":"4Gi"})", 6};
  history.bind(binding("web"), kOneCore);
  ASSERT_EQ(history.place(binding("web"), {{"m1", 4}}), "");
  history.limit(R"({"cpu":"9","memory":"1Gi"})");
  history.bind(binding("cpu-only"), R"({"replicaRequirements":{"resourceRequest":{"cpu":"1"}}})");
  EXPECT_EQ(history.place(binding("cpu-only"), {{"m1", 1}}), "");
  EXPECT_EQ(history.place(binding("cpu-only"), {{"m1", 6}}),
            "FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 10, limit 9.");
  EXPECT_EQ(history.used(), "null");
}

}  // namespace
}  // namespace shiplog
