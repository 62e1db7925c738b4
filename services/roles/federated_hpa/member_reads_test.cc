#include "services/roles/federated_hpa/member_reads.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::federated_hpa {
namespace {

class MemberReadsTest : public ::testing::Test {
 protected:
  void enter(const std::string& cluster, int count = 1) {
    for (int i = 0; i < count; ++i) reads_.enter(cluster, [this, cluster] { begun_.push_back(cluster); });
  }
  std::vector<std::string> begun() { return std::exchange(begun_, {}); }

  MemberReads reads_;
  std::vector<std::string> begun_;
};

TEST_F(MemberReadsTest, AFewOfEachMemberAtOnce) {
  enter("m1", 6);
  EXPECT_EQ(begun().size(), MemberReads::kMostOfMember);
  enter("m2");
  EXPECT_EQ(begun(), std::vector<std::string>{"m2"}) << "it does not wait behind those of another member";
  reads_.leave("m1");
  EXPECT_EQ(begun(), std::vector<std::string>{"m1"});
  reads_.leave("m2");
  EXPECT_TRUE(begun().empty());
}

TEST_F(MemberReadsTest, MembersTakeTurnsWithinTheLimitOfAllTogether) {
  for (int i = 0; i < 10; ++i) enter("m" + std::to_string(i), 4);
  EXPECT_EQ(begun().size(), MemberReads::kMostTogether);
  for (size_t left = 0; left < 4; ++left) reads_.leave("m0");
  EXPECT_EQ(begun(), (std::vector<std::string>{"m8", "m9", "m8", "m9"}));
}

TEST_F(MemberReadsTest, ThoseThatEndAtOnceDoNotNest) {
  enter("m1", 4);
  size_t ended = 0, depth = 0;
  for (int i = 0; i < 10'000; ++i) {
    reads_.enter("m1", [&] {
      EXPECT_EQ(++depth, 1U);
      reads_.leave("m1");
      --depth;
      ++ended;
    });
  }
  reads_.leave("m1");
  EXPECT_EQ(ended, 10'000U);
}

TEST_F(MemberReadsTest, SilenceEnds) {
  const UtcMillis now{1'000'000};
  reads_.silence("m1", now);
  EXPECT_TRUE(reads_.silent("m1", now));
  EXPECT_FALSE(reads_.silent("m1/metrics.k8s.io", now));
  EXPECT_FALSE(reads_.silent("m1", now + MemberReads::kSilentFor));
}

}  // namespace
}  // namespace shiplog::federated_hpa
