#include "services/roles/scheduler/fleet_table.h"

#include <algorithm>

#include "events/base/check.h"

namespace shiplog::scheduler {
namespace {

// Of placements and kinds; a fleet has few, and a user who makes many only makes placements slower.
constexpr size_t kMostVerdicts = 64;
// Of resources that bindings request.
constexpr size_t kMostColumns = 64;
// Of one placement. More follow from reasons that change all the time.
constexpr size_t kMostRejections = 4096;

void set(RoomColumn& column, size_t row, const std::string& resource, const Cluster& cluster) {
  const auto found = cluster.room.find(resource);
  const bool there = found != cluster.room.end();
  column.units[row] = there ? found->second.units : 0;
  column.milli[row] = there ? found->second.milli : 0;
}

/// 0: it was deferred, and shows nothing.
bool is_hash(std::string_view bytes) {
  return std::ranges::any_of(bytes, [](char byte) { return byte != 0; });
}

}  // namespace

FleetTable::FleetTable(const Clusters& clusters) {
  rows_.reserve(clusters.size());
  for (const auto& [name, cluster] : clusters) rows_.push_back(&cluster);
}

const RoomColumn& FleetTable::room(const std::string& resource) {
  const auto [column, made] = rooms_.try_emplace(resource);
  if (made) {
    column->second.units.resize(rows_.size());
    column->second.milli.resize(rows_.size());
    for (size_t row = 0; row < rows_.size(); ++row) set(column->second, row, resource, *rows_[row]);
  }
  return column->second;
}

StaticVerdicts& FleetTable::verdicts(const std::string& name) {
  StaticVerdicts& found = verdicts_[name];
  if (found.rejections.size() > kMostRejections) found = {};
  found.codes.resize(rows_.size(), StaticVerdicts::kUnknown);
  return found;
}

std::vector<const Target*> FleetTable::targets_by_row(const Demand& demand) const {
  std::vector<const Target*> by_row(rows_.size(), nullptr);
  const auto& targets = demand.binding.targets;
  if (!demand.sorted) {
    for (size_t row = 0; row < rows_.size(); ++row) by_row[row] = demand.previous(rows_[row]->name);
    return by_row;
  }
  // Both are sorted by name.
  auto row = rows_.begin();
  for (const Target& target : targets) {
    row = std::lower_bound(row, rows_.end(), target.cluster,
                           [](const Cluster* cluster, const std::string& name) { return cluster->name < name; });
    if (row == rows_.end()) break;
    if ((*row)->name != target.cluster) continue;
    const Target*& at = by_row[static_cast<size_t>(row - rows_.begin())];
    if (at == nullptr) at = &target;
  }
  return by_row;
}

void FleetTable::replace(size_t row, const Cluster& cluster) {
  *own_[row] = cluster;
  for (auto& [resource, column] : rooms_) set(column, row, resource, cluster);
  for (auto& [name, verdicts] : verdicts_) {
    if (row < verdicts.codes.size()) verdicts.codes[row] = StaticVerdicts::kUnknown;
  }
}

void FleetTable::follow(const State& state, const std::string& hashes) {
  if (rooms_.size() > kMostColumns) rooms_.clear();
  if (verdicts_.size() > kMostVerdicts) verdicts_.clear();
  const Clusters& clusters = state.clusters();
  SHIPLOG_CHECK(hashes.size() == clusters.size() * kHashBytes, "each cluster has a hash");
  const bool all_hashed = [&] {
    for (size_t at = 0; at < hashes.size(); at += kHashBytes) {
      if (!is_hash(std::string_view{hashes}.substr(at, kHashBytes))) return false;
    }
    return true;
  }();
  if (all_hashed && hashes == hashes_) return;
  const bool same_names = std::ranges::equal(
      rows_, clusters, [](const Cluster* row, const auto& cluster) { return row->name == cluster.first; });
  if (!same_names) {
    own_.clear();
    rooms_.clear();
    verdicts_.clear();
    for (const auto& [name, cluster] : clusters) own_.push_back(std::make_unique<Cluster>(cluster));
    rows_.clear();
    for (const auto& cluster : own_) rows_.push_back(cluster.get());
  } else {
    size_t row = 0;
    for (const auto& [name, cluster] : clusters) {
      const auto hash = std::string_view{hashes}.substr(row * kHashBytes, kHashBytes);
      if (!is_hash(hash) || hash != std::string_view{hashes_}.substr(row * kHashBytes, kHashBytes)) {
        replace(row, cluster);
      }
      ++row;
    }
  }
  hashes_ = hashes;
}

}  // namespace shiplog::scheduler
