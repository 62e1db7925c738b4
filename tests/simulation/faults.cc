#include "tests/simulation/faults.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "events/codec/codec.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/new_namespace.h"
#include "events/state/work.h"
#include "tests/simulation/faulty_disk.h"
#include "tests/simulation/workload.h"

namespace shiplog::simulation {

void Faults::begin() {
  Chance chance = world_.stream("members");
  world_.log.faults.latency_ms = chance.permille(300) ? chance.between(5, 100) : 2;
  world_.log.faults.gaps = chance.permille(500) ? chance.below(300) : 0;
  if (world_.shape.stored) world_.log.faults.gaps = 0;  // the embedded journal has none
  for (const std::string& name : world_.shape.clusters) {
    auto& member = world_.members.member(name);
    member.ready_after = Millis{chance.between(5, 1500)};
    member.latency = Millis{chance.between(1, 20)};
    Value node = Value::object({{"apiVersion", "v1"}, {"kind", "Node"}});
    node.set("status", Value::object({{"allocatable", Value::object({{"cpu", std::to_string(chance.between(1, 8))},
                                                                     {"memory", "8Gi"},
                                                                     {"pods", "110"}})}}));
    member.put({"nodes", "", "node-1"}, std::move(node));
  }
}

void Faults::run(const ScriptStep& step) {
  const std::string& what = step.what;
  if (what == "tear") {
    world_.trace.line("journal", "fails at its next write, for " + step.args[0] + " ms");
    return world_.log.tear(Millis{step.number(0)}, step.seed(1));
  }
  const std::map<std::string, uint64_t*> rates = {{"lost-ack", &world_.log.faults.lost_ack},
                                                  {"lost-append", &world_.log.faults.lost_append},
                                                  {"late", &world_.log.faults.late_append},
                                                  {"unavailable", &world_.log.faults.refused},
                                                  {"stored-twice", &world_.log.faults.stored_twice}};
  if (const auto rate = rates.find(what); rate != rates.end()) {
    return window(*rate->second, step.seed(0), Millis{step.number(1)});
  }
  if (what == "disk") {
    DiskFaults& disk = FaultyDisk::get().faults;
    if (!world_.shape.stored) return;
    uint64_t& rate = step.args[0] == "sync"    ? disk.failed_sync
                     : step.args[0] == "write" ? disk.failed_write
                                               : disk.full;
    return window(rate, step.seed(1), Millis{step.number(2)});
  }
  if (what == "network") {
    uint64_t& rate = step.args[0] == "lost-request"  ? world_.network.lost_request
                     : step.args[0] == "lost-answer" ? world_.network.lost_answer
                                                     : world_.network.held_up;
    return window(rate, step.seed(1), Millis{step.number(2)});
  }
  if (what == "elect") {
    const Millis later{step.number(2)};
    if (world_.elections.elect(step.args[0], step.args[1] + ".", later)) world_.count(what);
    return;
  }
  if (step.args[0].starts_with("m")) return on_member(step);
  for (const auto& process : world_.processes) {
    if (process->name() == step.args[0] && process->alive()) return on_process(step, *process);
  }
}

void Faults::on_process(const ScriptStep& step, SimulatedProcess& process) {
  const std::string& what = step.what;
  world_.count(what);
  if (what == "activate") return process.supports(kFoldVersion) ? activate(process) : void();
  if (what == "upgrade") return process.upgrade(Millis{step.number(1)});
  if (what == "switch") return switch_gates(process, step.seed(1));
  if (what == "apart") {
    world_.trace.line(process.identity(), "does not reach " + step.args[1] + " for " + step.args[2] + " ms");
    world_.network.apart[{process.name(), step.args[1]}] = world_.timeline.now() + Millis{step.number(2)};
    return world_.members.break_watches(step.args[1]);
  }
  if (what == "mute") {
    const UtcMillis until = world_.timeline.now() + Millis{step.number(1)};
    world_.trace.line(process.identity(), "does not reach the journal for " + step.args[1] + " ms");
    world_.log.faults.muted[process.name()] = until;
    return process.lag(until);
  }
  if (what == "crash") return crash(process, Millis{step.number(1)}, step.seed(2));
  if (what == "snapshot") return snapshot(process, step.number(1) != 0);
  if (what == "depose") return world_.elections.depose(process.identity(), Millis{step.number(1)});
  if (what == "hash") {
    if (world_.sabotage == Sabotage::kForgeEntry) return forge();
    const State& state = process.replica().state();
    return world_.write(process, "hash", {StateHashed{state.revision(), state.hash()}}, {});
  }
  const int64_t number = step.number(1);
  if (what == "clock") {
    world_.trace.line(process.identity(), "has its clock off by " + std::to_string(number) + " ms");
    return process.set_clock_error(Millis{number});
  }
  const UtcMillis until = world_.timeline.now() + Millis{number};
  world_.trace.line(process.identity(),
                    (what == "deaf" ? "reads nothing for " : "is held up for ") + std::to_string(number) + " ms");
  what == "deaf" ? process.lag(until) : process.executor().stall(until);
}

void Faults::switch_gates(SimulatedProcess& process, uint64_t seed) {
  Chance chance{seed};
  world_.read(process, [this, &process, chance](const State& state) mutable {
    FeatureGates gates = state.recorded_gates();
    for (const char* name :
         {"Failover", "FederatedQuotaEnforcement", "PropagationPolicyPreemption", "WorkloadAffinity"}) {
      if (chance.permille(500)) set_feature_gate(gates, name, chance.permille(600));
    }
    FleetOptions options = state.options();
    set_fleet_option(options, {"enable-no-execute-taint-eviction", {chance.permille(600) ? "true" : "false"}});
    set_fleet_option(options,
                     {"no-execute-taint-eviction-purge-mode", {chance.permille(500) ? "Directly" : "Gracefully"}});
    set_fleet_option(options, {"eviction-budget", some_budget(chance)});
    world_.write(process, "switch", {FeatureGatesSet{names_of(gates)}, OptionsSet{settings_of(options)}},
                 {{feature_gates_key(), state.revision_of(feature_gates_key())},
                  {fleet_options_key(), state.revision_of(fleet_options_key())}});
  });
}

/// Goes away and comes back again and again.
void Faults::flap(const std::string& cluster, Millis period, int64_t times) {
  if (calm_ || times == 0) return world_.members.set_down(cluster, false);
  world_.trace.line(cluster, times % 2 == 0 ? "goes away" : "comes back");
  world_.members.set_down(cluster, times % 2 == 0);
  world_.timeline.after(period, [this, cluster, period, times] { flap(cluster, period, times - 1); });
}

/// Together with a change, as replays tell states before it from those after it by their revision.
void Faults::activate(SimulatedProcess& process) {
  const bool older = std::ranges::any_of(world_.processes,
                                         [](const auto& one) { return one->alive() && !one->supports(kFoldVersion); });
  if (older) {  // as a process waits that sees their heartbeats
    world_.count("activation that waits for an older build");
    return world_.timeline.after(Millis{500}, [this, &process, life = process.life()] {
      if (!calm_ && process.alive() && process.life() == life) activate(process);
    });
  }
  const ObjectKey key{type::kNamespace, "", "kube-versions"};
  world_.write(process, "activate",
               {FoldVersionActivated{kFoldVersion}, ObjectCreated{key, new_namespace(key.name.str())}}, {});
}

void Faults::on_member(const ScriptStep& step) {
  const std::string& what = step.what;
  const std::string name = step.args[0];
  if (std::ranges::find(world_.shape.clusters, name) == world_.shape.clusters.end()) return;
  world_.count(what);
  if (what == "lose" || what == "meddle") return touch_object(name, what == "lose", step.seed(1));
  if (what == "cut") {
    world_.trace.line(name, "breaks all watches");
    return world_.members.break_watches(name);
  }
  if (what == "flap") return flap(name, Millis{step.number(1)}, 2 * step.number(2));
  auto& member = world_.members.member(name);
  const auto later = [&](size_t time, std::function<void(World&)> repair) {
    world_.timeline.after(Millis{step.number(time)}, [this, repair = std::move(repair)] {
      if (!calm_) repair(world_);
    });
  };
  if (what == "down") {
    world_.trace.line(name, "goes away");
    world_.members.set_down(name, true);
    return later(1, [name](World& world) {
      world.trace.line(name, "comes back");
      world.members.set_down(name, false);
    });
  }
  if (what == "slow") {
    world_.trace.line(name, "answers after " + step.args[1] + " ms");
    const Millis before = std::exchange(member.latency, Millis{step.number(1)});
    return later(2, [name, before](World& world) { world.members.member(name).latency = before; });
  }
  if (what == "refuse") {
    world_.trace.line(name, "refuses with " + step.args[1]);
    member.refuse = static_cast<int>(step.number(1));
    return later(2, [name](World& world) { world.members.member(name).refuse = 0; });
  }
  world_.trace.line(name, "is not ready");
  member.readyz = 500;
  later(1, [name](World& world) { world.members.member(name).readyz = 200; });
}

void Faults::crash(SimulatedProcess& process, Millis away, uint64_t seed) {
  process.crash(seed % 2 == 0);
  world_.timeline.after(away, [this, &process, seed] {
    if (!process.alive()) process.start(world_.restore(Chance{seed}));
  });
}

void Faults::window(uint64_t& rate, uint64_t permille, Millis time) {
  rate = permille;
  world_.timeline.after(time, [&rate, permille] {
    if (rate == permille) rate = 0;
  });
}

/// A user of the member changes what the fleet has dispatched.
void Faults::touch_object(const std::string& cluster, bool lose, uint64_t seed) {
  Chance chance{seed};
  auto& member = world_.members.member(cluster);
  std::vector<ObjectKey> ours;
  for (const auto& [key, object] : member.objects()) {
    if (label_of(object, label::kManaged) == "true" && key.type != type::kNamespace) ours.push_back(key);
  }
  if (ours.empty() || member.down) return;
  const ObjectKey key = chance.one_of(ours);
  if (lose) {
    world_.trace.line(cluster, "loses " + to_string(key));
    return member.erase(key);
  }
  Value object = member.find(key);
  if (key.type == "configmaps") {
    object.edit("data").set("text", "changed on the member");
  } else if (key.type == "deployments.apps") {
    object.edit("spec").set("replicas", 77);
  } else {
    object.edit("metadata").edit("labels").set("app", "changed-on-the-member");
  }
  world_.trace.line(cluster, "changes " + to_string(key));
  member.put(key, std::move(object));
}

void Faults::snapshot(SimulatedProcess& process, bool trim) {
  Offset covers;
  if (world_.storage != nullptr) {
    const auto taken = world_.storage->snapshot(*process.projections());
    if (!taken) return world_.count("snapshot that failed");
    covers = taken.value().next;
  } else {
    world_.snapshots.push_back(process.snapshot());
    covers = world_.snapshots.back().next;
  }
  world_.trace.line(process.identity(), "takes a snapshot up to " + std::to_string(covers.value));
  // Trimming needs every living replica to be past it: an operator's choice, as the one who is behind cannot go on.
  if (!trim) return;
  for (const auto& other : world_.processes) {
    if (other->alive() && other->replica().next() < covers) return;
  }
  world_.count("trim");
  world_.log.trim(covers);
}

void Faults::forge() {
  if (world_.log.records().empty()) return;
  Entry entry = decode(world_.log.records().rbegin()->second.bytes).value();
  entry.id = new_entry_id(world_.chance.random());
  world_.log.write(encode(entry), "nobody", [](const Result<Offset>&) {});
}

void Faults::end() {
  calm_ = true;
  world_.trace.line("world", "all is repaired");
  world_.log.faults = {};
  if (world_.storage != nullptr) FaultyDisk::get().faults = {};
  world_.log.repair();
  world_.network = {};
  for (const std::string& name : world_.shape.clusters) {
    auto& member = world_.members.member(name);
    world_.members.set_down(name, false);
    member.latency = Millis{1};
    member.refuse = 0;
    member.readyz = 200;
  }
  for (const auto& process : world_.processes) {
    if (!process->supports(kFoldVersion)) process->upgrade({});
    if (!process->alive()) process->start(world_.restore(world_.stream("repair " + process->name())));
    if (world_.broken()) return;
    // A process whose time is far off is restarted, as the alert on it demands.
    process->set_clock_error(Millis{0});
    const int64_t off = (process->executor().now() - world_.timeline.now()).value;
    if (std::abs(off) < 10'000) continue;
    world_.count("restart of a process whose time is off");
    process->crash();
    process->start(world_.restore(world_.stream("clock " + process->name())));
    if (world_.broken()) return;
  }
  // Every fleet comes to the newest fold version.
  SimulatedProcess* first = world_.processes.front().get();
  world_.timeline.after(Millis{2000}, [this, first] {
    if (first->alive() && world_.reference.state().fold_version() < kFoldVersion) activate(*first);
  });
  world_.elections.settle();
}

}  // namespace shiplog::simulation
