#include "events/base/system.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <mutex>
#include <utility>

#include <pthread.h>
#include <sys/random.h>

#include "events/base/check.h"
#include "events/base/paced_time.h"

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

std::chrono::nanoseconds read_clock(clockid_t id) {
  timespec read{};
  SHIPLOG_CHECK(::clock_gettime(id, &read) == 0, "the kernel has a clock");
  return std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec};
}

struct ProcessTime {
  std::mutex mutex;
  PacedTime time;
};

// Not destroyed: threads that the exit of the process ends may still ask.
ProcessTime& process_time() {
  static ProcessTime* const kTime = new ProcessTime;
  return *kTime;
}

}  // namespace

UtcMillis SystemClock::now() const {
  ProcessTime& process = process_time();
  const std::lock_guard lock{process.mutex};
  // CLOCK_BOOTTIME also counts while the machine is suspended.
  const auto time = process.time.at(read_clock(CLOCK_REALTIME), read_clock(CLOCK_BOOTTIME));
  return {std::chrono::duration_cast<std::chrono::milliseconds>(time).count()};
}

Millis SystemClock::behind() const {
  const UtcMillis ours = now();
  const auto machine = std::chrono::duration_cast<std::chrono::milliseconds>(read_clock(CLOCK_REALTIME));
  return UtcMillis{machine.count()} - ours;
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
