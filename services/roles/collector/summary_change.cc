#include "services/roles/collector/summary_change.h"

#include <algorithm>
#include <cstdint>

#include "events/state/quota.h"

namespace shiplog::collector {
namespace {

struct ClusterRoom {
  ResourceList allocatable, free;
};

ClusterRoom room_in(const Value& summary) {
  ClusterRoom room{resource_list_from(summary["allocatable"]), resource_list_from(summary["allocatable"])};
  for (const char* used : {"allocated", "allocating"}) {
    for (const auto& [name, amount] : resource_list_from(summary[used])) {
      if (const auto found = room.free.find(name); found != room.free.end()) found->second = found->second - amount;
    }
  }
  return room;
}

double as_double(const Quantity& amount) { return static_cast<double>(amount.whole_milli()); }

bool moved(const Quantity& was, const Quantity& is, double percent) {
  const auto none = [](const Quantity& amount) { return amount.is_zero() || amount.negative(); };
  if (none(was) || none(is)) return none(was) != none(is);
  const double difference = as_double(is) - as_double(was);
  return std::abs(difference) * 100 >= percent * as_double(was) && difference != 0;
}

/// Index of the last grade that a node has; -1: none has one.
int64_t highest_grade(const Value& counts) {
  for (auto grade = static_cast<int64_t>(counts.size()) - 1; grade >= 0; --grade) {
    if (counts[static_cast<size_t>(grade)]["count"].as_int() > 0) return grade;
  }
  return -1;
}

bool regraded(const Value& was, const Value& is, double percent, bool short_of_room) {
  if (was == is) return false;
  if (short_of_room || was.size() != is.size() || highest_grade(was) != highest_grade(is)) return true;
  int64_t nodes = 0;
  int64_t more = 0;
  int64_t fewer = 0;
  for (size_t grade = 0; grade < is.size(); ++grade) {
    if (was[grade]["grade"] != is[grade]["grade"]) return true;
    const int64_t before = was[grade]["count"].as_int();
    const int64_t after = is[grade]["count"].as_int();
    nodes += before;
    more += std::max<int64_t>(0, after - before);
    fewer += std::max<int64_t>(0, before - after);
  }
  return static_cast<double>(std::max(more, fewer)) * 100 >= percent * static_cast<double>(nodes);
}

}  // namespace

bool significant(const Value& reported, const Value& now, double percent, bool short_of_room) {
  if (reported["nodeSummary"] != now["nodeSummary"]) return true;
  const Value& was = reported["resourceSummary"];
  const Value& is = now["resourceSummary"];
  if (was == is) return false;
  if (percent <= 0 || was.is_null() || is.is_null()) return true;
  const ClusterRoom before = room_in(was);
  const ClusterRoom after = room_in(is);
  if (before.allocatable.size() != after.allocatable.size()) return true;
  for (const auto& [name, allocatable] : after.allocatable) {
    const auto known = before.allocatable.find(name);
    if (known == before.allocatable.end() || moved(known->second, allocatable, percent)) return true;
    const Quantity& free_before = before.free.at(name);
    const Quantity& free_after = after.free.at(name);
    if (moved(free_before, free_after, percent) || (short_of_room && free_before < free_after)) return true;
  }
  return regraded(was["allocatableModelings"], is["allocatableModelings"], percent, short_of_room);
}

}  // namespace shiplog::collector
