#pragma once

#include <cstdint>

#include "services/requests/window.h"

namespace shiplog::requests {

/// Creates all series of produced requests, so that they are exported before the first one.
void export_request_metrics();

enum class RequestWay { kHttp, kTopic };
/// A request came in, whether it is one or not.
void count_received(RequestWay way);
/// The result of a request is final.
void count_result(const RecordOutcome& outcome);
/// Records of the partitions of this consumer whose results are not committed.
void set_lag(int64_t records);

}  // namespace shiplog::requests
