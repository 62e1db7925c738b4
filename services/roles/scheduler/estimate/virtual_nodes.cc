#include "services/roles/scheduler/estimate/virtual_nodes.h"

#include <algorithm>
#include <limits>

namespace shiplog::scheduler {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

}  // namespace

VirtualNodes::VirtualNodes(const std::vector<Cluster::Grade>& grades) {
  for (const Cluster::Grade& grade : grades) {
    if (grade.nodes <= 0) continue;
    Run& run = runs_.emplace_back(Run{std::min(grade.nodes, kMost), kPodsOfANode, {}});
    for (const auto& [name, least] : grade.least) {
      run.free.emplace(name, divided_in_milli(name) ? least.milli : least.units);
    }
  }
}

VirtualNodes::Amounts VirtualNodes::amounts_of(const ResourceList& request) {
  Amounts amounts;
  for (const auto& [name, amount] : request) {
    if (amount.is_zero() || amount.negative()) continue;
    amounts.emplace(name, divided_in_milli(name) ? amount.milli() : amount.units());
  }
  return amounts;
}

int64_t VirtualNodes::fits(const Run& run, const Amounts& request) {
  int64_t fits = run.pods;
  for (const auto& [name, amount] : request) {
    const auto free = run.free.find(name);
    if (free == run.free.end()) return 0;  // not modelled: nothing is known to be there
    fits = std::min(fits, free->second / amount);
  }
  return fits;
}

void VirtualNodes::take(Run& run, const Amounts& request, int64_t pods) {
  run.pods -= pods;
  for (const auto& [name, amount] : request) run.free.at(name) -= amount * pods;
}

bool VirtualNodes::place(const Amounts& request, int64_t replicas) {
  for (size_t index = 0; index < runs_.size() && replicas > 0; ++index) {
    const int64_t on_one = fits(runs_[index], request);
    if (on_one <= 0) continue;
    const Run before = runs_[index];
    const int64_t full = std::min(before.nodes, replicas / on_one);
    const int64_t rest = full < before.nodes ? replicas - full * on_one : 0;
    replicas -= full * on_one + rest;
    // Nodes that are filled, one that takes the rest, and those that are left as they are.
    std::vector<Run> parts;
    if (full > 0) {
      take(parts.emplace_back(before), request, on_one);
      parts.back().nodes = full;
    }
    if (rest > 0) {
      take(parts.emplace_back(before), request, rest);
      parts.back().nodes = 1;
    }
    const int64_t left = before.nodes - full - (rest > 0 ? 1 : 0);
    if (left > 0) parts.emplace_back(before).nodes = left;
    const auto place = runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index));
    runs_.insert(place, parts.begin(), parts.end());
    index += parts.size() - 1;
  }
  return replicas <= 0;
}

bool VirtualNodes::place(const Component& component) {
  return place(amounts_of(component.request), component.replicas);
}

bool VirtualNodes::place_set(const std::vector<Component>& components) {
  return std::ranges::all_of(components, [&](const Component& component) { return place(component); });
}

bool VirtualNodes::of_no_use(const Run& run, const std::vector<SetPart>& parts) {
  return std::ranges::none_of(parts, [&](const SetPart& part) { return fits(run, part.request) > 0; });
}

/// As long as a whole set fits on the first node, first fit puts all of it there: as many sets as fit are placed at
/// once, and if nothing more fits on that node then, on the others of its run too. 0: it does not fit.
int64_t VirtualNodes::fill_first(const std::vector<SetPart>& parts, int64_t most) {
  if (runs_.empty()) return 0;
  Run& first = runs_.front();
  Run left = first;
  for (const SetPart& part : parts) {
    if (part.replicas <= 0) continue;
    if (fits(left, part.request) < part.replicas) return 0;
    take(left, part.request, part.replicas);
  }
  const int64_t pods = first.pods - left.pods;
  if (pods <= 0) return 0;
  int64_t on_one = std::min(most, first.pods / pods);
  for (const auto& [name, free] : first.free) {
    const int64_t taken = free - left.free.at(name);
    if (taken > 0) on_one = std::min(on_one, free / taken);
  }
  for (auto& [name, free] : left.free) free = first.free.at(name) - on_one * (first.free.at(name) - free);
  left.pods = first.pods - on_one * pods;
  left.nodes = 1;
  const bool used_up = of_no_use(left, parts);
  const int64_t nodes = used_up ? std::min(first.nodes, most / on_one) : 1;
  first.nodes -= nodes;
  if (first.nodes == 0) runs_.erase(runs_.begin());
  if (!used_up) runs_.insert(runs_.begin(), std::move(left));
  return nodes * on_one;
}

int64_t VirtualNodes::sets(const std::vector<Component>& components, int64_t most) {
  std::vector<SetPart> parts;
  for (const Component& component : components) parts.push_back({amounts_of(component.request), component.replicas});
  int64_t placed = 0;
  while (placed < most) {
    // Full nodes are never tried again: else every set would walk over all of them.
    std::erase_if(runs_, [&](const Run& run) { return of_no_use(run, parts); });
    if (const int64_t filled = fill_first(parts, most - placed); filled > 0) {
      placed += filled;
      continue;
    }
    if (!std::ranges::all_of(parts, [&](const SetPart& part) { return place(part.request, part.replicas); })) break;
    ++placed;
  }
  return placed;
}

int64_t VirtualNodes::pods(const ResourceList& request) const {
  const Amounts amounts = amounts_of(request);
  int64_t sum = 0;
  for (const Run& run : runs_) sum = std::min(kMost, sum + run.nodes * std::max<int64_t>(fits(run, amounts), 0));
  return sum;
}

}  // namespace shiplog::scheduler
