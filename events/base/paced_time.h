#pragma once

#include <algorithm>
#include <chrono>

namespace shiplog {

/// The time of one process. It advances with a steady clock, at most a quarter faster or slower, until it agrees with
/// the machine's clock: a machine's clock that is set makes nothing due at once, and nothing wait for hours. Its first
/// time is the machine's. Pure; callers serialize.
class PacedTime {
 public:
  using Nanos = std::chrono::nanoseconds;

  /// `machine`: since 1970, may be set to anything at any moment. `steady`: never goes back.
  Nanos at(Nanos machine, Nanos steady) {
    if (!began_) {
      began_ = true;
      time_ = machine;
    } else if (steady > steady_) {
      const Nanos passed = steady - steady_;
      time_ += std::clamp(machine - time_, passed * 3 / 4, passed * 5 / 4);
    }
    steady_ = std::max(steady_, steady);
    return time_;
  }

 private:
  bool began_ = false;
  Nanos time_{0}, steady_{0};
};

}  // namespace shiplog
