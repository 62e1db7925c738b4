#include "events/base/system.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <utility>

#include <pthread.h>
#include <sys/random.h>

#include "events/base/check.h"

namespace shiplog {
namespace {

/// Random numbers of the kernel that are not used yet. Every entry takes several, and a call for each was a twentieth
/// of the time of the threads that make them.
struct Drawn {
  std::array<uint64_t, 32> words;  // as many bytes as the kernel gives without ever stopping half-way
  size_t left = 0;
  uint64_t fork = 0;
};

// A forked child must not hand out what its parent hands out.
std::atomic<uint64_t> forks{0};

void note_forks() {
  static const int kRegistered =
      ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  SHIPLOG_CHECK(kRegistered == 0, "a handler of forks can be registered");
}

}  // namespace

UtcMillis SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

uint64_t SystemRandom::next() {
  thread_local Drawn drawn;
  const uint64_t fork = forks.load(std::memory_order_relaxed);
  if (drawn.left == 0 || drawn.fork != fork) {
    note_forks();
    ssize_t got = -1;
    do {
      got = getrandom(drawn.words.data(), sizeof drawn.words, 0);
    } while (got < 0 && errno == EINTR);
    SHIPLOG_CHECK(got == static_cast<ssize_t>(sizeof drawn.words), "the kernel gives random numbers");
    drawn.left = drawn.words.size();
    drawn.fork = fork;
  }
  return std::exchange(drawn.words[--drawn.left], 0);
}

}  // namespace shiplog
