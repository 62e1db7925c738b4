#include "services/adapters/members/member_tunnels.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "services/runtime/metrics.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using testing::Awaited;
using testing::eventually;
using ::testing::HasSubstr;
using Dialed = Result<std::optional<int>>;

/// Reads nothing and writes nowhere.
class SilentStream final : public ByteStream {
 public:
  explicit SilentStream(std::shared_ptr<std::atomic<int>> closed) : closed_{std::move(closed)} {}
  void read(Received received) override { received_ = std::move(received); }
  void write(std::string, Done done) override { done(ok()); }
  void close() override {
    ++*closed_;
    received_ = nullptr;
  }

 private:
  const std::shared_ptr<std::atomic<int>> closed_;
  Received received_;
};

class MemberTunnelsTest : public ::testing::Test {
 protected:
  Dialed dial(const std::string& cluster) {
    Awaited<Dialed> answer;
    tunnels_.dialer(cluster)([&](Dialed dialed) { answer.set(std::move(dialed)); });
    return answer.get().value();
  }
  void offer(const std::string& cluster) { tunnels_.offer(cluster, std::make_shared<SilentStream>(closed_)); }

  /// Of the streams too: some are closed by the threads, which may end after the test.
  std::shared_ptr<std::atomic<int>> closed_ = std::make_shared<std::atomic<int>>(0);
  ThreadLoop loop_;
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  MemberTunnels tunnels_{
      {.io = io_, .executor = &loop_, .most_waiting = 2, .take_timeout = Millis{20}, .wait_for_one = Millis{20}}};
};

TEST_F(MemberTunnelsTest, AMemberWithoutTunnelsIsConnectedToDirectly) {
  offer("m1");
  const Dialed other = dial("m2");
  ASSERT_TRUE(other);
  EXPECT_EQ(other.value(), std::nullopt);
}

TEST_F(MemberTunnelsTest, OneThatHadSomeIsNot) {
  offer("m1");
  EXPECT_THAT(dial("m1").error().message, HasSubstr("through the tunnel of its agent: no answer"));
  const Dialed none = dial("m1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(none.error().message, HasSubstr("cluster m1: no tunnel of its agent is open to this API server now"));
}

TEST_F(MemberTunnelsTest, WhatDialsWhileNoneIsThereGetsTheNextOne) {
  MemberTunnels patient{{.io = io_, .executor = &loop_, .take_timeout = Millis{20}, .wait_for_one = Millis{60'000}}};
  patient.offer("m1", std::make_shared<SilentStream>(closed_));
  Awaited<Dialed> first, second;
  patient.dialer("m1")([&](Dialed dialed) { first.set(std::move(dialed)); });
  patient.dialer("m1")([&](Dialed dialed) { second.set(std::move(dialed)); });
  ASSERT_TRUE(first.get());
  patient.offer("m1", std::make_shared<SilentStream>(closed_));
  EXPECT_THAT(second.get()->error().message, HasSubstr("no answer through the tunnel")) << "it was tried";
}

TEST_F(MemberTunnelsTest, OneClusterCannotHaveAnyNumber) {
  for (int i = 0; i < 5; ++i) offer("m1");
  EXPECT_EQ(tunnels_.waiting("m1"), 2U);
  EXPECT_TRUE(eventually([&] { return *closed_ == 3; }));
  ASSERT_FALSE(tunnels_.check("m1"));
  EXPECT_EQ(tunnels_.check("m1").error().code, ErrorCode::kTooManyRequests);
  EXPECT_TRUE(tunnels_.check("m2"));
}

/// Its other end hangs up on demand.
class HangingUpStream final : public ByteStream {
 public:
  void read(Received received) override {
    received_ = std::move(received);
    reading_ = true;
  }
  void write(std::string, Done done) override { done(ok()); }
  void close() override {}
  bool reading() const { return reading_; }
  void hang_up() { std::exchange(received_, nullptr)(std::string{}); }

 private:
  std::atomic<bool> reading_{false};
  Received received_;
};

// From its offer to its end a tunnel is open; it waits until it is taken.
TEST_F(MemberTunnelsTest, TheMetricHasTheirNumber) {
  MemberTunnels patient{{.io = io_, .executor = &loop_, .take_timeout = Millis{60'000}}};
  const auto exported = [](const std::string& state) {
    const std::string series = "shiplog_member_tunnels{member_cluster=\"m1\",state=\"" + state + "\"} ";
    const std::string text = metrics::text();
    const size_t at = text.find(series);
    return at == std::string::npos ? std::string{"none"} : text.substr(at + series.size(), 1);
  };
  for (int i = 0; i < 2; ++i) patient.offer("m1", std::make_shared<SilentStream>(closed_));
  auto newest = std::make_shared<HangingUpStream>();
  patient.offer("m1", newest);
  EXPECT_EQ(exported("waiting"), "3");
  EXPECT_EQ(exported("in_use"), "0");
  patient.dialer("m1")([](const Dialed&) {});
  EXPECT_EQ(exported("waiting"), "2");
  EXPECT_EQ(exported("in_use"), "1") << "it is asked to connect";
  ASSERT_TRUE(eventually([&] { return newest->reading(); }));
  newest->hang_up();
  EXPECT_TRUE(eventually([&] { return exported("in_use") == "0"; }));
  EXPECT_EQ(exported("waiting"), "2");
}

}  // namespace
}  // namespace shiplog
