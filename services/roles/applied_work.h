#pragma once

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/dispatch.h"

namespace shiplog {

/// The report that all manifests of a Work, of its present generation, are in the member (E-5): of the dispatcher,
/// which has written them, or of the collector, which sees what was written.
inline WorkApplied applied_work(const ObjectKey& key, const Value& work) {
  return {key, work["metadata"]["generation"].as_int(), "Manifest has been successfully applied"};
}

}  // namespace shiplog
