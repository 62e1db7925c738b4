#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "services/http/http.h"

namespace shiplog {

/// One of the checks behind /healthz, /livez and /readyz.
struct HealthCheck {
  std::string name;
  std::string failure = {};  ///< a sentence; empty: the check passes
};

/// The checks of "/livez" (restart the process if one fails), or of "/readyz" and "/healthz" (send no requests).
using HealthChecks = std::function<std::vector<HealthCheck>(std::string_view path)>;

/// /healthz, /livez, /readyz, and what is below them.
bool is_health_path(std::string_view path);

/// 200 "ok", or 500 with one line for each check; with ?verbose always the lines. `?exclude=NAME` leaves a check out.
/// The first check is "ping", which always passes. "/readyz/NAME" is about one check: 404 if there is none of that
/// name.
HttpResponse health_response(const HttpRequest& request, const HealthChecks& checks);

/// All metrics of the process.
HttpResponse metrics_response();

}  // namespace shiplog
