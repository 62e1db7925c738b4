// C11 threads, implemented with POSIX threads. librdkafka uses C11 threads. The thread sanitizer does not intercept
// those of the C library, and a thread whose start it has not intercepted crashes. Linked only in builds with that
// sanitizer. Reports about librdkafka's own memory are suppressed: the sanitizer sees its locks, which are the
// functions below, but not its atomic reference counts.
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>

#include <pthread.h>
#include <threads.h>

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t));
static_assert(sizeof(thrd_t) == sizeof(pthread_t) && sizeof(once_flag) == sizeof(pthread_once_t));

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int outcome(int code) { return code == 0 ? thrd_success : code == ETIMEDOUT ? thrd_timedout : thrd_error; }

struct Start {
  thrd_start_t run;
  void* argument;
};

void* begin(void* started) {
  const Start start = *std::unique_ptr<Start>{static_cast<Start*>(started)};
  return reinterpret_cast<void*>(static_cast<intptr_t>(start.run(start.argument)));
}

}  // namespace

extern "C" {

const char* __tsan_default_suppressions() {
  return "called_from_lib:librdkafka.so.1\n"
         "race:^mtx_\n"
         "race:^cnd_\n";
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  Start* const start = std::make_unique<Start>(Start{run, argument}).release();
  const int code = pthread_create(thread, nullptr, begin, start);
  if (code != 0) std::unique_ptr<Start>{start}.reset();
  return outcome(code);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int code = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return outcome(code);
}

thrd_t thrd_current() { return pthread_self(); }

void call_once(once_flag* flag, void (*run)()) { pthread_once(reinterpret_cast<pthread_once_t*>(flag), run); }

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int code = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return outcome(code);
}

int mtx_lock(mtx_t* mutex) { return outcome(pthread_mutex_lock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return outcome(pthread_mutex_unlock(posix(mutex))); }
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(posix(mutex)); }

int cnd_init(cnd_t* condition) { return outcome(pthread_cond_init(posix(condition), nullptr)); }
int cnd_signal(cnd_t* condition) { return outcome(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return outcome(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) { return outcome(pthread_cond_wait(posix(condition), posix(mutex))); }
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return outcome(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(posix(condition)); }

}  // extern "C"
