#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/requests/contract.h"

namespace shiplog::requests {

/// The requests of one HTTP call, in their order; what is no request is in its place.
using RequestBatch = std::vector<Parsed<ProducedRequest>>;

/// Reads a body: one request, a JSON array of requests, JSON lines, or one Protobuf message by its content type.
/// Errors: kBadRequest, it is none of these, or empty; kTooLarge, more than `most`.
Result<RequestBatch> parse_batch(std::string_view content_type, std::string_view body, size_t most);

}  // namespace shiplog::requests
