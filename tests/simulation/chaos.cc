#include "tests/simulation/chaos.h"

#include <utility>
#include <vector>

#include "events/codec/codec.h"
#include "events/state/work.h"

namespace shiplog::simulation {

void Chaos::begin() {
  Chance& chance = world_.chance;
  // Some worlds are calm in some respect, so that what one fault hides another world shows.
  const auto often = [&](int64_t most) {
    return static_cast<uint64_t>(chance.permille(500) ? chance.between(0, most) : 0);
  };
  world_.log.faults = {.lost_ack = often(80),
                       .lost_append = often(60),
                       .late_append = often(60),
                       .refused = often(20),
                       .stored_twice = often(60),
                       .latency_ms = chance.permille(300) ? chance.between(5, 100) : 2,
                       .gaps = often(300)};
  world_.network = {.lost_request = often(40), .lost_answer = often(40), .held_up = often(40)};
  pause_ms_ = chance.between(200, 2500);
  for (const std::string& name : world_.cluster_names) {
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

void Chaos::run(UtcMillis until) {
  if (world_.timeline.now() >= until) return;
  act();
  world_.timeline.after(Millis{world_.chance.between(1, 2 * pause_ms_)}, [this, until] { run(until); });
}

void Chaos::act() {
  Chance& chance = world_.chance;
  const uint64_t what = chance.below(100);
  if (what < 18) return crash();
  if (what < 32) return world_.elections.confuse();
  if (what < 42) return on_clock();
  if (what < 52) {
    if (Process* process = world_.random_process()) {
      const Millis time{chance.between(10, 4000)};
      world_.trace.line(process->identity(), "is held up for " + std::to_string(time.value) + " ms");
      process->executor().stall(world_.timeline.now() + time);
    }
    return;
  }
  if (what < 70) return on_member();
  if (what < 88) return on_member_object();
  if (what < 96) return on_snapshot();
  if (world_.sabotage == Sabotage::kForgeEntry) return forge();
  if (Process* process = world_.random_process()) {
    const State& state = process->replica().state();
    world_.write(*process, "hash", {StateHashed{state.revision(), state.hash()}}, {});
  }
}

void Chaos::crash() {
  Process* process = world_.random_process();
  if (process == nullptr) return;
  process->crash();
  const Millis away{world_.chance.permille(700) ? world_.chance.between(1, 800) : world_.chance.between(1, 8000)};
  world_.timeline.after(away, [this, process] {
    if (!process->alive()) start(*process);
  });
}

void Chaos::start(Process& process) {
  process.start(world_.random_restore());
  if (!calm_ && !world_.broken() && world_.chance.permille(300)) {
    process.executor().set_clock_error(Millis{world_.chance.between(-3000, 3000)});
  }
}

void Chaos::on_clock() {
  Process* process = world_.random_process();
  if (process == nullptr) return;
  const Millis error{world_.chance.between(-5000, 5000)};
  world_.trace.line(process->identity(), "has its clock off by " + std::to_string(error.value) + " ms");
  process->executor().set_clock_error(error);
}

void Chaos::on_member() {
  Chance& chance = world_.chance;
  const std::string name = chance.one_of(world_.cluster_names);
  auto& member = world_.members.member(name);
  switch (chance.below(5)) {
    case 0:
      world_.trace.line(name, member.down ? "comes back" : "goes away");
      return world_.members.set_down(name, !member.down);
    case 1:
      member.latency = Millis{chance.permille(300) ? chance.between(500, 3000) : chance.between(1, 20)};
      return world_.trace.line(name, "answers after " + std::to_string(member.latency.value) + " ms");
    case 2:
      member.refuse = member.refuse != 0 ? 0 : chance.permille(500) ? 500 : chance.permille(500) ? 429 : 403;
      return world_.trace.line(name, "refuses with " + std::to_string(member.refuse));
    case 3:
      member.readyz = member.readyz == 200 && chance.permille(500) ? 500 : 200;
      return world_.trace.line(name, "says of itself " + std::to_string(member.readyz));
    default:
      world_.trace.line(name, "breaks all watches");
      return world_.members.break_watches(name);
  }
}

/// Somebody on the member touches what the fleet has put there.
void Chaos::on_member_object() {
  Chance& chance = world_.chance;
  const std::string name = chance.one_of(world_.cluster_names);
  auto& member = world_.members.member(name);
  std::vector<ObjectKey> ours;
  for (const auto& [key, object] : member.objects()) {
    if (label_of(object, label::kManaged) == "true" && key.type != type::kNamespace) ours.push_back(key);
  }
  if (ours.empty() || member.down) return;
  const ObjectKey key = chance.one_of(ours);
  if (chance.permille(400)) {
    world_.trace.line(name, "loses " + to_string(key));
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
  world_.trace.line(name, "changes " + to_string(key));
  member.put(key, std::move(object));
}

void Chaos::on_snapshot() {
  Process* process = world_.random_process();
  if (process == nullptr) return;
  world_.snapshots.push_back(process->snapshot());
  const Offset covers = world_.snapshots.back().next;
  world_.trace.line(process->identity(), "takes a snapshot up to " + std::to_string(covers.value));
  // Trimming needs every living replica to be past it: an operator's choice, as the one who is behind cannot go on.
  if (!world_.chance.permille(200)) return;
  Offset trimmed = covers;
  for (const auto& other : world_.processes) {
    if (other->alive()) trimmed = std::min(trimmed, other->snapshot().next);
  }
  if (trimmed == covers) world_.log.trim(trimmed);
}

void Chaos::forge() {
  if (world_.log.records().empty()) return;
  Entry entry = decode(world_.log.records().rbegin()->second.bytes).value();
  entry.id = new_entry_id(world_.chance.random());
  world_.log.store(encode(entry), "nobody");
}

void Chaos::end() {
  calm_ = true;
  world_.trace.line("world", "all is repaired");
  world_.log.faults = {};
  world_.network = {};
  for (const std::string& name : world_.cluster_names) {
    auto& member = world_.members.member(name);
    world_.members.set_down(name, false);
    member.latency = Millis{1};
    member.refuse = 0;
    member.readyz = 200;
  }
  for (const auto& process : world_.processes) {
    if (!process->alive()) start(*process);
    if (world_.broken()) return;
    process->executor().set_clock_error(Millis{0});
  }
  world_.elections.settle();
}

}  // namespace shiplog::simulation
