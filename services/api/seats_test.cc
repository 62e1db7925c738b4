#include "services/api/seats.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

using Use = Seats::Use;
using Held = std::vector<std::shared_ptr<Seats::Seat>>;

size_t taken_by(Seats& seats, const std::string& user, Use use, Held& held) {
  size_t taken = 0;
  while (auto seat = seats.take(user, use)) {
    held.push_back(std::move(seat));
    ++taken;
  }
  return taken;
}

TEST(Seats, OneUserGetsHalfAndOthersFindRoom) {
  Seats seats{{.reads = 8, .writes = 4, .watches = 3}};
  Held held;
  EXPECT_EQ(taken_by(seats, "flood", Use::kRead, held), 4U);
  EXPECT_EQ(taken_by(seats, "flood", Use::kWrite, held), 2U);
  EXPECT_EQ(taken_by(seats, "flood", Use::kWatch, held), 2U);
  EXPECT_EQ(taken_by(seats, "alice", Use::kRead, held), 4U);
  EXPECT_EQ(taken_by(seats, "bob", Use::kRead, held), 0U) << "there are eight in all";
  EXPECT_NE(seats.take("bob", Use::kWrite), nullptr);
}

TEST(Seats, ASeatComesBackWhenItIsLetGo) {
  Seats seats{{.reads = 2, .writes = 0, .watches = 0}};
  Held held;
  EXPECT_EQ(taken_by(seats, "alice", Use::kRead, held), 1U);
  held.clear();
  EXPECT_EQ(taken_by(seats, "alice", Use::kRead, held), 1U);
}

TEST(Seats, AUserWhoDoesNotTakeAnswersGetsNoFurtherOnes) {
  Seats seats{{.reads = 100, .writes = 100, .watches = 100, .untaken_bytes = 1000}};
  auto large = seats.take("sloth", Use::kRead);
  large->owe(1500);
  EXPECT_EQ(seats.take("sloth", Use::kRead), nullptr);
  EXPECT_EQ(seats.take("sloth", Use::kWatch), nullptr);
  EXPECT_NE(seats.take("alice", Use::kRead), nullptr);
  large.reset();
  EXPECT_NE(seats.take("sloth", Use::kRead), nullptr);
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

TEST(Seats, AnAnswerKeepsItsSeatUntilTheClientHasTakenIt) {
  Seats seats{{.reads = 1, .writes = 0, .watches = 0}};
  const auto connection = std::make_shared<HeldWriter>();
  auto writer = seated(connection, seats.take("alice", Use::kRead), Use::kRead);
  writer->send({200, {}, "all there is"});
  writer.reset();
  EXPECT_EQ(seats.take("alice", Use::kRead), nullptr);
  connection->kept = nullptr;
  EXPECT_NE(seats.take("alice", Use::kRead), nullptr);
}

TEST(Seats, AStreamGivesAReadersSeatBackAndKeepsAWatchers) {
  Seats seats{{.reads = 1, .writes = 0, .watches = 1}};
  const auto connection = std::make_shared<HeldWriter>();
  const auto follower = seated(connection, seats.take("alice", Use::kRead), Use::kRead);
  auto watcher = seated(connection, seats.take("alice", Use::kWatch), Use::kWatch);
  follower->start(200, {});
  watcher->start(200, {});
  EXPECT_NE(seats.take("alice", Use::kRead), nullptr);
  EXPECT_EQ(seats.take("alice", Use::kWatch), nullptr);
  watcher.reset();
  EXPECT_NE(seats.take("alice", Use::kWatch), nullptr);
}

}  // namespace
}  // namespace shiplog::api
