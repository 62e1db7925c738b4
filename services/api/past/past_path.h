#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::api {

/// What a path below /at/ names: /at/MOMENT[,speed=SPEED]/PATH.
struct PastPath {
  std::string moment;   ///< "r4711" or an RFC 3339 time
  double speed = 1;     ///< of watches: seconds of the past in one second; 0: as fast as the client reads
  std::string options;  ///< the segment of the path as it is written: "r4711,speed=60"
  std::string path;     ///< what follows: "/api/v1/pods"; at least "/"
};

/// nullopt: the path is not below /at/. Error: kBadRequest.
Result<std::optional<PastPath>> parse_past_path(std::string_view path);

}  // namespace shiplog::api
