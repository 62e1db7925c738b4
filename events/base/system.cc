#include "events/base/system.h"

#include <cerrno>
#include <chrono>

#include <sys/random.h>

#include "events/base/check.h"

namespace shiplog {

UtcMillis SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

uint64_t SystemRandom::next() {
  uint64_t word = 0;
  ssize_t got = -1;
  do {
    got = getrandom(&word, sizeof word, 0);
  } while (got < 0 && errno == EINTR);
  SHIPLOG_CHECK(got == static_cast<ssize_t>(sizeof word), "the kernel gives random numbers");
  return word;
}

}  // namespace shiplog
