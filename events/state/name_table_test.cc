#include "events/state/name_table.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/state/named_map.h"

namespace shiplog {
namespace {

struct TableName {
  std::string ns, name;
  auto operator<=>(const TableName&) const = default;
};
using Map = std::map<TableName, int>;

TEST(NameTable, FindsNothingWhereNothingIs) {
  NameTable<Map::value_type> table;
  EXPECT_EQ(table.find("a", "b"), nullptr);
}

TEST(NameTable, DistinguishesTheBoundaryOfNamespaceAndName) {
  Map map{{{"ab", "c"}, 1}, {{"a", "bc"}, 2}, {{"", "abc"}, 3}};
  NameTable<Map::value_type> table;
  for (auto& node : map) table.insert(&node);
  EXPECT_EQ(table.find("ab", "c")->second, 1);
  EXPECT_EQ(table.find("a", "bc")->second, 2);
  EXPECT_EQ(table.find("", "abc")->second, 3);
  EXPECT_EQ(table.find("abc", ""), nullptr);
}

TEST(NameTable, AgreesWithTheMapAfterInsertsAndRemovals) {
  SeededRandom random{7};
  Map map;
  NameTable<Map::value_type> table;
  for (int step = 0; step < 200'000; ++step) {
    // Few names, so that each is inserted and removed many times and slots collide.
    const TableName name{"n" + std::to_string(random_below(random, 5)), std::to_string(random_below(random, 300))};
    const auto at = map.find(name);
    auto* found = table.find(name.ns, name.name);
    ASSERT_EQ(found, at == map.end() ? nullptr : &*at) << "step " << step;
    if (found == nullptr) {
      table.insert(&*map.emplace(name, step).first);
    } else if (random_below(random, 3) > 0) {
      table.erase(found);
      map.erase(at);
    }
  }
  for (auto& node : map) EXPECT_EQ(table.find(node.first.ns, node.first.name), &node);
}

TEST(NamedMap, ACopyFindsItsOwnNodes) {
  NamedMap<int> map;
  for (int number = 0; number < 100; ++number) map.find_or_make("ns", std::to_string(number))->second = number;
  NamedMap<int> copy = map;
  EXPECT_EQ(copy, map);
  map.find("ns", "7")->second = -1;
  EXPECT_EQ(copy.find("ns", "7")->second, 7);
  copy.erase(copy.find("ns", "8"));
  EXPECT_EQ(copy.find("ns", "8"), nullptr);
  EXPECT_EQ(copy.sorted().size(), 99U);
  EXPECT_EQ(map.find_or_make("ns", "8")->second, 8) << "the one that is there";
  map = std::move(copy);
  EXPECT_EQ(map.find("ns", "8"), nullptr);
  EXPECT_EQ(map.find("ns", "7")->second, 7);
}

}  // namespace
}  // namespace shiplog
