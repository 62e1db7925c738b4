#include "services/programs/shiplogd/certificate_renewal.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "services/http/tls.h"
#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

constexpr int64_t kHour = 3'600'000, kDay = 24 * kHour;

class Renewals : public ::testing::Test {
 protected:
  std::string certificate(int64_t days) {
    return make_authority("test", valid_for_days(executor_.now(), days)).value().certificate_pem;
  }
  /// As many renewals as there are when `passed` milliseconds are over and none is under way.
  int after(int64_t passed) {
    for (int64_t step = 0; step < passed; step += std::min<int64_t>(kHour, passed)) {
      executor_.run(Millis{std::min<int64_t>(kHour, passed)});
      while (renewal_->under_way()) std::this_thread::yield();
    }
    return renewals_;
  }
  void start(int64_t days) {
    renewal_.emplace(executor_, std::vector<std::string>{certificate(1000), certificate(days)}, [this] {
      ++renewals_;
      return next_;
    });
  }

  ManualExecutor executor_;
  std::atomic<int> renewals_{0};
  Result<std::vector<std::string>> next_ = std::vector<std::string>{};
  std::optional<CertificateRenewal> renewal_;
};

TEST_F(Renewals, BeginThirtyDaysBeforeTheFirstCertificateEnds) {
  start(40);
  next_ = std::vector<std::string>{certificate(100)};
  EXPECT_EQ(after(9 * kDay), 0);
  EXPECT_EQ(after(2 * kDay), 1);
  EXPECT_EQ(after(50 * kDay), 1);
  const int renewals = after(10 * kDay);
  EXPECT_GE(renewals, 24) << "this one ends, too, and the next is no better";
  EXPECT_LE(renewals, 27) << "once an hour";
}

TEST_F(Renewals, AreTriedAgainAfterAnHour) {
  start(10);
  next_ = Error{ErrorCode::kIo, "the disk is full"};
  EXPECT_EQ(after(kHour / 2), 1);
  EXPECT_EQ(after(kHour / 4), 1);
  EXPECT_EQ(after(kHour), 2);
  next_ = std::vector<std::string>{certificate(365)};
  EXPECT_EQ(after(kHour), 3);
  EXPECT_EQ(after(10 * kHour), 3);
}

}  // namespace
}  // namespace shiplog
