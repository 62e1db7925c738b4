#pragma once

#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::api {

/// Where audit events are written to. Threads: deliver() from one; interrupt() from any.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  /// Writes the events, in order. Blocks. Error: none of them is there, as far as is known.
  virtual Result<void> deliver(const std::vector<Value>& events) = 0;
  /// Ends a delivery that waits to be tried again, and later ones: the process stops.
  virtual void interrupt() {}
};

}  // namespace shiplog::api
