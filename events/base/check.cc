#include "events/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace shiplog {

void check_failed(const char* condition, const char* sentence, const char* file, int line) {
  std::fprintf(stderr, "shiplog: invariant broken: %s (%s) at %s:%d\n", sentence, condition, file, line);
  std::abort();
}

}  // namespace shiplog
