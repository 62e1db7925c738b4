#pragma once

#include <string>

#include "tests/simulation/script.h"
#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// What goes wrong. Each function is the step of that name.
class Faults {
 public:
  explicit Faults(World& world) : world_{world} {}

  /// How fast the members are; what users and faults do comes later.
  void begin();
  void run(const Step& step);
  /// All that is broken is repaired, for good.
  void end();

 private:
  void on_process(const Step& step, Process& process);
  void on_member(const Step& step);
  void crash(Process& process, Millis away, uint64_t seed);
  /// For so long, a rate of the journal's or the network's is this.
  void window(uint64_t& rate, uint64_t permille, Millis time);
  void touch_object(const std::string& cluster, bool lose, uint64_t seed);
  void snapshot(Process& process, bool trim);
  void forge();

  World& world_;
  bool calm_ = false;
};

}  // namespace shiplog::simulation
