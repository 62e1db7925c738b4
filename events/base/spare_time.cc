#include "events/base/spare_time.h"

#include <utility>

#include "events/base/check.h"

namespace shiplog {
namespace {

thread_local SpareTime* offered = nullptr;

}  // namespace

SpareTime::SpareTime() {
  SHIPLOG_CHECK(offered == nullptr, "a thread spends its time once");
  offered = this;
}

SpareTime::~SpareTime() {
  if (offered == this) spend([] { return false; });
}

void SpareTime::spend(const Free& free) {
  offered = nullptr;  // what these post is not left to anything any more
  for (const Work& work : std::exchange(left_, {})) work(free);
}

bool SpareTime::leave(Work work) {
  if (offered == nullptr) return false;
  offered->left_.push_back(std::move(work));
  return true;
}

}  // namespace shiplog
