#include "services/programs/estimator/member_client.h"

#include <gtest/gtest.h>

#include "services/http/io_threads.h"

namespace shiplog::estimator {
namespace {

class ClientClock final : public Clock {
 public:
  UtcMillis now() const override { return at; }
  UtcMillis at{1'767'225'600'000};
};

class EstimatorsMemberClient : public ::testing::Test {
 protected:
  EstimatorsMemberClient() { target_.url = "http://127.0.0.1:1"; }

  MemberClient open() {
    auto opened = MemberClient::open(
        [this]() -> Result<ClientTarget> {
          ++reads_;
          if (unreadable_) return Error{ErrorCode::kIo, "cannot read the token"};
          return target_;
        },
        [this](const ClientTarget& target) -> Result<std::shared_ptr<HttpClient>> {
          connected_ = target.bearer_token;
          SHIPLOG_TRY(std::shared_ptr<HttpClient> client, HttpClient::create(io_, target));
          return client;
        },
        clock_);
    return std::move(opened).value();
  }
  void pass(int64_t seconds) { clock_.at = clock_.at + Millis{seconds * 1000}; }

  const std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  ClientClock clock_;
  ClientTarget target_;
  bool unreadable_ = false;
  int reads_ = 0;
  std::string connected_;
};

TEST_F(EstimatorsMemberClient, UsesANewTokenWithinTenSeconds) {
  target_.bearer_token = "first";
  MemberClient member = open();
  const auto client = member.current();
  target_.bearer_token = "second";
  pass(9);
  EXPECT_EQ(member.current(), client);
  EXPECT_EQ(reads_, 1);
  pass(1);
  EXPECT_NE(member.current(), client);
  EXPECT_EQ(connected_, "second");
}

TEST_F(EstimatorsMemberClient, KeepsItsClientWhileNothingChanges) {
  MemberClient member = open();
  const auto client = member.current();
  pass(10);
  EXPECT_EQ(member.current(), client);
  EXPECT_EQ(member.current(), client);
  EXPECT_EQ(reads_, 2);
}

TEST_F(EstimatorsMemberClient, KeepsItsClientWhileTheKubeconfigCannotBeRead) {
  target_.bearer_token = "first";
  MemberClient member = open();
  const auto client = member.current();
  unreadable_ = true;
  pass(10);
  EXPECT_EQ(member.current(), client);
  unreadable_ = false;
  target_.bearer_token = "second";
  pass(10);
  EXPECT_NE(member.current(), client);
}

TEST_F(EstimatorsMemberClient, CannotBeOpenedWithAKubeconfigThatCannotBeRead) {
  const auto opened = MemberClient::open(
      []() -> Result<ClientTarget> {
        return Error{ErrorCode::kIo, "cannot read the token"};
      },
      [](const ClientTarget&) -> Result<std::shared_ptr<HttpClient>> { return std::shared_ptr<HttpClient>{}; }, clock_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "cannot read the token");
}

}  // namespace
}  // namespace shiplog::estimator
