#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shiplog {

/// A party and its weight; weights below 0 count as 0.
struct Weight {
  std::string_view name;  ///< of a cluster in the state, or of a target
  int64_t weight = 0;
  uint32_t line = 0;  ///< its place in Explanation::clusters
  bool operator==(const Weight&) const = default;
};

/// What one party gets.
struct Seats {
  std::string_view name;
  int64_t seats = 0;
  uint32_t line = 0;
};

/// Hands out `seats` one by one, each to the party with the greatest weight / (2 * its seats + 1): Webster's method.
/// Ties: fewer seats, then the smaller name (the greater when `names_descend`). Sorted by name, parties without a seat
/// included; lines, where they differ, are in the order of names. When all weights are 0 nothing is handed out. Exact,
/// in integers; time does not grow with `seats`. Source: S-47.
std::vector<Seats> webster(int64_t seats, const std::vector<Weight>& parties, bool names_descend);

/// Ties go down the names for templates whose uid hashes to an odd number, so that leftovers spread over a fleet
/// (S-48).
bool names_descend(std::string_view template_uid);

}  // namespace shiplog
