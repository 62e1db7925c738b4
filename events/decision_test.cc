#include "events/decision.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

ObjectKey config_map(size_t number) { return {"configmaps", "default", "c" + std::to_string(number)}; }

ObjectCreated created(size_t number, size_t bytes) {
  return {config_map(number), Value::object({{"data", Value::object({{"text", std::string(bytes, 'x')}})}})};
}

TEST(DecisionBuilder, WithoutEventsNothingIsDecided) {
  DecisionBuilder builder;
  builder.expect({config_map(1), Revision{1}});
  EXPECT_EQ(std::move(builder).build(), Decided{Nothing{}});
}

TEST(DecisionBuilder, TakesSoManyEventsAndNoMore) {
  DecisionBuilder builder{3};
  size_t taken = 0;
  while (builder.try_add(DeletionRequested{config_map(taken)}, {config_map(taken), Revision{7}})) ++taken;
  EXPECT_EQ(taken, 3U);
  const auto decision = std::get<Decision>(std::move(builder).build_and_look_again(UtcMillis{5}));
  EXPECT_EQ(decision.events.size(), 3U);
  EXPECT_EQ(decision.expects.size(), 3U) << "none of an event that was not taken";
  EXPECT_EQ(decision.look_again, UtcMillis{5});
}

TEST(DecisionBuilder, TakesSoManyBytesAndNoMore) {
  constexpr size_t kLarge = size_t{1} << 20;
  DecisionBuilder builder;
  size_t taken = 0;
  while (builder.try_add(created(taken, kLarge))) ++taken;
  EXPECT_EQ(taken, 2U);
  EXPECT_TRUE(builder.try_add(created(9, 100))) << "a small one still fits";
}

TEST(DecisionBuilder, TheFirstEventAlwaysFits) {
  DecisionBuilder builder;
  EXPECT_TRUE(builder.try_add(created(1, DecisionBuilder::kMostBytes + 1)));
  EXPECT_FALSE(builder.try_add(created(2, 1)));
  builder.add(DeletionRequested{config_map(3)});
  EXPECT_EQ(builder.size(), 2U) << "what belongs to the decision is added to a full one";
}

}  // namespace
}  // namespace shiplog
