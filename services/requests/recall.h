#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "projections/store/reader.h"
#include "services/requests/contract.h"

namespace shiplog {
struct SettledRequest;
}

namespace shiplog::requests {

/// What was answered to a request that the entry settled. `asked`: the record whose result this becomes.
Result<ProducedResult> recalled(const View& view, const SettledRequest& settled, const RequestRecord& asked);

/// Looks it up, by its record or by user and idempotency id. nullopt: the audit trail has no such request.
Result<std::optional<ProducedResult>> recall(const View& view, const std::string& user, const std::string& id,
                                             const RequestRecord& record);

}  // namespace shiplog::requests
