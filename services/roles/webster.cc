#include "services/roles/webster.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "events/base/check.h"
#include "events/base/hash.h"

namespace shiplog {
namespace {

__extension__ typedef __int128 Wide;

struct Party {
  const Weight* of;
  int64_t weight;
  int64_t seats = 0;
};

/// Lines are cheaper to compare.
bool smaller_name(const Weight& a, const Weight& b) { return a.line != b.line ? a.line < b.line : a.name < b.name; }

/// By name.
void sort(std::vector<Party>& table) {
  const auto by_name = [](const Party& a, const Party& b) { return smaller_name(*a.of, *b.of); };
  if (std::is_sorted(table.begin(), table.end(), by_name)) return;
  const auto last = std::ranges::max_element(table, {}, [](const Party& party) { return party.of->line; });
  // Each into its own place, unless lines are far apart, or alike.
  constexpr size_t kFarApart = 8;
  const size_t lines = size_t{last->of->line} + 1;
  if (lines > kFarApart * table.size()) return std::sort(table.begin(), table.end(), by_name);
  std::vector<const Party*> by_line(lines, nullptr);
  for (const Party& party : table) {
    if (std::exchange(by_line[party.of->line], &party) != nullptr) {
      return std::sort(table.begin(), table.end(), by_name);
    }
  }
  std::vector<Party> sorted;
  sorted.reserve(table.size());
  for (const Party* party : by_line) {
    if (party != nullptr) sorted.push_back(*party);
  }
  table = std::move(sorted);
}

/// How many seats a party surely gets: those whose quotient is above a bound that fewer than `seats` quotients exceed
/// in all. With total weight W and k parties, the bound W / (2 * seats - k) has that property, since a party has at
/// most x/2 + 1/2 odd numbers below x = weight * (2 * seats - k) / W.
int64_t sure_seats(int64_t weight, Wide total, int64_t seats, size_t parties) {
  const Wide factor = Wide{2} * seats - static_cast<Wide>(parties);
  if (factor <= 0 || weight == 0) return 0;
  const Wide scaled = weight * factor;  // x * W
  if (scaled <= total) return 0;
  // The odd numbers 1, 3, ... strictly below x: ceil((x - 1) / 2).
  return static_cast<int64_t>((scaled - total + 2 * total - 1) / (2 * total));
}

}  // namespace

std::vector<Seats> webster(int64_t seats, const std::vector<Weight>& parties, bool names_descend) {
  std::vector<Party> table;
  table.reserve(parties.size());
  Wide total = 0;
  for (const Weight& party : parties) {
    table.push_back({&party, std::max<int64_t>(party.weight, 0)});
    total += table.back().weight;
  }
  if (total > 0) {
    int64_t left = seats;
    for (Party& party : table) {
      party.seats = sure_seats(party.weight, total, seats, table.size());
      left -= party.seats;
    }
    SHIPLOG_CHECK(left >= 0 || seats < 0, "no more replicas are assigned than there are");
    const auto goes_later = [names_descend](const Party* a, const Party* b) {
      const Wide of_a = Wide{a->weight} * (2 * b->seats + 1);
      const Wide of_b = Wide{b->weight} * (2 * a->seats + 1);
      if (of_a != of_b) return of_a < of_b;
      if (a->seats != b->seats) return a->seats > b->seats;
      return names_descend ? smaller_name(*a->of, *b->of) : smaller_name(*b->of, *a->of);
    };
    std::vector<Party*> all;
    all.reserve(table.size());
    for (Party& party : table) all.push_back(&party);
    std::priority_queue queue{goes_later, std::move(all)};
    for (; left > 0; --left) {
      Party* next = queue.top();
      queue.pop();
      ++next->seats;
      queue.push(next);
    }
  }
  sort(table);
  std::vector<Seats> result;
  result.reserve(table.size());
  for (const Party& party : table) result.push_back({party.of->name, party.seats, party.of->line});
  return result;
}

bool names_descend(std::string_view template_uid) { return !template_uid.empty() && fnv1a32(template_uid) % 2 == 1; }

}  // namespace shiplog
