#include "services/api/large_requests.h"

#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

TEST(LargeRequests, AUserGetsHalfOfThePlaces) {
  LargeRequests large;
  std::vector<LargeRequests::Permit> places;
  for (size_t i = 0; i < LargeRequests::kMost / 2; ++i) places.push_back(large.take("flood"));
  EXPECT_NE(places.back(), nullptr);
  EXPECT_EQ(large.take("flood"), nullptr);
  for (size_t i = 0; i < LargeRequests::kMost / 2; ++i) places.push_back(large.take("other"));
  EXPECT_NE(places.back(), nullptr);
  EXPECT_EQ(large.take("third"), nullptr) << "all places are taken";
  places.erase(places.begin());
  EXPECT_NE(large.take("third"), nullptr);
}

TEST(LargeRequests, EntriesGoThroughTheJournalOneAtATime) {
  LargeRequests large;
  std::promise<LargeRequests::Permit> first;
  std::promise<void> second;
  auto done = second.get_future();
  large.append([&](LargeRequests::Permit turn) { first.set_value(std::move(turn)); });
  large.append([&](const LargeRequests::Permit&) { second.set_value(); });
  LargeRequests::Permit turn = first.get_future().get();
  std::promise<void> idle;
  large.post([&] { idle.set_value(); });
  idle.get_future().get();  // the thread is free, and yet the second one waits
  EXPECT_EQ(done.wait_for(std::chrono::seconds{0}), std::future_status::timeout);
  turn = nullptr;
  done.get();
}

TEST(LargeRequests, PlacesMayOutliveThem) {
  auto large = std::make_unique<LargeRequests>();
  std::promise<LargeRequests::Permit> turn;
  large->append([&](LargeRequests::Permit given) { turn.set_value(std::move(given)); });
  const auto held = turn.get_future().get();
  const auto place = large->take("user");
  large->append([](const LargeRequests::Permit&) { ADD_FAILURE() << "its turn never comes"; });
  large.reset();
}

}  // namespace
}  // namespace shiplog::api
