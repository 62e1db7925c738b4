// Loaded into a real process (LD_PRELOAD): its wall clock is off by as many milliseconds as the file that
// SHIPLOG_CLOCK_SHIFT names holds: 8 bytes, in the machine's order, read at every call. Its steady clocks are not
// changed.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

constexpr int64_t kNanos = 1'000'000'000;
// Absolute times below are those of a steady clock: no machine runs so long.
constexpr time_t kSteadyEnds = 1'000'000'000;

const std::atomic<int64_t>* mapped() {
  const char* name = ::getenv("SHIPLOG_CLOCK_SHIFT");
  if (name == nullptr) return nullptr;
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* at = ::mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return at == MAP_FAILED ? nullptr : static_cast<const std::atomic<int64_t>*>(at);
}

// Not read before main: others may ask for the time first.
int64_t shift_ms() {
  static const std::atomic<int64_t>* const kShift = mapped();
  return kShift == nullptr ? 0 : kShift->load(std::memory_order_relaxed);
}

timespec moved(const timespec& at, int64_t by_ms) {
  const int64_t nanos = int64_t{at.tv_sec} * kNanos + at.tv_nsec + by_ms * 1'000'000;
  return {nanos / kNanos, nanos % kNanos};
}

/// What the kernel understands: it keeps the real time.
timespec real_deadline(const timespec& at) { return at.tv_sec < kSteadyEnds ? at : moved(at, -shift_ms()); }

// The newest version of a symbol: without one the linker takes the oldest of pthread_cond_timedwait.
template <class Function>
Function* next(const char* name, const char* version) {
  void* found = ::dlvsym(RTLD_NEXT, name, version);
  return reinterpret_cast<Function*>(found != nullptr ? found : ::dlsym(RTLD_NEXT, name));
}

bool is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t id, timespec* at) {
  static auto* const kNext = next<int(clockid_t, timespec*)>("clock_gettime", "GLIBC_2.17");
  const int failed = kNext(id, at);
  if (failed == 0 && is_wall(id)) *at = moved(*at, shift_ms());
  return failed;
}

int gettimeofday(timeval* at, void* /*zone*/) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  *at = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* at) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (at != nullptr) *at = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(timespec* at, int base) {
  return base == TIME_UTC && ::clock_gettime(CLOCK_REALTIME, at) == 0 ? base : 0;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  static auto* const kNext =
      next<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait", "GLIBC_2.3.2");
  const timespec real = real_deadline(*until);
  return kNext(condition, mutex, &real);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id, const timespec* until) {
  static auto* const kNext =
      next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait", "GLIBC_2.34");
  const timespec real = real_deadline(*until);
  return kNext(condition, mutex, id, &real);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  static auto* const kNext = next<int(pthread_mutex_t*, const timespec*)>("pthread_mutex_timedlock", "GLIBC_2.34");
  const timespec real = real_deadline(*until);
  return kNext(mutex, &real);
}

int sem_timedwait(sem_t* semaphore, const timespec* until) {
  static auto* const kNext = next<int(sem_t*, const timespec*)>("sem_timedwait", "GLIBC_2.34");
  const timespec real = real_deadline(*until);
  return kNext(semaphore, &real);
}

}  // extern "C"
