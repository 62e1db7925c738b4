#include "services/api/concurrency_limiter.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

using Use = ConcurrencyLimiter::Use;
using Held = std::vector<std::shared_ptr<ConcurrencyLimiter::Slot>>;

size_t taken_by(ConcurrencyLimiter& slots, const std::string& user, Use use, Held& held) {
  size_t taken = 0;
  while (auto slot = slots.take(user, use)) {
    held.push_back(std::move(slot));
    ++taken;
  }
  return taken;
}

TEST(ConcurrencyLimiter, OneUserGetsHalfAndOthersFindRoom) {
  ConcurrencyLimiter slots{{.reads = 8, .writes = 4, .watches = 3}};
  Held held;
  EXPECT_EQ(taken_by(slots, "flood", Use::kRead, held), 4U);
  EXPECT_EQ(taken_by(slots, "flood", Use::kWrite, held), 2U);
  EXPECT_EQ(taken_by(slots, "flood", Use::kWatch, held), 2U);
  EXPECT_EQ(taken_by(slots, "alice", Use::kRead, held), 4U);
  EXPECT_EQ(taken_by(slots, "bob", Use::kRead, held), 0U) << "there are eight in all";
  EXPECT_NE(slots.take("bob", Use::kWrite), nullptr);
}

TEST(ConcurrencyLimiter, ASlotIsFreeWhenItIsReleased) {
  ConcurrencyLimiter slots{{.reads = 2, .writes = 0, .watches = 0}};
  Held held;
  EXPECT_EQ(taken_by(slots, "alice", Use::kRead, held), 1U);
  held.clear();
  EXPECT_EQ(taken_by(slots, "alice", Use::kRead, held), 1U);
}

TEST(ConcurrencyLimiter, AUserWhoDoesNotReadAnswersGetsNoFurtherOnes) {
  ConcurrencyLimiter slots{{.reads = 100, .writes = 100, .watches = 100, .untaken_bytes = 1000}};
  auto large = slots.take("sloth", Use::kRead);
  large->owe(1500);
  EXPECT_EQ(slots.take("sloth", Use::kRead), nullptr);
  EXPECT_EQ(slots.take("sloth", Use::kWatch), nullptr);
  EXPECT_NE(slots.take("alice", Use::kRead), nullptr);
  large.reset();
  EXPECT_NE(slots.take("sloth", Use::kRead), nullptr);
}

/// Keeps what the connection would keep.
struct HeldWriter final : ResponseWriter {
  std::function<void()> kept;
  void send(HttpResponse) override {}
  void start(int, HttpHeaders) override {}
  void write(std::string, Done) override {}
  void end() override {}
  void upgrade(HttpHeaders, Upgraded) override {}
  void on_close(std::function<void()> callback) override { kept = std::move(callback); }
  bool closed() const override { return false; }
};

TEST(ConcurrencyLimiter, AnAnswerKeepsItsSlotUntilTheClientHasReadIt) {
  ConcurrencyLimiter slots{{.reads = 1, .writes = 0, .watches = 0}};
  const auto connection = std::make_shared<HeldWriter>();
  auto writer = with_slot(connection, slots.take("alice", Use::kRead), Use::kRead);
  writer->send({200, {}, "all there is"});
  writer.reset();
  EXPECT_EQ(slots.take("alice", Use::kRead), nullptr);
  connection->kept = nullptr;
  EXPECT_NE(slots.take("alice", Use::kRead), nullptr);
}

TEST(ConcurrencyLimiter, AStreamReleasesTheSlotOfAReadAndKeepsThatOfAWatch) {
  ConcurrencyLimiter slots{{.reads = 1, .writes = 0, .watches = 1}};
  const auto connection = std::make_shared<HeldWriter>();
  const auto follower = with_slot(connection, slots.take("alice", Use::kRead), Use::kRead);
  auto watcher = with_slot(connection, slots.take("alice", Use::kWatch), Use::kWatch);
  follower->start(200, {});
  watcher->start(200, {});
  EXPECT_NE(slots.take("alice", Use::kRead), nullptr);
  EXPECT_EQ(slots.take("alice", Use::kWatch), nullptr);
  watcher.reset();
  EXPECT_NE(slots.take("alice", Use::kWatch), nullptr);
}

}  // namespace
}  // namespace shiplog::api
