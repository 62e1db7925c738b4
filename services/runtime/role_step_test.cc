#include "services/runtime/role_step.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(RoleStep, NamesEachKindOfEventOnceWithItsNumber) {
  const ObjectKey work{type::kWork, "karmada-es-m1", "web"};
  const Event removed = WorkRemoved{work};
  const Event observed = WorkStatusObserved{work, Value{}, 1};
  EXPECT_EQ(event_names(std::vector<Event>{}), "");
  EXPECT_EQ(event_names({removed}), "WorkRemoved");
  EXPECT_EQ(event_names({removed, observed, removed, observed, observed}), "WorkRemoved(2),WorkStatusObserved(3)");
}

}  // namespace
}  // namespace shiplog
