#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/base/quantity.h"
#include "events/state/placement.h"
#include "services/roles/registry.h"
#include "tests/simulation/checks.h"

namespace shiplog::simulation {
namespace {

struct RecordedEntry {
  Offset offset;
  Entry entry;
};

/// What fits on a cluster by its last report, computed here from its numbers and not with the scheduler's own means.
int64_t room_for(const Value& binding, const Value& cluster) {
  const Value& summary = cluster["status"]["resourceSummary"];
  const auto amount = [&](const char* list, const std::string& name) {
    const auto quantity = parse_quantity(summary[list][name].str());
    return quantity ? quantity.value() : Quantity{};
  };
  const auto left = [&](const std::string& name) {
    return amount("allocatable", name) - amount("allocated", name) - amount("allocating", name);
  };
  int64_t room = left("pods").units();
  for (const auto& request : binding["spec"]["replicaRequirements"]["resourceRequest"].members()) {
    const auto each = parse_quantity(std::string{request.value.as_string()});
    if (!each || each.value().is_zero()) continue;
    Quantity sum;
    int64_t fits = 0;
    while (fits < room && !(left(std::string{request.key()}) < sum + each.value())) {
      sum = sum + each.value();
      ++fits;
    }
    room = std::min(room, fits);
  }
  return room;
}

/// Replicas that are divided by the room there is are never given to a cluster that, to the decider's knowledge, has
/// none for them. What is there already may stay.
void check_capacity(World& world, const State& state, const RecordedEntry& recorded) {
  const auto* placed = std::get_if<PlacementDecided>(&recorded.entry.events.front());
  if (placed == nullptr || placed->binding.type != type::kResourceBinding) return;
  const Value& binding = state.value_of(placed->binding);
  const Value& how = binding["spec"]["placement"]["replicaScheduling"];
  const bool by_room = how["replicaSchedulingType"].as_string() == "Divided" &&
                       (how["replicaDivisionPreference"].as_string() == "Aggregated" ||
                        how["weightPreference"]["dynamicWeight"].as_string() == "AvailableReplicas");
  if (!by_room || binding["spec"]["replicaRequirements"].is_empty()) return;
  for (const Target& target : placed->targets) {
    int64_t more = target.replicas;
    for (const Value& before : binding["spec"]["clusters"].items()) {
      if (before["name"].as_string() == target.cluster) more -= before["replicas"].as_int();
    }
    if (more <= 0) continue;
    const int64_t room = room_for(binding, state.value_of({type::kCluster, "", target.cluster}));
    if (more <= room) continue;
    world.trace.broken("capacity", "offset " + std::to_string(recorded.offset.value) + ": " +
                                       to_string(placed->binding) + " gets " + std::to_string(more) + " more on " +
                                       target.cluster + ", which has room for " + std::to_string(room));
  }
}

/// Decides again on this state. Returns how the result differs from the entry; nullopt: it does not.
std::optional<std::string> difference_on(const State& state, const RecordedEntry& recorded) {
  const Entry& entry = recorded.entry;
  const std::string where = "offset " + std::to_string(recorded.offset.value) + ", " + entry.fence.service + " " +
                            entry.request.path + " as of " + std::to_string(entry.as_of.value) + ": ";
  const RoleEntry* role = find_role(entry.fence.service);
  if (role == nullptr || role->decide == nullptr) return where + "no such service decides";
  const auto key = parse_object_key(entry.request.path);
  if (!key) return where + key.error().message;
  const auto again = role->decide(state, key.value(), entry.time);
  if (!again) return where + "fails now: " + again.error().message;
  const auto* decision = std::get_if<Decision>(&again.value());
  if (decision == nullptr) return where + "nothing is decided now";
  if (decision->events == entry.events && decision->expects == entry.expects) return std::nullopt;
  std::string differences = where + "recorded";
  for (const Event& event : entry.events) differences += " " + std::string{name_of(event)} + " " + summary_of(event);
  differences += "; now";
  for (const Event& event : decision->events) {
    differences += " " + std::string{name_of(event)} + " " + summary_of(event);
  }
  return differences;
}

}  // namespace

void check_history(World& world) {
  // A decision stands in the journal after the state it was made from: the first pass finds out what to wait for.
  std::multimap<Revision, RecordedEntry> decisions;
  std::vector<RecordedEntry> entries;
  for (const auto& [offset, stored] : world.log.records()) {
    entries.push_back({offset, *stored.entry});
    if (entries.back().entry.request.verb == "decide") {
      decisions.emplace(entries.back().entry.as_of, entries.back());
    }
  }
  State state;
  std::map<Offset, Reference::Point> found;
  std::map<std::string, Offset> accepted;
  std::vector<std::pair<RecordedEntry, std::string>> differing;  // at this revision
  const auto decide_here = [&] {
    const auto [first, last] = decisions.equal_range(state.revision());
    for (auto at = first; at != last; ++at) {
      check_capacity(world, state, at->second);
      if (auto difference = difference_on(state, at->second)) differing.emplace_back(at->second, *difference);
    }
    decisions.erase(first, last);
  };
  const auto report_differing = [&] {
    for (const auto& [recorded, difference] : differing) world.trace.broken("replay", difference);
    differing.clear();
  };
  for (const RecordedEntry& one : entries) {
    decide_here();
    const Revision before = state.revision();
    const uint32_t version = state.fold_version();
    const Folded folded = fold(state, one.entry);
    if (state.revision() != before) {
      report_differing();
    } else if (state.fold_version() != version) {
      // Two states have this revision: a decision that was appended later may have been computed from the second.
      std::erase_if(differing, [&](const auto& item) {
        return item.first.offset > one.offset && !difference_on(state, item.first);
      });
    }
    found[one.offset] = {one.entry.id, folded.revision, state.hash(), folded.refusal.has_value(), folded.duplicate};
    if (!folded.refusal) accepted.emplace(one.entry.cause.trace_id, one.offset);
    if (world.broken()) return;
  }
  decide_here();
  report_differing();
  if (!decisions.empty()) {
    const RecordedEntry& one = decisions.begin()->second;
    world.trace.broken("replay", "offset " + std::to_string(one.offset.value) + " is as of revision " +
                                     std::to_string(one.entry.as_of.value) + ", at which no replica can have stood");
  }
  for (const World::Told& told : world.told) {
    const auto at = found.find(told.outcome.offset);
    if (at == found.end()) {
      world.trace.broken("lost", told.write + " was acknowledged at offset " +
                                     std::to_string(told.outcome.offset.value) + ", and is not there");
    } else if (at->second.refused != told.outcome.refusal.has_value() || at->second.revision != told.outcome.revision) {
      world.trace.broken("lost", told.write + " was told another outcome than the journal holds");
    } else if (!told.outcome.refusal && accepted[told.write] != told.outcome.offset) {
      world.trace.broken("twice", told.write + " was accepted elsewhere too");
    }
  }
  for (const std::string& write : world.told_not_stored) {
    const auto at = accepted.find(write);
    if (at != accepted.end() && !world.log.came_back(at->second))
      world.trace.broken("lost", write + " was told not stored, and is");
  }
  if (state.hash() != world.reference.state().hash()) {
    world.trace.broken("lost", "the journal folds to another state than it did while it was written");
  }
}

}  // namespace shiplog::simulation
