#pragma once

#include <cstddef>

#include <pthread.h>

namespace shiplog {

/// Names the calling thread, for `top -H` and debuggers. The kernel keeps 15 characters.
template <size_t kLength>
void name_thread(const char (&name)[kLength]) {
  static_assert(kLength <= 16);
  ::pthread_setname_np(::pthread_self(), name);
}

}  // namespace shiplog
