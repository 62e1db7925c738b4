#include "tests/simulation/simulation.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace shiplog::simulation {
namespace {

/// The first seeds, in parts that ctest can run beside each other. SHIPLOG_SEED_OFFSET looks at others.
class Seeds : public ::testing::TestWithParam<uint64_t> {
 protected:
  static constexpr uint64_t kEach = 25;
};

TEST_P(Seeds, KeepEveryRule) {
  name_seed_on_abort();
  const char* offset = std::getenv("SHIPLOG_SEED_OFFSET");
  const uint64_t first = GetParam() * kEach + 1 + (offset == nullptr ? 0 : std::strtoull(offset, nullptr, 10));
  for (uint64_t seed = first; seed < first + kEach; ++seed) {
    const Report report = simulate(seed);
    ASSERT_FALSE(report.failure) << "\n" << report.text();
    EXPECT_GT(report.accepted, 20U) << "seed " << seed << " does next to nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, Seeds, ::testing::Range<uint64_t>(0, 8));

TEST(Determinism, TheSameSeedGivesTheSameWorld) {
  for (const uint64_t seed : {3U, 77U, 1234U}) {
    const Report once = simulate(seed);
    const Report twice = simulate(seed);
    EXPECT_EQ(once.state, twice.state);
    EXPECT_EQ(once.digest, twice.digest);
    EXPECT_EQ(once.steps, twice.steps);
  }
}

TEST(Determinism, AnotherSeedGivesAnotherWorld) { EXPECT_NE(simulate(3).digest, simulate(4).digest); }

/// What breaking a rule on purpose comes to: the first word of the failure, over a few seeds of which one must see it.
std::string found(Sabotage sabotage, uint64_t first = 1) {
  for (uint64_t seed = first; seed < first + 8; ++seed) {
    const Report report = simulate(seed, false, sabotage);
    if (report.failure) return report.failure->substr(0, report.failure->find(':'));
  }
  return "nothing";
}

TEST(Sabotage, FindsAReplicaThatMissesAnEntry) { EXPECT_EQ(found(Sabotage::kSkipEntry), "hash"); }
TEST(Sabotage, FindsAWriteAppliedTwice) { EXPECT_EQ(found(Sabotage::kRetryWithNewId), "twice"); }
TEST(Sabotage, FindsAnEntryThatNobodyWrote) { EXPECT_EQ(found(Sabotage::kForgeEntry), "twice"); }
TEST(Sabotage, FindsALostAcknowledgedEntry) {
  const std::string rule = found(Sabotage::kLoseAcknowledged);
  EXPECT_TRUE(rule == "lost" || rule == "hash") << rule;
}
TEST(Sabotage, FindsADecisionThatCannotBeRepeated) {
  // Either the record does not repeat, or a service goes on wanting what it never gets to say.
  const std::string rule = found(Sabotage::kChangeDecision);
  EXPECT_TRUE(rule == "replay" || rule == "idle") << rule;
}
TEST(Sabotage, FindsLeftoversOnMembers) { EXPECT_EQ(found(Sabotage::kIgnoreDeletes), "converge"); }
TEST(Sabotage, FindsAFleetThatNeverRests) { EXPECT_EQ(found(Sabotage::kNeverIdle), "idle"); }
TEST(Sabotage, FindsAnExceededQuota) { EXPECT_EQ(found(Sabotage::kHalfQuota), "quota"); }

}  // namespace
}  // namespace shiplog::simulation
