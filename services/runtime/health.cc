#include "services/runtime/health.h"

#include <algorithm>

#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

HttpResponse plain(int status, std::string body) {
  return {
      status, {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
}

bool is_excluded(const HttpRequest& request, const std::string& name) {
  return std::ranges::any_of(request.query,
                             [&](const auto& field) { return field.first == "exclude" && field.second == name; });
}

}  // namespace

bool is_health_path(std::string_view path) {
  constexpr std::string_view kPing = "/ping";
  if (path.ends_with(kPing)) path.remove_suffix(kPing.size());
  return path == "/healthz" || path == "/livez" || path == "/readyz";
}

HttpResponse health_response(const HttpRequest& request, const HealthChecks& checks) {
  if (request.path.ends_with("/ping")) return plain(200, "ok");
  std::vector<HealthCheck> all = {{"ping"}};
  if (checks) std::ranges::move(checks(request.path), std::back_inserter(all));
  bool failed = false;
  std::string text;
  for (const HealthCheck& check : all) {
    if (is_excluded(request, check.name)) {
      text += "[+]" + check.name + " excluded: ok\n";
    } else if (check.failure.empty()) {
      text += "[+]" + check.name + " ok\n";
    } else {
      failed = true;
      text += "[-]" + check.name + " failed: " + check.failure + "\n";
    }
  }
  if (!failed && request.query_value("verbose") == nullptr) return plain(200, "ok");
  text += request.path.substr(1) + (failed ? " check failed\n" : " check passed\n");
  return plain(failed ? 500 : 200, std::move(text));
}

HttpResponse metrics_response() {
  return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics::text()};
}

}  // namespace shiplog
