#include "events/slots.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(Slots, ALeaseNamesItsRoleAndItsSlot) {
  EXPECT_EQ(slot_lease("dispatcher", 3), "dispatcher:3");
  EXPECT_EQ(role_of_lease("dispatcher:3"), "dispatcher");
  EXPECT_EQ(role_of_lease("service-ip-repair"), "service-ip-repair");
  EXPECT_EQ(slot_of_lease("dispatcher:15"), 15);
  EXPECT_EQ(slot_of_lease("dispatcher"), std::nullopt);
  for (const char* wrong : {"dispatcher:", "dispatcher:16", "dispatcher:-1", "dispatcher:x", "dispatcher:1x"}) {
    EXPECT_EQ(slot_of_lease(wrong), std::nullopt) << wrong;
  }
}

// A build that put members into other slots would write to those that another process has.
TEST(Slots, AMemberStaysInItsSlotForEver) {
  EXPECT_EQ(slot_of("member1"), 11);
  EXPECT_EQ(slot_of("eu-west-1"), 3);
}

TEST(Slots, MembersSpreadOverAllSlots) {
  std::array<int, kSlots> members{};
  for (int number = 0; number < 1600; ++number)
    ++members[static_cast<size_t>(slot_of("member" + std::to_string(number)))];
  for (const int count : members) {
    EXPECT_GT(count, 60);
    EXPECT_LT(count, 140);
  }
}

}  // namespace
}  // namespace shiplog
