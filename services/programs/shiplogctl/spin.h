#pragma once

namespace shiplog::ctl {

/// Whether `ready()` was true at once or became so within about 50 microseconds, for which this thread keeps its
/// processor. To sleep and to be woken takes as long, and two system calls.
template <class Ready>
bool spin_until(Ready ready) {
  constexpr int kSpins = 1'000;  // a pause is 40 to 140 cycles
  for (int spins = 0; spins < kSpins; ++spins) {
    if (ready()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  return ready();
}

}  // namespace shiplog::ctl
