#pragma once

#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// What goes wrong. How much of it and of which kind differs from seed to seed.
class Chaos {
 public:
  explicit Chaos(World& world) : world_{world} {}

  /// Chooses how bad this world is.
  void begin();
  /// Until then, again and again.
  void run(UtcMillis until);
  /// All that is broken is repaired, for good.
  void end();

 private:
  void act();
  void crash();
  void start(Process& process);
  void on_clock();
  void on_member();
  void on_member_object();
  void on_snapshot();
  void forge();

  World& world_;
  bool calm_ = false;
  int64_t pause_ms_ = 1000;
};

}  // namespace shiplog::simulation
