#pragma once

#include <functional>

#include "events/base/time.h"

namespace shiplog {

/// Runs functions one after the other on one thread: the fold thread. In the simulation, a seeded scheduler in virtual
/// time. Threads: any may post.
class Executor : public Clock {
 public:
  virtual void post(std::function<void()> run) = 0;
  /// Not before `delay` has passed. Cannot be cancelled: what runs checks whether it still matters.
  virtual void post_after(Millis delay, std::function<void()> run) = 0;
  /// Nothing else waits to be run at once. For what runs here: another thread may post the next moment.
  virtual bool idle() const { return false; }
};

}  // namespace shiplog
