#pragma once

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/api/insight/why.h"
#include "services/api/store.h"

namespace shiplog::api {

/// Journal, projection, state and roles of the fleet, as this process knows them. Of a role that another process leads
/// it knows the leader and the epoch, which are in the journal, and whether that process is alive; its queue is only
/// in that process. Errors: kIo, kUnavailable, the journal or the projection cannot be read.
Result<Value> fleet_status(Store& store, const Sources& sources, UtcMillis now);

}  // namespace shiplog::api
