#include <algorithm>
#include <string>
#include <vector>

#include "tests/simulation/checks.h"
#include "tests/support/projection_rows.h"

namespace shiplog::simulation {
namespace {

constexpr size_t kBatch = 64;

/// The rows that result from the whole journal.
Result<std::vector<std::string>> rebuilt(World& world) {
  const std::string path = world.storage->another();
  SHIPLOG_TRY(auto opened, Projections::open(path));
  State state;
  std::vector<Folded> folded;
  std::vector<FoldedEntry> batch;
  folded.reserve(kBatch);
  const auto write = [&]() -> Result<void> {
    SHIPLOG_TRY(opened.projections->apply(batch, state.meta()));
    batch.clear();
    folded.clear();
    return ok();
  };
  for (const auto& [offset, stored] : world.log.records()) {
    folded.push_back(fold(state, *stored.entry));
    batch.push_back({offset, *stored.entry, folded.back()});
    if (batch.size() < kBatch) continue;
    SHIPLOG_TRY(write());
  }
  SHIPLOG_TRY(write());
  return projection_rows(path);
}

}  // namespace

void check_storage(World& world) {
  if (world.storage == nullptr) return;
  const auto built = rebuilt(world);
  if (!built) return world.trace.broken("projection", world.storage->without_path(built.error()).message);
  const std::vector<std::string>& expected = built.value();
  for (const auto& process : world.processes) {
    const auto read = projection_rows(world.storage->projection_of(process->name()));
    if (!read) return world.trace.broken("projection", world.storage->without_path(read.error()).message);
    const std::vector<std::string>& rows = read.value();
    const auto [at, other] = std::mismatch(rows.begin(), rows.end(), expected.begin(), expected.end());
    if (at == rows.end() && other == expected.end()) continue;
    world.trace.line(process->name(), "has " + (at == rows.end() ? "no more rows" : at->substr(0, 300)));
    world.trace.line("journal", "has " + (other == expected.end() ? "no more rows" : other->substr(0, 300)));
    world.trace.broken("projection", process->identity() + " has other rows than the journal gives");
  }
  world.log.check_file(world.stream("damage"));
}

}  // namespace shiplog::simulation
