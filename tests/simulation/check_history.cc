#include <map>
#include <set>
#include <utility>
#include <vector>

#include "events/codec/codec.h"
#include "tests/simulation/checks.h"

namespace shiplog::simulation {
namespace {

struct Recorded {
  Offset offset;
  Entry entry;
};

void repeat(World& world, const State& state, const Recorded& recorded) {
  const Entry& entry = recorded.entry;
  const std::string where = "offset " + std::to_string(recorded.offset.value) + ", " + entry.fence.service + " " +
                            entry.request.path + " as of " + std::to_string(entry.as_of.value) + ": ";
  const Decide decide = decide_of(entry.fence.service);
  if (!decide) return world.trace.broken("replay", where + "no such service decides");
  const auto key = parse_object_key(entry.request.path);
  if (!key) return world.trace.broken("replay", where + key.error().message);
  const auto again = decide(state, key.value(), entry.time);
  if (!again) return world.trace.broken("replay", where + "fails now: " + again.error().message);
  if (!again.value()) return world.trace.broken("replay", where + "nothing is decided now");
  if (*again.value() == Decision{entry.events, entry.expects}) return;
  std::string differences = where + "recorded";
  for (const Event& event : entry.events) differences += " " + std::string{name_of(event)} + " " + summary_of(event);
  differences += "; now";
  for (const Event& event : again.value()->events) {
    differences += " " + std::string{name_of(event)} + " " + summary_of(event);
  }
  world.trace.broken("replay", differences);
}

}  // namespace

void check_history(World& world) {
  // A decision stands in the journal after the state it was made from: the first pass finds out what to wait for.
  std::multimap<Revision, Recorded> decisions;
  std::vector<Recorded> entries;
  for (const auto& [offset, stored] : world.log.records()) {
    entries.push_back({offset, decode(stored.bytes).value()});
    if (entries.back().entry.request.verb == "decide") {
      decisions.emplace(entries.back().entry.as_of, entries.back());
    }
  }
  State state;
  std::map<Offset, Reference::Point> found;
  std::map<std::string, Offset> accepted;
  const auto decide_here = [&] {
    const auto [first, last] = decisions.equal_range(state.revision());
    for (auto at = first; at != last && !world.broken(); ++at) repeat(world, state, at->second);
    decisions.erase(first, last);
  };
  for (const Recorded& one : entries) {
    decide_here();
    const Folded folded = fold(state, one.entry);
    found[one.offset] = {one.entry.id, folded.revision, state.hash(), folded.refusal.has_value(), folded.duplicate};
    if (!folded.refusal) accepted.emplace(one.entry.cause.trace_id, one.offset);
    if (world.broken()) return;
  }
  decide_here();
  if (!decisions.empty()) {
    const Recorded& one = decisions.begin()->second;
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
    if (accepted.contains(write)) world.trace.broken("lost", write + " was told not stored, and is");
  }
  if (state.hash() != world.reference.state().hash()) {
    world.trace.broken("lost", "the journal folds to another state than it did while it was written");
  }
}

}  // namespace shiplog::simulation
