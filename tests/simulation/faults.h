#pragma once

#include <string>

#include "tests/simulation/script.h"
#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// What goes wrong. Each function is the step of that name.
class Faults {
 public:
  explicit Faults(World& world) : world_{world} {}

  /// How fast the members are; the actions of users and faults follow.
  void begin();
  void run(const ScriptStep& step);
  /// All that is broken is repaired, for good.
  void end();

 private:
  void on_process(const ScriptStep& step, SimulatedProcess& process);
  void on_member(const ScriptStep& step);
  void activate(SimulatedProcess& process);
  /// An operator sets feature gates and options, as a process does that starts with other ones.
  void switch_gates(SimulatedProcess& process, uint64_t seed);
  void flap(const std::string& cluster, Millis period, int64_t times);
  void crash(SimulatedProcess& process, Millis away, uint64_t seed);
  /// For so long, a rate of the journal's or the network's is this.
  void window(uint64_t& rate, uint64_t permille, Millis time);
  void touch_object(const std::string& cluster, bool lose, uint64_t seed);
  void snapshot(SimulatedProcess& process, bool trim);
  void forge();

  World& world_;
  bool calm_ = false;
};

}  // namespace shiplog::simulation
