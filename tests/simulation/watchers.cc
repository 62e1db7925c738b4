#include "tests/simulation/watchers.h"

#include <algorithm>
#include <utility>

#include "events/state/object.h"
#include "tests/simulation/objects.h"

namespace shiplog::simulation {
namespace {

bool fits(const std::string& type, const Change& change) { return type.empty() || change.object.type == type; }

}  // namespace

void Watchers::begin() {
  Chance chance = world_.stream("watchers");
  const std::vector<std::string> types = {"", type::kWork, type::kResourceBinding, kDeployments, type::kCluster};
  const int64_t count = chance.between(2, 5);
  for (int64_t number = 1; number <= count; ++number) {
    clients_.push_back({.name = "watch" + std::to_string(number),
                        .type = chance.one_of(types),
                        .at = {},
                        .chance = Chance{chance.random().next()}});
  }
  for (Client& client : clients_) next(client);
}

void Watchers::next(Client& client) {
  world_.timeline.after(Millis{client.chance.between(5, 900)}, [this, &client] {
    const bool there = client.process != nullptr && client.process->alive() && client.process->life() == client.life;
    if (client.connected && there) {
      pull(client);
    } else if (client.process == nullptr || !there || client.chance.permille(100)) {
      connect(client);
    }
    next(client);
  });
}

/// A watch from a revision waits until the server has that revision.
void Watchers::connect(Client& client) {
  client.connected = false;
  client.process = world_.any_process(client.chance);
  if (client.process == nullptr) return;
  client.life = client.process->life();
  // An earlier attempt at the same server waits for an older head of the journal than this one.
  client.process->when_current([this, &client, process = client.process, attempt = ++client.attempts] {
    if (client.attempts != attempt || process->life() != client.life) return;
    // What is served: the state may be ahead of it.
    const Revision revision = process->replica().feed().revision();
    if (std::exchange(client.started, true)) {
      world_.count("watch goes on elsewhere");
      if (revision < client.at) world_.trace.broken("watch", client.name + " is ahead of a server that is current");
    } else {
      client.at = revision;  // begins with a list
    }
    client.connected = true;
  });
}

void Watchers::pull(Client& client) {
  Replica& replica = client.process->replica();
  const Feed::Batch batch = replica.feed().since(client.at, client.type, 1 + client.chance.below(64));
  std::vector<const Change*> changes;
  if (!batch.complete) {
    // Further behind than the feed: from the history, which in the simulation is the reference's.
    world_.count("watch from history");
    const Revision upto = replica.state().revision();
    for (const Change& change : world_.reference.changes()) {
      if (change.revision > client.at && change.revision <= upto && fits(client.type, change))
        changes.push_back(&change);
    }
    return deliver(client, changes, upto);
  }
  for (const auto& change : batch.changes) changes.push_back(change.get());
  const bool skips = world_.sabotage == Sabotage::kSkipWatched && client.at.value > 100 && changes.size() > 1;
  if (skips && !std::exchange(client.skipped, true)) changes.erase(changes.begin());
  deliver(client, changes, batch.upto);
}

void Watchers::deliver(Client& client, const std::vector<const Change*>& changes, Revision upto) {
  const auto& all = world_.reference.changes();
  auto at = std::ranges::upper_bound(all, client.at, {}, &Change::revision);
  const std::string where = client.name + " (" + (client.type.empty() ? "all" : client.type) + ") at " +
                            client.process->identity() + " after revision " + std::to_string(client.at.value);
  if (upto < client.at) return world_.trace.broken("watch", where + " goes back to " + std::to_string(upto.value));
  for (const Change* change : changes) {
    while (at != all.end() && !fits(client.type, *at)) ++at;
    if (at == all.end() || at->revision != change->revision || at->object != change->object ||
        at->created() != change->created() || at->removed() != change->removed() || *at->json != *change->json) {
      return world_.trace.broken(
          "watch",
          where + " gets " + to_string(change->object) + " at " + std::to_string(change->revision.value) +
              (at == all.end() ? ", which never was"
                               : " instead of " + to_string(at->object) + " at " + std::to_string(at->revision.value)));
    }
    ++at;
  }
  while (at != all.end() && at->revision <= upto) {
    if (fits(client.type, *at)) {
      return world_.trace.broken("watch", where + " is told that this is all up to " + std::to_string(upto.value) +
                                              ", without " + to_string(at->object) + " at " +
                                              std::to_string(at->revision.value));
    }
    ++at;
  }
  world_.watched += changes.size();
  client.at = upto;
}

void Watchers::check_complete() {
  for (const Client& client : clients_) {
    if (client.at == world_.reference.state().revision()) continue;
    world_.trace.broken("watch", client.name + " has stopped at revision " + std::to_string(client.at.value) + " of " +
                                     std::to_string(world_.reference.state().revision().value));
  }
}

}  // namespace shiplog::simulation
