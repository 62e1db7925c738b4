#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tests/simulation/simulation.h"

namespace shiplog::simulation {

/// In what manner a failure fails: its rule, and its words without names and numbers. Two failures of one manner are
/// treated as the same.
std::string manner_of(const std::string& failure);

struct Shrunk {
  Script script;
  std::string failure;
  size_t runs = 0;
};

/// Leaves out steps for as long as the script still fails in the same manner: large parts first, single steps last.
/// `tried` hears of each run: how many steps are left.
Shrunk shrink(const Script& script, const std::string& failure, Sabotage sabotage, size_t most_runs,
              const std::function<void(size_t steps)>& tried = {});

}  // namespace shiplog::simulation
