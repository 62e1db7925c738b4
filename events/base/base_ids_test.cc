#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/base/ids.h"
#include "events/base/newest_ids.h"
#include "events/base/random.h"
#include "events/base/system.h"

namespace shiplog {
namespace {

bool is_version_8_uuid(const std::string& uid) {
  const std::string shape = "xxxxxxxx-xxxx-8xxx-vxxx-xxxxxxxxxxxx";
  return std::equal(uid.begin(), uid.end(), shape.begin(), shape.end(), [](char have, char want) {
    const std::string allowed = want == 'x' ? "0123456789abcdef" : want == 'v' ? "89ab" : std::string(1, want);
    return allowed.find(have) != std::string::npos;
  });
}

TEST(EntryId, IsPrintedInHexadecimalDigits) {
  EXPECT_EQ(to_string(EntryId{{0x00, 0x01, 0xab, 0xff}}), "0001abff000000000000000000000000");
}

TEST(Uid, IsAUuidThatDependsOnTheEntryAndTheEventOnly) {
  SeededRandom random{5};
  std::set<std::string> uids;
  for (int i = 0; i < 200; ++i) {
    const EntryId id = new_entry_id(random);
    for (const size_t index : {size_t{0}, size_t{1}, size_t{256}, size_t{1} << 40U}) {
      const std::string uid = uid_from(id, index);
      EXPECT_TRUE(is_version_8_uuid(uid)) << uid;
      EXPECT_EQ(uid, uid_from(id, index));
      EXPECT_TRUE(uids.insert(uid).second);
    }
  }
  // Old journals are replayed for ever: the same entry must keep giving the same uid.
  EXPECT_EQ(uid_from(EntryId{}, 0), "c4ebeb45-9916-8149-9f52-faffed16c219");
}

TEST(ObjectKey, PrintsAndReadsBack) {
  for (const ObjectKey& key :
       {ObjectKey{"deployments.apps", "default", "nginx"}, ObjectKey{"clusters.cluster.karmada.io", "", "m1"},
        ObjectKey{"clusterroles.rbac.authorization.k8s.io", "", "system:node"}}) {
    const auto back = parse_object_key(to_string(key));
    ASSERT_TRUE(back);
    EXPECT_EQ(back.value(), key);
    EXPECT_EQ(std::hash<ObjectKey>{}(back.value()), std::hash<ObjectKey>{}(key));
  }
  EXPECT_EQ(to_string(ObjectKey{"deployments.apps", "default", "nginx"}), "deployments.apps/default/nginx");
  EXPECT_EQ(to_string(ObjectKey{"nodes", "", "n1"}), "nodes/n1");
}

TEST(ObjectKey, RefusesAnythingElse) {
  for (const char* text : {"", "pods", "/", "pods/", "/default/x", "pods//x", "pods/default/", "pods/default/x/y"}) {
    const auto key = parse_object_key(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, ErrorCode::kBadRequest);
  }
}

TEST(Random, ASeedGivesTheSameNumbersForEver) {  // xoshiro256** after splitmix64
  SeededRandom random{42};
  EXPECT_EQ(random.next(), 0x15780b2e0c2ec716U);
  EXPECT_EQ(random.next(), 0x6104d9866d113a7eU);
  EXPECT_NE(SeededRandom{1}.next(), SeededRandom{2}.next());
}

TEST(Random, NumbersBelowABoundReachAllOfThem) {
  SeededRandom random{3};
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(random_below(random, counts.size()));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random_below(random, 1), 0U);
}

TEST(System, ClockAndChanceAreReal) {
  SystemRandom random;
  EXPECT_NE(new_entry_id(random), new_entry_id(random));
  const UtcMillis first = SystemClock{}.now();
  EXPECT_GT(first.value, parse_rfc3339("2020-01-01T00:00:00Z").value().value);
}

TEST(System, AForkedChildDrawsNothingThatItsParentDraws) {
  SystemRandom random;
  random.next();  // some are drawn in advance
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const uint64_t drawn = random.next();
    ::_exit(::write(ends[1], &drawn, sizeof drawn) == sizeof drawn ? 0 : 1);
  }
  uint64_t of_child = 0;
  EXPECT_EQ(::read(ends[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(of_child, random.next());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(NewestIds, ForgetsTheOldestFirstAndCountsADuplicateOnce) {
  const auto id = [](int number) {
    EntryId made;
    made.bytes[15] = static_cast<uint8_t>(number);  // all else alike: they share a bucket
    return made;
  };
  NewestIds newest{3};
  for (const int number : {1, 2, 2, 3}) newest.insert(id(number));
  EXPECT_TRUE(newest.contains(id(1)));
  newest.insert(id(4));
  EXPECT_FALSE(newest.contains(id(1)));
  for (const int number : {2, 3, 4}) EXPECT_TRUE(newest.contains(id(number))) << number;
}

TEST(NewestIds, AgreesWithASetWhateverTheIdsHaveInCommon) {
  SeededRandom random{11};
  for (const size_t window : {size_t{1}, size_t{7}, size_t{300}}) {
    NewestIds newest{window};
    std::deque<EntryId> order;
    for (int step = 0; step < 50'000; ++step) {
      // Few ids, the empty one among them, that begin at few places of the table.
      EntryId id;
      const auto number = random_below(random, 3 * window);
      id.bytes[0] = static_cast<uint8_t>(number % 5 * 40);
      id.bytes[14] = static_cast<uint8_t>(number >> 8U);
      id.bytes[15] = static_cast<uint8_t>(number);
      if (number == 0) id = {};
      const bool known = std::ranges::find(order, id) != order.end();
      ASSERT_EQ(newest.contains(id), known);
      newest.insert(id);
      if (!known) order.push_back(id);
      if (order.size() > window) {
        ASSERT_FALSE(newest.contains(order.front()));
        order.pop_front();
      }
    }
    for (const EntryId& id : order) EXPECT_TRUE(newest.contains(id));
  }
}

// Of a hash that may throw, the library keeps the results.
TEST(ObjectKeyHash, IsComputedOnceForEachEntryOfATable) {
  static_assert(!std::is_nothrow_invocable_v<std::hash<ObjectKey>, const ObjectKey&>);
  static size_t computed = 0;
  struct Counted {
    size_t operator()(const ObjectKey& key) const {
      ++computed;
      return std::hash<ObjectKey>{}(key);
    }
  };
  std::unordered_map<ObjectKey, int, Counted> table;
  for (int number = 0; number < 1000; ++number) table[{"configmaps", "default", std::to_string(number)}] = number;
  EXPECT_EQ(computed, 1000U);
  for (int number = 0; number < 2000; ++number) table.find({"configmaps", "default", std::to_string(number)});
  EXPECT_EQ(computed, 3000U);
  for (int number = 0; number < 1000; ++number) table.erase({"configmaps", "default", std::to_string(number)});
  EXPECT_EQ(computed, 4000U);
}

}  // namespace
}  // namespace shiplog
