#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "events/base/random.h"
#include "events/base/time.h"

namespace shiplog::simulation {

/// One chance for everything: the same seed makes the same world.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_{seed} {}
  Random& random() { return random_; }
  uint64_t below(uint64_t bound) { return random_below(random_, bound); }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
  }
  bool permille(uint64_t of_thousand) { return of_thousand > 0 && below(1000) < of_thousand; }
  template <class Container>
  auto& one_of(Container& items) {
    return items[below(items.size())];
  }

 private:
  SeededRandom random_;
};

/// All that will happen, in virtual time, on one thread. Of what is due at the same moment a random value decides
/// what is first: that is the interleaving.
class Timeline {
 public:
  explicit Timeline(Chance chance) : chance_{chance} {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  static constexpr UtcMillis kBegin{1'767'225'600'000};  // 2026-01-01T00:00:00Z
  UtcMillis now() const { return now_; }
  uint64_t steps() const { return steps_; }
  size_t waiting() const { return heap_.size(); }
  void after(Millis delay, std::function<void()> run);
  /// Runs the next step; false when nothing is due up to `until`, where time then stands.
  bool step(UtcMillis until);

 private:
  struct Due {
    UtcMillis at;
    uint64_t tie;
    uint64_t sequence;
    std::function<void()> run;
  };
  static bool later(const Due& a, const Due& b);

  Chance chance_;
  UtcMillis now_ = kBegin;
  uint64_t sequence_ = 0;
  uint64_t steps_ = 0;
  std::vector<Due> heap_;
};

}  // namespace shiplog::simulation
