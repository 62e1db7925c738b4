#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "events/base/ids.h"
#include "projections/audit/audit_query.h"
#include "services/api/store.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Answers with entries as JSON lines: those behind filter.after (nullopt: from the first), at most filter.limit (0:
/// no limit); with `follow` new ones follow until the client disconnects or the server stops. A client that does
/// not read is not read for. Answers 429 when too many are followed already.
void stream_entries(Store& store, AuditFilter filter, bool follow, std::shared_ptr<ResponseWriter> writer);

}  // namespace shiplog::api
